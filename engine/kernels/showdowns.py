"""Showdowns counted and drawn with numpy, without waiting for a compiler.

Call these functions through `engine.equity`, which validates. Boards and hands that are alike in all that counts are
counted once, times their number. Without a flush only ranks count: there are 91 sets of two ranks and 6,175 of five.
A flush needs three cards of its suit on the board, so each board has at most one suit that counts.
"""

# Keys and tables are those of engine.kernels.cards in int64, because numpy converts indexes of any other type at every
# look-up. The key of five cards of one rank, which no deck has, leads outside the tables. Such hands have the weight 0,
# and look-ups clip the index.

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import (
    BITS,
    FLUSH,
    FLUSHES,
    KEYS,
    OFFSETS,
    RANK_KEYS,
    RANKS_ONLY,
    ROW_BITS,
    START,
    SUIT_MASK,
    VALUES,
)
from engine.splitmix import FACTORS, SHIFTS, STEP

Cards: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int64]
_Ints: TypeAlias = NDArray[np.int64]
# Number of boards by pot and set of winners. Floats are exact, because there are fewer than 2**53 boards.
_Outcomes: TypeAlias = NDArray[np.float64]

_BOARD_CARDS: Final = 5
# Trials in one batch, whose arrays fit into the processor's cache.
_BLOCK_TRIALS: Final = 1024

_ROW_BITS: Final = int(ROW_BITS[6])
_ROW: Final = (1 << _ROW_BITS) - 1
_OFFSETS: Final = OFFSETS[6].astype(np.int64)
_VALUES: Final = VALUES[6]
_RANKS_ONLY: Final = int(RANKS_ONLY)
_START: Final = int(START)
_FLUSH: Final = int(FLUSH)
_SUIT_MASK: Final = int(SUIT_MASK)
_KEYS: Final = KEYS.astype(np.int64)
_BITS: Final = BITS.astype(np.int64)
_RANK_KEYS: Final = RANK_KEYS.astype(np.int64)

# The 91 sets of two ranks, and the indexes of those with one rank twice.
_RANKS: Final = np.arange(13)
_LOW, _HIGH = np.array(list(combinations_with_replacement(range(13), 2))).T
_TWO_RANKS: Final = 1 << _LOW | 1 << _HIGH
_TWO_KEYS: Final = _RANK_KEYS[_LOW] + _RANK_KEYS[_HIGH]
_PAIRS: Final = np.flatnonzero(_LOW == _HIGH)

_STEP: Final = np.uint64(STEP)
_FACTORS: Final = [np.uint64(factor) for factor in FACTORS]
_SHIFTS: Final = [np.uint64(shift) for shift in SHIFTS]
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)


