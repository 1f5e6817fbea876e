"""The training of a learner: blocks of hands, after each of them frozen play on deals that it never learns from.

A training is one file, the memory, whose record has its settings and its progress. The same
settings resume it after any stop, and the end is the same to the bit; more hands continue a finished one.

Tables play fast: opponents are compiled, the memory lies in arrays. What is played is what `bots.self_play` plays with
the bots of the same names and seeds, hand by hand: the learner has the first seat, every deal is played in all
rotations, and everybody's chances are drawn from one seed. Where an opponent is not compiled, `bots.self_play` does
play.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import BotFileError, EvolutionError, GameRefused, SpecError
from bots.learner.bot import LearnerBot
from bots.learner.memory import (
    Constants,
    Memory,
    MemoryCell,
    MemoryFile,
    Results,
    level_counts,
    write_memory,
)
from bots.long_run import ShowProgress, require_same_settings, settings_data, show_nothing
from bots.sdk.options import Interval, Wording, check_options
from bots.sdk.registry import is_builtin, make_bot
from bots.sdk.selfplay import self_play
from engine import Game, deals
from engine.equity import DEFAULT_TRIALS
from engine.game import POSITIONS
from engine.splitmix import MASK_64, STEP, mixed
from engine.text import count_of
from logs.document import NAME, Axis, Chart, Column, Document, Fact, Section, Series, Table, text_of
from logs.estimation import Estimate, RunningMean
from protocol import find_game

if TYPE_CHECKING:
    from bots.learner.kernel import CellGrid, KernelSeat
    from bots.sdk.bot import Bot

_LEAST_ROWS: Final = 1 << 13
_DECISIONS: Final = 5
_ROWS: Final = 10
"""Blocks that the table of a training shows."""


class _MemoryArrays:
    """The memory of a learner, and those of frozen ones at its tables."""

    def __init__(self, memory: Memory) -> None:
        from bots.learner.kernel import KnownCells

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
        cell = np.zeros(rows, np.int64)
        results = np.zeros((rows, _DECISIONS, 4), np.int64)
        cell[: len(self.known.cell)] = self.known.cell
        results[: len(self.known.cell)] = self.known.results
        self.known = self.known._replace(cell=cell, results=results)

    def memory(self, hands: int, training: str) -> Memory:
        counts = level_counts(self._constants)
        cells = {}
        for row in np.flatnonzero(self.known.cell[: self.known.used[0]] < self.grid.cells).tolist():
            rest = int(self.known.cell[row])
            levels = []
            for count in reversed(counts):
                rest, level = divmod(rest, count)
                levels.append(level)
            results = tuple(Results(*sums) for sums in self.known.results[row].tolist())
            cells[MemoryCell(*reversed(levels))] = results
        return Memory(self._constants, hands, cells, training)

    def _add(self, memory: Memory) -> CellGrid:
        from bots.learner.kernel import CellGrid

        *intervals, big, little = astuple(memory.constants)
        grid = CellGrid(tuple(intervals), big, little, len(self.known.row))
        first = int(self.known.used[0])
        count = len(memory.cells)
        while first + count > len(self.known.cell):
            self.grow()
        row = np.concatenate([self.known.row, np.full(grid.cells, -1, np.int32)])
        for at, (cell, results) in enumerate(memory.cells.items(), first):
            number = _number(cell, memory.constants) + grid.offset
            row[number] = at
            self.known.cell[at] = number
            self.known.results[at] = results
        self.known.used[0] = first + count
        self.known = self.known._replace(row=row)
        return grid


def _number(cell: MemoryCell, constants: Constants) -> int:
    number = 0
    for level, count in zip(cell, level_counts(constants), strict=True):
        number = number * count + level
    return number


@dataclass(slots=True)
class DealBatch:
    """Consecutive deals of a seed from the hand `first` on, and the chances that have been asked for in them so far.

    `cards` has, by deal, the hole cards position by position, then the board.
    """

    game: Game
    seed: int
    first: int
    cards: NDArray[np.uint8]
    _chances: dict[tuple[tuple[int, int], ...], NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def deal(cls, game: Game, seed: int, first: int, count: int) -> DealBatch:
        cards = []
        for deal in itertools.islice(deals(game, seed, first), count):
            cards.append([*sum(deal.hole_cards, ()), *deal.board])
        return cls(game, seed, first, np.array(cards, np.uint8).reshape(count, game.cards_per_hand))

    def chances(self, kinds: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
        """The chances of some seeds and numbers of trials; see `bots.learner.kernel.play_deals`."""
        if kinds not in self._chances:
            from bots.learner.kernel import NO_CHANCE

            shape = (len(self.cards), len(kinds), self.game.num_players, 3, 9)
            self._chances[kinds] = np.full(shape, NO_CHANCE)
        return self._chances[kinds]


def line_ups(specs: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Who sits at the table together, so that a learner meets all equally often.

    Up to as many as there are seats sit there together, repeated until all are taken. More of them make as many
    line-ups as they are, each of neighbours in the order given.
    """
    if len(specs) <= seats:
        return [tuple(itertools.islice(itertools.cycle(specs), seats))]
    tables = []
    for first in range(len(specs)):
        tables.append(tuple(itertools.islice(itertools.cycle(specs), first, first + seats)))
    return tables


