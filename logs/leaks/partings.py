"""Where two hands of a deal part: the first decision in which the same cards were played in two ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from engine import Move, Position, Step, betting_steps
from engine.cards import format_cards
from logs.leaks.situations import bets_class, board_class, hand_class, price_class, starting_class
from logs.record import HandRecord
from logs.tracker.positions import position_names, round_names

__all__ = ["BY_POSITION", "DIMENSIONS", "Parting", "parted_at", "parting_at", "parting_of"]

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
"""What is asked: a parting is in one cell of each."""

BY_POSITION: Final = "winnings by position"
"""What is asked beside them at tables of more than two."""

_MOVES: Final = {Move.FOLD: "fold", Move.CHECK: "check", Move.CALL: "call", Move.BET: "bet", Move.RAISE: "raise"}
_LESS, _MORE = " less", " more"


@dataclass(frozen=True, slots=True)
class Parting:
    """A decision in which two players with the same cards, after the same betting, did different things.

    Attributes:
        hand_number: of the deal.
        position: where the decision fell, by name.
        street: the betting round, by name.
        bets: the bets before it in that round.
        did: what the player did: ``fold``, ``check``, ``call``, ``bet``, ``raise``; of two sizes ``bet less`` or
            ``bet more``.
        others: what the other player did.
        cards: hole cards of the seat.
        cards_on_board: the board at the decision.
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
        """The names of its cells, one for each of `DIMENSIONS`; the same whoever of the two did which."""
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
    """Two choices, in an order that does not depend on who made which."""
    if one.endswith((_LESS, _MORE)):
        return f"the size of a {one.split(maxsplit=1)[0]}"
    order = list(_MOVES.values())
    return " or ".join(sorted((one, other), key=order.index))


def parted_at(one: HandRecord, other: HandRecord) -> tuple[int, Position] | None:
    """The first decision in which two hands of a deal differ, counted from 0, and its position; None where all was
    played alike."""
    played = (chain.from_iterable(record.betting.rounds) for record in (one, other))
    moves = enumerate(zip(*played, strict=False))
    return next(((number, move[0]) for number, (move, another) in moves if move != another), None)


def parting_of(mine: HandRecord, theirs: HandRecord, player: str) -> Parting | None:
    """Where a player parts from another one, in two hands of a deal with different seatings.

    Args:
        mine: one of the hands.
        theirs: the other one; the order does not matter.
        player: whose leaks are looked for.

    Returns:
        None where all was played alike, or where others parted before.
    """
    parted = parted_at(mine, theirs)
    if parted is None:
        return None
    at, position = parted
    names = mine.name_at(position), theirs.name_at(position)
    if names[0] == names[1] or player not in names:
        return None
    if names[0] != player:
        mine, theirs = theirs, mine
    found = parting_at(mine, at, betting_steps(theirs.betting)[at])
    return replace(found, others_chips=theirs.values[position])


def parting_at(mine: HandRecord, at: int, other: Step) -> Parting:
    """A decision of a hand beside another action in its place.

    Args:
        mine: the hand.
        at: which decision of it, counted from 0.
        other: what another player did there.

    Returns:
        the decision; both its results are that of the hand: what the other action earned is for the caller to fill in.
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
    did, others = _MOVES[step.move], _MOVES[other.move]
    if did == others:
        is_less = step.added < other.added
        did, others = (did + _LESS, others + _MORE) if is_less else (did + _MORE, others + _LESS)
    return Parting(
        mine.hand_number,
        position_names(game)[position],
        round_names(game)[step.round],
        bets_class(step.round, raises, checks),
        did,
        others,
        format_cards(hole),
        format_cards(board),
        starting_class(hole),
        hand_class(hole, board),
        board_class(board),
        price_class(step.to_call, sum(step.before.spent)),
        mine.values[position],
        mine.values[position],
    )
