"""How far a strategy is from an equilibrium of its abstract game.

The best response sees what the strategy sees: its buckets, and no cards. Where all boards are known and no bucket
forgets another, it is exact: every decision is answered by what wins most, given the answers so far, until nothing
changes. Where boards are drawn, an answer is learned as the strategy was, by regrets on boards of its own, against the
strategy as it is. It begins as that strategy, and leaves it only where its regrets are surely above 0: what a few
boards seem to say costs more than it wins. What the answer wins is then counted on other boards, so it is not judged by
those that it fits. That is a lower bound on what the best answer wins, up to the error of the drawn boards; the more
boards it is learned on, the nearer it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple

import numpy as np

from bots.cfr.arrays import TreeArrays, Vector, Work, new_work
from bots.cfr.deals import Boards
from bots.cfr.solver import Strategy
from bots.cfr.walk import walk
from engine.kernels.jit import njit

__all__ = ["Exploitability", "expected_value", "exploitability"]

_ANSWER_STREAM: Final = 1
_JUDGE_STREAM: Final = 2
_BLOCK: Final = 8
"""Boards whose vectors are held at once."""
_SURE: Final = 1.0
"""Standard errors that a regret must be above 0 before an answer follows it."""


class Exploitability(NamedTuple):
    """What answers were found to win.

    Attributes:
        gains: of each player's answer to the other's strategy, in chips per hand.
        value: what the mean of both is, in chips per hand: how much the strategy loses per hand over both seats.
        error: its standard error from the drawn boards; 0 where all boards are known.
    """

    gains: tuple[float, float]
    value: float
    error: float


def exploitability(
    tree: TreeArrays,
    boards: Boards,
    strategy: Strategy,
    *,
    count: int = 256,
    pool: Executor | None = None,
) -> Exploitability:
    """What each player wins by answering the other's part of a strategy.

    Args:
        tree: the tree.
        boards: where boards come from.
        strategy: probabilities of both players.
        count: how many boards are drawn for each answer, and again to judge it; of no meaning where all are known.
        pool: whose threads walk.
    """
    count = boards.count or count
    played = strategy.astype(boards.float_type)
    values = np.zeros((2, count))
    for player in range(2):
        answer = (_exact_answer if boards.count else _learned_answer)(tree, boards, played, player, count, pool)
        values[player] = _walks(tree, boards, answer, player, _JUDGE_STREAM, count, pool)[0]
    values /= boards.pairs
    mean = values.mean(axis=0)
    error = 0.0 if boards.count else float(mean.std(ddof=1) / np.sqrt(count))
    first, second = values.mean(axis=1).tolist()
    return Exploitability((first, second), float(mean.mean()), error)


def expected_value(
    tree: TreeArrays, boards: Boards, strategy: Strategy, *, count: int = 64, pool: Executor | None = None
) -> float:
    """What player 0 wins where each player plays its part of a strategy, in chips per hand."""
    count = boards.count or count
    values, _ = _walks(tree, boards, strategy.astype(boards.float_type), 0, _JUDGE_STREAM, count, pool)
    return float(values.mean() / boards.pairs)


def _exact_answer(
    tree: TreeArrays, boards: Boards, played: Strategy, player: int, count: int, pool: Executor | None
) -> Strategy:
    """The best response, by policy iteration: each round is right for one more decision from the end."""
    answer = played
    while True:
        found = _walks(tree, boards, answer, player, _ANSWER_STREAM, count, pool)[1].sum(axis=0, dtype=np.float64)
        better = _best(tree, found, answer, player)
        if np.array_equal(better, answer):
            return answer
        answer = better


def _learned_answer(
    tree: TreeArrays, boards: Boards, played: Strategy, player: int, count: int, pool: Executor | None
) -> Strategy:
    """An answer by regrets, later ones weighing more."""
    answer = played.copy()
    regrets, squares = np.zeros(len(played)), np.zeros(len(played))
    for block in range(-(-count // _BLOCK)):
        found = _walks(tree, boards, answer, player, _ANSWER_STREAM, _BLOCK, pool, first=block * _BLOCK)[1]
        _answer(tree, found, regrets, squares, played, answer, player, block / (block + 1))
    return answer


@njit
def _answer(
    tree: TreeArrays,
    found: Vector,
    regrets: Vector,
    squares: Vector,
    played: Vector,
    answer: Vector,
    player: int,
    before: float,
) -> None:
    """Add what walks have found to the regrets of an answer, and follow those that are surely above 0.

    Args:
        tree: the tree.
        found: shape (boards, numbers of a strategy), as `walk` leaves it.
        regrets: changed at the player's decisions.
        squares: of what has been added to them; changed.
        played: what the answer does where no regret is surely above 0.
        answer: what the player walked with; then what it does next.
        player: who walked.
        before: what regrets are multiplied by first.
    """
    for node in range(len(tree.kinds)):
        counts, buckets, place = tree.counts[node], tree.buckets[tree.rounds[node]], tree.offsets[node]
        if not counts or tree.players[node] != player:
            continue
        for bucket in range(buckets):
            value = 0.0
            for action in range(counts):
                for board in range(len(found)):
                    value += answer[place + action * buckets + bucket] * found[board, place + action * buckets + bucket]
            total = 0.0
            for action in range(counts):
                at = place + action * buckets + bucket
                regret = -value
                for board in range(len(found)):
                    regret += found[board, at]
                regrets[at] = regrets[at] * before + regret
                squares[at] = squares[at] * before * before + regret * regret
                total += max(regrets[at] - _SURE * np.sqrt(squares[at]), 0.0)
            for action in range(counts):
                at = place + action * buckets + bucket
                sure = max(regrets[at] - _SURE * np.sqrt(squares[at]), 0.0)
                answer[at] = sure / total if total > 0 else played[at]


def _walks(
    tree: TreeArrays,
    boards: Boards,
    strategy: Strategy,
    player: int,
    stream: int,
    count: int,
    pool: Executor | None,
    *,
    first: int = 0,
) -> tuple[Strategy, Strategy]:
    """What a player wins on each board, and what its actions win, on every so many boards a row."""
    over: Callable[..., Any] = map if pool is None else pool.map
    found = np.zeros((min(_BLOCK, count), len(strategy)), boards.float_type)
    works: list[Work] = [new_work(tree, boards.holdings) for _ in found]
    values = np.zeros(count)

    def explore(row: int) -> None:
        for number in range(row, count, len(found)):
            deal = boards.deal(stream, first + number)
            values[number] = walk(tree, deal, works[row], strategy, found[row], player)

    list(over(explore, range(len(found))))
    return values, found


def _best(tree: TreeArrays, found: Strategy, answer: Strategy, player: int) -> Strategy:
    """The strategy that takes the action that won most at each of a player's decisions; of equal ones the first."""
    better = answer.copy()
    for node in np.flatnonzero((tree.counts > 0) & (tree.players == player)):
        counts, buckets = int(tree.counts[node]), int(tree.buckets[tree.rounds[node]])
        which = slice(int(tree.offsets[node]), int(tree.offsets[node]) + counts * buckets)
        won = found[which].reshape(counts, buckets)
        better[which] = (np.arange(counts)[:, None] == won.argmax(axis=0)).ravel()
    return better
