"""Estimate the winnings of one strategy of hold'em against another.

Boards and pairs of holdings are drawn, and all betting is enumerated. Each pair is played in both seats and with either
strategy holding either hand, so the luck of the cards cancels. Pairs on one board are correlated, so the interval is
that of the means of boards. Rivers are not solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.boards import HOLDING_NUMBERS
from bots.cfr.lookup import ranks_on
from bots.cfr.sampling import COLUMNS, Floats, SampledTree, by_node, sampled_tree
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import BettingTree, Sizes, betting_tree, read_raises
from bots.errors import SolvingError
from engine.kernels.jit import njit
from logs.document import Document, Fact, text_of
from logs.estimation import RunningMean
from protocol.game_definition import short_name

PAIRS: Final = 32
"""Pairs of holdings on each board."""
_BLOCK: Final = 8
"""Boards of one task of a thread."""
_BOARD_CARDS: Final = (0, 3, 4, 5)
_MIN_REACH: Final = 1e-9
"""Nodes that are reached with a smaller probability are skipped."""
_DECISIONS: Final = np.uint32(2)
"""In the first column of `SampledTree.nodes`, smaller numbers are positions at a decision; this one marks an end."""


class PlayedTree(NamedTuple):
    """Probabilities of a strategy in the layout of `SampledTree`."""

    arrays: SampledTree
    chances: Floats


class Player(NamedTuple):
    """Strategy with its buckets."""

    played: PlayedTree
    cards: ClusteredHands


def allocate_values(tree: BettingTree, buckets: Sequence[int]) -> tuple[SampledTree, Floats]:
    """Return the layout of a tree and an uninitialised array of its numbers."""
    arrays = sampled_tree(tree, tuple(buckets))
    return arrays, np.empty(arrays.size, np.float32)


def load_player(strategy: StrategyFile, tree: BettingTree) -> Player:
    """Convert a strategy file of hold'em to the layout of its own tree."""
    assert strategy.cards is not None
    arrays, chances = allocate_values(tree, strategy.buckets)
    for node, of_node in by_node(tree, arrays, strategy.buckets, chances):
        of_node[:] = strategy.chances(node).T
    return Player(PlayedTree(arrays, chances), strategy.cards)


def load_tree(strategy: StrategyFile) -> BettingTree:
    """Return the betting tree that a strategy was trained for."""
    return betting_tree(strategy.game, load_raises(strategy))


def load_raises(strategy: StrategyFile) -> Sizes | None:
    """Return the raises of the tree of a strategy, None for all raises of a limit game's rules."""
    settings = strategy.record["settings"]
    # Older records of limit games lack `raises`: their trees have all raises of the rules.
    return read_raises(strategy.game, settings["sizes"], settings.get("raises", ""))


@njit
def _expected(
    first: PlayedTree,
    second: PlayedTree,
    ends: NDArray[np.uint32],
    buckets: NDArray[np.uint16],
    results: NDArray[np.int8],
    won: NDArray[np.float64],
) -> None:
    """Add the winnings of the first strategy on each board, in chips per hand.

    Args:
        ends: number after the last descendant of each node, shape (nodes,).
        buckets: by strategy, holding and round, shape (boards, pairs, 2, 2, 4).
        results: 1 if the first holding wins, -1 if the second does, 0 for a tie, shape (boards, pairs).
        won: output, shape (boards,).
    """
    nodes = first.arrays.nodes
    columns = np.uint64(COLUMNS)
    shares = np.empty(4, np.float32)
    reach = np.empty(len(nodes), np.float32)
    starts = np.empty((2, buckets.shape[4]), np.uint64)
    for board in range(len(won)):
        # Sum over pairs, seats and holdings of the first strategy, and over all ends by their probability.
        total = 0.0
        for pair in range(buckets.shape[1]):
            for seat in range(2):
                for held in range(2):
                    for round_ in range(buckets.shape[4]):
                        own = first.arrays
                        other = second.arrays
                        own_bucket = np.uint64(buckets[board, pair, 0, held, round_])
                        other_bucket = np.uint64(buckets[board, pair, 1, 1 - held, round_])
                        own_width = own.widths[seat, round_]
                        other_width = other.widths[1 - seat, round_]
                        starts[seat, round_] = own.bases[seat, round_] + own_width * own_bucket
                        starts[1 - seat, round_] = other.bases[1 - seat, round_] + other_width * other_bucket
                    # Share of the pot by the mask of those who play for it, as `SampledTree.nodes` has it at an end.
                    sign = np.float32(results[board, pair] if held == 0 else -results[board, pair])
                    shares[1] = np.float32(1 - seat)
                    shares[2] = np.float32(seat)
                    shares[3] = (np.float32(1) + sign) / np.float32(2)
                    node = np.uint64(0)
                    reach[0] = 1
                    # In preorder; the descendants of a node that is not reached are skipped.
                    while node < len(nodes):
                        likely = reach[node]
                        if likely < _MIN_REACH:
                            node = np.uint64(ends[node])
                            continue
                        row = nodes[node]
                        actor = row[0]
                        if actor < _DECISIONS:
                            place = starts[np.uint64(actor), np.uint64(row[1])] + np.uint64(row[3])
                            if actor == seat:
                                chances = first.chances
                            else:
                                chances = second.chances
                            for action in range(np.uint64(row[2])):
                                reach[row[columns + action]] = likely * chances[place + action]
                        else:
                            won_back = np.float32(row[2]) * shares[row[1]]
                            total += likely * (won_back - np.float32(row[columns + np.uint64(seat)]))
                        node += np.uint64(1)
        won[board] += total / (4 * buckets.shape[1])


