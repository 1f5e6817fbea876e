"""Cards drawn at random, compiled: SplitMix64 (see `engine.splitmix`), the first steps of a shuffle, and showdowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, KEYS, RANKS_ONLY, START
from engine.kernels.jit import njit
from engine.kernels.rank import flush_rank, plain_seven_rank, seven_rank
from engine.splitmix import FACTORS, SHIFTS, STEP

__all__ = ["count_sampled", "count_sampled_duels", "draw_cards", "mixed"]

_ZERO, _ONE, _TWO, _THREE = [np.uint64(number) for number in range(4)]
_DECK_WORDS = np.uint64(8)
"""A deck takes so many words of eight bytes: it is copied at once."""
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
        deck: any cards.
        draws: how many of them are drawn.
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
    key, cards = START, _ZERO
    for card in board:
        key += KEYS[card]
        cards |= BITS[card]
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


@njit
def count_sampled_duels(
    to_come: tuple[None, ...],
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Do what `count_sampled` does against one opponent, two to five times as fast.

    Args:
        to_come: as many items as cards of the board are to come. The length of a tuple is part of its type, so the
            kernel is compiled for each and all short loops in it are written out.
        hole: as there, and so are the others.
    """
    missing, size = np.uint64(len(to_come)), np.uint64(len(unseen))
    board_key, board_cards = START, _ZERO
    for card in board:
        board_key += KEYS[card]
        board_cards |= BITS[card]
    own_key, own_cards = KEYS[hole[0]] + KEYS[hole[1]], BITS[hole[0]] | BITS[hole[1]]
    whole = np.zeros(8 * int(_DECK_WORDS), np.uint8)
    whole[: len(unseen)] = unseen
    deck = whole.copy()
    whole_words, deck_words = whole.view(np.uint64), deck.view(np.uint64)
    counter, won, tied = start, 0, 0
    if not missing:
        ours = seven_rank(board_key + own_key, board_cards | own_cards)
        for _ in range(trials):
            counter += _STEP
            word = mixed(counter)
            one = (word >> _HALF) * size >> _HALF
            two = _ONE + ((word & _LOW_HALF) * (size - _ONE) >> _HALF)
            # The first card has changed places with card 0.
            one_card, two_card = whole[one], whole[two if two != one else _ZERO]
            key = board_key + KEYS[one_card] + KEYS[two_card]
            if key & FLUSH:
                theirs = flush_rank(board_cards | BITS[one_card] | BITS[two_card])
            else:
                theirs = plain_seven_rank(key & RANKS_ONLY)
            won += 1 if ours > theirs else 0
            tied += 1 if ours == theirs else 0
    else:
        for _ in range(trials):
            for i in range(_DECK_WORDS):
                deck_words[i] = whole_words[i]
            for i in range((missing + _THREE) // _TWO):
                counter += _STEP
                word = mixed(counter)
                draw = _TWO * i
                place = draw + ((word >> _HALF) * (size - draw) >> _HALF)
                card = deck[place]
                deck[place] = deck[draw]
                deck[draw] = card
                draw += _ONE
                place = draw + ((word & _LOW_HALF) * (size - draw) >> _HALF)
                card = deck[place]
                deck[place] = deck[draw]
                deck[draw] = card
            key = board_key
            for i in range(missing):
                key += KEYS[deck[i]]
            one_card, two_card = deck[missing], deck[missing + _ONE]
            our_key, their_key = key + own_key, key + KEYS[one_card] + KEYS[two_card]
            if (our_key | their_key) & FLUSH:
                cards = board_cards
                for i in range(missing):
                    cards |= BITS[deck[i]]
                ours = seven_rank(our_key, cards | own_cards)
                theirs = seven_rank(their_key, cards | BITS[one_card] | BITS[two_card])
            else:
                ours = plain_seven_rank(our_key & RANKS_ONLY)
                theirs = plain_seven_rank(their_key & RANKS_ONLY)
            won += 1 if ours > theirs else 0
            tied += 1 if ours == theirs else 0
    counts[0] += trials - won - tied
    counts[1] += won
    counts[2] += tied
