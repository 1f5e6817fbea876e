"""First decision in which two hands of a deal differ, and its situation in words.

Each function of the situation (cards, board, earlier bets, price of a call) returns one of a few classes, of which
exactly one applies, so that the counts of the classes add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from engine import Move, Position, Step, betting_steps, rank_hand
from engine.cards import Card, format_cards, rank_of, suit_of
from engine.evaluator import Category, category
from engine.holdem import position_names, round_names
from logs.record import HandRecord

_TEN: Final = 8
_ACE: Final = 12
_RIVER_CARDS: Final = 5
_FLUSH_DRAW_CARDS: Final = 4
_STRAIGHT_CARDS: Final = 5
_MIN_STRAIGHT_RANKS: Final = 2


def starting_class(hole: Sequence[Card]) -> str:
    """Return the group of a starting hand."""
    low, high = sorted(map(rank_of, hole))
    if low == high:
        if low >= _TEN:
            return "pair, tens or better"
        return "pair below tens"
    if low >= _TEN:
        return "two cards of ten or better"
    if high == _ACE:
        return "ace and a card below ten"
    if suit_of(hole[0]) == suit_of(hole[1]):
        return "other suited cards"
    return "other offsuit cards"


def hand_class(hole: Sequence[Card], board: Sequence[Card]) -> str:
    """Return the class of two hole cards on a board; before the flop the group of the starting hand.

    A pair on the board does not count for the player. A draw is a hand before the river with at most a pair below the
    top pair, and with four cards of a suit or two ranks that complete a straight, hole cards included in both.
    """
    if not board:
        return starting_class(hole)
    board_ranks = [rank_of(card) for card in board]
    hole_ranks = {rank_of(card) for card in hole}
    if len(hole_ranks) == 1:
        paired_ranks = sorted(hole_ranks)
    else:
        paired_ranks = sorted(hole_ranks & set(board_ranks))
    hand_category = category(rank_hand([*hole, *board]))
    board_category = category(rank_hand(board))
    if hand_category is Category.TWO_PAIR:
        # With a pair on the board, two pair can be one pair of the player's own.
        has_board_pair = len(set(board_ranks)) < len(board_ranks)
        is_strong = len(paired_ranks) > 1 or (bool(paired_ranks) and not has_board_pair)
    else:
        # What the board alone makes belongs to every player.
        is_strong = hand_category > Category.TWO_PAIR and hand_category > board_category
    if is_strong:
        return "two pair or better"
    if paired_ranks and paired_ranks[-1] >= max(board_ranks):
        return "top pair or an overpair"
    if _is_draw(hole, board):
        return "draw"
    if paired_ranks:
        return "lower pair"
    return "no pair"


def _is_draw(hole: Sequence[Card], board: Sequence[Card]) -> bool:
    """Return whether a card can complete a flush, or two ranks a straight, with a hole card in it."""
    if len(board) >= _RIVER_CARDS:
        return False
    cards = [*hole, *board]
    suits = [suit_of(card) for card in cards]
    if any(suits.count(suit_of(card)) == _FLUSH_DRAW_CARDS for card in hole):
        return True
    ranks = {rank_of(card) for card in cards}
    board_ranks = {rank_of(card) for card in board}
    completing_ranks = []
    for rank in range(13):
        # A straight of the board and the next card needs no hole card.
        if _has_straight(ranks | {rank}) and not _has_straight(board_ranks | {rank}):
            completing_ranks.append(rank)
    return len(completing_ranks) >= _MIN_STRAIGHT_RANKS


def _has_straight(ranks: set[int]) -> bool:
    # Shifted by one, with the ace at 0 too.
    shifted = {rank + 1 for rank in ranks}
    if _ACE in ranks:
        shifted.add(0)
    return any(set(range(lowest, lowest + _STRAIGHT_CARDS)) <= shifted for lowest in range(10))


def board_class(board: Sequence[Card]) -> str:
    if not board:
        return "no board yet"
    if len({rank_of(card) for card in board}) < len(board):
        return "paired board"
    suits = [suit_of(card) for card in board]
    max_suited = max(map(suits.count, suits))
    if max_suited > 2:
        return "three of a suit or more"
    if max_suited == 2:
        return "two of a suit"
    return "no two of a suit"


def bets_class(round_: int, raises: int, checks: int) -> str:
    """Return the class of the bets, raises and checks of a round (0-based) before a decision."""
    if round_ == 0:
        if raises == 0:
            return "before any raise"
        return "facing a raise" if raises == 1 else "facing a reraise"
    if raises:
        return "facing a bet" if raises == 1 else "facing a raise"
    if checks:
        return "checked to"
    return "first to act"


def price_class(to_call: int, pot: int) -> str:
    """Return the class of a call's price in chips, as a part of the pot after the call."""
    if not to_call:
        return "nothing to call"
    part = to_call / (pot + to_call)
    if part < 0.2:
        return "a call below a fifth of the pot"
    if part < 1 / 3:
        return "a call of a fifth to a third"
    return "a call of a third or more"


