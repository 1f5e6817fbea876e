"""What a hand is worth against several opponents' unseen cards, compiled: showdowns are drawn, many side by side.

They are those of `engine.kernels.showdowns.count_sampled` and of `engine.kernels.draw.count_sampled`. A showdown is
over with the first opponent who holds more, and the cards of the others are not drawn: every word of the generator is
known without the words before it. For training, which asks millions of times in one process.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, KEYS, RANK_KEYS, RANKS_ONLY, START
from engine.kernels.draw import mixed
from engine.kernels.jit import njit
from engine.kernels.rank import flush_rank, plain_seven_rank, seven_rank
from engine.splitmix import STEP

__all__ = ["count_against_many"]

_BOARD_CARDS: Final = 5
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_STEP = np.uint64(STEP)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_FOUR, _COUNTER = np.uint64(4), np.uint64(15)
_AT_ONCE: Final = 1024
"""Showdowns side by side: what is kept of them fits into the first cache of a core, or nearly so."""
_MOST_DRAWN: Final = 20
"""Cards of a showdown."""
_PLACES: Final = 64
"""Room for a deck: a power of two."""
_NO_PLACE: Final = _PLACES - 1
"""Where no card lies: its key is 0, and so is its set."""


@njit
def count_against_many(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add `trials` showdowns with drawn cards to counts: those of `engine.kernels.showdowns.count_sampled`.

    Up to 1,024 showdowns are followed side by side, opponent by opponent: each loop does one thing for all of them, or
    for all that are not lost yet, which processors do several at a time or at least without a wrong guess at each loss.
    The generator's words of a showdown follow from its number, and the card at a place of the deck from the places that
    were drawn before, so no deck is shuffled.

    Args:
        hole: our two cards.
        board: three to five cards.
        opponents: how many, 1 to 9.
        trials: how many showdowns.
        start: of the random numbers, 64 bits.
        counts: at least ``opponents + 2``: lost ones at 0, at k those with k winners including us.
    """
    board_key, board_cards = START, _ZERO
    for card in board:
        board_key += KEYS[card]
        board_cards |= BITS[card]
    own_key, own_cards = KEYS[hole[0]] + KEYS[hole[1]], BITS[hole[0]] | BITS[hole[1]]
    key_at, bits_at = np.zeros(_PLACES, np.uint64), np.zeros(_PLACES, np.uint64)
    rank_at, in_deck = np.zeros(_PLACES, np.uint8), np.zeros(13, np.int64)
    size = 0
    for card in range(52):
        if not BITS[card] & (board_cards | own_cards):
            key_at[size], bits_at[size], rank_at[size] = KEYS[card], BITS[card], card >> 2
            in_deck[card >> 2] += 1
            size += 1
    to_come = _BOARD_CARDS - len(board)
    may_flush = False
    for suit in range(4):
        # The counters of the key start at 3.
        may_flush |= bool(np.int64(board_key >> np.uint64(32 + 4 * suit) & _COUNTER) + to_come >= 6)
    # On a whole board only theirs can differ, before only ours follow from two cards.
    ranks = np.zeros(256, np.uint16)
    if to_come > 0:
        _rank_by_missing((board_key + own_key) & RANKS_ONLY, in_deck, to_come, ranks)
    else:
        _rank_by_missing(board_key & RANKS_ONLY, in_deck, 2, ranks)
    words = np.uint64((to_come + 2 * opponents + 1) // 2) * _STEP
    # By card drawn, the place of each showdown; then, by showdown, the places at first of the cards that come to the
    # board, and of an opponent's.
    places = np.empty(_MOST_DRAWN * _AT_ONCE, np.uint8)
    turn, river = np.full(_AT_ONCE, _NO_PLACE, np.uint8), np.full(_AT_ONCE, _NO_PLACE, np.uint8)
    one, other = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    # By showdown: the key of the whole board, our rank, how many winners there are so far.
    keys, ours, winners = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint16), np.empty(_AT_ONCE, np.uint8)
    # The showdowns that are not lost; of these, places drawn, the key and the rank of an opponent's hand.
    left = np.empty(_AT_ONCE, np.uint16)
    upper, lower = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    hands, theirs = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint16)
    for done in range(0, trials, _AT_ONCE):
        count = min(_AT_ONCE, trials - done)
        alive, drawn = count, 0
        counter = start + np.uint64(done) * words
        for at in range(count):
            left[at], winners[at] = at, 1
        for opponent in range(opponents):
            front = to_come + 2 * opponent
            while drawn < front + 2:
                counter += _STEP
                at = drawn * _AT_ONCE
                column, next_column = places[at : at + count], places[at + _AT_ONCE : at + _AT_ONCE + count]
                if alive == count:
                    _draw_places(counter, words, left, column, next_column, drawn, size, count)
                else:
                    _draw_places(counter, words, left, upper, lower, drawn, size, alive)
                    _spread(left, upper, lower, column, next_column, alive)
                drawn += 2
            at = front * _AT_ONCE
            column, next_column = places[at : at + count], places[at + _AT_ONCE : at + _AT_ONCE + count]
            _two_cards(column, next_column, np.uint8(front), one, other, count)
            for before in range(front - 1, -1, -1):
                at = before * _AT_ONCE
                _step_back(places[at : at + count], np.uint8(before), one, other, count)
            if opponent == 0:
                if to_come == 1:
                    turn[:count] = places[:count]
                elif to_come == 2:
                    _two_cards(places[:count], places[_AT_ONCE : _AT_ONCE + count], np.uint8(0), turn, river, count)
                if to_come > 0:
                    _our_hands(board_key, key_at, rank_at, ranks, turn, river, keys, ours, count)
                else:
                    keys[:count], ours[:count] = board_key, seven_rank(board_key + own_key, board_cards | own_cards)
                if to_come > 0 and may_flush:
                    _our_flushes(own_key, board_cards | own_cards, bits_at, turn, river, keys, ours, count)
            if to_come > 0 or may_flush:
                if alive == count:
                    _all_their_keys(keys, key_at, one, other, hands, count)
                else:
                    _their_keys(left, keys, key_at, one, other, hands, alive)
            if to_come > 0:
                _their_ranks(hands, theirs, alive)
            else:
                _their_ranks_by_two(left, rank_at, ranks, one, other, theirs, alive)
            if may_flush:
                _their_flushes(left, hands, board_cards, bits_at, turn, river, one, other, theirs, alive)
            lasting = _keep(left, ours, theirs, winners, alive)
            counts[0] += alive - lasting
            alive = lasting
        for at in range(alive):
            counts[winners[left[at]]] += 1