def require_players(opponents: Iterable[str], game: Game) -> None:
    """Check that the learner and every opponent can be made and play the game.

    Raises:
        SpecError, GameRefused: a player does not.
    """
    if (problem := LearnerBot.refusal(game)) is not None:
        raise GameRefused(problem)
    for spec in dict.fromkeys(opponents):
        _opponent(spec).require_game(game)


def _opponent(spec: str, seed: int | None = None) -> Bot:
    bot = make_bot(spec, seed)
    # A class derived from one of ours plays in its own way.
    if isinstance(bot, LearnerBot) and bot.is_learning and is_builtin(spec):
        raise SpecError(spec, "an opponent in a training is frozen: add learn=false")
    return bot


class Trainee:
    def __init__(
        self, game: Game, memory: Memory, *, explore: float = 0.1, trials: int = DEFAULT_TRIALS, seed: int = 0
    ) -> None:
        """Prepare a learner.

        Args:
            explore: the part of its decisions that is drawn while it learns.
            trials: showdowns drawn for a chance.
        """
        self.game = game
        self._explore = explore
        self._trials = trials
        self._seed = seed
        self._constants = memory.constants
        self._training = memory.training
        self._arrays = _MemoryArrays(memory)
        self.hands = memory.hands

    @property
    def memory(self) -> Memory:
        """What it remembers by now, with the record of training that it began with."""
        return self._arrays.memory(self.hands, self._training)

    @property
    def cells(self) -> int:
        return self._arrays.met

    def play(self, specs: Sequence[str], pack: DealBatch, *, learns: bool) -> NDArray[np.float64]:
        """Play all rotations of some deals: net chips by deal, rotation and player, the learner being player 0.

        Opponents by seat are named as for `make_bot`. The learner explores and remembers only if it learns.
        """
        from bots.learner.kernel import LEARNER, KernelSeat

        chance = (self._seed, self._trials)
        grid = self._arrays.grid
        explore = 0.0
        if learns:
            explore = self._explore
        seed = mixed(self._seed & MASK_64)
        seats = [KernelSeat(LEARNER, value=(explore,), seed=seed, chance=chance, grid=grid, learns=learns)]
        for at, spec in enumerate(specs, 1):
            seat = self._seat(spec, self._seed_of(spec, at))
            if seat is None:
                return self._play_bots(specs, pack, learns)
            seats.append(seat)
        return self._play_seats(seats, pack, learns)

    def _seed_of(self, spec: str, at: int) -> int:
        if spec.partition("?")[0] == "random":
            return mixed(self._seed + at * STEP & MASK_64)
        return self._seed

    def _seat(self, spec: str, seed: int) -> KernelSeat | None:
        from bots.learner.kernel import LEARNER, KernelSeat, simple_seat

        if not is_builtin(spec):
            # A class derived from one of ours plays in its own way.
            return None
        bot = _opponent(spec, seed)
        if not isinstance(bot, LearnerBot):
            return simple_seat(bot)
        bot.prepare(self.game)
        chance = (bot.chance.seed, bot.chance.trials)
        grid = self._arrays.grid_of(spec, bot.memory)
        return KernelSeat(LEARNER, value=(0.0,), chance=chance, grid=grid)

    def _play_seats(self, seats: Sequence[KernelSeat], pack: DealBatch, learns: bool) -> NDArray[np.float64]:
        from bots.learner.kernel import as_players, chance_kinds, play_deals
        from engine.kernels.betting import betting_tables

        count = self.game.num_players
        values = np.empty((len(pack.cards), count, count))
        tables = betting_tables(self.game)
        players = as_players(seats)
        chances = pack.chances(chance_kinds(seats))
        played = 0
        while played < len(pack.cards):
            played += play_deals(
                tables,
                players,
                self._arrays.known,
                pack.cards[played:],
                pack.first + played,
                turns=count,
                chances=chances[played:],
                values=values[played:],
            )
            if played < len(pack.cards):
                self._arrays.grow()
        if learns:
            self.hands += len(pack.cards) * count
        return values

    def _play_bots(self, specs: Sequence[str], pack: DealBatch, learns: bool) -> NDArray[np.float64]:
        count = self.game.num_players
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory"
            write_memory(path, self.memory)
            learner = LearnerBot(
                memory=str(path),
                learn=learns,
                explore=self._explore,
                constants=self._constants,
                trials=self._trials,
                seed=self._seed,
            )
            bots: list[Bot] = [learner]
            for at, spec in enumerate(specs, 1):
                bots.append(make_bot(spec, self._seed_of(spec, at)))
            names = [str(at) for at in range(count)]
            records = self_play(
                self.game, bots, deals=len(pack.cards), seed=pack.seed, first_hand=pack.first, names=names
            )
            values = np.empty((len(pack.cards), count, count))
            for number, record in enumerate(records):
                deal, rotation = divmod(number, count)
                for position, value in zip(POSITIONS, record.values, strict=False):
                    values[deal, rotation, int(record.name_at(position))] = value
            if learns:
                learnt = learner.memory
                self._arrays = _MemoryArrays(learnt)
                self.hands = learnt.hands
        return values


