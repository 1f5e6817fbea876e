"""All boards counted by compiled code: twins of `count_boards` and `count_rank_patterns` in `engine.kernels.showdowns`.

They validate nothing and pay where thousands of all-in hands are counted, since compiling them takes seconds. Cards are
0..51, hands are two cards, a board has five. Of each pot is counted how often each of its players is one of k winners.

The loops that find a pot's winners are in both kernels: as a function of their own they take four times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSHES, KEYS, RANK_KEYS, START
from engine.kernels.evaluation import FIVE_SLOTS, five_slot, plain_seven_rank, seven_rank
from engine.kernels.jit import njit


def _key(ranks: Iterable[int]) -> int:
    return sum(int(RANK_KEYS[rank]) for rank in ranks)


def _suited_cases() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for number in (5, 4, 3):
        for suited in combinations(range(13), number):
            for others in combinations_with_replacement(range(13), 5 - number):
                yield suited, others


_CASES = tuple(_suited_cases())
_SUITED = np.array([sum(1 << rank for rank in suited) for suited, _ in _CASES], np.int64)
_OTHERS = np.array([(*others, 0, 0)[:2] for _, others in _CASES], np.int64)
_SUITED_KEYS = np.array([_key(suited + others) for suited, others in _CASES], np.uint64)
_NUMBER_ENDS = np.array([sum(len(suited) >= number for suited, _ in _CASES) for number in range(6)], np.int64)
_PLAIN = np.array(
    [ranks for ranks in combinations_with_replacement(range(13), 5) if ranks[0] != ranks[4]], dtype=np.int64
)
_PLAIN_KEYS = np.array([_key(ranks) for ranks in _PLAIN.tolist()], np.uint64)


@njit
def count_boards(
    holes: NDArray[np.uint8],
    board: NDArray[np.uint8],
    deck: NDArray[np.uint8],
    pots: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Add to counts how each pot ends on every board made of the known cards and cards of the deck.

    Args:
        holes: shape (players, 2).
        board: the known board cards, fewer than five.
        pots: shape (pots, players), 1 for players who play for the pot.
        counts: shape (pots, players, players): [pot, player, k - 1] counts the boards on which the
            player is one of k winners.
    """
    players = holes.shape[0]
    known = board.shape[0]
    missing = 5 - known
    ranks = np.zeros(players, np.int64)
    chosen = np.arange(missing)
    while True:
        board_key, board_bits = START, np.uint64(0)
        for i in range(5):
            card = board[i] if i < known else deck[chosen[i - known]]
            board_key += KEYS[card]
            board_bits |= BITS[card]
        for player in range(players):
            one, two = holes[player, 0], holes[player, 1]
            ranks[player] = seven_rank(board_key + KEYS[one] + KEYS[two], board_bits | BITS[one] | BITS[two])
        for pot in range(pots.shape[0]):
            best, winners = -1, 0
            for player in range(players):
                if pots[pot, player]:
                    if ranks[player] > best:
                        best, winners = ranks[player], 1
                    elif ranks[player] == best:
                        winners += 1
            for player in range(players):
                if pots[pot, player] and ranks[player] == best:
                    counts[pot, player, winners - 1] += 1
        place = missing - 1
        while place >= 0 and chosen[place] == deck.shape[0] - missing + place:
            place -= 1
        if place < 0:
            return
        chosen[place] += 1
        for i in range(place + 1, missing):
            chosen[i] = chosen[i - 1] + 1


@njit
def count_rank_patterns(
    holes: NDArray[np.uint8], deck: NDArray[np.uint8], pots: NDArray[np.uint8], counts: NDArray[np.int64]
) -> None:
    """Add to counts how each pot ends on every board of five cards of the deck; arguments as for `count_boards`.

    Without a flush only the ranks matter: 6,175 ways to have five ranks, each standing for as many boards as its ranks
    can be drawn from the deck. Boards with three or more cards of a suit are taken out of that count and counted suit
    by suit.
    """
    players = holes.shape[0]
    hole_keys = np.zeros(players, np.uint64)
    hole_suits = np.zeros((4, players), np.int64)
    most_held = np.zeros(4, np.int64)
    for player in range(players):
        for i in range(2):
            card = int(holes[player, i])
            hole_keys[player] += RANK_KEYS[card >> 2]
            hole_suits[card & 3, player] |= 1 << (card >> 2)
        for suit in range(4):
            held = (holes[player, 0] & 3 == suit) + (holes[player, 1] & 3 == suit)
            most_held[suit] = max(most_held[suit], held)
    left = np.zeros(13, np.int64)
    left_of_suit = np.zeros((4, 13), np.int64)
    for i in range(deck.shape[0]):
        left[deck[i] >> 2] += 1
        left_of_suit[deck[i] & 3, deck[i] >> 2] += 1
    flushes = np.zeros(FIVE_SLOTS, np.int64)
    ranks = np.zeros(players, np.int64)
    for part in range(5):
        is_suited = part < 4
        gone = 0
        others = left
        end = _PLAIN_KEYS.shape[0]
        if is_suited:
            others = left - left_of_suit[part]
            end = _NUMBER_ENDS[5 - most_held[part]]
            for rank in range(13):
                if not left_of_suit[part, rank]:
                    gone |= 1 << rank
        for case in range(end):
            if is_suited:
                suited, key = _SUITED[case], _SUITED_KEYS[case]
                if suited & gone:
                    continue
                ways = 1
                if case >= _NUMBER_ENDS[5]:
                    one = others[_OTHERS[case, 0]]
                    ways = one
                    if case >= _NUMBER_ENDS[4]:
                        two = others[_OTHERS[case, 1]]
                        ways = one * two if _OTHERS[case, 0] != _OTHERS[case, 1] else one * (one - 1) // 2
                flushes[five_slot(key)] += ways
            else:
                suited, key = 0, _PLAIN_KEYS[case]
                ways = left[_PLAIN[case, 0]]
                run = 1
                for i in range(1, 5):
                    run = run + 1 if _PLAIN[case, i] == _PLAIN[case, i - 1] else 1
                    ways = ways * (left[_PLAIN[case, i]] - run + 1) // run
                ways -= flushes[five_slot(key)]
            if not ways:
                continue
            for player in range(players):
                rank = 0
                if is_suited:
                    rank = int(FLUSHES[suited | hole_suits[part, player]])
                if not rank:
                    rank = int(plain_seven_rank(key + hole_keys[player]))
                ranks[player] = rank
            for pot in range(pots.shape[0]):
                best, winners = -1, 0
                for player in range(players):
                    if pots[pot, player]:
                        if ranks[player] > best:
                            best, winners = ranks[player], 1
                        elif ranks[player] == best:
                            winners += 1
                for player in range(players):
                    if pots[pot, player] and ranks[player] == best:
                        counts[pot, player, winners - 1] += ways
