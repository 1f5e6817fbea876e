"""The chances of `bots.chance.Chance`, compiled: the same seeds, the same draws, the same numbers.

A `Chance` draws from a seed that Python's ``random.Random`` makes of a text, "seed:(hand, hole cards, board,
opponents)": SHA-512 of the text (FIPS 180-4), then MT19937's initialiser for arrays (Matsumoto & Nishimura 2002). Both
are computed here, since asking Python for one costs as much as a hand.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.equity import MOST_OPPONENTS, preflop_equity
from engine.kernels.draw import mixed
from engine.kernels.jit import njit
from engine.kernels.unseen import count_against_many, count_against_one
from engine.starting_hands import starting_hand_table

__all__ = ["chance_percent", "chance_seed", "preflop_percent", "seed_text"]

_MOST_SEED_TEXT: Final = 60
"""Bytes of a seed's text with which that of a state fits into one block of SHA-512."""


def _roots(power: int) -> list[int]:
    """The first 64 bits of the fractions of the 2nd or 3rd roots of the first eighty primes."""
    primes = [n for n in range(2, 410) if all(n % d for d in range(2, n))]
    found = []
    for prime in primes:
        scaled, low, high = prime << 64 * power, 0, 1 << 68
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**power <= scaled else (low, middle - 1)
        found.append(low & (1 << 64) - 1)
    return found


def _first_words() -> list[int]:
    """MT19937's state after its single-integer initialiser with 19650218, from which that for arrays starts."""
    words = [19650218]
    for i in range(1, 624):
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + i) & 0xFFFFFFFF)
    return words


_SHA_CONSTANTS = np.array(_roots(3), np.uint64)
_SHA_START = np.array(_roots(2)[:8], np.uint64)
_MT_START = np.array(_first_words(), np.uint64)
_STARTING_HAND = np.array(starting_hand_table(), np.uint8)
_PREFLOP = np.zeros((169, MOST_OPPONENTS), np.float64)
for _one in range(52):
    for _other in range(52):
        if _one != _other:
            _PREFLOP[_STARTING_HAND[_one, _other]] = [
                100 * preflop_equity((_one, _other), opponents).equity for opponents in range(1, MOST_OPPONENTS + 1)
            ]
_ROTATIONS = np.array([[28, 34, 39], [14, 18, 41], [1, 8, 7], [19, 61, 6]], np.uint64)
"""Of SHA-512's functions Sigma 0 and 1 and sigma 0 and 1; the third number of the last two is a shift."""
_64, _32_BITS = np.uint64(64), np.uint64(0xFFFFFFFF)
_8, _11, _7, _15, _18, _30, _32, _1 = [np.uint64(number) for number in (8, 11, 7, 15, 18, 30, 32, 1)]
_MULTIPLY_1, _MULTIPLY_2 = np.uint64(1664525), np.uint64(1566083941)
_TOP, _LOWER, _TWIST = np.uint64(0x80000000), np.uint64(0x7FFFFFFF), np.uint64(0x9908B0DF)
_TEMPER_1, _TEMPER_2 = np.uint64(0x9D2C5680), np.uint64(0xEFC60000)
_SUM_CORRECTS: Final = sys.version_info >= (3, 12)
_WORDS: Final = 624
_BLOCK: Final = 128
_DIGEST: Final = 64


def seed_text(seed: int) -> NDArray[np.uint8]:
    """The beginning of the texts of a seed.

    Raises:
        ValueError: it is longer than any that is asked for.
    """
    text = f"{seed}:(".encode()
    if len(text) > _MOST_SEED_TEXT:
        raise ValueError(f"a seed of {len(text) - 2} digits is too long")
    return np.frombuffer(text, np.uint8)


@njit
def chance_percent(
    seed: NDArray[np.uint8], hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int, trials: int
) -> float:
    """The chance to win after the first round, in per cent.

    Args:
        seed: the text of the seed, see `seed_text`.
        hand: the hand's number, below 10 ** 10.
        hole: our two cards.
        board: three to five cards.
        opponents: how many have not folded, 1 to 9.
        trials: showdowns drawn against two or more.
    """
    counts = np.zeros(opponents + 2, np.int64)
    if opponents == 1:
        count_against_one(hole, board, counts)
    else:
        start = chance_seed(seed, hand, hole, board, opponents)
        count_against_many(hole, board, opponents, trials, mixed(start), counts)
    # As `engine.equity.equity_of_counts` adds, so that the last bit is the same: with a correction since Python 3.12.
    total, shares, lost = counts[0], 0.0, 0.0
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
def preflop_percent(one: int, other: int, opponents: int) -> float:
    """The chance to win before the flop with two cards, in per cent."""
    return float(_PREFLOP[_STARTING_HAND[one, other], opponents - 1])