def draw_pairs(seed: int, number: int) -> tuple[tuple[int, ...], NDArray[np.int64]]:
    """Draw a board and pairs of holdings, shape (pairs, 2, 2), from the seed and the number of the board."""
    chance = np.random.Generator(np.random.PCG64([seed, number]))
    deck = chance.permutation(52)
    remaining = np.tile(deck[5:], (PAIRS, 1))
    holes = chance.permuted(remaining, axis=1)[:, :4]
    return tuple(deck[:5].tolist()), holes.reshape(PAIRS, 2, 2)


def _deal_block(
    cards: tuple[ClusteredHands, ClusteredHands], boards: range, seed: int
) -> tuple[NDArray[np.uint16], NDArray[np.int8]]:
    """Return the `buckets` and `results` of `_expected` for boards with these numbers."""
    buckets = np.empty((len(boards), PAIRS, 2, 2, len(_BOARD_CARDS)), np.uint16)
    results = np.empty((len(boards), PAIRS), np.int8)
    for row, number in enumerate(boards):
        board, holes = draw_pairs(seed, number)
        holdings = HOLDING_NUMBERS[holes[:, :, 0], holes[:, :, 1]]
        ranks = ranks_on(board)[holdings]
        results[row] = np.sign(ranks[:, 0] - ranks[:, 1])
        for which, abstraction in enumerate(cards):
            for round_, shown in enumerate(_BOARD_CARDS):
                buckets[row, :, which, :, round_] = abstraction.on(board[:shown])[holdings]
    return buckets, results


def estimate_winnings(
    first: Player, second: Player, tree: BettingTree, boards: int, *, seed: int, pool: Executor | None = None
) -> RunningMean:
    """Estimate the winnings of the first player against the second in mbb/g, as a mean over boards and both seats."""
    ends = tree.ends.astype(np.uint32)
    cards = (first.cards, second.cards)
    won = np.zeros(boards)

    def play_block(start: int) -> None:
        block = range(start, min(start + _BLOCK, boards))
        buckets, results = _deal_block(cards, block, seed)
        _expected(first.played, second.played, ends, buckets, results, won[block.start : block.stop])

    map_blocks: Callable[..., Any] = map if pool is None else pool.map
    # `map` calls nothing until it is read, and reading raises the errors of the threads.
    list(map_blocks(play_block, range(0, boards, _BLOCK)))
    return RunningMean((1000 / tree.game.big_blind * won).tolist())


def compare_strategies(
    first: StrategyFile, second: StrategyFile, boards: int, *, seed: int = 1, pool: Executor | None = None
) -> RunningMean:
    """Estimate the winnings of the first strategy against the second in mbb/g, as `estimate_winnings`.

    Raises:
        SolvingError: the strategies have different trees, or are not for hold'em for two.
    """
    is_same_tree = (
        first.game == second.game
        and np.array_equal(first.nodes, second.nodes)
        and np.array_equal(first.totals, second.totals)
    )
    if first.cards is None or second.cards is None or not is_same_tree or first.game.num_players != 2:
        raise SolvingError("only strategies of hold'em for two with the same bets can be compared")
    tree = load_tree(first)
    return estimate_winnings(load_player(first, tree), load_player(second, tree), tree, boards, seed=seed, pool=pool)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonData:
    """Output of ``arena exploit against --json``.

    Attributes:
        boards: number of boards drawn.
        mbb_per_game: winnings of `bot` against `against`.
        half_width_95: half the 95 % interval over boards, None with too few.
    """

    schema_version: int = 1
    game: str
    bot: str
    against: str
    boards: int
    seed: int
    mbb_per_game: float
    half_width_95: float | None


def comparison_document(game: str, bots: tuple[str, str], won: RunningMean, seed: int) -> Document:
    """Describe the winnings that `compare_strategies` estimated."""
    bot, other = bots
    sentence = (
        f"{bot} wins {text_of(won.estimate, '+,.1f')} mbb/g from {other}, without solved rivers: {won.count:,} boards "
        f"with {PAIRS} pairs of holdings each were drawn, and every betting is counted in both seats."
    )
    data = ComparisonData(
        game=game,
        bot=bot,
        against=other,
        boards=won.count,
        seed=seed,
        mbb_per_game=won.mean,
        half_width_95=won.half_width(),
    )
    return Document(
        f"{bot} against {other} in {short_name(game)}",
        (sentence,),
        (Fact("game", short_name(game)), Fact("bot", bot), Fact("against", other)),
        data=data,
    )
