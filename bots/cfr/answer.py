"""An answer to a strategy of hold'em that is learnt with finer buckets, and what it wins: a lower bound.

The strategy is fixed, and both seats of an opponent learn against it by external sampling (`bots.cfr.sampling`). An
answer in the strategy's own buckets bounds nothing: it cannot tell apart the hands that the strategy plays alike. So
it has at least twice as many on each street. It begins as the strategy itself, in the bucket of the strategy that has
most of its hands, plays the action with the largest sum of regrets, and is judged on other deals than those it learnt
from (`bots.cfr.expectation`). Neither side solves rivers.

A folder holds ``answer.checkpoint`` (settings, progress, regrets) and ``answer.buckets``, those of all hands. After as
many deals, a resumed learning has come to the same answer.
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
"""Processor time after which the answer is judged for the first time; then after twice as much each."""
_BEGINNING: Final = 10
"""Big blinds of regret, times its probability, with which each action begins; a hand in some limit pot wins as much."""
_ROWS: Final = 4096
"""Boards whose buckets are counted at once."""
_LINEAR: Final = Discounts(1.0, 1.0, 1.0)


class AnswerSettings(NamedTuple):
    """What decides an answer: the strategy, the buckets of flop, turn and river, how it is judged, and the seed."""

    game: str
    bot: str
    strategy: StrategyFile
    buckets: tuple[int, int, int]
    boards: int
    seed: int

    @property
    def data(self) -> dict[str, Any]:
        """As JSON has them; the strategy by its checksum."""
        checksum = zlib.crc32(self.strategy.probabilities.tobytes())
        settings = {"strategy": f"{checksum:08x}", "buckets": self.buckets, "boards": self.boards, "seed": self.seed}
        return {"game": self.game, **settings, "buckets": list(self.buckets)}


class Mark(NamedTuple):
    """What an answer won after so much learning, in mbb/g; the half-width is of the 95 % interval over boards."""

    cpu_seconds: float
    deals: int
    mean: float
    half_width: float | None


def answer_settings(
    game: str, bot: str, strategy: StrategyFile, buckets: tuple[int, int, int] | None, boards: int, seed: int
) -> AnswerSettings:
    """Twice the buckets of the strategy by default; a `SolvingError` where there are fewer, or too many."""
    if strategy.cards is None or strategy.game.num_players != 2:
        raise SolvingError("an answer with finer buckets is for strategies of hold'em for two")
    least = [2 * count for count in strategy.buckets[1:]]
    found = buckets or (least[0], least[1], least[2])
    if any(count < at_least for count, at_least in zip(found, least, strict=True)):
        shown = "/".join(map(str, least))
        raise SolvingError(
            f"an answer needs at least twice the buckets of the strategy, {shown}: with fewer it bounds nothing"
        )
    if max(found) > MAX_BUCKETS:
        raise SolvingError(f"an answer can have {MAX_BUCKETS:,} buckets on a street, and {max(found):,} are needed")
    return AnswerSettings(game, bot, strategy, found, boards, seed)


class Answer:
    """The regrets of both seats of an opponent of a fixed strategy, and their iterations.

    Attributes:
        iteration: how many have been done.
        deals: of an iteration.
        regrets: by `bots.cfr.expectation.allocate_values`.
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
        """`draws` draw the same deals with the buckets of the answer and with those of the strategy."""
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
        """Begin as the strategy, which has so many buckets, in one of them for each bucket of the answer, by round."""
        theirs = by_node(self.tree, self._strategy.arrays, counts, self._strategy.chances)
        ours = by_node(self.tree, self._own, self.buckets, self.regrets)
        for (node, regrets), (_, chances) in zip(ours, theirs, strict=True):
            regrets[:] = _BEGINNING * self.tree.game.big_blind * chances[buckets[self.tree.rounds[node]]]

    def iterate(self, pool: Executor | None = None) -> None:
        first = self.iteration * self.deals
        ours, theirs = (self._walks.draw(first, draw, pool) for draw in self._draws)
        for player in range(2):
            is_own = np.arange(2)[:, None] == player
            dealt = ours._replace(buckets=np.where(is_own, ours.buckets, theirs.buckets))
            arrays = self._own._replace(bases=np.where(is_own, self._own.bases, self._strategy.arrays.bases))
            self._walks.explore(dealt, player, arrays, self.regrets, self._strategy.chances, pool)
            for found in self._walks.outputs:
                add_regrets(found.places, found.regrets, found.counts[0], 0, len(self.regrets), self.regrets)
        self.iteration += 1
        epoch, left = divmod(self.iteration, EPOCH)
        if not left:
            self.regrets *= np.float32(_LINEAR.factors(epoch + 1)[0])

    def played(self) -> PlayedTree:
        """In each information set the action with the largest regret so far; a call where none is known."""
        found = PlayedTree(self._own, np.zeros_like(self.regrets))
        regrets = by_node(self.tree, self._own, self.buckets, self.regrets)
        chances = by_node(self.tree, self._own, self.buckets, found.chances)
        for (node, of_node), (_, played) in zip(regrets, chances, strict=True):
            call = [action.kind for action in self.tree.actions[node]].index(ActionKind.CALL)
            best = np.where(of_node.any(axis=1), of_node.argmax(axis=1), call)
            played[np.arange(len(best)), best] = 1
        return found