@njit
def _rank_by_missing(key: np.uint64, in_deck: NDArray[np.int64], missing: int, ranks: NDArray[np.uint16]) -> None:
    """Write the ranks of hands, flushes aside, by the cards that come to them.

    Args:
        key: the sum of the rank keys of the cards that are known.
        in_deck: how many cards of each rank can come.
        missing: how many cards come, 1 or 2.
        ranks: 256, written at 16 times the rank of the first plus that of the second, or plus 0, for ranks of which
            there are cards.
    """
    for one in range(13):
        if in_deck[one] == 0:
            continue
        if missing == 1:
            ranks[one << 4] = plain_seven_rank(key + RANK_KEYS[one])
            continue
        for other in range(13):
            if in_deck[other] > (one == other):
                ranks[one << 4 | other] = plain_seven_rank(key + RANK_KEYS[one] + RANK_KEYS[other])


@njit
def _draw_places(
    counter: np.uint64,
    words: np.uint64,
    trials: NDArray[np.uint16],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    drawn: int,
    size: int,
    count: int,
) -> None:
    """Write the places of the next two cards of some showdowns, which one word of the generator draws.

    Args:
        counter: the generator's state for this word in showdown 0.
        words: what the state grows by from showdown to showdown.
        trials: the showdowns.
        upper: the place that the upper half of the word draws, written.
        lower: that of its lower half, written.
        drawn: how many cards were drawn before.
        size: of the deck.
        count: how many showdowns.
    """
    one, one_size = np.uint64(drawn), np.uint64(size - drawn)
    other, other_size = one + _ONE, one_size - _ONE
    for at in range(count):
        word = mixed(counter + np.uint64(trials[at]) * words)
        upper[at] = one + ((word >> _HALF) * one_size >> _HALF)
        lower[at] = other + ((word & _LOW_HALF) * other_size >> _HALF)