def count_against_one(hole: Cards, board: Cards, unseen: Cards, counts: Counts) -> None:
    """Add all showdowns against one opponent to counts: all its hands on all boards to come.

    Args:
        board: three to five cards.
        unseen: the other cards of the deck, without `hole`.
        counts: lost, won and tied showdowns; length 3 or more.
    """
    come = unseen[_subsets(len(unseen), _BOARD_CARDS - len(board))]
    keys = _KEYS[come].sum(axis=0) + (_START + int(_KEYS[board].sum()))
    cards = _BITS[come].sum(axis=0) + int(_BITS[board].sum())
    plain_keys = keys & _RANKS_ONLY
    hole_key = int(_RANK_KEYS[hole >> 2].sum())
    held = int(_BITS[hole].sum())
    left_in = int(_BITS[unseen].sum())
    # The counters of a key start at 3.
    in_suit = [(keys >> 32 + 4 * suit & 15) - 3 for suit in range(4)]
    for suit, number in _SUITED_BOARDS:
        if number:
            is_here = in_suit[suit] == number
        else:
            is_here = np.maximum.reduce(in_suit) < 3
        if not is_here.any():
            continue
        # Without a possible flush boards differ by their ranks alone, and the set of suited ones is empty.
        suited = (cards >> 13 * suit & _SUIT_MASK) * (number > 0)
        # Count boards once that have the same ranks, and the same ranks in this suit.
        patterns = (suited << 26 | plain_keys)[is_here]
        _, firsts, times = np.unique(patterns, return_index=True, return_counts=True)
        boards = np.flatnonzero(is_here)[firsts]
        # Rows are boards. Columns are the sets of two ranks that an opponent can hold.
        suited = suited[boards, np.newaxis]
        times = times[:, np.newaxis]
        ours = _plain_ranks(plain_keys[boards, np.newaxis] + hole_key)
        plain = _plain_ranks(plain_keys[boards, np.newaxis] + _TWO_KEYS)
        # Cards left of each rank, shape (boards, 13).
        left = np.tile(np.bincount(unseen >> 2, minlength=13), (len(boards), 1))
        for dealt in come:
            left[np.arange(len(boards)), dealt[boards] >> 2] -= 1
        if not number:
            # No flush is possible.
            _compare(ours, plain, _ways_of_two(left) * times, counts)
            continue
        ours = np.maximum(ours, FLUSHES.take(suited | held >> 13 * suit & _SUIT_MASK))
        suited_left = (left_in >> 13 * suit & ~suited) >> _RANKS & 1
        rest = left - suited_left
        others = rest.sum(axis=1, keepdims=True)
        # Hands with two cards of the suit, then with one, which makes a flush with four on the board, then with none.
        both = _ways_of_two(suited_left)
        _compare(ours, FLUSHES.take(suited | _TWO_RANKS), both * times, counts)
        if number == 3:
            _compare(ours, plain, (_ways_of_two(left) - both) * times, counts)
        else:
            _compare(ours, FLUSHES.take(suited | 1 << _RANKS), suited_left * others * times, counts)
            if number == 5:
                # The board is a flush itself, which beats every hand without a card of the suit.
                _compare(ours, FLUSHES.take(suited), others * (others - 1) // 2 * times, counts)
            else:
                _compare(ours, plain, _ways_of_two(rest) * times, counts)


# Suit of a possible flush and number of its cards on the board. The first entry is for boards without one.
_SUITED_BOARDS: Final = ((0, 0), *[(suit, number) for suit in range(4) for number in (3, 4, 5)])


def _ways_of_two(left: _Ints) -> _Ints:
    ways: _Ints = left.take(_LOW, axis=1) * left.take(_HIGH, axis=1)
    ways[:, _PAIRS] = left * (left - 1) // 2
    return ways


def _compare(ours: NDArray[np.uint16], theirs: NDArray[np.uint16], ways: _Ints, counts: Counts) -> None:
    won = int((ways * (ours > theirs)).sum())
    tied = int((ways * (ours == theirs)).sum())
    counts[:3] += (int(ways.sum()) - won - tied, won, tied)


def count_sampled(
    hole: Cards,
    board: Cards,
    unseen: Cards,
    opponents: int,
    trials: int,
    start: int,
    counts: Counts,
) -> None:
    """Add `trials` showdowns with the opponents' cards and the board cards to come drawn at random.

    Each trial shuffles the unseen cards as far as needed (Fisher-Yates), first for the board, then two cards for each
    opponent. Word i of the random numbers, counted from 1, is SplitMix64's mixing of ``start`` plus i steps. Its upper
    half makes one draw and its lower half the next, and every trial begins with a new word. A half selects among m
    cards by multiplication, with an error of at most m / 2**32 in the probability of a card.

    Args:
        board: none, or three to five cards.
        opponents: number of opponents, 1 to 9.
        start: start of the random numbers, 64 bits.
        counts: lost showdowns at 0, and at k those with k winners including us; length ``opponents + 2`` or more.
    """
    for first in range(0, trials, _BLOCK_TRIALS):
        block = min(_BLOCK_TRIALS, trials - first)
        ranks = _sampled_ranks(hole[np.newaxis], board, unseen, opponents, first=first, trials=block, start=start)
        ours = ranks[0]
        theirs = ranks[1:]
        best = theirs.max(axis=0)
        is_tie = ours == best
        winners = (ours > best).astype(np.int64)
        if is_tie.any():
            winners[is_tie] = 1 + np.count_nonzero(theirs[:, is_tie] == best[is_tie], axis=0)
        counts += np.bincount(winners, minlength=len(counts))


def count_sampled_shares(
    holes: Cards, board: Cards, unseen: Cards, opponents: int, trials: range, start: int, counts: Counts
) -> None:
    """Add the results of all players in the showdowns that `count_sampled` draws, with several known holdings.

    Args:
        holes: the known holdings, shape (known, 2).
        board: up to five cards.
        opponents: number of holdings to draw, possibly 0 if board cards are to come.
        trials: 0-based numbers of the showdowns. The results of parts of a range add up to those of the range.
        start: start of the random numbers, 64 bits.
        counts: number of showdowns in which a player is one of k winners, at [player, k - 1].
    """
    players = len(counts)
    outcomes = np.zeros((1, 1 << players))
    for first in trials[::_BLOCK_TRIALS]:
        block = min(_BLOCK_TRIALS, trials.stop - first)
        ranks = _sampled_ranks(holes, board, unseen, opponents, first=first, trials=block, start=start)
        _add_winners(ranks, [range(players)], np.ones(1), outcomes)
    _add_shares(outcomes, counts[np.newaxis])


def _sampled_ranks(
    holes: Cards, board: Cards, unseen: Cards, opponents: int, first: int, trials: int, start: int
) -> NDArray[np.uint16]:
    to_come = _BOARD_CARDS - len(board)
    known = len(holes)
    drawn = _draw(unseen, to_come + 2 * opponents, first, trials, start)
    keys = _KEYS.take(drawn)
    boards = keys[:to_come].sum(axis=0) + (_START + int(_KEYS[board].sum()))
    hands = np.empty((known + opponents, trials), np.int64)
    hands[:known] = _KEYS[holes].sum(axis=1)[:, np.newaxis]
    np.add(keys[to_come::2], keys[to_come + 1 :: 2], out=hands[known:])
    hands += boards
    hole_bits = _BITS[holes].sum(axis=1)

    def bits_of(which: NDArray[np.intp]) -> NDArray[np.int64]:
        player, trial = np.divmod(which, trials)
        place = to_come + 2 * np.maximum(player - known, 0)
        bits = _BITS[drawn[:to_come, trial]].sum(axis=0) + _BITS[board].sum()
        is_known = player < known
        bits[is_known] += hole_bits[player[is_known]]
        unknown_place = place[~is_known]
        unknown_trial = trial[~is_known]
        bits[~is_known] += _BITS[drawn[unknown_place, unknown_trial]] + _BITS[drawn[unknown_place + 1, unknown_trial]]
        return np.asarray(bits, np.int64)

    return rank_sevens(hands.reshape(-1), bits_of).reshape(hands.shape)


def _draw(unseen: Cards, draws: int, first: int, trials: int, start: int) -> NDArray[np.int64]:
    words = (draws + 1) // 2
    # The words of a trial follow from its number, so parts of a range draw the showdowns of the whole.
    numbers = np.arange(first * words + 1, (first + trials) * words + 1, dtype=np.uint64)
    word = _mix(numbers * _STEP + np.uint64(start)).reshape(trials, words).T
    places = np.empty((2 * words, trials), np.int64)
    places[0::2] = word >> _HALF
    places[1::2] = word & _LOW_HALF
    done = np.arange(2 * words)[:, np.newaxis]
    places *= len(unseen) - done
    places >>= 32
    places += done
    # All decks are in one array: the first cards of all trials, then the second ones, and so on.
    places *= trials
    places += np.arange(trials)
    decks = np.repeat(unseen.astype(np.int64), trials)
    drawn = np.empty((draws, trials), np.int64)
    for draw in range(draws):
        # All places are in bounds. With "raise" instead of "clip", numpy would copy the output.
        decks.take(places[draw], out=drawn[draw], mode="clip")
        # The first card that is left takes the place of the drawn one.
        decks[places[draw]] = decks[draw * trials : (draw + 1) * trials]
    return drawn


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ words >> _SHIFTS[0]) * _FACTORS[0]
    words = (words ^ words >> _SHIFTS[1]) * _FACTORS[1]
    return words ^ words >> _SHIFTS[2]