DIMENSIONS: Final = (
    "decision and hand",
    "decision",
    "street",
    "position",
    "starting hand",
    "hand on the street",
    "board",
    "price",
    "everything",
)
"""Partitions of the decisions: a divergence is in one cell of each."""
BY_POSITION: Final = "winnings by position"
"""Dimension of the cells that tables of more than two players have in addition."""
_MOVES: Final = {Move.FOLD: "fold", Move.CHECK: "check", Move.CALL: "call", Move.BET: "bet", Move.RAISE: "raise"}
_MOVE_ORDER: Final = list(_MOVES.values())
_LESS: Final = " less"
_MORE: Final = " more"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A decision in which two players with the same cards and betting chose different actions.

    Attributes:
        position: name of the position.
        street: name of the betting round.
        bets: class of the bets before the decision in this round.
        did: action of the player: ``fold``, ``check``, ``call``, ``bet`` or ``raise``; for two sizes ``bet less`` or
            ``bet more``.
        others: action of the other player.
        starting: group of the starting hand.
        hand: class of the hand on this street.
        board: class of the board.
        price: class of the price of a call.
        chips: net chips of the player with these cards.
        others_chips: net chips of the other player with these cards.
    """

    hand_number: int
    position: str
    street: str
    bets: str
    did: str
    others: str
    cards: str
    cards_on_board: str
    starting: str
    hand: str
    board: str
    price: str
    chips: float
    others_chips: float

    @property
    def gain(self) -> float:
        """Chips won beyond the other player with the same cards; heads-up, the player's result of the deal."""
        return self.chips - self.others_chips

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of its cells, one for each of `DIMENSIONS`; they are the same for both players."""
        choice = _describe_choice(self.did, self.others)
        spot = f"{self.street}, {self.bets}"
        return (
            f"{spot}, with {self.hand}: {choice}",
            f"{spot}: {choice}",
            self.street,
            self.position,
            self.starting,
            self.hand if self.cards_on_board else "before the flop",
            self.board,
            self.price,
            "all decisions",
        )


def _describe_choice(action: str, other_action: str) -> str:
    if action.endswith((_LESS, _MORE)):
        move = action.split(maxsplit=1)[0]
        return f"the size of a {move}"
    return " or ".join(sorted((action, other_action), key=_MOVE_ORDER.index))


def first_difference(hand: HandRecord, other_hand: HandRecord) -> tuple[int, Position] | None:
    """Return the number (from 0) and the position of the first decision that two hands differ in.

    None if one betting is the beginning of the other.
    """
    moves = chain.from_iterable(hand.betting.rounds)
    other_moves = chain.from_iterable(other_hand.betting.rounds)
    for number, (move, other_move) in enumerate(zip(moves, other_moves, strict=False)):
        if move != other_move:
            return number, move[0]
    return None


def divergence_of(hand: HandRecord, other_hand: HandRecord, player: str) -> Divergence | None:
    """Return the divergence of a player from another one, in two hands of a deal with different seatings.

    None if the hands do not differ, if they differ first in a decision of other players, or if one player made both
    decisions.
    """
    difference = first_difference(hand, other_hand)
    if difference is None:
        return None
    number, position = difference
    name = hand.name_at(position)
    other_name = other_hand.name_at(position)
    if name == other_name or player not in (name, other_name):
        return None
    if name != player:
        hand, other_hand = other_hand, hand
    other_step = betting_steps(other_hand.betting)[number]
    divergence = divergence_at(hand, number, other_step)
    return replace(divergence, others_chips=other_hand.values[position])


def divergence_at(hand: HandRecord, number: int, other_step: Step) -> Divergence:
    """Compare a decision of a hand (counted from 0) with another player's action in the same place.

    `others_chips` of the result are the player's own chips, for the caller to replace.
    """
    steps = betting_steps(hand.betting)
    step = steps[number]
    position = step.position
    raises = 0
    checks = 0
    for earlier in steps[:number]:
        if earlier.round != step.round:
            continue
        if earlier.move >= Move.BET:
            raises += 1
        elif earlier.move is Move.CHECK:
            checks += 1
    game = hand.game
    hole = hand.deal.hole_cards[position]
    board = hand.deal.board[: game.board_cards_by_round[step.round]]
    action = _MOVES[step.move]
    other_action = _MOVES[other_step.move]
    if action == other_action:
        if step.added < other_step.added:
            action += _LESS
            other_action += _MORE
        else:
            action += _MORE
            other_action += _LESS
    return Divergence(
        hand_number=hand.hand_number,
        position=position_names(game)[position],
        street=round_names(game)[step.round],
        bets=bets_class(step.round, raises, checks),
        did=action,
        others=other_action,
        cards=format_cards(hole),
        cards_on_board=format_cards(board),
        starting=starting_class(hole),
        hand=hand_class(hole, board),
        board=board_class(board),
        price=price_class(step.to_call, sum(step.before.spent)),
        chips=hand.values[position],
        others_chips=hand.values[position],
    )
