"""Showdowns against unseen cards, drawn at random (SplitMix64, see `engine.splitmix`) or all of them counted; compiled.

`count_against_many` draws the showdowns of `count_sampled` many side by side. A showdown is over with the first
opponent who holds more, and the cards of the others are not drawn: every word of the generator is known without the
words before it.

`count_against_one` counts every showdown, as `engine.kernels.showdowns.count_against_one` does. Boards and hands that
are alike in all that counts are counted once here, times their number: where no flush is possible only ranks count;
where one is, its suit and the ranks of the other cards. For training, which asks millions of times in one process.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, FLUSHES, KEYS, RANK_KEYS, RANKS_ONLY
from engine.kernels.evaluation import flush_rank, key_and_set, plain_seven_rank, seven_rank
from engine.kernels.jit import njit
from engine.splitmix import FACTORS, SHIFTS, STEP

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_STEP = np.uint64(STEP)
_FACTOR_1, _FACTOR_2 = [np.uint64(factor) for factor in FACTORS]
_SHIFT_1, _SHIFT_2, _SHIFT_3 = [np.uint64(shift) for shift in SHIFTS]
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@njit
def mixed(word: np.uint64) -> np.uint64:
    """Return SplitMix64's mixing of a word, as `engine.splitmix.mixed` does."""
    word = (word ^ (word >> _SHIFT_1)) * _FACTOR_1
    word = (word ^ (word >> _SHIFT_2)) * _FACTOR_2
    return np.uint64(word ^ (word >> _SHIFT_3))


@njit
def draw_cards(deck: NDArray[np.uint8], draws: int, counter: np.uint64) -> np.uint64:
    """Bring cards drawn at random to the front of a deck, which stays a permutation of itself.

    Each word of the generator makes two draws, its upper half first (see `engine.kernels.showdowns.count_sampled`).

    Args:
        counter: the generator's state.

    Returns:
        the generator's state afterwards.
    """
    size = len(deck)
    word = _ZERO
    for draw in range(draws):
        if draw % 2 == 0:
            counter += _STEP
            word = mixed(counter)
            half = word >> _HALF
        else:
            half = word & _LOW_HALF
        place = draw + np.int64((half * np.uint64(size - draw)) >> _HALF)
        card = deck[place]
        deck[place] = deck[draw]
        deck[draw] = card
    return counter


