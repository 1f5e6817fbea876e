"""Compiled steps of many hands side by side: actions, opponents, payoffs, observations and masks.

`HandBatch` is the typed class above it. The observations are those of `ObservationLayout`, the masks and sizes those of
an `ActionMenu`, the opponents those of `compiled_policy`; tests play the same hands with `SeatEnv` and `TableEnv`.

A hand is one row of int64. `Columns` has the start of each of its parts, since functions of many arrays take long to
compile.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.kernels.betting import (
    FOLDED,
    MAX_SPENT,
    MAY_RAISE,
    MIN_RAISE_TO,
    POINT_SIZE,
    POSITION,
    ROUND,
    BettingTables,
    act,
    pay,
    start,
)
from engine.kernels.draw import mixed
from engine.kernels.jit import njit
from engine.splitmix import STEP

NUMBER: Final = POINT_SIZE
"""Column of the number of the hand in the match, after the point of `engine.kernels.betting`."""
EMPTY: Final = -2
"""Acting position of a row without a hand, in which `step_hands` only begins one. -1 is the end of a hand."""
ALL_SEATS: Final = -1
"""Seat of `Columns` if the caller acts for every seat."""
_FOLD: Final = 0
_CALL: Final = 1
_RAISE: Final = 2
_STEP = np.uint64(STEP)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_UPPER_BITS = np.uint64(11)


class Columns(NamedTuple):
    """Numbers of a game, and the first column of each part of a hand's row.

    Attributes:
        players: number of players.
        rounds: number of betting rounds.
        hole_cards: number of hole cards of a player.
        seat: seat of the caller, or `ALL_SEATS`.
        betting_start: index in an observation of its first entry after the cards.
        spent: chips of each position in the hand.
        chips: the same by round, round after round.
        raises: number of raises, in the same order.
        last_raisers: position of the last raise of each round, -1 without one.
        counters: state of the random numbers of the bot in each seat.
        dealt: rank of each position at a showdown, then for each card its index in an observation.
        size: number of columns.
    """

    players: int
    rounds: int
    hole_cards: int
    seat: int
    betting_start: int
    spent: int
    chips: int
    raises: int
    last_raisers: int
    counters: int
    dealt: int
    size: int


class BatchRules(NamedTuple):
    """Constants of a batch.

    Attributes:
        tables: betting rules.
        columns: columns of a hand.
        raise_sizes: fractions of the pot of an `ActionMenu`, float64.
        board_ends: number of board cards on the table, by round.
        policies: weights of fold, call and raise, and the size of raises, of the bot in each seat, shape (players, 4).
        seeds: mixed seed of the bot in each seat, uint64.
    """

    tables: BettingTables
    columns: Columns
    raise_sizes: NDArray[np.float64]
    board_ends: NDArray[np.int64]
    policies: NDArray[np.float64]
    seeds: NDArray[np.uint64]


class BatchResults(NamedTuple):
    """Arrays that a step writes, one row per hand.

    Attributes:
        observations: of the player to act, float32.
        masks: 1 for each legal action of that player, int8.
        acting_seats: seat of that player.
        rewards: big blinds won in the hand that the step finished, by seat, float64.
        finished: the step finished a hand, and the row is at the next one.
        is_corrected: the mask forbade the action, and the nearest legal one was played.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    acting_seats: NDArray[np.int64]
    rewards: NDArray[np.float64]
    finished: NDArray[np.bool_]
    is_corrected: NDArray[np.bool_]


@njit
def step_hands(
    rules: BatchRules,
    hands: NDArray[np.int64],
    results: BatchResults,
    actions: NDArray[np.int64],
    dealt: NDArray[np.int64],
    first: int,
) -> int:
    """Play an action in every hand, then begin the next hand in the rows whose hand is over.

    Args:
        actions: numbers of an `ActionMenu`.
        dealt: the columns `dealt` of the next hands, as many as there are rows.
        first: number of the first of them.

    Returns:
        the number of hands begun.
    """
    tables = rules.tables
    columns = rules.columns
    begun = 0
    for i in range(len(hands)):
        row = hands[i]
        results.finished[i] = False
        results.is_corrected[i] = False
        results.rewards[i, :] = 0.0
        if row[POSITION] >= 0:
            results.is_corrected[i] = results.masks[i, actions[i]] == 0
            _play_number(tables, columns, row, actions[i], rules.raise_sizes)
            _play_opponents(tables, columns, row, rules.policies)
        if row[POSITION] < 0:
            if row[POSITION] != EMPTY:
                results.finished[i] = True
                _pay(tables, columns, row, results.rewards[i])
            _begin(tables, columns, row, first + begun, rules.seeds, dealt[begun])
            _play_opponents(tables, columns, row, rules.policies)
            begun += 1
        results.acting_seats[i] = _observe(rules, row, results.observations[i], results.masks[i])
    return begun


