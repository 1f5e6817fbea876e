"""Learn an answer to a strategy of hold'em, whose winnings are a lower bound of the strategy's exploitability.

The strategy is fixed, and both seats of an opponent learn against it by external sampling (`bots.cfr.sampling`). The
answer begins as the strategy, but with at least twice its buckets per round, because in the strategy's own buckets it
could not exploit how the strategy groups hands. It plays the action with the largest regret, and is evaluated on other
deals than those it learnt from (`bots.cfr.expectation`). Neither side solves rivers.

The folder holds ``answer.checkpoint`` (settings, progress, regrets) and ``answer.buckets`` (buckets of all hands). A
resumed learning reaches the same answer after the same number of deals.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.abstraction import (
    NO_BUCKET,
    CardTables,
    ClusteredHands,
    load_hands,
    tabulate_hands,
)
from bots.cfr.expectation import PAIRS, PlayedTree, Player, allocate_values, estimate_winnings, load_player, load_tree
from bots.cfr.sampling import DEALS, EPOCH, Draw, Walks, add_regrets, as_strategy, by_node, draw_deals
from bots.cfr.strategy_files import StrategyFile, write_strategy
from bots.cfr.training_settings import MAX_BUCKETS
from bots.cfr.tree import BettingTree
from bots.errors import SolvingError
from bots.long_run import ShowProgress, Words, locked_run, require_same_settings, run_steps, show_nothing, uninterrupted
from bots.solving.equilibria import Discounts
from engine import ActionKind
from engine.text import count_of, duration
from logs.document import DURATION, Column, Document, Fact, Section, Table, text_of
from protocol.game_definition import short_name

_KIND: Final = FileKind("an answer that acpc-arena has begun to learn", 1, "take another folder, or delete it")
_CHECKPOINT: Final = "answer.checkpoint"
_BUCKETS: Final = "answer.buckets"
_FIRST_MARK_S: Final = 60.0
"""Processor time of the first evaluation of an answer, which doubles from one evaluation to the next."""
_INITIAL_REGRET: Final = 10
"""Initial regret of an action of probability 1, in big blinds, about the size of a limit pot."""
_ROWS: Final = 4096
"""Number of boards whose buckets are counted at once, which bounds the memory."""
_LINEAR: Final = Discounts(1.0, 1.0, 1.0)


class AnswerSettings(NamedTuple):
    """Settings of an answer. Answers with equal settings are equal after the same number of deals.

    Attributes:
        buckets: number of buckets on flop, turn and river.
        boards: number of boards of an evaluation.
        seed: decides the deals.
    """

    game: str
    bot: str
    strategy: StrategyFile
    buckets: tuple[int, int, int]
    boards: int
    seed: int

    @property
    def data(self) -> dict[str, Any]:
        """Settings as JSON, with a checksum of the strategy."""
        checksum = zlib.crc32(self.strategy.probabilities.tobytes())
        return {
            "game": self.game,
            "strategy": f"{checksum:08x}",
            "buckets": list(self.buckets),
            "boards": self.boards,
            "seed": self.seed,
        }


class Mark(NamedTuple):
    """Evaluation of an answer during its learning.

    Attributes:
        mean: winnings in mbb/g.
        half_width: half the 95 % interval over boards.
    """

    cpu_seconds: float
    deals: int
    mean: float
    half_width: float | None


def answer_settings(
    game: str, bot: str, strategy: StrategyFile, buckets: tuple[int, int, int] | None, boards: int, seed: int
) -> AnswerSettings:
    """Check the settings of an answer, by default with twice the buckets of the strategy.

    Raises:
        SolvingError: the strategy is not for hold'em for two, or the numbers of buckets are out of range.
    """
    if strategy.cards is None or strategy.game.num_players != 2:
        raise SolvingError("an answer with finer buckets is for strategies of hold'em for two")
    flop, turn, river = (2 * count for count in strategy.buckets[1:])
    minimum = (flop, turn, river)
    counts = buckets or minimum
    if any(count < bound for count, bound in zip(counts, minimum, strict=True)):
        shown = "/".join(map(str, minimum))
        raise SolvingError(
            f"an answer needs at least twice the buckets of the strategy, {shown}: with fewer it bounds nothing"
        )
    if max(counts) > MAX_BUCKETS:
        raise SolvingError(f"an answer can have {MAX_BUCKETS:,} buckets on a street, and {max(counts):,} are needed")
    return AnswerSettings(game, bot, strategy, counts, boards, seed)


class Answer:
    """Regrets of both seats of an opponent of a fixed strategy.

    Args:
        strategy: the fixed strategy.
        buckets: numbers of buckets of the answer by round.
        draws: draw the same deals with the buckets of the answer and with those of the strategy.
        deals: number of deals of an iteration.

    Attributes:
        iteration: number of iterations done.
        regrets: regrets in the layout of `bots.cfr.sampling.SampledTree`, shape (size,).
    """

    def __init__(
        self,
        tree: BettingTree,
        strategy: PlayedTree,
        buckets: tuple[int, ...],
        draws: tuple[Draw, Draw],
        *,
        seed: int,
        deals: int = DEALS,
    ) -> None:
        self.tree = tree
        self.buckets = buckets
        self.iteration = 0
        self.deals = deals
        self._strategy = strategy
        self._draws = draws
        self._walks = Walks(tree, deals, seed)
        self._own, self.regrets = allocate_values(tree, buckets)
        self.regrets[:] = 0

    def begin(self, buckets: Sequence[NDArray[np.integer[Any]]], counts: Sequence[int]) -> None:
        """Begin as the strategy: regrets in proportion to its probabilities.

        Args:
            buckets: bucket of the strategy for each bucket of the answer, by round.
            counts: numbers of buckets of the strategy by round.
        """
        strategy_chances = by_node(self.tree, self._strategy.arrays, counts, self._strategy.chances)
        own_regrets = by_node(self.tree, self._own, self.buckets, self.regrets)
        for (node, regrets), (_, chances) in zip(own_regrets, strategy_chances, strict=True):
            regrets[:] = _INITIAL_REGRET * self.tree.game.big_blind * chances[buckets[self.tree.rounds[node]]]

    def iterate(self, pool: Executor | None = None) -> None:
        """Walk a block of deals for each seat, with the threads of `pool` if there is one."""
        first = self.iteration * self.deals
        own_deals, strategy_deals = (self._walks.draw(first, draw, pool) for draw in self._draws)
        for player in range(2):
            # The player has the buckets and the layout of the answer, its opponent those of the strategy.
            is_own = np.arange(2)[:, None] == player
            dealt = own_deals._replace(buckets=np.where(is_own, own_deals.buckets, strategy_deals.buckets))
            arrays = self._own._replace(bases=np.where(is_own, self._own.bases, self._strategy.arrays.bases))
            self._walks.explore(dealt, player, arrays, self.regrets, self._strategy.chances, pool)
            for output in self._walks.outputs:
                add_regrets(output.places, output.regrets, output.counts[0], 0, len(self.regrets), self.regrets)
        self.iteration += 1
        epoch, remainder = divmod(self.iteration, EPOCH)
        if not remainder:
            self.regrets *= np.float32(_LINEAR.factors(epoch + 1)[0])

    def played(self) -> PlayedTree:
        """Return the pure strategy of largest regrets, with a call in information sets without regrets."""
        tree = PlayedTree(self._own, np.zeros_like(self.regrets))
        all_regrets = by_node(self.tree, self._own, self.buckets, self.regrets)
        all_chances = by_node(self.tree, self._own, self.buckets, tree.chances)
        for (node, regrets), (_, chances) in zip(all_regrets, all_chances, strict=True):
            call = [action.kind for action in self.tree.actions[node]].index(ActionKind.CALL)
            best = np.where(regrets.any(axis=1), regrets.argmax(axis=1), call)
            chances[np.arange(len(best)), best] = 1
        return tree


def learn_answer(
    settings: AnswerSettings,
    cpu_seconds: float,
    folder: Path | None = None,
    *,
    threads: int = 1,
    show: ShowProgress = show_nothing,
) -> Learning:
    """Learn an answer until the processor time is used, or resume the learning of a folder.

    Args:
        cpu_seconds: processor time of the whole learning.
        folder: None to keep nothing.

    Raises:
        BotFileError: the folder holds an answer of other settings, is in use, or cannot be written.
    """
    lock = nullcontext() if folder is None else locked_run(folder, "answer")
    checkpoint_path = None if folder is None else folder / _CHECKPOINT
    buckets_path = None if folder is None else folder / _BUCKETS

    def show_own(part: float) -> None:
        show(None, f"the finer buckets: {part:.0%}")

    def show_strategy(part: float) -> None:
        show(None, f"the buckets of {settings.bot}: {part:.0%}")

    with lock, ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        checkpoint = None
        if checkpoint_path is not None and checkpoint_path.exists():
            checkpoint = read_artifact(checkpoint_path, _KIND)
            with checkpoint.parsing():
                require_same_settings(checkpoint_path, settings.data, checkpoint.header["settings"])
        hands, tables = load_hands(buckets_path, settings.buckets, threads, show_own)
        tree = load_tree(settings.strategy)
        strategy = load_player(settings.strategy, tree)
        strategy_tables = tabulate_hands(strategy.cards, threads, show_strategy)
        draws = partial(draw_deals, tables), partial(draw_deals, strategy_tables)
        answer = Answer(tree, strategy.played, hands.buckets, draws, seed=settings.seed)
        learning = Learning(settings, answer, (hands, strategy), checkpoint_path)
        if checkpoint is None:
            counts = list(zip(hands.buckets, settings.strategy.buckets, strict=True))
            # Starting hands are the buckets of the first round on both sides.
            shared = [np.arange(counts[0][0]), *shared_buckets(tables, strategy_tables, counts[1:])]
            answer.begin(shared, settings.strategy.buckets)
        else:
            with checkpoint.parsing():
                learning.resume(checkpoint.header, checkpoint.arrays())
        run_steps(learning.steps(cpu_seconds, pool), learning.save, show, save_every_s=60.0)
    return learning


def shared_buckets(
    finer: CardTables, coarser: CardTables, counts: Sequence[tuple[int, int]]
) -> list[NDArray[np.integer[Any]]]:
    """Return the coarser bucket that has most hands of each finer bucket, for flop, turn and river.

    Args:
        counts: number of finer and of coarser buckets by round.
    """
    finer_tables = (finer.flops, finer.turns, finer.rivers)
    coarser_tables = (coarser.flops, coarser.turns, coarser.rivers)
    shared = []
    for fine_table, coarse_table, (fine_count, coarse_count) in zip(finer_tables, coarser_tables, counts, strict=True):
        # Hands by pair of buckets.
        hands = np.zeros(fine_count * coarse_count, np.int64)
        for start in range(0, len(fine_table), _ROWS):
            fine = fine_table[start : start + _ROWS].ravel()
            coarse = coarse_table[start : start + _ROWS].ravel()
            is_hand = (fine != NO_BUCKET) & (coarse != NO_BUCKET)
            pairs = fine[is_hand].astype(np.int64) * coarse_count + coarse[is_hand]
            hands += np.bincount(pairs, minlength=len(hands))
        shared.append(hands.reshape(fine_count, coarse_count).argmax(axis=1))
    return shared


class Learning:
    """Learning of an answer and its evaluations.

    Args:
        sides: buckets of the answer, and the strategy.
        path: checkpoint, None to keep none.

    Attributes:
        cards: buckets of the answer.
        marks: evaluations so far.
    """

    def __init__(
        self, settings: AnswerSettings, answer: Answer, sides: tuple[ClusteredHands, Player], path: Path | None
    ) -> None:
        self.answer = answer
        self.settings = settings
        self.cards, self._strategy = sides
        self.marks = list[Mark]()
        self.cpu_seconds = 0.0
        self._path = path

    def resume(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.answer.iteration = header["iteration"]
        self.cpu_seconds = header["cpu_seconds"]
        self.marks = [Mark(*row) for row in header["marks"]]
        self.answer.regrets[:] = arrays["regrets"]

    def save(self) -> None:
        if self._path is None:
            return
        layout, contents = as_arrays({"regrets": self.answer.regrets})
        header = {
            **layout,
            "iteration": self.answer.iteration,
            "cpu_seconds": self.cpu_seconds,
            "marks": self.marks,
            "settings": self.settings.data,
        }
        write_artifact(self._path, _KIND, header, contents)

    def write(self, path: Path) -> None:
        """Write the answer as a strategy file, which the bot ``cfr`` can play."""
        tree = self.answer.tree
        buckets = self.cards.buckets
        chances = as_strategy(tree, buckets, self.answer.played().chances)
        record = {"settings": self.settings.strategy.record["settings"], "answer": self.settings.data}
        write_strategy(path, tree, buckets, self.cards, chances, record)

    def steps(self, cpu_seconds: float, pool: Executor | None) -> Iterator[tuple[float, Words]]:
        """Iterate until the processor time is used; yield the part that is done and a function that describes it."""
        while self.cpu_seconds < cpu_seconds:
            before = time.process_time()
            # The first iteration compiles the kernels and may be interrupted: there is no progress to lose.
            with uninterrupted() if self.answer.iteration else nullcontext():
                self.answer.iterate(pool)
                self.cpu_seconds += time.process_time() - before
            yield self.cpu_seconds / cpu_seconds, self._format_progress
            if self.cpu_seconds >= _FIRST_MARK_S * 2 ** len(self.marks) and self.cpu_seconds < cpu_seconds:
                self._evaluate(pool)
        self._evaluate(pool)
        yield 1.0, self._format_progress

    def _evaluate(self, pool: Executor | None) -> None:
        """Add a mark, unless the last one is from the same iteration."""
        settings = self.settings
        deals = self.answer.iteration * self.answer.deals
        if self.marks and self.marks[-1].deals == deals:
            return
        player = Player(self.answer.played(), self.cards)
        won = estimate_winnings(
            player, self._strategy, self.answer.tree, settings.boards, seed=settings.seed, pool=pool
        )
        self.marks.append(Mark(self.cpu_seconds, deals, won.mean, won.half_width()))

    def _format_progress(self) -> str:
        deals = self.answer.iteration * self.answer.deals
        so_far = f"{count_of(deals, 'deal')} ({deals / self.cpu_seconds:,.0f} per second of processor time)"
        if not self.marks:
            return so_far
        mark = self.marks[-1]
        return f"{so_far}, won {mark.mean:+,.1f} mbb/g after {mark.deals:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkData:
    """A `Mark` in JSON."""

    cpu_seconds: float
    deals: int
    mean: float
    half_width: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerData:
    """Output of ``arena exploit bound --finer --json``.

    Attributes:
        strategy: checksum of the strategy.
        buckets: number of buckets on flop, turn and river.
        boards: number of boards of an evaluation.
        mbb_per_game: winnings of the answer against the strategy.
        half_width_95: half the 95 % interval of `mbb_per_game`, over boards.
    """

    schema_version: int = 1
    game: str
    bot: str
    strategy: str
    buckets: list[int]
    boards: int
    seed: int
    cpu_seconds: float
    deals: int
    mbb_per_game: float
    half_width_95: float | None
    marks: list[MarkData]


def answer_document(learned: Learning) -> Document:
    settings = learned.settings
    last = learned.marks[-1]
    width = ""
    if last.half_width is not None:
        width = f" ± {text_of(last.half_width, ',.1f')}"
    buckets = "/".join(f"{count:,}" for count in settings.buckets)
    sentences = (
        f"An answer with {buckets} buckets wins {last.mean:+,.1f}{width} mbb/g from {settings.bot}, without solved "
        f"rivers, after {count_of(last.deals, 'deal')}.",
        f"It is evaluated on {settings.boards:,} boards with {PAIRS} pairs of holdings each that it did not learn "
        "from. A better response may win more, so this is a lower bound of the exploitability.",
    )
    table = Table(
        "Winnings by learning",
        (
            Column("processor time", DURATION),
            Column("deals", ","),
            Column("mbb/g", "+,.1f"),
            Column("±", ",.1f", meaning="half the 95 % interval, over boards"),
        ),
        tuple(learned.marks),
    )
    return Document(
        f"An answer to {settings.bot} in {short_name(settings.game)}",
        sentences,
        (
            Fact("game", short_name(settings.game)),
            Fact("bot", settings.bot),
            Fact("buckets", buckets),
            Fact("learnt in", duration(last.cpu_seconds)),
        ),
        (Section("Learning", (table,)),),
        data=AnswerData(
            **settings.data,
            bot=settings.bot,
            cpu_seconds=last.cpu_seconds,
            deals=last.deals,
            mbb_per_game=last.mean,
            half_width_95=last.half_width,
            marks=[MarkData(**mark._asdict()) for mark in learned.marks],
        ),
    )
