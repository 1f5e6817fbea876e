"""Tables at which a learner plays fast: its opponents compiled, its memory in arrays.

What is played is what `bots.self_play` plays with the bots of the same names and seeds, hand by hand: the learner has
the first seat, every deal is played in all rotations, and everybody's chances are drawn from one seed. Where an
opponent is not compiled, `bots.self_play` does play.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import LearnerFileError, SpecError
from bots.learner.bot import LearnerBot
from bots.learner.files import read_memory, shipped_memory, write_memory
from bots.learner.memory import Cell, Constants, Memory, Results, level_counts
from bots.sdk.registry import make_bot, parse_spec
from bots.sdk.selfplay import self_play
from engine import Game, deals
from engine.equity import DEFAULT_TRIALS
from engine.game import POSITIONS
from engine.splitmix import MASK_64, STEP, mixed

if TYPE_CHECKING:
    from bots.kernels.players import CellGrid, Seat

_LEAST_ROWS: Final = 1 << 13
_DECISIONS: Final = 5


class MemoryArrays:
    """The memory of a learner, and those of frozen ones at its tables.

    Attributes:
        known: the arrays.
        grid: of the learner.
    """

    def __init__(self, memory: Memory) -> None:
        from bots.kernels.hands import KnownCells

        self._constants = memory.constants
        self._others: dict[str, CellGrid] = {}
        self._other_rows = 0
        nothing = np.zeros(0, np.int64)
        self.known = KnownCells(
            np.zeros(0, np.int32), nothing, np.zeros((0, _DECISIONS, 4), np.int64), np.zeros(1, np.int64)
        )
        self.grid = self._add(memory)
        self.grow()

    @property
    def met(self) -> int:
        """How many cells the learner has met."""
        return int(self.known.used[0]) - self._other_rows

    def grid_of(self, name: str, memory: Memory) -> CellGrid:
        """Those of a frozen learner, whose memory is added when its name is new."""
        if name not in self._others:
            self._others[name] = self._add(memory)
            self._other_rows += len(memory.cells)
        return self._others[name]

    def grow(self) -> None:
        """Make room for more cells: at least twice as many as there are."""
        rows = max(_LEAST_ROWS, 2 * len(self.known.cell))
        cell, results = np.zeros(rows, np.int64), np.zeros((rows, _DECISIONS, 4), np.int64)
        cell[: len(self.known.cell)] = self.known.cell
        results[: len(self.known.cell)] = self.known.results
        self.known = self.known._replace(cell=cell, results=results)

    def memory(self, hands: int, training: str) -> Memory:
        """The learner's memory as a value."""
        counts = level_counts(self._constants)
        cells = []
        for row in np.flatnonzero(self.known.cell[: self.known.used[0]] < self.grid.cells).tolist():
            rest, levels = int(self.known.cell[row]), []
            for count in reversed(counts):
                rest, level = divmod(rest, count)
                levels.append(level)
            fold, call, small, medium, large = [Results(*results) for results in self.known.results[row].tolist()]
            cells.append((Cell(*reversed(levels)), (fold, call, small, medium, large)))
        return Memory(self._constants, hands, tuple(sorted(cells)), training)

    def _add(self, memory: Memory) -> CellGrid:
        from bots.kernels.players import CellGrid

        *intervals, big, little = astuple(memory.constants)
        grid = CellGrid(tuple(intervals), big, little, len(self.known.row))
        first, count = int(self.known.used[0]), len(memory.cells)
        while first + count > len(self.known.cell):
            self.grow()
        row = np.concatenate([self.known.row, np.full(grid.cells, -1, np.int32)])
        for at, (cell, results) in enumerate(memory.cells, first):
            number = _number(cell, memory.constants) + grid.offset
            row[number], self.known.cell[at], self.known.results[at] = at, number, results
        self.known.used[0] = first + count
        self.known = self.known._replace(row=row)
        return grid


def _number(cell: Cell, constants: Constants) -> int:
    number = 0
    for level, count in zip(cell, level_counts(constants), strict=True):
        number = number * count + level
    return number


_LEARNER: Final = "learner"


@dataclass(frozen=True, slots=True)
class Style:
    """How a learner plays, beside its memory.

    Attributes:
        explore: which part of its decisions is drawn while it learns.
        trials: showdowns drawn for a chance.
        seed: of all draws at its tables.
    """

    explore: float = 0.1
    trials: int = DEFAULT_TRIALS
    seed: int = 0


