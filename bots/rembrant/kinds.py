"""Reading a hand after the flop: the tables' groups with their columns.

The category is that of the best five of hole and board cards. The kind says how the two hole cards contribute, because
that is what the tables ask: which of the board's ranks is paired, whether trips use a pair on the board or in the hand,
which end of the straight is in the hand, whether a better flush is possible.

What the work leaves open, decided here:

- Its high card is the hand in which "nothing was hit". So a pair or trips on the board alone are a high card, and so is
  a flush without a hole card. Two pairs on the board have a column of their own; a straight on the board is played as
  the bottom end, the most careful column; a full house or better always counts as one.
- A pocket pair between the board's ranks is a middle pair.
- The nut flush, "flush with the ace" in the work, is a hand that holds the highest card of its suit that is not on
  the board: the ace, or the king when the ace is on the board.
- A hand with three pairs counts as its best two.
"""

from __future__ import annotations

import enum
from typing import Final

from engine import Card, Category, category, rank_hand
from engine.cards import rank_of, suit_of

__all__ = ["BEATS_STRAIGHTS", "BELOW_STRAIGHTS", "WEAK", "Kind", "read_kind"]


class Kind(enum.Enum):
    """The columns of the tables after the flop: group, then the head of the column."""

    HIGH_CARD = "high card"
    TOP_PAIR = "pair, top"
    MIDDLE_PAIR = "pair, middle"
    BOTTOM_PAIR = "pair, bottom"
    OVER_PAIR = "pair, over"
    UNDER_PAIR = "pair, under"
    TWO_PAIR_BOTH_HOLE = "two pair, both hole cards"
    TWO_PAIR_ONE_HOLE = "two pair, one hole card, board pair"
    TWO_PAIR_POCKET = "two pair, pocket pair, board pair"
    TWO_PAIR_ON_BOARD = "two pair, two board pairs"
    TRIPS = "trips, trips"
    SET = "trips, set"
    STRAIGHT_TOP = "straight, top end"
    STRAIGHT_BOTTOM = "straight, bottom end"
    STRAIGHT_BOTH_ENDS = "straight, both ends"
    STRAIGHT_MIDDLE = "straight, middle"
    NUT_FLUSH = "flush, nut"
    OTHER_FLUSH = "flush, other"
    FULL_HOUSE_OR_BETTER = "full house or better, any"


WEAK: Final = frozenset((Kind.HIGH_CARD, Kind.MIDDLE_PAIR, Kind.BOTTOM_PAIR, Kind.UNDER_PAIR))
"""The "weaker cards" with which the work bets on the flop to learn what the opponent has: all below top pair."""

BEATS_STRAIGHTS: Final = frozenset((Kind.NUT_FLUSH, Kind.OTHER_FLUSH, Kind.FULL_HOUSE_OR_BETTER))
"""Hands that no straight beats."""

_STRAIGHTS: Final = frozenset((Kind.STRAIGHT_TOP, Kind.STRAIGHT_BOTTOM, Kind.STRAIGHT_BOTH_ENDS, Kind.STRAIGHT_MIDDLE))

BELOW_STRAIGHTS: Final = frozenset(Kind) - _STRAIGHTS - BEATS_STRAIGHTS
"""Hands that every straight beats."""

_ACE: Final = 12
_LOWEST_STRAIGHT: Final = 3
"""The rank of the highest card of 5 4 3 2 A."""

_Cards = tuple[Card, ...]


def read_kind(hole_cards: _Cards, board: _Cards) -> Kind:
    """The kind of hand that two hole cards make with three to five board cards."""
    made = category(rank_hand(hole_cards + board))
    if made is Category.HIGH_CARD:
        return Kind.HIGH_CARD
    if made >= Category.FULL_HOUSE:
        return Kind.FULL_HOUSE_OR_BETTER
    if made is Category.FLUSH:
        return _read_flush(hole_cards, board)
    own = [rank_of(card) for card in hole_cards]
    ranks = [rank_of(card) for card in board]
    if made is Category.STRAIGHT:
        return _read_straight(own, ranks)
    if made is Category.THREE_OF_A_KIND:
        return _read_trips(own, ranks)
    return _read_two_pair(own, ranks) if made is Category.TWO_PAIR else _read_pair(own, ranks)


def _read_pair(own: list[int], board: list[int]) -> Kind:
    if own[0] == own[1]:
        if own[0] > max(board):
            return Kind.OVER_PAIR
        return Kind.UNDER_PAIR if own[0] < min(board) else Kind.MIDDLE_PAIR
    hit = own[0] if own[0] in board else own[1]
    if hit not in board:
        return Kind.HIGH_CARD
    if hit == max(board):
        return Kind.TOP_PAIR
    return Kind.BOTTOM_PAIR if hit == min(board) else Kind.MIDDLE_PAIR


def _read_two_pair(own: list[int], board: list[int]) -> Kind:
    everything = own + board
    pairs = sorted([rank for rank in set(everything) if everything.count(rank) == 2])[-2:]
    from_hole = [own.count(rank) for rank in pairs]
    if from_hole == [1, 1]:
        return Kind.TWO_PAIR_BOTH_HOLE
    if 2 in from_hole:
        return Kind.TWO_PAIR_POCKET
    return Kind.TWO_PAIR_ONE_HOLE if 1 in from_hole else Kind.TWO_PAIR_ON_BOARD


def _read_trips(own: list[int], board: list[int]) -> Kind:
    everything = own + board
    trips = next(rank for rank in everything if everything.count(rank) == 3)
    return (Kind.HIGH_CARD, Kind.TRIPS, Kind.SET)[own.count(trips)]


def _read_straight(own: list[int], board: list[int]) -> Kind:
    """By the cards of the straight that are missing from the board: the hand has the ends among them."""
    everything = {*own, *board}
    high, run = next((high, run) for high, run in _RUNS if everything.issuperset(run))
    ours = set(run).difference(board)
    has_top, has_bottom = high in ours, run[-1] in ours
    if has_top:
        return Kind.STRAIGHT_BOTH_ENDS if has_bottom else Kind.STRAIGHT_TOP
    return Kind.STRAIGHT_BOTTOM if has_bottom or not ours else Kind.STRAIGHT_MIDDLE


def _read_flush(hole_cards: _Cards, board: _Cards) -> Kind:
    suits = [suit_of(card) for card in hole_cards + board]
    suit = next(suit for suit in suits if suits.count(suit) >= 5)
    own = [rank_of(card) for card in hole_cards if suit_of(card) == suit]
    on_board = [rank_of(card) for card in board if suit_of(card) == suit]
    if not any(rank in sorted(own + on_board)[-5:] for rank in own):
        return Kind.HIGH_CARD
    highest_missing = next(rank for rank in range(_ACE, -1, -1) if rank not in on_board)
    return Kind.NUT_FLUSH if highest_missing in own else Kind.OTHER_FLUSH


def _run_below(high: int) -> tuple[int, ...]:
    """The ranks of the straight with this highest card, from the top; the ace is also below the deuce."""
    return tuple([_ACE if rank < 0 else rank for rank in range(high, high - 5, -1)])


_RUNS: Final = tuple([(high, _run_below(high)) for high in range(_ACE, _LOWEST_STRAIGHT - 1, -1)])
"""All straights from the highest: the rank of the top, and the ranks from top to bottom."""
