"""Where two hands of a deal part: the first decision in which the same cards are played in two ways, and its
situation.

A situation is in words: the cards, the board, the bets before, the price. The classes of each function exclude each
other and leave nothing out, so that what is counted by them adds up.
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
_DRAW_SUIT: Final = 4
_STRAIGHT_CARDS: Final = 5
_TWO_WAYS: Final = 2


def starting_class(hole: Sequence[Card]) -> str:
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
    """What two hole cards make of a board of three to five cards; before the flop the group of the starting hand.

    A pair on the board is no player's own. A draw is a hand of at most a pair below the top one, before the river, with
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
    if paired:
        return "lower pair"
    return "no pair"


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
    low = {rank + 1 for rank in ranks} | ({0} if _ACE in ranks else set())
    return any(set(range(at, at + _STRAIGHT_CARDS)) <= low for at in range(10))


def board_class(board: Sequence[Card]) -> str:
    if not board:
        return "no board yet"
    if len({rank_of(card) for card in board}) < len(board):
        return "paired board"
    suits = [suit_of(card) for card in board]
    most = max(map(suits.count, suits))
    if most > 2:
        return "three of a suit or more"
    if most == 2:
        return "two of a suit"
    return "no two of a suit"


def bets_class(round_: int, raises: int, checks: int) -> str:
    """The bets and raises of this round (0-based) so far."""
    if round_ == 0:
        return ("before any raise", "facing a raise", "facing a reraise")[min(raises, 2)]
    if raises:
        if raises == 1:
            return "facing a bet"
        return "facing a raise"
    if checks:
        return "checked to"
    return "first to act"


def price_class(to_call: int, pot: int) -> str:
    """What a call costs, as a part of the pot it makes; both arguments are in chips."""
    part = to_call / (pot + to_call) if to_call else 0.0
    if not part:
        return "nothing to call"
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
"""What is asked: a divergence is in one cell of each."""
BY_POSITION: Final = "winnings by position"
"""What is asked in addition at tables of more than two."""
_MOVES: Final = {Move.FOLD: "fold", Move.CHECK: "check", Move.CALL: "call", Move.BET: "bet", Move.RAISE: "raise"}
_LESS = " less"
_MORE = " more"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A decision in which two players with the same cards, after the same betting, did different things.

    Attributes:
        position: where the decision fell, by name.
        street: the betting round, by name.
        did: what the player did: ``fold``, ``check``, ``call``, ``bet``, ``raise``; of two sizes ``bet less`` or
            ``bet more``.
        others: what the other player did.
        starting: group of the starting hand.
        hand: what the cards made on that street.
        board: texture of the board.
        price: what a call cost.
        chips: net chips of the player in that seat.
        others_chips: net chips of the other player in that seat; between two, the player's result over both hands of
            the deal is `chips` less these.
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
    def lost_or_won(self) -> float:
        """What the player made of the deal beyond the other one, in chips."""
        return self.chips - self.others_chips

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of its cells, one for each of `DIMENSIONS`; the same for both players."""
        choice = _either(self.did, self.others)
        at = f"{self.street}, {self.bets}"
        return (
            f"{at}, with {self.hand}: {choice}",
            f"{at}: {choice}",
            self.street,
            self.position,
            self.starting,
            self.hand if self.cards_on_board else "before the flop",
            self.board,
            self.price,
            "all decisions",
        )


def _either(one: str, other: str) -> str:
    if one.endswith((_LESS, _MORE)):
        return f"the size of a {one.split(maxsplit=1)[0]}"
    order = list(_MOVES.values())
    return " or ".join(sorted((one, other), key=order.index))


def decision_apart(one: HandRecord, other: HandRecord) -> tuple[int, Position] | None:
    """The first decision in which two hands of a deal differ, counted from 0, and its position; None where all was
    played alike."""
    played = (chain.from_iterable(record.betting.rounds) for record in (one, other))
    moves = enumerate(zip(*played, strict=False))
    return next(((number, move[0]) for number, (move, another) in moves if move != another), None)


def divergence_of(mine: HandRecord, theirs: HandRecord, player: str) -> Divergence | None:
    """Where a player parts from another one, in two hands of a deal with different seatings, in any order.

    None where all was played alike, or where others parted before.
    """
    parted = decision_apart(mine, theirs)
    if parted is None:
        return None
    at, position = parted
    names = mine.name_at(position), theirs.name_at(position)
    if names[0] == names[1] or player not in names:
        return None
    if names[0] != player:
        mine, theirs = theirs, mine
    found = divergence_at(mine, at, betting_steps(theirs.betting)[at])
    return replace(found, others_chips=theirs.values[position])


def divergence_at(mine: HandRecord, at: int, other: Step) -> Divergence:
    """A decision of a hand (counted from 0) compared with another player's action in its place.

    Both results are that of the hand: what the other action earned is for the caller to fill in.
    """
    steps = betting_steps(mine.betting)
    step = steps[at]
    position = step.position
    before = [one for one in steps[:at] if one.round == step.round]
    raises = sum(one.move >= Move.BET for one in before)
    checks = sum(one.move is Move.CHECK for one in before)
    game = mine.game
    hole = mine.deal.hole_cards[position]
    board = mine.deal.board[: game.board_cards_by_round[step.round]]
    did = _MOVES[step.move]
    others = _MOVES[other.move]
    if did == others:
        is_less = step.added < other.added
        did, others = (did + _LESS, others + _MORE) if is_less else (did + _MORE, others + _LESS)
    return Divergence(
        hand_number=mine.hand_number,
        position=position_names(game)[position],
        street=round_names(game)[step.round],
        bets=bets_class(step.round, raises, checks),
        did=did,
        others=others,
        cards=format_cards(hole),
        cards_on_board=format_cards(board),
        starting=starting_class(hole),
        hand=hand_class(hole, board),
        board=board_class(board),
        price=price_class(step.to_call, sum(step.before.spent)),
        chips=mine.values[position],
        others_chips=mine.values[position],
    )