def count_boards(holes: Cards, board: Cards, deck: Cards, pots: Sequence[Sequence[int]], counts: Counts) -> None:
    """Add the results of each pot on all boards to come, board by board.

    Args:
        holes: hole cards, shape (players, 2).
        board: the known board cards, fewer than five.
        deck: the cards that can come.
        pots: indexes of the players of each pot.
        counts: number of boards on which a player is one of k winners, at [pot, player, k - 1].
    """
    come = deck[_subsets(len(deck), _BOARD_CARDS - len(board))]
    keys = _KEYS[come].sum(axis=0) + (_START + int(_KEYS[board].sum()))
    cards = _BITS[come].sum(axis=0) + int(_BITS[board].sum())
    ranks = []
    for hole in holes:
        own = cards + int(_BITS[hole].sum())
        ranks.append(rank_sevens(keys + int(_KEYS[hole].sum()), own.take))
    outcomes = np.zeros((len(pots), 1 << len(holes)))
    _add_winners(ranks, pots, np.ones(1), outcomes)
    _add_shares(outcomes, counts)


def count_rank_patterns(holes: Cards, deck: Cards, pots: Sequence[Sequence[int]], counts: Counts) -> None:
    """Add the results of each pot before the flop like `count_boards`, by patterns of ranks instead of boards."""
    # All boards are counted by their ranks, and those on which a player has a flush are then moved from their pattern
    # to one with the ranks in the suit and the ranks of the rest, at most 20,000 for each suit.
    patterns, keys, suited_boards = _board_patterns()
    left = np.bincount(deck >> 2, minlength=13)
    left_in = int(_BITS[deck].sum())
    held = _BITS[holes].sum(axis=1).tolist()
    plain = [_plain_ranks(keys + int(_RANK_KEYS[hole >> 2].sum())) for hole in holes]
    ways = _ways(left, patterns)
    outcomes = np.zeros((len(pots), 1 << len(holes)))
    for suit in range(4):
        own = [cards >> 13 * suit & 0x1FFF for cards in held]
        in_suit = left_in >> 13 * suit & 0x1FFF
        rest = left - (in_suit >> _RANKS & 1)
        for number, suited, others, pattern_of in suited_boards:
            if number + max(map(int.bit_count, own)) < _BOARD_CARDS:
                # No player has a flush, so these boards stay in their patterns.
                continue
            rows = np.flatnonzero(suited & ~in_suit == 0)
            boards = pattern_of.take(rows, axis=0)
            ways_here = np.broadcast_to(_ways(rest, others), boards.shape)
            ways -= np.bincount(boards.ravel(), ways_here.ravel(), minlength=len(ways))
            ranks = []
            for cards, of_pattern in zip(own, plain, strict=True):
                if number + cards.bit_count() >= _BOARD_CARDS:
                    ranks.append(FLUSHES.take(suited[rows, np.newaxis] | cards))
                else:
                    ranks.append(of_pattern.take(boards))
            _add_winners(ranks, pots, ways_here, outcomes)
    _add_winners(plain, pots, ways, outcomes)
    _add_shares(outcomes, counts)