@njit
def _begin(
    tables: BettingTables,
    columns: Columns,
    row: NDArray[np.int64],
    number: int,
    seeds: NDArray[np.uint64],
    dealt: NDArray[np.int64],
) -> None:
    players = columns.players
    start(tables, row, row[columns.spent : columns.spent + players])
    row[NUMBER] = number
    for column in range(len(dealt)):
        row[columns.dealt + column] = dealt[column]
    for column in range(columns.chips, columns.last_raisers):
        row[column] = 0
    for round_ in range(columns.rounds):
        row[columns.last_raisers + round_] = -1
    for player in range(players):
        row[columns.chips + player] = row[columns.spent + player]
        # `HandRandom.begin_hand`.
        row[columns.counters + player] = np.int64(mixed(seeds[player] + np.uint64(number) * _STEP))


@njit
def _play_number(
    tables: BettingTables, columns: Columns, row: NDArray[np.int64], number: int, raise_sizes: NDArray[np.float64]
) -> None:
    """Play a numbered action of the acting player, or the nearest legal one."""
    kind = _CALL
    total = 0
    if number == _FOLD:
        if _can_fold(tables, columns, row):
            kind = _FOLD
    elif number >= _RAISE and row[MAY_RAISE]:
        kind = _RAISE
        total = _raise_total(tables, columns, row, raise_sizes[number - _RAISE])
    _act(tables, columns, row, kind, total)


@njit
def _act(tables: BettingTables, columns: Columns, row: NDArray[np.int64], kind: int, total: int) -> None:
    position = row[POSITION]
    entry = row[ROUND] * columns.players + position
    spent = columns.spent + position
    before = row[spent]
    if kind == _RAISE:
        row[columns.raises + entry] += 1
        row[columns.last_raisers + row[ROUND]] = position
    act(tables, row, row[columns.spent : columns.spent + columns.players], kind, total)
    row[columns.chips + entry] += row[spent] - before


@njit
def _play_opponents(
    tables: BettingTables, columns: Columns, row: NDArray[np.int64], policies: NDArray[np.float64]
) -> None:
    """Play the actions of bots until the caller has to act or the hand is over."""
    if columns.seat == ALL_SEATS:
        return
    while row[POSITION] >= 0:
        seat = (row[NUMBER] + row[POSITION]) % columns.players
        if seat == columns.seat:
            return
        fold = policies[seat, 0]
        call = policies[seat, 1]
        raise_ = policies[seat, 2]
        size = policies[seat, 3]
        if not _can_fold(tables, columns, row):
            fold = 0.0
        if not row[MAY_RAISE]:
            raise_ = 0.0
        if fold + call + raise_ == 0.0:
            call = 1.0
        # The draws of `RandomBot.act`, of which the other bots need none.
        counter = np.uint64(row[columns.counters + seat]) + _STEP
        number = np.float64(mixed(counter) >> _UPPER_BITS) * 2.0**-53 * (fold + call + raise_)
        kind = _RAISE
        total = 0
        if number < fold:
            kind = _FOLD
        elif number < fold + call or raise_ == 0.0:
            kind = _CALL
        elif np.isnan(size) and not tables.is_limit:
            stack = tables.stacks[row[POSITION]]
            low = min(row[MIN_RAISE_TO], stack)
            counter += _STEP
            word = mixed(counter)
            # The upper 64 bits of the product of 64 and 32 bits.
            count = np.uint64(stack - low + 1)
            product = (word >> _HALF) * count + (((word & _LOW_HALF) * count) >> _HALF)
            total = low + np.int64(product >> _HALF)
        else:
            total = _raise_total(tables, columns, row, size)
        row[columns.counters + seat] = np.int64(counter)
        _act(tables, columns, row, kind, total)


