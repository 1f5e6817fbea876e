"""What a player of hold'em is in when it has to decide, in words: its cards, the board, the bets before it, the price.

The classes of each function exclude each other and leave nothing out, so that what is counted by them adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine import rank_hand
from engine.cards import Card, rank_of, suit_of
from engine.evaluator import Category, category

__all__ = ["bets_class", "board_class", "hand_class", "price_class", "starting_class"]

_TEN: Final = 8
_ACE: Final = 12
_RIVER_CARDS: Final = 5
_DRAW_SUIT: Final = 4
_STRAIGHT_CARDS: Final = 5
_TWO_WAYS: Final = 2


def starting_class(hole: Sequence[Card]) -> str:
    """The group of a starting hand."""
    low, high = sorted(map(rank_of, hole))
    if low == high:
        return "pair, tens or better" if low >= _TEN else "pair below tens"
    if low >= _TEN:
        return "two cards of ten or better"
    if high == _ACE:
        return "ace and a card below ten"
    return "other suited cards" if suit_of(hole[0]) == suit_of(hole[1]) else "other offsuit cards"


def hand_class(hole: Sequence[Card], board: Sequence[Card]) -> str:
    """What two hole cards make of a board of three to five cards; before the flop the group of the starting hand.

    A pair on the board is nobody's own. A draw is a hand of at most a pair below the top one, before the river, with
    four cards of a suit or two ranks that complete a straight, the hole cards among them.
    """
    if not board:
        return starting_class(hole)
    ranks = [rank_of(card) for card in board]
    own = {rank_of(card) for card in hole}
    is_pocket_pair = len(own) == 1
    paired = sorted(own if is_pocket_pair else own & set(ranks))
    made = category(rank_hand([*hole, *board]))
    # Two pair of which one is the board's is a pair to its player.
    is_board_pair = len(set(ranks)) < len(ranks)
    is_two_pair = made is Category.TWO_PAIR and (len(paired) > 1 or (bool(paired) and not is_board_pair))
    on_board = category(rank_hand(board))
    if is_two_pair or (made > Category.TWO_PAIR and made > on_board):
        return "two pair or better"
    if paired and paired[-1] >= max(ranks):
        return "top pair or an overpair"
    if _is_draw(hole, board):
        return "draw"
    return "lower pair" if paired else "no pair"


def _is_draw(hole: Sequence[Card], board: Sequence[Card]) -> bool:
    """Whether the next card may make a flush or, in two ranks or more, a straight, with a hole card in it."""
    if len(board) >= _RIVER_CARDS:
        return False
    suits = [suit_of(card) for card in (*hole, *board)]
    if any(suits.count(suit_of(card)) == _DRAW_SUIT for card in hole):
        return True
    everything, common = ({rank_of(card) for card in cards} for cards in ((*hole, *board), board))
    ways = [rank for rank in range(13) if _has_straight(everything | {rank}) and not _has_straight(common | {rank})]
    return len(ways) >= _TWO_WAYS


def _has_straight(ranks: set[int]) -> bool:
    """Whether five ranks follow one another; the ace may be low."""
    low = {rank + 1 for rank in ranks} | ({0} if _ACE in ranks else set())
    return any(set(range(at, at + _STRAIGHT_CARDS)) <= low for at in range(10))


def board_class(board: Sequence[Card]) -> str:
    """The texture of a board."""
    if not board:
        return "no board yet"
    if len({rank_of(card) for card in board}) < len(board):
        return "paired board"
    suits = [suit_of(card) for card in board]
    most = max(map(suits.count, suits))
    return "three of a suit or more" if most > 2 else "two of a suit" if most == 2 else "no two of a suit"


def bets_class(round_: int, raises: int, checks: int) -> str:
    """The bets of this round so far.

    Args:
        round_: the betting round, 0-based.
        raises: bets and raises in it.
        checks: checks in it.
    """
    if round_ == 0:
        return ("before any raise", "facing a raise", "facing a reraise")[min(raises, 2)]
    if raises:
        return "facing a bet" if raises == 1 else "facing a raise"
    return "checked to" if checks else "first to act"


def price_class(to_call: int, pot: int) -> str:
    """What a call costs, as a part of the pot it makes.

    Args:
        to_call: chips.
        pot: chips in it before.
    """
    part = to_call / (pot + to_call) if to_call else 0.0
    if not part:
        return "nothing to call"
    if part < 0.2:
        return "a call below a fifth of the pot"
    return "a call of a fifth to a third" if part < 1 / 3 else "a call of a third or more"