_PROGRAM: Final = "arena train learner"
_DEFAULT: Final = Constants()
DEFAULT_FIELD: Final = ("calling", "random?decisions=20/50/15/10/5", "mfs", "rh")
FieldBots: TypeAlias = Annotated[
    tuple[str, ...],
    "the field to learn against: bots separated by blanks. Fewer than there are seats are repeated, more take turns.",
    Wording("BOTS"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerSettings:
    """The settings of a training: it learns on the field `opponents` and never on `unseen`."""

    game: Annotated[str, "a game (see 'arena games'), or a .game file", Wording(group="Training")] = "limit"
    opponents: FieldBots = DEFAULT_FIELD
    unseen: Annotated[
        tuple[str, ...],
        "a second field for tests, against which it never learns",
        Wording("BOTS", flags="--test-opponents"),
    ] = ("raising", "random", "mfs?k=4", "rh?k=64")
    constants: Constants = _DEFAULT
    explore: Annotated[float, "which part of its decisions is drawn while it learns", Interval(0, 1)] = 0.1
    trials: Annotated[int, "showdowns drawn for its chance against several", Interval(1)] = DEFAULT_TRIALS
    block: Annotated[int, "hands of a block, after which it is tested and saved", Interval(1)] = 2000
    test: Annotated[int, "hands of frozen play after each block: against each field", Interval(1)] = 2000
    seed: Annotated[int, "of the cards and of all draws"] = 1

    def __post_init__(self) -> None:
        check_options(self, EvolutionError)
        for name in ("opponents", "unseen"):
            if not getattr(self, name):
                raise EvolutionError(f"the {name} are missing: name at least one player")


class Block(NamedTuple):
    """Winnings in mbb per hand: in a block while it learnt, and right after it, frozen, against the field it learns on
    and the other."""

    hands: int
    cells: int
    learning: Estimate
    field: Estimate
    unseen: Estimate


def train(
    settings: LearnerSettings, hands: int, path: Path, show: ShowProgress = show_nothing
) -> tuple[Memory, tuple[Block, ...]]:
    """Train a learner, or resume a training, in whole blocks; `show` is called after each, when it is on disk.

    Raises:
        BotFileError: the file cannot be read or written, or was made with other settings.
        EvolutionError: hands below 1, or a game without blinds.
        GameDefinitionError, SpecError, GameRefused, BotFailure: the game or an opponent cannot be played.
    """
    game = find_game(settings.game)[1]
    require_players((*settings.opponents, *settings.unseen), game)
    fields = [line_ups(specs, game.num_players - 1) for specs in (settings.opponents, settings.unseen)]
    known = fields[0]
    part = max(1, round(settings.block / (len(known) * game.num_players)))
    deals = len(known) * part
    if hands < 1:
        raise EvolutionError(f"hands must be 1 or more, not {hands}")
    wanted = ceil(hands / (deals * game.num_players))
    with closing(MemoryFile(path, settings.constants)) as file:
        blocks = _blocks_of(file.start, settings, path)
        trainee = Trainee(game, file.start, explore=settings.explore, trials=settings.trials, seed=settings.seed)
        tests = [(tables, unseen_deals(game, len(tables), settings.test, settings.seed)) for tables in fields]
        while len(blocks) < wanted:
            block = deal_packs(game, len(known), part, settings.seed, len(blocks) * deals)
            learning = play_tables(trainee, known, block, learns=True)
            against = [play_tables(trainee, tables, packs, learns=False) for tables, packs in tests]
            blocks = (*blocks, Block(trainee.hands, trainee.cells, learning, *against))
            file.write(replace(trainee.memory, training=_record(settings, blocks)))
            show(len(blocks) / wanted, partial(_in_words, blocks[-1]))
        return replace(trainee.memory, training=_record(settings, blocks)), blocks


def _in_words(block: Block) -> str:
    learning = text_of(block.learning.mean, "+,.0f")
    frozen = text_of(block.field.mean, "+,.0f")
    other = text_of(block.unseen.mean, "+,.0f")
    return (
        f"{count_of(block.hands, 'hand')}, {count_of(block.cells, 'cell')}; mbb/g learning {learning}, "
        f"frozen {frozen}, against the other field {other}"
    )


def play_tables(
    trainee: Trainee, line_ups_: Sequence[Sequence[str]], packs: Sequence[DealBatch], *, learns: bool
) -> Estimate:
    """What a learner wins from line-ups of opponents, each with its own deals, in mbb per hand; a deal with all its
    rotations is one score.
    """
    scores = []
    for specs, pack in zip(line_ups_, packs, strict=True):
        chips = trainee.play(specs, pack, learns=learns)
        scores.append(chips[:, :, 0].mean(axis=1))
    mbb = np.concatenate(scores) * (1000 / trainee.game.big_blind)
    mean = RunningMean(mbb.tolist())
    return Estimate(mean.mean, mean.half_width())


def deal_packs(game: Game, tables: int, part: int, seed: int, first: int = 0) -> list[DealBatch]:
    """`part` deals for each of some line-ups, from the deal `first` on."""
    return [DealBatch.deal(game, seed, first + at * part, part) for at in range(tables)]


def unseen_deals(game: Game, tables: int, hands: int, seed: int) -> list[DealBatch]:
    """Deals for frozen play, of another seed than those of a training: for each line-up an equal part of the hands."""
    part = max(1, ceil(hands / game.num_players / tables))
    return deal_packs(game, tables, part, mixed(seed & MASK_64) & 0xFFFFFFFF)


def _about(settings: LearnerSettings) -> dict[str, Any]:
    about = settings_data(settings)
    del about["constants"]
    return about


def _record(settings: LearnerSettings, blocks: Sequence[Block]) -> str:
    rows = []
    for hands, cells, *winnings in blocks:
        rows.append((hands, cells, *[(estimate.mean, estimate.half_width) for estimate in winnings]))
    return json.dumps({"program": _PROGRAM, "settings": _about(settings), "blocks": rows}, sort_keys=True)


def _blocks_of(memory: Memory, settings: LearnerSettings, path: Path) -> tuple[Block, ...]:
    if not memory.hands:
        return ()
    record = json.loads(memory.training) if memory.training else {}
    if not isinstance(record, dict) or record.get("program") != _PROGRAM:
        raise BotFileError(str(path), f"{_PROGRAM} did not make it, and cannot resume it: take another file")
    found = record.get("settings", {})
    about = _about(settings)
    require_same_settings(path, about, found, remedy="take another file")
    try:
        blocks = []
        for hands, cells, *winnings in record["blocks"]:
            learning, of_field, of_unseen = itertools.starmap(Estimate, winnings)
            blocks.append(Block(hands, cells, learning, of_field, of_unseen))
    except (KeyError, TypeError, ValueError) as error:
        raise BotFileError(str(path), "its record of training is damaged") from error
    return tuple(blocks)


def training_document(settings: LearnerSettings, memory: Memory, blocks: Sequence[Block], path: Path) -> Document:
    """A training of at least one block, whose memory is in the file `path`."""
    bot = f"learner?memory={path},learn=false"
    for name, value in _DEFAULT.differences(settings.constants).items():
        bot += f",{name}={value:g}"
    shown = sorted({round(at * (len(blocks) - 1) / (_ROWS - 1)) for at in range(_ROWS)})
    curves = {
        "while learning": [block.learning for block in blocks],
        "frozen, training field": [block.field for block in blocks],
        "frozen, other field": [block.unseen for block in blocks],
    }
    xs = tuple([float(block.hands) for block in blocks])
    series = []
    for name, estimates in curves.items():
        means = tuple([estimate.mean for estimate in estimates])
        half_widths = tuple([estimate.half_width for estimate in estimates])
        series.append(Series(name, xs, means, half_widths))
    constants = [f"{name} {value:g}" for name, value in asdict(settings.constants).items()]
    table = Table(
        "Winnings by block, mbb/g",
        (Column("hands", ","), Column("cells", ",", rank=2), *(Column(name, "+,.0f") for name in curves)),
        tuple(blocks[at] for at in shown),
        "Each ± is half the normal 95 % interval over the deals of the block or test, a deal with all its rotations "
        "counting once: it covers the cards, not the luck of the training.",
    )
    chart = Chart(
        "Winnings by hands learnt",
        Axis("hands learnt"),
        Axis("winnings", "mbb/g"),
        tuple(series),
        "The bands are the 95 % intervals of the table. Tests are on deals that are never learnt from.",
    )
    last = blocks[-1]
    return Document(
        "The learner's training",
        (
            f"After {count_of(memory.hands, 'hand')} it remembers {count_of(len(memory.cells), 'cell')}. It wins "
            f"{text_of(last.field, '+,.0f')} mbb/g from its training field, and {text_of(last.unseen, '+,.0f')} from "
            "another field.",
            f"It plays as {bot}",
        ),
        (
            Fact("game", settings.game),
            Fact("trained against", " ".join(settings.opponents)),
            Fact("tested on", " ".join(settings.unseen)),
            Fact("explore", settings.explore, "g"),
            Fact("trials", settings.trials),
            Fact("seed", settings.seed, NAME),
            Fact("constants", ", ".join(constants)),
        ),
        (Section("Winnings", (table, chart)),),
    )