@njit
def _can_fold(tables: BettingTables, columns: Columns, row: NDArray[np.int64]) -> bool:
    position = row[POSITION]
    spent = row[columns.spent + position]
    return bool(spent != row[MAX_SPENT] and spent != tables.stacks[position])


@njit
def _to_call(tables: BettingTables, columns: Columns, row: NDArray[np.int64]) -> int:
    position = row[POSITION]
    return int(max(0, min(row[MAX_SPENT], tables.stacks[position]) - row[columns.spent + position]))


@njit
def _raise_total(tables: BettingTables, columns: Columns, row: NDArray[np.int64], size: float) -> int:
    """Return the hand total of a raise by a fraction of the pot, within the legal bounds."""
    stack = tables.stacks[row[POSITION]]
    if tables.is_limit:
        return int(min(row[MAX_SPENT] + tables.raise_sizes[row[ROUND]], stack))
    if np.isinf(size):
        return int(stack)
    pot = _to_call(tables, columns, row)
    for position in range(columns.players):
        pot += row[columns.spent + position]
    total = row[MAX_SPENT] + np.int64(min(size * pot, np.float64(stack)))
    return int(max(min(row[MIN_RAISE_TO], stack), min(stack, total)))


@njit
def _pay(tables: BettingTables, columns: Columns, row: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
    """Write the big blinds won by each seat."""
    players = columns.players
    values = np.empty(players, np.float64)
    ranks = row[columns.dealt : columns.dealt + players]
    pay(row[columns.spent : columns.spent + players], row[FOLDED], ranks, values)
    for position in range(players):
        rewards[(row[NUMBER] + position) % players] = values[position] / tables.big_blind


@njit
def _observe(rules: BatchRules, row: NDArray[np.int64], entries: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
    """Write the observation and the mask of the player to act, and return its seat.

    At the end of a hand they are those of the caller.
    """
    tables = rules.tables
    columns = rules.columns
    acting = row[POSITION]
    position = max(acting, 0)
    if columns.seat != ALL_SEATS:
        position = (columns.seat - row[NUMBER]) % columns.players
    entries[:] = 0.0
    first = columns.dealt + columns.players
    for card in range(first + position * columns.hole_cards, first + (position + 1) * columns.hole_cards):
        entries[row[card]] = 1.0
    first += columns.players * columns.hole_cards
    for card in range(first, first + rules.board_ends[row[ROUND]]):
        entries[row[card]] = 1.0
    end = _observe_betting(tables, columns, row, entries, position)
    mask[:] = 0
    mask[_CALL] = 1
    if acting >= 0:
        entries[end] = _to_call(tables, columns, row) / tables.big_blind
        mask[_FOLD] = _can_fold(tables, columns, row)
        if row[MAY_RAISE]:
            entries[end + 1] = _raise_total(tables, columns, row, 0.0) / tables.big_blind
            entries[end + 2] = _raise_total(tables, columns, row, np.inf) / tables.big_blind
            for number in range(len(rules.raise_sizes)):
                total = _raise_total(tables, columns, row, rules.raise_sizes[number])
                mask[_RAISE + number] = 1
                for earlier in range(number):
                    if _raise_total(tables, columns, row, rules.raise_sizes[earlier]) == total:
                        mask[_RAISE + number] = 0
    return int((row[NUMBER] + position) % columns.players)


@njit
def _observe_betting(
    tables: BettingTables, columns: Columns, row: NDArray[np.int64], entries: NDArray[np.float32], position: int
) -> int:
    """Write the fields from `position` to `pot`; return the index after them."""
    players = columns.players
    size = columns.rounds * players
    first = columns.betting_start
    entries[first + position] = 1.0
    first += players
    entries[first + row[ROUND]] = 1.0
    first += columns.rounds
    pot = 0
    for place in range(players):
        owner = (position + place) % players
        spent = row[columns.spent + owner]
        pot += spent
        entries[first + place] = row[FOLDED] >> owner & 1
        entries[first + players + place] = spent >= tables.stacks[owner]
        start_ = first + 2 * players + place
        for round_ in range(columns.rounds):
            entry = round_ * players + owner
            entries[start_] = row[columns.chips + entry] / tables.big_blind
            entries[start_ + size] = row[columns.raises + entry]
            entries[start_ + 2 * size] = row[columns.last_raisers + round_] == owner
            start_ += players
    first += 2 * players + 3 * size
    entries[first] = pot / tables.big_blind
    return int(first + 1)