def learn_answer(
    settings: AnswerSettings,
    cpu_seconds: float,
    folder: Path | None = None,
    *,
    threads: int = 1,
    show: ShowProgress = show_nothing,
) -> Learning:
    """Learn for so much processor time, or resume what the folder holds.

    Raises:
        BotFileError: the folder holds an answer of other settings, is in use, or cannot be written.
    """
    held = nullcontext() if folder is None else locked_run(folder, "answer")
    with held, ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        path = None if folder is None else folder / _CHECKPOINT
        begun = None
        if path is not None and path.exists():
            begun = read_artifact(path, _KIND)
        if path is not None and begun is not None:
            with begun.parsing():
                require_same_settings(path, settings.data, begun.header["settings"])
        kept = None if folder is None else folder / _BUCKETS
        words = "the finer buckets"
        hands, tables = load_hands(kept, settings.buckets, threads, lambda part: show(None, f"{words}: {part:.0%}"))
        tree = load_tree(settings.strategy)
        strategy = load_player(settings.strategy, tree)
        theirs = tabulate_hands(
            strategy.cards, threads, lambda part: show(None, f"the buckets of {settings.bot}: {part:.0%}")
        )
        draws = partial(draw_deals, tables), partial(draw_deals, theirs)
        answer = Answer(tree, strategy.played, hands.buckets, draws, seed=settings.seed)
        learning = Learning(settings, answer, (hands, strategy), path)
        if begun is None:
            counts = list(zip(hands.buckets, settings.strategy.buckets, strict=True))
            shared = [np.arange(counts[0][0]), *shared_buckets(tables, theirs, counts[1:])]
            answer.begin(shared, settings.strategy.buckets)
        else:
            with begun.parsing():
                learning.resume(begun.header, begun.arrays())
        run_steps(learning.steps(cpu_seconds, pool), learning.save, show, save_every_s=60.0)
    return learning


def shared_buckets(
    finer: CardTables, others: CardTables, counts: Sequence[tuple[int, int]]
) -> list[NDArray[np.integer[Any]]]:
    """Of each finer bucket on flop, turn and river, the other bucket that has most of its hands.

    Args:
        counts: of both kinds of buckets, by round.
    """
    found = []
    tables = zip((finer.flops, finer.turns, finer.rivers), (others.flops, others.turns, others.rivers), strict=True)
    for (ours, theirs), (count, their_count) in zip(tables, counts, strict=True):
        both = np.zeros(count * their_count, np.int64)
        for start in range(0, len(ours), _ROWS):
            ours_here, theirs_here = (table[start : start + _ROWS].ravel() for table in (ours, theirs))
            is_hand = (ours_here != NO_BUCKET) & (theirs_here != NO_BUCKET)
            pairs = ours_here[is_hand].astype(np.int64) * their_count + theirs_here[is_hand]
            both += np.bincount(pairs, minlength=len(both))
        found.append(both.reshape(count, their_count).argmax(axis=1))
    return found


