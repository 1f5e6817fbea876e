"""A finished hand: everything that any output format needs, and what hand histories need of
it: its steps, the winners of each pot, the order of showing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine import ActionKind, BettingState, Card, Deal, Game, Move, Position, Seat, rank_hand
from engine.betting import Step, betting_steps
from engine.hand import Pot, uncalled
from logs.errors import LogsError


class Times(NamedTuple):
    """When a player was asked and when it answered, in microseconds of Unix time."""

    sent_us: int
    received_us: int


class PlayerComment(NamedTuple):
    """A comment line a player sent during the hand.

    Attributes:
        action_index: the number of actions of the hand played before it.
        text: the line without its end; bytes that are not UTF-8 are surrogate escapes.
    """

    seat: Seat
    action_index: int
    text: str


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One finished hand of a match.

    Everything about the players is by position, as the ACPC counts, except `names_by_seat`: `names`, `seats`, `values`
    and hole cards may be zipped.

    Attributes:
        hand_number: 0-based.
        names_by_seat: the players, in the same order in every hand of the match.
        seats: the seat of each position.
        deal: the cards as far as they are known. Hole cards of a position are empty where they are not known, and
            the board may end with the last round that was reached.
        betting: the final betting state; its `rounds` hold the actions.
        values: net chips of each position.
        times: one entry per action, in order; empty where unknown.
        dealt_us: when the cards were dealt, in microseconds of Unix time; None where the file does not tell it.
    """

    game: Game
    match_name: str
    hand_number: int
    names_by_seat: tuple[str, ...]
    seats: tuple[Seat, ...]
    deal: Deal
    betting: BettingState
    values: tuple[float, ...]
    times: tuple[Times, ...] = ()
    comments: tuple[PlayerComment, ...] = ()
    dealt_us: int | None = None

    @property
    def board_by_round(self) -> tuple[tuple[Card, ...], ...]:
        """The board cards each reached round added."""
        ends = self.game.board_cards_by_round
        starts = (0, *ends)
        return tuple(self.deal.board[starts[i] : ends[i]] for i in range(self.betting.round + 1))

    @property
    def start_us(self) -> int | None:
        """When the hand began, in microseconds of Unix time; None where that is not known."""
        return self.times[0].sent_us if self.times else self.dealt_us

    @property
    def names(self) -> tuple[str, ...]:
        """The player in each position of this hand."""
        names = self.names_by_seat
        return tuple([names[seat] for seat in self.seats])

    def name_at(self, position: Position) -> str:
        """The player in a position of this hand."""
        return self.names_by_seat[self.seats[position]]


_TOLERANCE_CHIPS: Final = 1e-3


def street_actions(betting: BettingState) -> list[Step]:
    """The steps of a hand, in order.

    Raises:
        LogsError: a short stack's raise lowered the bet, which only limit games of the ACPC allow.
    """
    steps = betting_steps(betting)
    for step in steps if betting.game.is_limit else ():
        if step.action.kind == ActionKind.RAISE and step.raised_by <= 0:
            before = step.before
            raise LogsError(
                f"position {step.position} raises to {before.spent[step.position] + step.added} where "
                f"{before.max_spent} is bet already, as a short stack of a limit game may: only an ACPC log can "
                "express that"
            )
    return steps


def hand_ranks(record: HandRecord) -> list[int | None]:
    """The rank of each hand at the end, higher is better; None for players who folded.

    Where hole cards are not known, the values show who won; that is enough as long as all play for the same pot.

    Raises:
        LogsError: hole cards are missing that side pots were decided by.
    """
    betting, holes = record.betting, record.deal.hole_cards
    in_pot = betting.in_pot
    ranks: list[int | None] = [None] * len(holes)
    if len(in_pot) > 1 and not all(holes[position] for position in in_pot):
        if len({betting.spent[position] for position in in_pot}) > 1:
            raise LogsError(f"hand {record.hand_number}: hole cards are missing that decided its side pots")
        best = max(record.values[position] for position in in_pot)
        for position in in_pot:
            ranks[position] = int(record.values[position] == best)
        return ranks
    board = record.deal.board[: betting.game.board_cards_by_round[betting.round]]
    for position in in_pot:
        ranks[position] = rank_hand(holes[position] + board) if len(in_pot) > 1 else 0
    return ranks


def check_values(record: HandRecord, pots: Sequence[Pot], winners: Sequence[Sequence[Position]]) -> None:
    """Do nothing if the values of a hand are what its pots pay to their winners.

    Raises:
        LogsError: they are not: its cards or its values are those of another hand.
    """
    spent = record.betting.spent
    returned_to, returned = uncalled(spent)
    won = [float(-chips) for chips in spent]
    won[returned_to] += returned
    for pot, sharing in zip(pots, winners, strict=True):
        for position in sharing:
            won[position] += pot.amount / len(sharing)
    if tuple(won) != record.values and any(
        abs(one - other) > _TOLERANCE_CHIPS for one, other in zip(won, record.values, strict=True)
    ):
        raise LogsError(f"hand {record.hand_number}: its values are not those of its cards and its betting")


def showdown_order(record: HandRecord, actions: Sequence[Step]) -> list[Position]:
    """Who shows, in order; nobody if all but one folded.

    The last to bet or raise in the last round that had actions begins; if nobody did, who acted first there.
    """
    last = [action for action in actions if action.round == actions[-1].round]
    return order_of_showing(record.betting, first_to_show(last) if last else Position(0))


def first_to_show(actions: Sequence[Step]) -> Position:
    """Who shows first, given the actions of the last round that had any: the last to raise, or who acted first."""
    for action in reversed(actions):
        if action.move >= Move.BET:
            return action.position
    return actions[0].position


def order_of_showing(betting: BettingState, first: Position) -> list[Position]:
    """Who shows, in order from a position on; nobody if all but one folded."""
    if not betting.is_showdown:
        return []
    in_pot = betting.in_pot
    return [p for p in in_pot if p >= first] + [p for p in in_pot if p < first]
