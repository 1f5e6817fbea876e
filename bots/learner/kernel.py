"""Compiled hands of the simple players and of learners, with the results of `bots.self_play`.

A deal is played in every rotation of the players over the seats. The chances of a deal are kept for all rotations, and
for all players with the same seed and number of trials. They are those of `bots.sdk.chance.EquityCounter`. Arguments
are not validated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.baseline import ALL_IN, CallingBot, ConstantBot, FoldingBot, RaisingBot, RandomBot
from bots.formula.bot import MfsBot, RhBot
from bots.formula.formulas import Decision, Proportions
from bots.sdk.bot import Bot
from engine.cards import starting_hand_table
from engine.equity import MAX_OPPONENTS, preflop_equity
from engine.kernels.betting import (
    ABLE,
    CALLED,
    FOLDED,
    MAX_SPENT,
    MAY_RAISE,
    MIN_RAISE_TO,
    POINT_SIZE,
    POSITION,
    ROUND,
    BettingTables,
    act,
    holdem_ranks,
    pay,
    start,
)
from engine.kernels.draw import count_against_many, count_against_one, mixed
from engine.kernels.jit import njit
from engine.splitmix import MASK_64, STEP
from engine.splitmix import mixed as mixed_here

_STARTING_HAND = np.array(starting_hand_table(), np.uint8)


def _preflop_percents() -> NDArray[np.float64]:
    """Return the chances before the flop in per cent, by starting hand and opponents less one."""
    percents = np.zeros((169, MAX_OPPONENTS), np.float64)
    for first in range(52):
        for second in range(52):
            if first != second:
                hand = _STARTING_HAND[first, second]
                for opponents in range(1, MAX_OPPONENTS + 1):
                    percents[hand, opponents - 1] = 100 * preflop_equity((first, second), opponents).equity
    return percents


_PREFLOP = _preflop_percents()
_CARD_BITS = np.uint64(6)
_OPPONENT_BITS = np.uint64(4)
_SUM_CORRECTS: Final = sys.version_info >= (3, 12)
"""The built-in `sum` compensates rounding errors of floats."""


@njit
def chance_percent(
    seed: np.uint64, hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int, trials: int
) -> float:
    """Return the chance to win after the first round, in per cent.

    Args:
        seed: seed of the player, mixed.
        hand: number of the hand.
        board: three to five cards.
        opponents: active opponents, 1 to 9.
        trials: showdowns drawn against two or more opponents.
    """
    counts = np.zeros(opponents + 2, np.int64)
    if opponents == 1:
        count_against_one(hole, board, counts)
    else:
        start = chance_seed(seed, hand, hole, board, opponents)
        count_against_many(hole, board, opponents, trials, mixed(start), counts)
    # Same arithmetic as in `engine.equity.equity_of_counts`, so that the last bit is equal. Its `sum` compensates
    # rounding errors from Python 3.12 on.
    total = counts[0]
    shares = 0.0
    lost = 0.0
    # Sums the shares of the pot, and the rounding errors of that sum.
    for winners in range(1, opponents + 2):
        total += counts[winners]
        part = counts[winners] / winners
        added = shares + part
        lost += (shares - added) + part if shares >= part else (part - added) + shares
        shares = added
    if _SUM_CORRECTS:
        shares += lost
    return float(100 * (shares / total))


@njit
def preflop_percent(first: int, second: int, opponents: int) -> float:
    """Return the chance to win before the flop with two cards, in per cent."""
    return float(_PREFLOP[_STARTING_HAND[first, second], opponents - 1])


@njit
def chance_seed(
    seed: np.uint64, hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int
) -> np.uint64:
    """Return the seed of the draws, as `bots.sdk.chance.chance_seed` does for a mixed seed."""
    # Packs the cards and the number of opponents into a word.
    state = np.uint64(0)
    for i in range(2):
        state = state << _CARD_BITS | np.uint64(hole[i] + 1)
    for i in range(len(board)):
        state = state << _CARD_BITS | np.uint64(board[i] + 1)
    state = state << _OPPONENT_BITS | np.uint64(opponents)
    return mixed(mixed(seed + np.uint64(hand) * _STEP) + state * _STEP)


DECISION: Final = 0
_SIZED_RAISE: Final = 1
_RANDOM: Final = 2
_DRAWN_DECISION: Final = 3
MFS: Final = 4
RH: Final = 5
LEARNER: Final = 6
"""Kinds of players: a constant decision, a raise by a part of the pot, random actions, random decisions, the two
formulas, and the learner."""
_MAX_DECISIONS: Final = 256
"""Maximum number of decisions of a player in a hand, four rounds of 64 actions."""
NO_CHANCE: Final = -1.0
"""Marks a chance that has not been computed."""
_FOLD: Final = 0
_CALL: Final = 1
_RAISE: Final = 2
_DECISIONS: Final = 5
_STEP = np.uint64(STEP)
_11 = np.uint64(11)
_32 = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_UNIT: Final = 2.0**-53
_COUNT = np.array([bin(positions).count("1") for positions in range(1 << 10)], np.int64)
"""Number of positions in a bit set."""


class Players(NamedTuple):
    """Players of a table as arrays. The first index is the player, or the kind of chance for two of the arrays.

    Attributes:
        kind: kind of the player.
        number: constant decision, or number of random decisions.
        value: six parameters, by kind of player. A sized raise has the part of the pot or -1 for all-in, random actions
            have the weights of fold, call and raise, random decisions the ends of their ranges, a formula has k, and a
            learner the share of random decisions.
        drawn: random decisions of the ranges.
        seed: seed of the player's draws, mixed.
        chance: kind of the player's chances.
        chance_seed: seed by kind of chance, mixed.
        chance_trials: number of trials by kind of chance.
        interval: widths of a learner's levels, in the order of a cell without the round.
        levels: BIG QTY and LITTLE QTY of a learner.
        offset: index of a learner's first cell in `KnownCells.row`.
        learns: True for a learner that learns.
    """

    kind: NDArray[np.int64]
    number: NDArray[np.int64]
    value: NDArray[np.float64]
    drawn: NDArray[np.int64]
    seed: NDArray[np.uint64]
    chance: NDArray[np.int64]
    chance_seed: NDArray[np.uint64]
    chance_trials: NDArray[np.int64]
    interval: NDArray[np.float64]
    levels: NDArray[np.int64]
    offset: NDArray[np.int64]
    learns: NDArray[np.bool_]


class KnownCells(NamedTuple):
    """Memories of the learners of a table.

    Attributes:
        row: row of each cell of all learners; -1 for a cell that has not been met.
        cell: cell of each row.
        results: number and sum of profits, number and sum of losses, by row and decision, shape (rows, 5, 4).
        used: number of rows in use, shape (1,).
    """

    row: NDArray[np.int32]
    cell: NDArray[np.int64]
    results: NDArray[np.int64]
    used: NDArray[np.int64]


@njit
def play_deals(
    tables: BettingTables,
    players: Players,
    cells: KnownCells,
    cards: NDArray[np.uint8],
    first: int,
    turns: int,
    chances: NDArray[np.float64],
    values: NDArray[np.float64],
) -> int:
    """Play deals in every rotation, until all are played or the rows for new cells run short.

    Args:
        players: players by seat in the first rotation.
        cells: memories of the learners, changed if one learns.
        cards: hole cards position by position, then the board, by deal.
        first: number of the first hand.
        turns: number of rotations, 1 or the number of players.
        chances: chances in per cent or `NO_CHANCE`, by deal, kind of chance, position, round after the first, and
            opponents less one. Missing ones are computed when they are needed.
        values: result, the net chips by deal, rotation and player.

    Returns:
        Number of played deals.
    """
    # Passing arrays to a helper counts their references at every call. So the loop reads most arrays itself, and its
    # helpers take numbers.
    count = len(players.kind)
    kinds = players.kind
    numbers = players.number
    numbers_of_kind = players.value
    drawn_decisions = players.drawn
    seeds = players.seed
    which_chance = players.chance
    learns = players.learns
    offsets = players.offset
    intervals = players.interval
    levels = players.levels
    stacks = tables.stacks
    rows = cells.row
    results = cells.results
    used = cells.used
    big_blind = tables.big_blind
    is_limit = tables.is_limit == 1
    point = np.empty(POINT_SIZE, np.int64)
    spent = np.empty(count, np.int64)
    ranks = np.empty(count, np.int64)
    paid = np.empty(count)
    counters = np.empty(count, np.uint64)
    met = np.empty((count, _MAX_DECISIONS), np.int64)
    decided = np.empty((count, _MAX_DECISIONS), np.int64)
    taken = np.zeros(count, np.int64)
    learners = 0
    for player in range(count):
        learners += learns[player]
    for deal in range(len(cards)):
        # Every decision of a learner can need a row, and a deal is played whole or not at all.
        if used[0] + learners * turns * _MAX_DECISIONS > len(cells.cell):
            return deal
        number = first + deal
        holdem_ranks(cards[deal], ranks)
        for turn in range(turns):
            start(tables, point, spent)
            pot = np.int64(0)
            # Sums the blinds, and starts the random numbers of each player.
            for player in range(count):
                counters[player] = mixed(seeds[player] + np.uint64(number) * _STEP)
                taken[player] = 0
                pot += spent[player]
            raises = 0
            while point[POSITION] >= 0:
                position = point[POSITION]
                max_spent = point[MAX_SPENT]
                may_raise = point[MAY_RAISE] == 1
                # The button moves by a seat with each hand number, and the players by a seat in each rotation.
                player = (number - turn + position) % count
                kind = kinds[player]
                own = spent[position]
                stack = stacks[position]
                to_call = max(0, min(max_spent, stack) - own)
                can_fold = own != max_spent and own != stack
                low = np.int64(0)
                high = np.int64(0)
                if may_raise:
                    low = min(point[MIN_RAISE_TO], stack)
                    high = stack
                fraction = 0.0
                action = -1
                size: Any = np.int64(0)
                decision: Any = numbers[player]
                if kind == _SIZED_RAISE:
                    decision = 0
                    fraction = numbers_of_kind[player, 0]
                elif kind == _RANDOM:
                    fold = numbers_of_kind[player, 0] if can_fold else 0.0
                    call = numbers_of_kind[player, 1]
                    raise_ = numbers_of_kind[player, 2] if may_raise else 0.0
                    if not fold + call + raise_ > 0:
                        fold = 0.0
                        call = 1.0
                        raise_ = 0.0
                    drawn = _draw(counters, player) * (fold + call + raise_)
                    action = _FOLD if drawn < fold else _CALL
                    if not (drawn < fold + call or not raise_ > 0):
                        action = _RAISE
                        if not is_limit:
                            size = _draw_whole(counters, player, low, high)
                elif kind == _DRAWN_DECISION:
                    drawn = _draw(counters, player)
                    index = 0
                    while index < numbers[player] - 1 and not drawn < numbers_of_kind[player, index]:
                        index += 1
                    decision = drawn_decisions[player, index]
                elif kind == RH:
                    seats = (_COUNT[point[ABLE]] - point[CALLED]) * (count - _COUNT[point[FOLDED]])
                    relation = (pot / big_blind) / ((raises + 1) * seats * (to_call / big_blind + 1))
                    decision = _decision_of(numbers_of_kind[player, 0] * relation)
                # Without own chips formula 2 has no value, and the bot continues, as `MfsBot` does.
                elif kind == MFS and own == 0:
                    decision = _CALL + 1
                elif kind != DECISION:
                    in_game = count - _COUNT[point[FOLDED]]
                    round_ = point[ROUND]
                    if round_ == 0:
                        chance = preflop_percent(cards[deal, 2 * position], cards[deal, 2 * position + 1], in_game - 1)
                    else:
                        chance = chances[deal, which_chance[player], position, round_ - 1, in_game - 2]
                        if chance == NO_CHANCE:
                            chance = _chance(
                                players, which_chance[player], number, round_, position, in_game - 1, cards[deal]
                            )
                            chances[deal, which_chance[player], position, round_ - 1, in_game - 2] = chance
                    if kind == MFS:
                        gain = chance * (pot - own)
                        loss = (100 - chance) * (own + to_call)
                        relation = 0.0
                        if loss > 0:
                            relation = gain / loss
                        elif gain > 0:
                            relation = np.inf
                        decision = _decision_of(numbers_of_kind[player, 0] * relation)
                    else:
                        # The number of a cell has the levels as digits, as in `bots.learner.memory.cell_of`.
                        big = levels[player, 0]
                        little = levels[player, 1]
                        cell = _level(chance, intervals[player, 0], big)
                        cell = cell * big + _level(pot / big_blind, intervals[player, 1], big)
                        cell = cell * big + _level(to_call / big_blind, intervals[player, 2], big)
                        cell = cell * big + _level(pot / own if own else 0.0, intervals[player, 3], big)
                        cell = cell * little + _level(raises, intervals[player, 4], little)
                        cell = cell * little + _level(count, intervals[player, 5], little)
                        followers = _COUNT[point[ABLE]] - point[CALLED] - 1
                        cell = cell * little + _level(followers, intervals[player, 6], little)
                        cell = cell * 2 + min(round_, 1)
                        cell = cell * little + _level(in_game, intervals[player, 7], little) + offsets[player]
                        explores = numbers_of_kind[player, 0]
                        # Without exploration nothing is drawn, as in `LearnerBot.act`.
                        if explores > 0 and _draw(counters, player) < explores:
                            decision = _draw_whole(counters, player, 1, _DECISIONS)
                        else:
                            # The best mean reward decides, as in `bots.learner.memory.best_decision`.
                            decision = 2
                            best = -np.inf
                            row = rows[cell]
                            for index in range(_DECISIONS if row >= 0 else 0):
                                times = results[row, index, 0] + results[row, index, 2]
                                if times:
                                    mean = (results[row, index, 1] - results[row, index, 3]) / times
                                    if mean > best:
                                        decision = index + 1
                                        best = mean
                        if learns[player]:
                            met[player, taken[player]] = cell
                            decided[player, taken[player]] = decision
                            taken[player] += 1
                if action < 0:
                    if decision == 1:
                        action = _FOLD
                    elif decision == 2:
                        action = _CALL
                    else:
                        action = _RAISE
                        if decision == 3:
                            size = low
                        elif fraction == ALL_IN:
                            size = high
                        else:
                            if decision > 3:
                                fraction = 0.5 if decision == 4 else 1.0
                            size = max(low, min(high, max_spent + np.int64(fraction * (pot + to_call))))
                    # Illegal folds and raises become calls, as by `engine.betting.nearest_legal`.
                    if (action == _FOLD and not can_fold) or (action == _RAISE and not may_raise):
                        action = _CALL
                raises += action == _RAISE
                act(tables, point, spent, action, size)
                pot += spent[position] - own
            pay(spent, point[FOLDED], ranks, paid)
            # Writes the chips of each player, and adds the reward to the cells that a learner has met.
            for position in range(count):
                player = (number - turn + position) % count
                values[deal, turn, player] = paid[position]
                if learns[player]:
                    _learn(cells, met[player], decided[player], taken[player], paid[position], big_blind)
    return len(cards)


@njit
def _draw(counters: NDArray[np.uint64], player: int) -> float:
    """Draw a uniform number in [0, 1) as `bots.baseline.HandRandom` does."""
    counters[player] += _STEP
    return (mixed(counters[player]) >> _11) * _UNIT


@njit
def _draw_whole(counters: NDArray[np.uint64], player: int, low: Any, high: Any) -> Any:
    """Draw a uniform whole number from low to high as `bots.baseline.HandRandom` does."""
    # Computes the upper 64 bits of the product of a word and the width, which has at most 32 bits, in two halves.
    counters[player] += _STEP
    word = mixed(counters[player])
    width = np.uint64(high - low + 1)
    return low + np.int64(((word >> _32) * width + ((word & _LOW_HALF) * width >> _32)) >> _32)


@njit
def _decision_of(value: float) -> int:
    return int(np.floor(max(1.0, min(5.0, value))))


@njit
def _chance(
    players: Players, which: int, number: int, round_: int, position: int, opponents: int, cards: NDArray[np.uint8]
) -> float:
    """Return the chance of a position in a round after the first."""
    hole = cards[2 * position : 2 * position + 2]
    board = 2 * len(players.kind)
    return chance_percent(
        players.chance_seed[which],
        number,
        hole,
        cards[board : board + 2 + round_],
        opponents,
        players.chance_trials[which],
    )


@njit
def _level(value: float, interval: float, levels: int) -> Any:
    return min(np.int64(value / interval), levels - 1)


@njit
def _learn(
    cells: KnownCells,
    met: NDArray[np.int64],
    decided: NDArray[np.int64],
    taken: int,
    value: float,
    big_blind: int,
) -> None:
    """Add the reward of a hand to the results of a learner's decisions."""
    # Half to even, as `bots.learner.memory.reward_mbb` rounds.
    reward = np.int64(np.rint(value * 1000 / big_blind))
    # Adds the reward for each decision to the profits or losses in its cell.
    for index in range(taken):
        row = cells.row[met[index]]
        if row < 0:
            row = cells.used[0]
            cells.used[0] += 1
            cells.row[met[index]] = row
            cells.cell[row] = met[index]
            cells.results[row] = 0
        decision = decided[index] - 1
        if reward < 0:
            cells.results[row, decision, 2] += 1
            cells.results[row, decision, 3] -= reward
        else:
            cells.results[row, decision, 0] += 1
            cells.results[row, decision, 1] += reward


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Levels of a learner, and the range of its cells among those of all learners.

    Attributes:
        intervals: widths of the levels, in the order of a cell without the round.
        big: BIG QTY, the number of levels of the first four dimensions.
        little: LITTLE QTY, the number of levels of the other dimensions, except the round.
        offset: index of its first cell.
    """

    intervals: tuple[float, ...]
    big: int
    little: int
    offset: int = 0

    @property
    def cells(self) -> int:
        return int(self.big**4 * self.little**4 * 2)


@dataclass(frozen=True, slots=True)
class KernelSeat:
    """Player of a table, see `Players`.

    Attributes:
        seed: seed of its draws, mixed.
        chance: seed and number of trials of its chances.
    """

    kind: int
    number: int = 0
    value: tuple[float, ...] = ()
    drawn: tuple[int, ...] = ()
    seed: int = 0
    chance: tuple[int, int] = (0, 1)
    grid: CellGrid | None = None
    learns: bool = False


def simple_seat(bot: Bot) -> KernelSeat | None:
    """Return a bot as a compiled player, or None if it has no compiled form."""
    match bot:
        case CallingBot():
            return KernelSeat(DECISION, Decision.CALL)
        case FoldingBot():
            return KernelSeat(DECISION, Decision.FOLD)
        case RaisingBot():
            return KernelSeat(DECISION, Decision.SMALL_RAISE)
        case ConstantBot():
            kind = DECISION
            if bot.is_sized:
                kind = _SIZED_RAISE
            return KernelSeat(kind, bot.decision, (bot.fraction,))
        case RandomBot(proportions=None):
            return KernelSeat(_RANDOM, value=bot.weights, seed=bot.random.seed)
        case RandomBot(proportions=Proportions(chances=chances)):
            ends = tuple(accumulate(chances.values()))
            return KernelSeat(_DRAWN_DECISION, len(chances), ends, tuple(chances), bot.random.seed)
        case RhBot():
            return KernelSeat(RH, value=(bot.k,))
        case MfsBot():
            return KernelSeat(MFS, value=(bot.k,), chance=(bot.chance.seed, bot.chance.trials))
    return None


def chance_kinds(seats: Sequence[KernelSeat]) -> tuple[tuple[int, int], ...]:
    """Return seed and number of trials of each kind of chance at a table, in the order of `Players.chance`."""
    kinds = {seat.chance for seat in seats if seat.kind in (MFS, LEARNER)}
    if not kinds:
        # Arrays of chances need at least one kind.
        return ((0, 1),)
    return tuple(sorted(kinds))


def as_players(seats: Sequence[KernelSeat]) -> Players:
    """Return the players of a table as arrays."""
    count = len(seats)
    kinds = chance_kinds(seats)
    value = np.zeros((count, 6))
    drawn = np.zeros((count, 5), np.int64)
    interval = np.ones((count, 8))
    levels = np.ones((count, 2), np.int64)
    chance = np.zeros(count, np.int64)
    offset = np.zeros(count, np.int64)
    for player, seat in enumerate(seats):
        if seat.chance in kinds:
            chance[player] = kinds.index(seat.chance)
        value[player, : len(seat.value)] = seat.value
        drawn[player, : len(seat.drawn)] = seat.drawn
        if seat.grid is not None:
            interval[player] = seat.grid.intervals
            levels[player] = (seat.grid.big, seat.grid.little)
            offset[player] = seat.grid.offset
    return Players(
        kind=np.array([seat.kind for seat in seats], np.int64),
        number=np.array([seat.number for seat in seats], np.int64),
        value=value,
        drawn=drawn,
        seed=np.array([seat.seed for seat in seats], np.uint64),
        chance=chance,
        chance_seed=np.array([mixed_here(seed & MASK_64) for seed, _ in kinds], np.uint64),
        chance_trials=np.array([trials for _, trials in kinds], np.int64),
        interval=interval,
        levels=levels,
        offset=offset,
        learns=np.array([seat.learns for seat in seats], np.bool_),
    )