def _add_winners(
    ranks: Sequence[NDArray[np.uint16]] | NDArray[np.uint16],
    pots: Sequence[Sequence[int]],
    ways: NDArray[np.float64],
    outcomes: _Outcomes,
) -> None:
    for pot, of_pot in zip(pots, outcomes, strict=True):
        best = np.maximum.reduce(np.broadcast_arrays(*[ranks[player] for player in pot]))
        winners = np.zeros(best.shape, np.int64)
        for player in pot:
            winners += (ranks[player] == best) * (1 << player)
        winners, weights = np.broadcast_arrays(winners, ways)
        of_pot += np.bincount(winners.ravel(), weights.ravel(), minlength=len(of_pot))


def _add_shares(outcomes: _Outcomes, counts: Counts) -> None:
    for pot, winners in np.argwhere(outcomes).tolist():
        for player in range(counts.shape[1]):
            if winners >> player & 1:
                counts[pot, player, winners.bit_count() - 1] += int(outcomes[pot, winners])


# Boards with a number of cards of one suit: this number, the sets of their ranks, shape (sets,), the ranks of the other
# cards as `_places` encodes them, and the index of the pattern of all five cards, shape (sets, others).
_SuitedBoards: TypeAlias = tuple[int, _Ints, _Ints, _Ints]