@dataclass(slots=True)
class Pack:
    """Consecutive deals of a seed, and the chances that have been asked for in them so far.

    Attributes:
        game: what is dealt.
        seed: of the cards.
        first: the number of the first hand.
        cards: by deal, the hole cards position by position, then the board.
    """

    game: Game
    seed: int
    first: int
    cards: NDArray[np.uint8]
    _chances: dict[tuple[tuple[int, int], ...], NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def deal(cls, game: Game, seed: int, first: int, count: int) -> Pack:
        """Deal them."""
        cards = [[*sum(deal.hole_cards, ()), *deal.board] for deal in islice(deals(game, seed, first), count)]
        return cls(game, seed, first, np.array(cards, np.uint8).reshape(count, game.cards_per_hand))

    def chances(self, kinds: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
        """The chances of some seeds and numbers of trials; see `bots.kernels.hands.play_deals`."""
        if kinds not in self._chances:
            from bots.kernels.hands import NO_CHANCE

            shape = (len(self.cards), len(kinds), self.game.num_players, 3, 9)
            self._chances[kinds] = np.full(shape, NO_CHANCE)
        return self._chances[kinds]


def line_ups(specs: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Who sits at the table together, so that a learner meets everybody equally often.

    Up to as many as there are seats sit there together, repeated until all are taken. More of them make as many
    line-ups as they are, each of neighbours in the order given.
    """
    if len(specs) <= seats:
        return [tuple([specs[seat % len(specs)] for seat in range(seats)])]
    return [tuple([specs[(first + seat) % len(specs)] for seat in range(seats)]) for first in range(len(specs))]


class Trainee:
    """A learner in training.

    Attributes:
        game: what it plays.
        style: how.
    """

    def __init__(self, game: Game, memory: Memory, style: Style) -> None:
        self.game, self.style = game, style
        self._constants, self._training = memory.constants, memory.training
        self._arrays = MemoryArrays(memory)
        self._hands = memory.hands

    @property
    def memory(self) -> Memory:
        """What it remembers by now, with the record of training that it began with."""
        return self._arrays.memory(self._hands, self._training)

    @property
    def hands(self) -> int:
        """How many hands it has learnt from."""
        return self._hands

    @property
    def cells(self) -> int:
        """How many cells it has met."""
        return self._arrays.met

    def play(self, specs: Sequence[str], pack: Pack, *, learns: bool) -> NDArray[np.float64]:
        """Play all rotations of some deals.

        Args:
            specs: the opponents by seat, as `bots.sdk.registry.make_bot` takes them.
            pack: the deals.
            learns: whether it explores and remembers; if not, it is frozen.

        Returns:
            net chips by deal, rotation and player; the learner is player 0.

        Raises:
            SpecError: an opponent is none.
            GameRefused, BotFailure: an opponent that is not compiled does not play, or fails.
        """
        from bots.kernels.players import learner_seat

        style = self.style
        grid = self._arrays.grid
        explores = style.explore if learns else 0.0
        seats = [learner_seat(grid, (style.seed, style.trials), explores=explores, seed=style.seed, learns=learns)]
        for at, spec in enumerate(specs, 1):
            seat = self._seat(spec, self._seed(spec, at))
            if seat is None:
                return self._play_bots(specs, pack, learns)
            seats.append(seat)
        return self._play_seats(seats, pack, learns)

    def _seed(self, spec: str, at: int) -> int:
        return mixed(self.style.seed + at * STEP & MASK_64) if spec.partition("?")[0] == "random" else self.style.seed

    def _seat(self, spec: str, seed: int) -> Seat | None:
        from bots.kernels.players import learner_seat, simple_seat

        if spec.partition("?")[0] != _LEARNER:
            return simple_seat(spec, seed)
        options = dict(parse_spec(spec).options)
        if options.get("learn", True):
            raise SpecError(spec, "an opponent in a training is frozen: add learn=false")
        constants = Constants(**{one.name: options.get(one.name, one.default) for one in fields(Constants)})  # type: ignore[arg-type]
        path = options.get("memory")
        try:
            if path is not None:
                memory = read_memory(str(path), constants)
            else:
                memory = Memory(constants) if options.get("empty") else shipped_memory(self.game, constants)
        except LearnerFileError as error:
            raise SpecError(spec, str(error)) from error
        own_seed = options.get("seed")
        chance = (seed if own_seed is None else int(own_seed), int(options.get("trials") or DEFAULT_TRIALS))
        return learner_seat(self._arrays.grid_of(spec, memory), chance, learns=False)

    def _play_seats(self, seats: Sequence[Seat], pack: Pack, learns: bool) -> NDArray[np.float64]:
        from bots.kernels.hands import play_deals
        from bots.kernels.players import as_players, chance_kinds
        from engine.kernels.betting import betting_tables

        count = self.game.num_players
        values = np.empty((len(pack.cards), count, count))
        tables, players, chances = betting_tables(self.game), as_players(seats), pack.chances(chance_kinds(seats))
        played = 0
        while played < len(pack.cards):
            played += play_deals(
                tables,
                players,
                self._arrays.known,
                pack.cards[played:],
                pack.first + played,
                count,
                chances[played:],
                values[played:],
            )
            if played < len(pack.cards):
                self._arrays.grow()
        self._hands += learns * len(pack.cards) * count
        return values

    def _play_bots(self, specs: Sequence[str], pack: Pack, learns: bool) -> NDArray[np.float64]:
        style, count = self.style, self.game.num_players
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory"
            write_memory(path, self.memory)
            learner = LearnerBot(
                memory=str(path),
                learn=learns,
                explore=style.explore,
                constants=self._constants,
                trials=style.trials,
                seed=style.seed,
            )
            bots = [learner, *[make_bot(spec, self._seed(spec, at)) for at, spec in enumerate(specs, 1)]]
            names = [str(at) for at in range(count)]
            records = self_play(
                self.game, bots, hands=len(pack.cards), seed=pack.seed, first_hand=pack.first, names=names
            )
            values = np.empty((len(pack.cards), count, count))
            for number, record in enumerate(records):
                for position, value in zip(POSITIONS, record.values, strict=False):
                    values[(*divmod(number, count), int(record.name_at(position)))] = value
            if learns:
                learnt = learner.memory
                self._arrays, self._hands = MemoryArrays(learnt), learnt.hands
        return values
