"""The actions of a hand as card rooms count them: street by street, in chips added.

ACPC sizes are totals for the hand. Here each action is told with the chips it adds to the pot and with the player's
total for the street, and the chips put in are sorted into pots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from engine import ActionKind, BettingState, Position, rank_hand
from logs.errors import LogsError
from logs.record import HandRecord

__all__ = [
    "Pot",
    "StreetAction",
    "check_values",
    "hand_ranks",
    "pots",
    "showdown_order",
    "street_actions",
    "uncalled",
]

_TOLERANCE_CHIPS: Final = 1e-3


class StreetAction(NamedTuple):
    """One action.

    Attributes:
        round: the betting round, 0-based.
        position: who acted.
        kind: fold, call (also check), raise (also bet).
        added: chips it puts in.
        street_total: the player's chips in this street after it, blinds included.
        to_call: chips that a call would have added; 0 where the call is a check, the raise a bet.
        is_all_in: whether it puts in the player's last chips.
    """

    round: int
    position: Position
    kind: ActionKind
    added: int
    street_total: int
    to_call: int
    is_all_in: bool


class Pot(NamedTuple):
    """A pot, main or side.

    Attributes:
        amount: in chips.
        winners: positions that share it.
    """

    amount: int
    winners: tuple[Position, ...]


def street_actions(betting: BettingState) -> list[StreetAction]:
    """The actions of a hand, in order.

    Raises:
        LogsError: a short stack's raise lowered the bet, as limit games of the ACPC allow and nobody else does.
    """
    game = betting.game
    stacks, is_limit = game.stacks, game.is_limit
    spent = list(game.blinds)
    highest = max(spent)
    actions: list[StreetAction] = []
    for round_, of_round in enumerate(betting.rounds):
        before = spent.copy() if round_ else [0] * len(spent)
        for position, (kind, hand_total) in of_round:
            stack, old = stacks[position], spent[position]
            to_call = max(0, min(highest, stack) - old)
            if kind == ActionKind.RAISE:
                total = min(highest + game.raise_sizes[round_], stack) if is_limit else hand_total
                if total <= highest:
                    raise LogsError(
                        f"position {position} raises to {total} where {highest} is bet already, as a short stack of a "
                        "limit game may: only an ACPC log can tell that"
                    )
                highest = total
            else:
                total = old + to_call if kind == ActionKind.CALL else old
            spent[position] = total
            actions.append(
                StreetAction(
                    round_, position, kind, total - old, total - before[position], to_call, stack == total > old
                )
            )
    return actions


def uncalled(spent: Sequence[int]) -> tuple[Position, int]:
    """Who put in more than anybody called, and how much more; 0 where nobody did."""
    second, most = sorted(spent)[-2:]
    return Position(list(spent).index(most)), most - second


def hand_ranks(record: HandRecord) -> list[int | None]:
    """The rank of each hand at the end, higher is better; None for who folded.

    Where hole cards are not known, the values tell who won: enough as long as all play for the same pot.

    Raises:
        LogsError: hole cards are missing that side pots were decided by.
    """
    betting, holes = record.betting, record.deal.hole_cards
    in_pot = [position for position in range(len(holes)) if not betting.folded >> position & 1]
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


def check_values(record: HandRecord, found: Sequence[Pot]) -> None:
    """Do nothing if the values of a hand are what its pots pay.

    Raises:
        LogsError: they are not: its cards or its values are another hand's.
    """
    spent = record.betting.spent
    returned_to, returned = uncalled(spent)
    won = [float(-chips) for chips in spent]
    won[returned_to] += returned
    for pot in found:
        for position in pot.winners:
            won[position] += pot.amount / len(pot.winners)
    if any(abs(one - other) > _TOLERANCE_CHIPS for one, other in zip(won, record.values, strict=True)):
        raise LogsError(f"hand {record.hand_number}: its values are not those of its cards and its betting")


def pots(spent: Sequence[int], ranks: Sequence[int | None]) -> list[Pot]:
    """The main pot and the side pots, without what nobody called.

    Args:
        spent: chips each position put in.
        ranks: the rank of each position's hand, higher is better; None for who folded.
    """
    returned_to, returned = uncalled(spent)
    chips = list(spent)
    chips[returned_to] -= returned
    found: list[Pot] = []
    below = 0
    for level in sorted({chips[p] for p, rank in enumerate(ranks) if rank is not None}):
        amount = sum(min(of_player, level) - min(of_player, below) for of_player in chips)
        eligible = [p for p, rank in enumerate(ranks) if rank is not None and chips[p] >= level]
        best = max(rank for p in eligible if (rank := ranks[p]) is not None)
        if amount:
            found.append(Pot(amount, tuple(Position(p) for p in eligible if ranks[p] == best)))
        below = level
    return found


def showdown_order(record: HandRecord, actions: Sequence[StreetAction]) -> list[Position]:
    """Who shows, in order; nobody if all but one folded.

    The last to bet or raise in the last round that had actions begins; if nobody did, who acted first there.
    """
    betting = record.betting
    players = len(record.seats)
    if betting.folded.bit_count() + 1 >= players:
        return []
    first = Position(0)
    if actions:
        last = [action for action in actions if action.round == actions[-1].round]
        first = next((a.position for a in reversed(last) if a.kind == ActionKind.RAISE), last[0].position)
    turned = [Position((first + i) % players) for i in range(players)]
    return [position for position in turned if not betting.folded >> position & 1]
