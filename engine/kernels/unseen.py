"""What a hand is worth against unseen cards, compiled: for training, which asks millions of times in one process.

`count_against_one` counts every showdown, as `engine.kernels.showdowns.count_against_one` does; `count_against_many`
draws some, the same ones as `engine.kernels.draw.count_sampled`. Both do less for it:

- Boards and hands that are alike in all that counts are counted once, times their number. Where no flush is possible
  only ranks count; where one is, its suit and the ranks of the other cards.
- A sampled showdown is over with the first opponent who holds more. The cards of the others are not drawn: every word
  of the generator is known without the words before it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, FLUSHES, KEYS, RANK_KEYS, RANKS_ONLY, START
from engine.kernels.draw import mixed
from engine.kernels.jit import njit
from engine.kernels.rank import flush_rank, plain_seven_rank, seven_rank
from engine.splitmix import STEP

__all__ = ["count_against_many", "count_against_one"]

_BOARD_CARDS: Final = 5
_NO_CARD: Final = 26
"""Beside the 26 kinds of cards: a rank, twice, plus one for the suit that matters."""
_ZERO = np.uint64(0)
_STEP = np.uint64(STEP)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_AT_ONCE: Final = 512
"""Showdowns side by side: what is kept of them fits into the first cache of a core."""
_PLACES: Final = 64
"""Bytes for a deck: a power of two."""
_DECK, _DECK_WORDS = np.uint64(_PLACES), np.uint64(_PLACES // 8)
_FRONT_0, _FRONT_1, _FRONT_2 = np.uint8(0), np.uint8(1), np.uint8(2)


@njit
def count_against_one(hole: NDArray[np.uint8], board: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Add to counts every showdown against one opponent: all its hands with all boards to come, each once.

    Args:
        hole: our two cards.
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
                # The kind of no card is even, too: it is of no suit.
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
    """Add the showdowns of one whole board to counts, `times` times.

    Args:
        ranks: the sum of the board's rank keys.
        hole_ranks: the sum of ours.
        mask: the board's ranks in the suit of a possible flush; 0 where none is possible.
        ours: our ranks in this suit.
        left: how many cards of each rank the opponent may hold.
        suited: those among them in this suit.
        on_board: how many cards of this suit are on the board; 0 where no flush is possible.
        times: how many boards are like this one.
        counts: as in `count_against_one`.
    """
    best = max(plain_seven_rank(ranks + hole_ranks), FLUSHES[mask | ours])
    won = tied = total = 0
    for a in range(13):
        of_a, suited_a, with_a = left[a], suited[a], ranks + RANK_KEYS[a]
        if of_a == 0:
            continue
        # No cards of one rank are left for a pair: its key leads beside the table.
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

    Some hundred showdowns are followed side by side, opponent by opponent: each loop does one thing for all that are
    not lost yet, which processors do several at a time or at least without a wrong guess at each loss. The generator's
    words of a showdown follow from its number.

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
    size = 0
    for card in range(52):
        if not BITS[card] & (board_cards | own_cards):
            key_at[size], bits_at[size] = KEYS[card], BITS[card]
            size += 1
    to_come = _BOARD_CARDS - len(board)
    words = np.uint64((to_come + 2 * opponents + 1) // 2) * _STEP
    # By showdown: the places drawn first, and the cards that lay there (see `_first_cards`).
    place_0, place_1 = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    place_2, place_3 = np.zeros(_AT_ONCE, np.uint8), np.zeros(_AT_ONCE, np.uint8)
    card_1, card_2, card_3 = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    # By showdown: the key of the whole board, our rank, how many winners there are so far.
    keys, ours, winners = np.empty(_AT_ONCE, np.uint64), np.empty(_AT_ONCE, np.uint16), np.empty(_AT_ONCE, np.uint8)
    # The showdowns that are not lost, and places drawn for these.
    left = np.empty(_AT_ONCE, np.uint16)
    upper, lower = np.empty(_AT_ONCE, np.uint8), np.empty(_AT_ONCE, np.uint8)
    # By showdown: the deck, of which `_PLACES` bytes are kept.
    decks = np.empty(_AT_ONCE * _PLACES, np.uint8)
    deck_words, sorted_words = decks.view(np.uint64), np.arange(_PLACES).astype(np.uint8).view(np.uint64)
    known = seven_rank(board_key + own_key, board_cards | own_cards) if to_come == 0 else np.uint16(0)
    for done in range(0, trials, _AT_ONCE):
        alive = min(_AT_ONCE, trials - done)
        counter = start + np.uint64(done) * words + _STEP
        for at in range(alive):
            left[at] = at
        _draw_places(counter, words, left, place_0, place_1, 0, size, alive)
        drawn = 2
        if to_come > 0:
            counter += _STEP
            _draw_places(counter, words, left, place_2, place_3, 2, size, alive)
            drawn = 4
        _first_cards(place_0, place_1, place_2, place_3, card_1, card_2, card_3, alive)
        lasting = 0
        for at in range(alive):
            first, second = place_0[at], card_1[at]
            key = board_key
            if to_come == 0:
                one, other = first, second
            elif to_come == 1:
                key += key_at[first]
                one, other = second, card_2[at]
            else:
                key += key_at[first] + key_at[second]
                one, other = card_2[at], card_3[at]
            own, their = key + own_key, key + key_at[one] + key_at[other]
            if (own | their) & FLUSH:
                cards = board_cards
                if to_come > 0:
                    cards |= bits_at[first]
                if to_come > 1:
                    cards |= bits_at[second]
                rank = seven_rank(own, cards | own_cards)
                theirs = seven_rank(their, cards | bits_at[one] | bits_at[other])
            else:
                rank = plain_seven_rank(own & RANKS_ONLY) if to_come > 0 else known
                theirs = plain_seven_rank(their & RANKS_ONLY)
            keys[at], ours[at] = key, rank
            winners[at] = 2 if theirs == rank else 1
            left[lasting] = at
            lasting += 1 if theirs <= rank else 0
        counts[0] += alive - lasting
        alive = lasting
        if opponents > 1:
            for at in range(alive):
                trial = np.uint64(left[at])
                for word in range(_PLACES // 8):
                    deck_words[trial * _DECK_WORDS + np.uint64(word)] = sorted_words[word]
                deck = trial * _DECK
                # Each card drawn changes places with the one at the front, which is drawn no more.
                decks[deck + place_0[trial]] = 0
                decks[deck + place_1[trial]] = decks[deck + _ONE]
                if to_come > 0:
                    decks[deck + place_2[trial]] = decks[deck + _TWO]
                if to_come > 1:
                    decks[deck + place_3[trial]] = decks[deck + _THREE]
        for opponent in range(1, opponents):
            counter += _STEP
            _draw_places(counter, words, left, upper, lower, drawn, size, alive)
            drawn += 2
            front = np.uint64(to_come + 2 * opponent)
            lasting = 0
            for at in range(alive):
                trial = np.uint64(left[at])
                one, other = upper[at], lower[at]
                if to_come == 1:
                    # The second half of the word before, and the first of this one.
                    one, other = place_3[trial], one
                    place_3[trial] = lower[at]
                deck = trial * _DECK
                one_place, other_place = deck + one, deck + other
                one = decks[one_place]
                decks[one_place] = decks[deck + front]
                other = decks[other_place]
                decks[other_place] = decks[deck + front + _ONE]
                their = keys[trial] + key_at[one] + key_at[other]
                if their & FLUSH:
                    cards = board_cards | bits_at[one] | bits_at[other]
                    if to_come > 0:
                        cards |= bits_at[place_0[trial]]
                    if to_come > 1:
                        cards |= bits_at[card_1[trial]]
                    theirs = flush_rank(cards)
                else:
                    theirs = plain_seven_rank(their & RANKS_ONLY)
                rank = ours[trial]
                winners[trial] += 1 if theirs == rank else 0
                left[lasting] = trial
                lasting += 1 if theirs <= rank else 0
            counts[0] += alive - lasting
            alive = lasting
        for at in range(alive):
            counts[winners[left[at]]] += 1


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
def _first_cards(
    place_0: NDArray[np.uint8],
    place_1: NDArray[np.uint8],
    place_2: NDArray[np.uint8],
    place_3: NDArray[np.uint8],
    card_1: NDArray[np.uint8],
    card_2: NDArray[np.uint8],
    card_3: NDArray[np.uint8],
    count: int,
) -> None:
    """Write what lies at the second, third and fourth place drawn; at the first there is the card of the same number.

    A card drawn changes places with the front one: where a place was drawn before, the card that was then in front of
    the deck lies there, or what an earlier draw had put there.
    """
    for at in range(count):
        first, second, third, fourth = place_0[at], place_1[at], place_2[at], place_3[at]
        card_1[at] = _FRONT_0 if second == first else second
        found = _FRONT_1 if third == second else third
        card_2[at] = _FRONT_0 if found == first else found
        found = _FRONT_2 if fourth == third else fourth
        found = _FRONT_1 if found == second else found
        card_3[at] = _FRONT_0 if found == first else found
