"""Settlement of a finished hand, with its steps, the winners and payments of its pots, and the order of showing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine import ActionKind, BettingState, Move, Position, rank_hand
from engine.betting import Step, betting_steps
from engine.hand import Pot, uncalled
from logs.errors import LogsError
from logs.formats.money import RakeFunction, Scale
from logs.record import HandRecord

# Values from files have a few decimals.
_TOLERANCE_CHIPS: Final = 1e-3


def street_actions(betting: BettingState) -> list[Step]:
    """Return the steps of a hand, in order.

    Raises:
        LogsError: a short stack's raise lowered the bet, which only limit games of the ACPC allow.
    """
    steps = betting_steps(betting)
    if not betting.game.is_limit:
        return steps
    for step in steps:
        if step.action.kind == ActionKind.RAISE and step.raised_by <= 0:
            total = step.before.spent[step.position] + step.added
            raise LogsError(
                f"position {step.position} raises to {total} where {step.before.max_spent} is bet already, as a "
                "short stack of a limit game may; only an ACPC log can express that"
            )
    return steps


def hand_ranks(record: HandRecord) -> list[int | None]:
    """Return the final rank of each hand, higher is better; None for players who folded.

    If hole cards are unknown, the values show the winners, which is enough if all play for the same pot.

    Raises:
        LogsError: missing hole cards decided side pots.
    """
    betting = record.betting
    holes = record.deal.hole_cards
    in_pot = betting.in_pot
    ranks: list[int | None] = [None] * len(holes)
    if len(in_pot) == 1:
        ranks[in_pot[0]] = 0
        return ranks
    if not all(holes[position] for position in in_pot):
        if len({betting.spent[position] for position in in_pot}) > 1:
            raise LogsError(f"hand {record.hand_number}: hole cards are missing that decided its side pots")
        best = max(record.values[position] for position in in_pot)
        for position in in_pot:
            ranks[position] = int(record.values[position] == best)
        return ranks
    board = record.deal.board[: betting.game.board_cards_by_round[betting.round]]
    for position in in_pot:
        ranks[position] = rank_hand(holes[position] + board)
    return ranks


def paid_values(betting: BettingState, pots: Sequence[Pot], winners: Sequence[Sequence[Position]]) -> tuple[float, ...]:
    """Return the net chips of each position, given the winners of each pot."""
    won = [float(-chips) for chips in betting.spent]
    returned_to, returned = uncalled(betting.spent)
    won[returned_to] += returned
    for pot, pot_winners in zip(pots, winners, strict=True):
        for position in pot_winners:
            won[position] += pot.amount / len(pot_winners)
    return tuple(won)


def check_values(record: HandRecord, pots: Sequence[Pot], winners: Sequence[Sequence[Position]]) -> None:
    """Require the values of a hand to be the payments of its pots to their winners.

    Raises:
        LogsError: they differ, so the cards or the values are those of another hand.
    """
    won = paid_values(record.betting, pots, winners)
    if won == record.values:
        return
    for paid, value in zip(won, record.values, strict=True):
        if abs(paid - value) > _TOLERANCE_CHIPS:
            raise LogsError(f"hand {record.hand_number}: its values are not those of its cards and its betting")


def rake_units(rake: RakeFunction | None, record: HandRecord, pots: Sequence[Pot], scale: Scale) -> int:
    """Return the rake of a hand in units.

    Raises:
        LogsError: it is not between 0 and the pot.
    """
    if rake is None:
        return 0
    total = sum(pot.amount for pot in pots)
    saw_flop = record.betting.round > 0
    units = scale.rounded_units(rake(total, saw_flop))
    if not 0 <= units <= scale.units(total):
        raise LogsError(
            f"hand {record.hand_number}: a rake of {scale.number(units)} from a pot of {scale.amount(total)}"
        )
    return units


def showdown_order(record: HandRecord, actions: Sequence[Step]) -> list[Position]:
    """Return the positions that show, in order; empty if all but one folded.

    The last to bet or raise in the last round that had actions begins, or else the first to act in it.
    """
    if not actions:
        return order_of_showing(record.betting, Position(0))
    last_round = [action for action in actions if action.round == actions[-1].round]
    return order_of_showing(record.betting, _first_to_show(last_round))


def _first_to_show(actions: Sequence[Step]) -> Position:
    """Return the first to show, given the actions of the last round that had any."""
    for action in reversed(actions):
        if action.move >= Move.BET:
            return action.position
    return actions[0].position


def order_of_showing(betting: BettingState, first: Position) -> list[Position]:
    """Return the positions that show, in order from a position on; empty if all but one folded."""
    if not betting.is_showdown:
        return []
    in_pot = betting.in_pot
    return sorted(in_pot, key=lambda position: (position < first, position))
