"""Training of a learner in blocks of hands, each followed by a test on deals that it never learns from.

The file of the memory has the settings and the progress of the training in its record. The same settings resume it, and
a resumed training ends exactly like an uninterrupted one. The hands are those of `bots.self_play` with the same bots
and seeds, but they are compiled if all opponents are.
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

_MIN_ROWS: Final = 1 << 13
_DECISIONS: Final = 5
_MAX_BLOCKS: Final = 10
"""Maximum number of blocks in the table of a training."""


class _MemoryArrays:
    """Memories of a learner and of its opponents that do not learn, as arrays for the kernel.

    Attributes:
        known: the arrays.
        grid: levels and first cell of the learner.
    """

    def __init__(self, memory: Memory) -> None:
        from bots.learner.kernel import KnownCells

        self._constants = memory.constants
        self._opponent_grids: dict[str, CellGrid] = {}
        self._opponent_rows = 0
        self.known = KnownCells(
            row=np.zeros(0, np.int32),
            cell=np.zeros(0, np.int64),
            results=np.zeros((0, _DECISIONS, 4), np.int64),
            used=np.zeros(1, np.int64),
        )
        self.grid = self._add(memory)
        self.grow()

    @property
    def met(self) -> int:
        """Number of cells that the learner has met."""
        return int(self.known.used[0]) - self._opponent_rows

    def grid_of(self, name: str, memory: Memory) -> CellGrid:
        """Return the grid of an opponent, and add its memory if its name is new."""
        if name not in self._opponent_grids:
            self._opponent_grids[name] = self._add(memory)
            self._opponent_rows += len(memory.cells)
        return self._opponent_grids[name]

    def grow(self) -> None:
        """Double the room for cells."""
        rows = max(_MIN_ROWS, 2 * len(self.known.cell))
        cell = np.zeros(rows, np.int64)
        results = np.zeros((rows, _DECISIONS, 4), np.int64)
        cell[: len(self.known.cell)] = self.known.cell
        results[: len(self.known.cell)] = self.known.results
        self.known = self.known._replace(cell=cell, results=results)

    def memory(self, hands: int, training: str) -> Memory:
        """Return the learner's memory.

        Args:
            hands: number of hands learnt.
            training: record of the training.
        """
        counts = level_counts(self._constants)
        cells = {}
        used_cells = self.known.cell[: self.known.used[0]]
        # The learner has the first cells.
        for row in np.flatnonzero(used_cells < self.grid.cells).tolist():
            rest = int(self.known.cell[row])
            levels = []
            for count in reversed(counts):
                rest, level = divmod(rest, count)
                levels.append(level)
            results = tuple(Results(*sums) for sums in self.known.results[row].tolist())
            cells[MemoryCell(*reversed(levels))] = results
        return Memory(self._constants, hands, cells, training)

    def _add(self, memory: Memory) -> CellGrid:
        """Add the cells and results of a memory, and return its grid."""
        from bots.learner.kernel import CellGrid

        *intervals, big, little = astuple(memory.constants)
        grid = CellGrid(tuple(intervals), big, little, len(self.known.row))
        first = int(self.known.used[0])
        count = len(memory.cells)
        while first + count > len(self.known.cell):
            self.grow()
        row = np.concatenate([self.known.row, np.full(grid.cells, -1, np.int32)])
        for index, (cell, results) in enumerate(memory.cells.items(), first):
            number = _number(cell, memory.constants) + grid.offset
            row[number] = index
            self.known.cell[index] = number
            self.known.results[index] = results
        self.known.used[0] = first + count
        self.known = self.known._replace(row=row)
        return grid


def _number(cell: MemoryCell, constants: Constants) -> int:
    """Return the number of a cell, with the levels as digits."""
    number = 0
    for level, count in zip(cell, level_counts(constants), strict=True):
        number = number * count + level
    return number


@dataclass(slots=True)
class DealBatch:
    """Consecutive deals of a seed, and the chances that have been computed for them so far.

    Attributes:
        first: number of the first hand.
        cards: hole cards position by position, then the board, shape (deals, cards of a hand).
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
            hole_cards = itertools.chain.from_iterable(deal.hole_cards)
            cards.append([*hole_cards, *deal.board])
        return cls(game, seed, first, np.array(cards, np.uint8).reshape(count, game.cards_per_hand))

    def chances(self, kinds: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
        """Return the array of chances for some seeds and numbers of trials (see `bots.learner.kernel.play_deals`)."""
        if kinds not in self._chances:
            from bots.learner.kernel import NO_CHANCE

            shape = (len(self.cards), len(kinds), self.game.num_players, 3, 9)
            self._chances[kinds] = np.full(shape, NO_CHANCE)
        return self._chances[kinds]


def line_ups(specs: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Return line-ups of opponents in which a learner meets all of them equally often.

    Up to `seats` opponents make a single line-up, in which they are repeated until all seats are taken. More opponents
    make a line-up each, together with those that follow.
    """
    if len(specs) <= seats:
        return [tuple(itertools.islice(itertools.cycle(specs), seats))]
    tables = []
    for first in range(len(specs)):
        tables.append(tuple(itertools.islice(itertools.cycle(specs), first, first + seats)))
    return tables


def require_players(opponents: Iterable[str], game: Game) -> None:
    """Require that the learner and all opponents play the game.

    Raises:
        SpecError: an opponent does not exist, or would learn.
        GameRefused: a player does not play the game.
    """
    problem = LearnerBot.refusal(game)
    if problem is not None:
        raise GameRefused(problem)
    for spec in dict.fromkeys(opponents):
        _opponent(spec).require_game(game)


def _opponent(spec: str, seed: int | None = None) -> Bot:
    bot = make_bot(spec, seed)
    # A user's subclass can learn in its own way.
    if isinstance(bot, LearnerBot) and bot.is_learning and is_builtin(spec):
        raise SpecError(spec, "an opponent in a training is frozen: add learn=false")
    return bot


class Trainee:
    """Learner that plays batches of deals.

    Args:
        memory: memory to start with.
        explore: share of random decisions while it learns.
        trials: showdowns drawn for a chance.
        seed: seed of all random numbers.

    Attributes:
        hands: number of hands learnt.
    """

    def __init__(
        self, game: Game, memory: Memory, *, explore: float = 0.1, trials: int = DEFAULT_TRIALS, seed: int = 0
    ) -> None:
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
        """Current memory, with the record of the training that it started with."""
        return self._arrays.memory(self.hands, self._training)

    @property
    def cells(self) -> int:
        """Number of cells that have been met."""
        return self._arrays.met

    def play(self, specs: Sequence[str], pack: DealBatch, *, learns: bool) -> NDArray[np.float64]:
        """Play all rotations of a batch of deals.

        Args:
            specs: opponents by seat, as for `make_bot`.
            learns: explore, and remember the results.

        Returns:
            Net chips by deal, rotation and player, where the learner is player 0.
        """
        from bots.learner.kernel import LEARNER, KernelSeat

        chance = (self._seed, self._trials)
        grid = self._arrays.grid
        explore = 0.0
        if learns:
            explore = self._explore
        seed = mixed(self._seed & MASK_64)
        seats = [KernelSeat(LEARNER, value=(explore,), seed=seed, chance=chance, grid=grid, learns=learns)]
        for number, spec in enumerate(specs, 1):
            seat = self._seat(spec, self._seed_of(spec, number))
            if seat is None:
                return self._play_bots(specs, pack, learns)
            seats.append(seat)
        return self._play_seats(seats, pack, learns)

    def _seed_of(self, spec: str, number: int) -> int:
        """Return the seed of an opponent, the same for all players that share chances."""
        name, _, _ = spec.partition("?")
        # Random players in several seats must not play alike.
        if name == "random":
            return mixed(self._seed + number * STEP & MASK_64)
        return self._seed

    def _seat(self, spec: str, seed: int) -> KernelSeat | None:
        """Return an opponent for the kernel, or None if it is not compiled."""
        from bots.learner.kernel import LEARNER, KernelSeat, simple_seat

        if not is_builtin(spec):
            # A user's subclass of a built-in bot plays in its own way.
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
                # The rows ran short before the next deal.
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
            for number, spec in enumerate(specs, 1):
                bots.append(make_bot(spec, self._seed_of(spec, number)))
            names = [str(number) for number in range(count)]
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
    """Settings of a training.

    Raises:
        EvolutionError: a value is out of range, or a field is empty.
    """

    game: Annotated[str, "a game (see 'arena games'), or a .game file", Wording(group="Training")] = "limit"
    opponents: FieldBots = DEFAULT_FIELD
    unseen: Annotated[
        tuple[str, ...],
        "second field, for tests only",
        Wording("BOTS", flags="--test-opponents"),
    ] = ("raising", "random", "mfs?k=4", "rh?k=64")
    constants: Constants = _DEFAULT
    explore: Annotated[float, "share of its decisions drawn at random in training", Interval(0, 1)] = 0.1
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
    """Winnings of a block, in mbb per hand.

    Attributes:
        hands: number of hands learnt up to the end of the block.
        cells: number of cells met up to the end of the block.
        learning: winnings during the block.
        field: winnings in the test after it, from the training field.
        unseen: winnings in the test after it, from the other field.
    """

    hands: int
    cells: int
    learning: Estimate
    field: Estimate
    unseen: Estimate


def train(
    settings: LearnerSettings, hands: int, path: Path, show: ShowProgress = show_nothing
) -> tuple[Memory, tuple[Block, ...]]:
    """Train a learner in whole blocks, or resume a training.

    Args:
        hands: minimum number of hands.
        path: file of the memory, written after each block.
        show: called after each block, when it is on disk.

    Raises:
        BotFileError: the file cannot be read or written, or was made with other settings.
        EvolutionError: `hands` is below 1, or the game has no blinds.
        GameDefinitionError, SpecError, GameRefused, BotFailure: the game or an opponent cannot be played.
    """
    game = find_game(settings.game)[1]
    require_players((*settings.opponents, *settings.unseen), game)
    tables = line_ups(settings.opponents, game.num_players - 1)
    unseen_tables = line_ups(settings.unseen, game.num_players - 1)
    part = max(1, round(settings.block / (len(tables) * game.num_players)))
    deals = len(tables) * part
    if hands < 1:
        raise EvolutionError(f"hands must be 1 or more, not {hands}")
    count = ceil(hands / (deals * game.num_players))
    with closing(MemoryFile(path, settings.constants)) as file:
        blocks = _blocks_of(file.start, settings, path)
        trainee = Trainee(game, file.start, explore=settings.explore, trials=settings.trials, seed=settings.seed)
        test_deals = unseen_deals(game, len(tables), settings.test, settings.seed)
        unseen_test_deals = unseen_deals(game, len(unseen_tables), settings.test, settings.seed)
        while len(blocks) < count:
            block_deals = deal_packs(game, len(tables), part, settings.seed, len(blocks) * deals)
            learning = play_tables(trainee, tables, block_deals, learns=True)
            tested = play_tables(trainee, tables, test_deals, learns=False)
            tested_unseen = play_tables(trainee, unseen_tables, unseen_test_deals, learns=False)
            blocks = (*blocks, Block(trainee.hands, trainee.cells, learning, tested, tested_unseen))
            file.write(replace(trainee.memory, training=_record(settings, blocks)))
            show(len(blocks) / count, partial(_in_words, blocks[-1]))
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
    """Play a learner against line-ups of opponents, and return its winnings in mbb per hand.

    Args:
        packs: deals of each line-up.
    """
    # A deal with all its rotations is one score, because its hands are not independent.
    scores = []
    for specs, pack in zip(line_ups_, packs, strict=True):
        chips = trainee.play(specs, pack, learns=learns)
        scores.append(chips[:, :, 0].mean(axis=1))
    mbb = np.concatenate(scores) * (1000 / trainee.game.big_blind)
    mean = RunningMean(mbb.tolist())
    return Estimate(mean.mean, mean.half_width())


def deal_packs(game: Game, tables: int, part: int, seed: int, first: int = 0) -> list[DealBatch]:
    """Return a batch of `part` deals for each of `tables` line-ups, from the deal `first` on."""
    return [DealBatch.deal(game, seed, first + table * part, part) for table in range(tables)]


def unseen_deals(game: Game, tables: int, hands: int, seed: int) -> list[DealBatch]:
    """Return deals for a test, an equal part of the hands for each line-up. Their seed differs from a training's."""
    part = max(1, ceil(hands / game.num_players / tables))
    # Integer seeds of deals have 32 bits (`engine.dealing`).
    return deal_packs(game, tables, part, mixed(seed & MASK_64) & 0xFFFFFFFF)


def _about(settings: LearnerSettings) -> dict[str, Any]:
    about = settings_data(settings)
    del about["constants"]
    return about


def _record(settings: LearnerSettings, blocks: Sequence[Block]) -> str:
    rows = []
    for hands, cells, *winnings in blocks:
        estimates = [(estimate.mean, estimate.half_width) for estimate in winnings]
        rows.append((hands, cells, *estimates))
    return json.dumps({"program": _PROGRAM, "settings": _about(settings), "blocks": rows}, sort_keys=True)


def _blocks_of(memory: Memory, settings: LearnerSettings, path: Path) -> tuple[Block, ...]:
    """Return the finished blocks of a training from the record in its memory.

    Raises:
        BotFileError: the memory is of another program or of other settings, or its record is damaged.
    """
    if not memory.hands:
        return ()
    record = {}
    if memory.training:
        record = json.loads(memory.training)
    if not isinstance(record, dict) or record.get("program") != _PROGRAM:
        raise BotFileError(str(path), f"{_PROGRAM} did not make it, and cannot resume it: take another file")
    stored = record.get("settings", {})
    require_same_settings(path, _about(settings), stored, remedy="take another file")
    try:
        blocks = []
        for hands, cells, *winnings in record["blocks"]:
            learning, tested, tested_unseen = itertools.starmap(Estimate, winnings)
            blocks.append(Block(hands, cells, learning, tested, tested_unseen))
    except (KeyError, TypeError, ValueError) as error:
        raise BotFileError(str(path), "its record of training is damaged") from error
    return tuple(blocks)


def training_document(settings: LearnerSettings, memory: Memory, blocks: Sequence[Block], path: Path) -> Document:
    """Build a document about a training of at least one block.

    Args:
        path: file of the memory.
    """
    bot = f"learner?memory={path},learn=false"
    for name, value in _DEFAULT.differences(settings.constants).items():
        bot += f",{name}={value:g}"
    # Evenly spaced blocks, including the first and the last one.
    shown = sorted({round(row * (len(blocks) - 1) / (_MAX_BLOCKS - 1)) for row in range(_MAX_BLOCKS)})
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
        "Each ± is half the 95 % interval over the deals of the block or test, where a deal with all its "
        "rotations counts once. It covers the luck of the cards, but not of the training.",
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