@njit
def _spread(
    trials: NDArray[np.uint16],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    column: NDArray[np.uint8],
    next_column: NDArray[np.uint8],
    count: int,
) -> None:
    """Write the places of some showdowns where those of all are."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        column[trial], next_column[trial] = upper[at], lower[at]


@njit
def _two_cards(
    column: NDArray[np.uint8],
    next_column: NDArray[np.uint8],
    drawn: np.uint8,
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    count: int,
) -> None:
    """Write which cards lie at two places drawn one after the other, by the place where each lay before the first draw.

    Args:
        column: the places drawn first, by showdown.
        next_column: those drawn second.
        drawn: how many cards were drawn before: with the card there the first one changes places.
        one: written.
        other: written.
        count: how many showdowns.
    """
    for at in range(count):
        place, next_place = column[at], next_column[at]
        one[at] = place
        other[at] = drawn if next_place == place else next_place


@njit
def _step_back(
    column: NDArray[np.uint8], drawn: np.uint8, one: NDArray[np.uint8], other: NDArray[np.uint8], count: int
) -> None:
    """Go on with `_two_cards`: where the cards lay before the draw before. At its place lies what was in front then."""
    for at in range(count):
        place, first, second = column[at], one[at], other[at]
        one[at] = drawn if place == first else first
        other[at] = drawn if place == second else second


@njit
def _our_hands(
    board_key: np.uint64,
    key_at: NDArray[np.uint64],
    rank_at: NDArray[np.uint8],
    ranks: NDArray[np.uint16],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    ours: NDArray[np.uint16],
    count: int,
) -> None:
    """Write the keys of whole boards, and our ranks, flushes aside."""
    for at in range(np.uint64(count)):
        first, second = turn[at], river[at]
        keys[at] = board_key + key_at[first] + key_at[second]
        ours[at] = ranks[rank_at[first] << _FOUR | rank_at[second]]


@njit
def _our_flushes(
    own_key: np.uint64,
    known: np.uint64,
    bits_at: NDArray[np.uint64],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    ours: NDArray[np.uint16],
    count: int,
) -> None:
    """Write our ranks where we hold a flush; `known` are our cards and those on the board."""
    for at in range(np.uint64(count)):
        if (keys[at] + own_key) & FLUSH:
            ours[at] = flush_rank(known | bits_at[turn[at]] | bits_at[river[at]])


@njit
def _all_their_keys(
    keys: NDArray[np.uint64],
    key_at: NDArray[np.uint64],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    hands: NDArray[np.uint64],
    count: int,
) -> None:
    """Write the keys of an opponent's hands in all showdowns."""
    for at in range(np.uint64(count)):
        hands[at] = keys[at] + key_at[one[at]] + key_at[other[at]]


@njit
def _their_keys(
    trials: NDArray[np.uint16],
    keys: NDArray[np.uint64],
    key_at: NDArray[np.uint64],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    hands: NDArray[np.uint64],
    count: int,
) -> None:
    """Write the keys of an opponent's hands in some showdowns."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        hands[at] = keys[trial] + key_at[one[trial]] + key_at[other[trial]]


@njit
def _their_ranks(hands: NDArray[np.uint64], theirs: NDArray[np.uint16], count: int) -> None:
    """Write the ranks of hands, flushes aside."""
    for at in range(np.uint64(count)):
        theirs[at] = plain_seven_rank(hands[at] & RANKS_ONLY)


@njit
def _their_ranks_by_two(
    trials: NDArray[np.uint16],
    rank_at: NDArray[np.uint8],
    ranks: NDArray[np.uint16],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    theirs: NDArray[np.uint16],
    count: int,
) -> None:
    """Do the same for a board that is known."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        theirs[at] = ranks[rank_at[one[trial]] << _FOUR | rank_at[other[trial]]]


@njit
def _their_flushes(
    trials: NDArray[np.uint16],
    hands: NDArray[np.uint64],
    board: np.uint64,
    bits_at: NDArray[np.uint64],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    theirs: NDArray[np.uint16],
    count: int,
) -> None:
    """Write an opponent's ranks where it holds a flush; `board` is what is known of the board."""
    for at in range(np.uint64(count)):
        if hands[at] & FLUSH:
            trial = trials[at]
            cards = board | bits_at[turn[trial]] | bits_at[river[trial]]
            theirs[at] = flush_rank(cards | bits_at[one[trial]] | bits_at[other[trial]])


@njit
def _keep(
    trials: NDArray[np.uint16],
    ours: NDArray[np.uint16],
    theirs: NDArray[np.uint16],
    winners: NDArray[np.uint8],
    count: int,
) -> int:
    """Leave out the showdowns that an opponent wins, and count it among the winners of those that it ties.

    Returns:
        how many are left.
    """
    lasting = _ZERO
    for at in range(np.uint64(count)):
        trial = trials[at]
        rank, their = ours[trial], theirs[at]
        winners[trial] += np.uint8(their == rank)
        trials[lasting] = trial
        lasting += np.uint64(their <= rank)
    return int(np.int64(lasting))