@cache
def _board_patterns() -> tuple[_Ints, _Ints, list[_SuitedBoards]]:
    ranks = np.array([five for five in combinations_with_replacement(range(13), 5) if five[0] != five[4]]).T
    ranks = ranks[:, _RANK_KEYS[ranks].sum(axis=0).argsort()]
    keys = _RANK_KEYS[ranks].sum(axis=0)
    suited_boards: list[_SuitedBoards] = []
    for number in (5, 4, 3):
        suited = np.array(list(combinations(range(13), number))).T
        rest = list(combinations_with_replacement(range(13), _BOARD_CARDS - number))
        others = np.array(rest, np.int64).reshape(len(rest), _BOARD_CARDS - number).T
        both = _RANK_KEYS[suited].sum(axis=0)[:, np.newaxis] + _RANK_KEYS[others].sum(axis=0)
        suited_boards.append((number, (1 << suited).sum(axis=0), _places(others), keys.searchsorted(both)))
    return _places(ranks), keys, suited_boards


def _places(ranks: _Ints) -> _Ints:
    """Return indexes into the factors of `_ways`: 13 times the multiplicity plus the rank, with 0 for repeats."""
    copies = (ranks[:, np.newaxis] == ranks).sum(axis=1)
    copies[1:][ranks[1:] == ranks[:-1]] = 0
    places: _Ints = 13 * copies + ranks
    return places


def _ways(left: _Ints, places: _Ints) -> NDArray[np.float64]:
    """Return the number of sets of cards for each pattern of ranks, given the number of cards left of each rank."""
    factors = [np.ones(13), left, left * (left - 1) / 2, left * (left - 1) * (left - 2) / 6, left == 4]
    ways: NDArray[np.float64] = np.concatenate(factors).take(places).prod(axis=0)
    return ways


def _plain_ranks(keys: _Ints) -> NDArray[np.uint16]:
    return _VALUES.take((keys >> _ROW_BITS) + _OFFSETS.take(keys & _ROW), mode="clip")


def rank_sevens(
    keys: NDArray[np.int64], bits_of: Callable[[NDArray[np.intp]], NDArray[np.int64]]
) -> NDArray[np.uint16]:
    """Return the ranks of hands of seven cards.

    Args:
        keys: `START` of `engine.kernels.cards` plus the sum of the keys of each hand, as int64.
        bits_of: function that returns the sets of cards of the hands with some indexes. Called for flushes only.
    """
    ranks = _plain_ranks(keys & _RANKS_ONLY)
    flushes = np.flatnonzero(keys & _FLUSH)
    if len(flushes):
        bits = bits_of(flushes)
        of_suits = [FLUSHES.take(bits >> shift & _SUIT_MASK) for shift in (0, 13, 26, 39)]
        ranks[flushes] = np.maximum.reduce(of_suits)
    return ranks


@lru_cache(maxsize=8)
def _subsets(unseen: int, size: int) -> NDArray[np.intp]:
    """Return all combinations of `size` places, shape (size, combinations)."""
    rows: list[NDArray[np.intp]] = []
    for _ in range(size):
        # Extend each combination by every place after its last one.
        last = rows[-1] if rows else np.array([-1])
        follow = unseen - 1 - last
        ends = np.cumsum(follow)
        rows = [np.repeat(row, follow) for row in rows]
        rows.append(np.arange(ends[-1]) - np.repeat(ends - follow - last - 1, follow))
    return np.stack(rows) if rows else np.empty((0, 1), np.intp)