@njit
def chance_seed(
    seed: NDArray[np.uint8], hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int
) -> np.uint64:
    """The seed of the draws: ``random.Random(f"{seed}:{(hand, hole, board, opponents)}").getrandbits(64)``."""
    text = np.zeros(_BLOCK, np.uint8)
    size = len(seed)
    text[:size] = seed
    size = _write_number(text, size, hand)
    for cards in (hole, board):
        size = _write(text, size, 44, 32)  # a comma and a blank
        text[size] = 40  # (
        size += 1
        for i in range(len(cards)):
            if i > 0:
                size = _write(text, size, 44, 32)
            size = _write_number(text, size, np.int64(cards[i]))
        text[size] = 41  # )
        size += 1
    size = _write(text, size, 44, 32)
    size = _write_number(text, size, opponents)
    text[size] = 41
    size += 1
    digest = _sha_512(text, size)
    # The bytes are one number, the last of them the least; its 32-bit words start the generator.
    whole = size + _DIGEST
    key = np.zeros((whole + 3) // 4, np.uint64)
    for i in range(whole):
        at = whole - 1 - i
        byte = (
            np.uint64(text[at])
            if at < size
            else digest[(at - size) // 8] >> (_8 * np.uint64(7 - (at - size) % 8)) & np.uint64(255)
        )
        key[i // 4] |= byte << (_8 * np.uint64(i % 4))
    return _first_64_bits(key)


@njit
def _write(text: NDArray[np.uint8], size: int, one: int, other: int) -> int:
    text[size], text[size + 1] = one, other
    return size + 2


@njit
def _write_number(text: NDArray[np.uint8], size: int, number: Any) -> int:
    """Append a number of 0 or more; returns the new size."""
    digits, rest = 1, number // 10
    while rest > 0:
        digits, rest = digits + 1, rest // 10
    for i in range(digits):
        text[size + digits - 1 - i] = 48 + number % 10
        number //= 10
    return size + digits


@njit
def _turned(word: np.uint64, by: np.uint64) -> np.uint64:
    return np.uint64(word >> by | word << (_64 - by))


@njit
def _sha_512(text: NDArray[np.uint8], size: int) -> NDArray[np.uint64]:
    """SHA-512 of a text that fits into one block; what follows it there is 0."""
    words = np.zeros(80, np.uint64)
    for i in range(size):
        words[i // 8] |= np.uint64(text[i]) << (_8 * np.uint64(7 - i % 8))
    words[size // 8] |= np.uint64(128) << (_8 * np.uint64(7 - size % 8))
    words[15] = np.uint64(8 * size)
    turns = _ROTATIONS
    for i in range(16, 80):
        one, other = words[i - 15], words[i - 2]
        one = _turned(one, turns[2, 0]) ^ _turned(one, turns[2, 1]) ^ (one >> turns[2, 2])
        other = _turned(other, turns[3, 0]) ^ _turned(other, turns[3, 1]) ^ (other >> turns[3, 2])
        words[i] = words[i - 16] + one + words[i - 7] + other
    a, b, c, d, e, f, g, h = _SHA_START
    for i in range(80):
        choice, majority = (e & f) ^ (~e & g), (a & b) ^ (a & c) ^ (b & c)
        one = h + (_turned(e, turns[1, 0]) ^ _turned(e, turns[1, 1]) ^ _turned(e, turns[1, 2]))
        one += choice + _SHA_CONSTANTS[i] + words[i]
        other = (_turned(a, turns[0, 0]) ^ _turned(a, turns[0, 1]) ^ _turned(a, turns[0, 2])) + majority
        h, g, f, e, d, c, b, a = g, f, e, d + one, c, b, a, one + other
    digest = np.array([a, b, c, d, e, f, g, h], np.uint64)
    return digest + _SHA_START


@njit
def _first_64_bits(key: NDArray[np.uint64]) -> np.uint64:
    """The first two outputs of MT19937 started with an array of 32-bit words, the first of them the lower half."""
    state = _MT_START.copy()
    i, j = 1, 0
    for _ in range(max(_WORDS, len(key))):
        before = state[i - 1]
        state[i] = ((state[i] ^ (before ^ before >> _30) * _MULTIPLY_1) + key[j] + np.uint64(j)) & _32_BITS
        i, j = i + 1, j + 1
        if i == _WORDS:
            state[0], i = state[_WORDS - 1], 1
        if j == len(key):
            j = 0
    for _ in range(_WORDS - 1):
        before = state[i - 1]
        state[i] = ((state[i] ^ (before ^ before >> _30) * _MULTIPLY_2) - np.uint64(i)) & _32_BITS
        i += 1
        if i == _WORDS:
            state[0], i = state[_WORDS - 1], 1
    state[0] = _TOP
    found = np.uint64(0)
    for at in range(2):
        word = (state[at] & _TOP) | (state[at + 1] & _LOWER)
        word = state[at + 397] ^ word >> _1 ^ (word & _1) * _TWIST
        word ^= word >> _11
        word ^= word << _7 & _TEMPER_1
        word ^= word << _15 & _TEMPER_2
        word ^= word >> _18
        found |= (word & _32_BITS) << (_32 * np.uint64(at))
    return found