class Learning:
    """The learning of an answer.

    Attributes:
        cards: the buckets of the answer.
        marks: what it won on the way.
    """

    def __init__(
        self, settings: AnswerSettings, answer: Answer, sides: tuple[ClusteredHands, Player], path: Path | None
    ) -> None:
        self.answer = answer
        self.marks = list[Mark]()
        self.cpu_seconds = 0.0
        self.settings, self.cards, self._strategy, self._path = settings, *sides, path

    def resume(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.answer.iteration = header["iteration"]
        self.cpu_seconds = header["cpu_seconds"]
        self.marks = [Mark(*row) for row in header["marks"]]
        self.answer.regrets[:] = arrays["regrets"]

    def save(self) -> None:
        if self._path is None:
            return
        of_arrays, contents = as_arrays({"regrets": self.answer.regrets})
        header = {"iteration": self.answer.iteration, "cpu_seconds": self.cpu_seconds, "marks": self.marks}
        write_artifact(self._path, _KIND, {**of_arrays, **header, "settings": self.settings.data}, contents)

    def write(self, path: Path) -> None:
        """Write the answer as a strategy that `cfr` plays."""
        tree = self.answer.tree
        buckets = self.cards.buckets
        chances = as_strategy(tree, buckets, self.answer.played().chances)
        record = {"settings": self.settings.strategy.record["settings"], "answer": self.settings.data}
        write_strategy(path, tree, buckets, self.cards, chances, record)

    def steps(self, cpu_seconds: float, pool: Executor | None) -> Iterator[tuple[float, Words]]:
        while self.cpu_seconds < cpu_seconds:
            before = time.process_time()
            # The first waits for compiled code, and there is nothing to lose before it.
            with uninterrupted() if self.answer.iteration else nullcontext():
                self.answer.iterate(pool)
                self.cpu_seconds += time.process_time() - before
            yield self.cpu_seconds / cpu_seconds, self._in_words
            if self.cpu_seconds >= _FIRST_MARK_S * 2 ** len(self.marks) and self.cpu_seconds < cpu_seconds:
                self._judge(pool)
        self._judge(pool)
        yield 1.0, self._in_words

    def _judge(self, pool: Executor | None) -> None:
        """Count what the answer wins, unless that has been done here."""
        settings = self.settings
        deals = self.answer.iteration * self.answer.deals
        if self.marks and self.marks[-1].deals == deals:
            return
        both = Player(self.answer.played(), self.cards), self._strategy
        won = estimate_winnings(*both, self.answer.tree, settings.boards, seed=settings.seed, pool=pool)
        self.marks.append(Mark(self.cpu_seconds, deals, won.mean, won.half_width()))

    def _in_words(self) -> str:
        deals = self.answer.iteration * self.answer.deals
        so_far = f"{count_of(deals, 'deal')} ({deals / self.cpu_seconds:,.0f} per second of processor time)"
        if not self.marks:
            return so_far
        mark = self.marks[-1]
        return f"{so_far}, won {mark.mean:+,.1f} mbb/g after {mark.deals:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkData:
    """A `Mark`, as JSON has it."""

    cpu_seconds: float
    deals: int
    mean: float
    half_width: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerData:
    """An answer that was learnt, as ``arena exploit bound --finer --json`` prints it.

    Attributes:
        strategy: checksum of the strategy that it answers.
        buckets: on flop, turn and river.
        boards: on which it is judged.
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
        f"It is judged on {settings.boards:,} boards with {PAIRS} pairs of holdings each that it did not learn from. "
        "A better answer may win more: this is a lower bound of what the strategy loses.",
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