@njit
def count_sampled(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add `trials` showdowns with drawn cards to counts, as `engine.kernels.showdowns.count_sampled` does."""
    to_come = 5 - len(board)
    draws = to_come + 2 * opponents
    key, cards = key_and_set(board)
    own_key, own_cards = KEYS[hole[0]] + KEYS[hole[1]], BITS[hole[0]] | BITS[hole[1]]
    deck = np.empty(len(unseen), np.uint8)
    counter = start
    for _ in range(trials):
        deck[:] = unseen
        counter = np.uint64(draw_cards(deck, draws, counter))
        board_key, board_cards = key, cards
        for i in range(to_come):
            board_key += KEYS[deck[i]]
            board_cards |= BITS[deck[i]]
        ours = seven_rank(board_key + own_key, board_cards | own_cards)
        winners = 1
        for i in range(to_come, draws, 2):
            theirs = seven_rank(
                board_key + KEYS[deck[i]] + KEYS[deck[i + 1]], board_cards | BITS[deck[i]] | BITS[deck[i + 1]]
            )
            if theirs > ours:
                winners = 0
                break
            winners += theirs == ours
        counts[winners] += 1


_BOARD_CARDS: Final = 5
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
        board: three to five cards.
        opponents: how many, 1 to 9.
        start: of the random numbers, 64 bits.
        counts: at least ``opponents + 2``: lost ones at 0, at k those with k winners including us.
    """
    board_key, board_cards = key_and_set(board)
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
    # Ranks of hands by the one or two cards that come to them: at 16 times the rank of the first plus that of the
    # second, or plus 0.
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
    # `counter` is the generator's state for this word in showdown 0; it grows by `words` from showdown to showdown.
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
    # Which cards lie at two places drawn one after the other, by the place where each lay before the first draw. The
    # first one changes places with the card at place `drawn`.
    for at in range(count):
        place, next_place = column[at], next_column[at]
        one[at] = place
        other[at] = drawn if next_place == place else next_place


@njit
def _step_back(
    column: NDArray[np.uint8], drawn: np.uint8, one: NDArray[np.uint8], other: NDArray[np.uint8], count: int
) -> None:
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
    for at in range(np.uint64(count)):
        trial = trials[at]
        hands[at] = keys[trial] + key_at[one[trial]] + key_at[other[trial]]


@njit
def _their_ranks(hands: NDArray[np.uint64], theirs: NDArray[np.uint16], count: int) -> None:
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
    lasting = _ZERO
    for at in range(np.uint64(count)):
        trial = trials[at]
        rank, their = ours[trial], theirs[at]
        winners[trial] += np.uint8(their == rank)
        trials[lasting] = trial
        lasting += np.uint64(their <= rank)
    return int(np.int64(lasting))


_NO_CARD: Final = 26
"""In addition to the 26 kinds of cards: a rank, twice, plus one for the suit that matters."""


@njit
def count_against_one(hole: NDArray[np.uint8], board: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Add to counts every showdown against one opponent: all its hands with all boards to come, each once.

    Args:
        board: three to five cards.
        counts: at least three: lost, won and tied showdowns.
    """
    to_come = _BOARD_CARDS - len(board)
    left = np.full(14, 4, np.int64)
    left[13] = 1
    suited_left = np.zeros((4, 13), np.int64)
    suited_left[:] = 1
    board_ranks, hole_ranks = _ZERO, RANK_KEYS[hole[0] >> 2] + RANK_KEYS[hole[1] >> 2]
    ours, on_board, in_suit = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
    for card in hole:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        ours[card & 3] |= 1 << np.int64(card >> 2)
    for card in board:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        board_ranks += RANK_KEYS[card >> 2]
        on_board[card & 3] |= 1 << np.int64(card >> 2)
        in_suit[card & 3] += 1
    first_a, last_a = (0, _NO_CARD - 1) if to_come > 0 else (_NO_CARD, _NO_CARD)
    with_flush = np.zeros((14, 14), np.int64)
    size = np.ones(_NO_CARD + 1, np.int64)
    nothing = np.zeros(13, np.int64)
    for suit in range(4):
        if in_suit[suit] + to_come < 3:
            continue
        suited = suited_left[suit]
        for rank in range(13):
            size[2 * rank], size[2 * rank + 1] = left[rank] - suited[rank], suited[rank]
        for a in range(first_a, last_a + 1):
            for b in range(a if to_come == 2 else _NO_CARD, _NO_CARD if to_come == 2 else _NO_CARD + 1):
                # The kind of no card is even: it is of no suit.
                if in_suit[suit] + (a & 1) + (b & 1) < 3:
                    continue
                times = size[a] * size[b] if a != b or a == _NO_CARD else size[a] * (size[a] - 1) // 2
                if times == 0:
                    continue
                with_flush[a >> 1, b >> 1] += times
                ranks, mask = board_ranks, on_board[suit]
                for kind in (a, b):
                    if kind != _NO_CARD:
                        ranks += RANK_KEYS[kind >> 1]
                        left[kind >> 1] -= 1
                        if kind & 1:
                            suited[kind >> 1] = 0
                            mask |= 1 << (kind >> 1)
                suited_on_board = in_suit[suit] + (a & 1) + (b & 1)
                _compare(ranks, hole_ranks, mask, ours[suit], left, suited, suited_on_board, times, counts)
                for kind in (a, b):
                    if kind != _NO_CARD:
                        left[kind >> 1] += 1
                        suited[kind >> 1] |= kind & 1
    for a in range(first_a >> 1, (last_a >> 1) + 1):
        for b in range(a if to_come == 2 else 13, 13 if to_come == 2 else 14):
            ways = left[a] * left[b] if a != b or a == 13 else left[a] * (left[a] - 1) // 2
            times = ways - with_flush[a, b]
            if times == 0:
                continue
            ranks = board_ranks
            for rank in (a, b):
                if rank != 13:
                    ranks += RANK_KEYS[rank]
                    left[rank] -= 1
            _compare(ranks, hole_ranks, 0, 0, left, nothing, 0, times, counts)
            for rank in (a, b):
                if rank != 13:
                    left[rank] += 1


@njit
def _compare(
    ranks: np.uint64,
    hole_ranks: np.uint64,
    mask: int,
    ours: int,
    left: NDArray[np.int64],
    suited: NDArray[np.int64],
    on_board: int,
    times: int,
    counts: NDArray[np.int64],
) -> None:
    # `ranks` and `hole_ranks` are sums of rank keys; `mask` and `ours` are the board's and our ranks in the suit of a
    # possible flush, `suited` those cards among `left` that are of this suit.
    best = max(plain_seven_rank(ranks + hole_ranks), FLUSHES[mask | ours])
    won = tied = total = 0
    for a in range(13):
        of_a, suited_a, with_a = left[a], suited[a], ranks + RANK_KEYS[a]
        if of_a == 0:
            continue
        # No cards of one rank are left for a pair: its key leads next to the table.
        plain = plain_seven_rank(with_a + RANK_KEYS[a]) if of_a > 1 else np.uint16(0)
        ways = of_a * (of_a - 1) // 2
        total += ways
        if on_board > 3:
            # One of the two is suited, or none.
            plain = max(plain, FLUSHES[mask])
            one = suited_a * (of_a - 1)
            ways -= one
            theirs = max(plain, FLUSHES[mask | 1 << a])
            won += one if best > theirs else 0
            tied += one if best == theirs else 0
        won += ways if best > plain else 0
        tied += ways if best == plain else 0
        for b in range(a + 1, 13):
            ways = of_a * left[b]
            if ways == 0:
                continue
            total += ways
            plain = plain_seven_rank(with_a + RANK_KEYS[b])
            both = suited_a * suited[b]
            ways -= both
            if on_board > 3:
                # The first is suited, the second, or none.
                plain = max(plain, FLUSHES[mask])
                only_a, only_b = suited_a * left[b] - both, suited[b] * of_a - both
                ways -= only_a + only_b
                theirs = max(plain, FLUSHES[mask | 1 << a])
                won += only_a if best > theirs else 0
                tied += only_a if best == theirs else 0
                theirs = max(plain, FLUSHES[mask | 1 << b])
                won += only_b if best > theirs else 0
                tied += only_b if best == theirs else 0
            won += ways if best > plain else 0
            tied += ways if best == plain else 0
            if both:
                # With three on the board only both together make a flush, which is never also a full house.
                theirs = FLUSHES[mask | 1 << a | 1 << b]
                won += 1 if best > theirs else 0
                tied += 1 if best == theirs else 0
    counts[0] += times * (total - won - tied)
    counts[1] += times * won
    counts[2] += times * tied
