"""The bucket of a hand while playing: for one hand with numpy alone, or for all holdings of a board at once.

The numbers are those that `bots.cfr.abstraction` cuts: whole, and the same. All holdings of a turn are counted by the
kernel of the training, which takes a millisecond where numpy took fifty; a bot at the table never asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import HOLDING_CARDS, HOLDING_COUNT, HOLDING_NUMBERS, NO_BUCKET, distinct_holdings, suit_order
from bots.cfr.files import StrategyFile
from engine.cards import starting_hand
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.showdowns import rank_sevens
from engine.ranges import holding_number

_KEYS: Final = KEYS.astype(np.int64)
_BITS: Final = BITS.astype(np.int64)
_START: Final = int(START)
_OF_HOLDING: Final = _KEYS[HOLDING_CARDS].sum(axis=1)
_BITS_OF_HOLDING: Final = _BITS[HOLDING_CARDS].sum(axis=1)
_FLOP, _TURN, _RIVER = 3, 4, 5


def bucket_of(strategy: StrategyFile, hole: Sequence[int], board: Sequence[int]) -> int:
    """The bucket of a hand of hold'em.

    Args:
        strategy: whose buckets.
        hole: two cards.
        board: none, three, four or five others.
    """
    if not board:
        return starting_hand(hole)
    if len(board) == _FLOP:
        return int(_on_flop(strategy, tuple(board))[holding_number(*hole)])
    if len(board) == _TURN:
        return int(np.searchsorted(strategy.turn_cuts, _turn_sum(tuple(hole), tuple(board)), "right"))
    ranks = ranks_on(board)
    rank = ranks[holding_number(*hole)]
    standing = 2 * np.count_nonzero(ranks[ranks > 0] < rank) + np.count_nonzero(ranks == rank)
    return int(np.searchsorted(strategy.river_cuts, standing, "right"))


@lru_cache(maxsize=64)
def all_buckets(strategy: StrategyFile, board: tuple[int, ...]) -> NDArray[np.uint8]:
    """The bucket of every holding, shape (1326,); `NO_BUCKET` where it shares a card with the board."""
    if not board:
        return np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint8)
    if len(board) == _FLOP:
        return _on_flop(strategy, board)
    is_live = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    if len(board) == _TURN:
        from bots.cfr.strengths import MOST_STANDING, turn_sums

        sums = np.zeros((1, HOLDING_COUNT), np.uint32)
        four = np.array([sorted(board)], np.uint8)
        turn_sums(four, np.ones(1, np.int64), sums, np.zeros(MOST_STANDING + 1, np.int64))
        found = np.searchsorted(strategy.turn_cuts, sums[0], "right")
    else:
        ranks = ranks_on(board)
        in_order = np.sort(ranks[is_live])
        standings = np.searchsorted(in_order, ranks, "left") + np.searchsorted(in_order, ranks, "right")
        found = np.searchsorted(strategy.river_cuts, standings, "right")
    return np.where(is_live, found, NO_BUCKET).astype(np.uint8)


@lru_cache(maxsize=64)
def _on_flop(strategy: StrategyFile, board: tuple[int, ...]) -> NDArray[np.uint8]:
    key, suits = suit_order(board)
    row = int(np.searchsorted(strategy.flop_keys, key))
    new_suits = np.array(suits)
    canonical = [card & 0xFC | suits[card & 3] for card in board]
    moved = HOLDING_CARDS & 0xFC | new_suits[HOLDING_CARDS & 3]
    numbers = distinct_holdings(canonical)[HOLDING_NUMBERS[moved[:, 0], moved[:, 1]]]
    hands = strategy.flops[strategy.flop_starts[row] : strategy.flop_starts[row + 1]]
    return np.where(numbers >= 0, hands[numbers], NO_BUCKET).astype(np.uint8)


def ranks_on(board: Sequence[int]) -> NDArray[np.int64]:
    """The rank of each holding on a full board, shape (1326,); 0 where it shares a card with the board."""
    cards = list(board)
    taken = int(_BITS[cards].sum())
    keys = _OF_HOLDING + (_START + int(_KEYS[cards].sum()))
    is_live = (_BITS_OF_HOLDING & taken) == 0
    ranks = np.zeros(HOLDING_COUNT, np.int64)
    live = np.flatnonzero(is_live)
    ranks[live] = rank_sevens(keys[live], lambda which: _BITS_OF_HOLDING[live[which]] | taken)
    return ranks


@lru_cache(maxsize=8)
def _turn_sum(hole: tuple[int, ...], board: tuple[int, ...]) -> int:
    """The squared strengths of one hand, summed over all rivers."""
    unseen = [card for card in range(52) if card not in hole and card not in board]
    pairs = np.array(list(combinations(range(len(unseen)), 2)))
    cards = np.array(unseen)
    known = int(_BITS[list(board)].sum())
    base = _START + int(_KEYS[list(board)].sum())
    river_keys, river_bits = _KEYS[cards], _BITS[cards]
    ours = rank_sevens(
        base + int(_KEYS[list(hole)].sum()) + river_keys,
        lambda which: known | int(_BITS[list(hole)].sum()) | river_bits[which],
    ).astype(np.int64)
    pair_keys, pair_bits = river_keys[pairs].sum(axis=1), river_bits[pairs].sum(axis=1)
    keys = (base + river_keys[:, None] + pair_keys).ravel()
    size = len(pairs)
    theirs = rank_sevens(keys, lambda which: known | river_bits[which // size] | pair_bits[which % size]).reshape(
        len(unseen), size
    )
    rivers = np.arange(len(unseen))[:, None]
    is_possible = (pairs[:, 0] != rivers) & (pairs[:, 1] != rivers)
    won = ((theirs < ours[:, None]) & is_possible).sum(axis=1)
    tied = ((theirs == ours[:, None]) & is_possible).sum(axis=1)
    strengths = 2 * won + tied
    return int((strengths * strengths).sum())
