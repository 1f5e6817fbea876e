"""The formulas: a relation of the quantities seen, and the decision it leads to.

The formulas are missing from the text, but the sentences after each of them name their terms. They are reconstructed
from those:

- formula 1, MFS, the mathematically fair strategy: expected gain over expected loss. Named are the opponents' money,
  POT, ODDS, RAISE, the player's money in the pot and CHANCE in per cent; the first follows from POT and ODDS by
  "another formula with the same result".
- formula 2, RH, of Jean Rachlin and Gary Higgins: named are POT, the number of raises, the players still to act,
  those that have not folded, and RAISE, to which 1 was added against division by zero.
- formulas 5 and 6, the decision: the relation and a constant k, "of which several values were tested". Here the
  decision is their product, rounded down and clamped to 1 to 5. With k = 2 an MFS player continues from a relation of
  1 up: exactly where continuing is fair.

N. V. Findler, "Studies in machine cognition using the game of poker", Communications of the ACM 20 (1977), is the
source of both strategies.
"""

from __future__ import annotations

import math

from bots.formula.decisions import Decision
from bots.formula.observation import Observation

__all__ = ["decision_of", "mfs_decision", "mfs_relation", "rh_decision", "rh_relation"]


def mfs_relation(seen: Observation) -> float:
    """Formula 1: expected gain over expected loss, infinite for a certain win.

    CHANCE * others / ((100 - CHANCE) * (own + RAISE)), with own = POT / ODDS the player's chips in the pot and
    others = POT - own.

    Raises:
        ValueError: CHANCE is unknown, or nothing is at stake: ODDS and RAISE are 0.
    """
    if seen.chance_percent is None:
        raise ValueError("the MFS relation needs CHANCE")
    own_chips = seen.own_chips
    stake_chips = own_chips + seen.raise_chips
    if not stake_chips:
        raise ValueError("the MFS relation needs a stake: ODDS and RAISE are 0")
    gain = seen.chance_percent * (seen.pot_chips - own_chips)
    loss = (100 - seen.chance_percent) * stake_chips
    if not loss:
        return math.inf if gain else 0.0
    return gain / loss


def mfs_decision(seen: Observation, k: float) -> Decision:
    """Formula 5: k times the MFS relation as a decision; 2, to enter the game, while the player has put nothing in.

    Raises:
        ValueError: CHANCE is unknown.
    """
    return decision_of(k * mfs_relation(seen)) if seen.odds else Decision.CALL


def rh_relation(seen: Observation) -> float:
    """Formula 2: the pot, discounted by raises, players and the price.

    POT / ((QTYRAISE + 1) * (FOLLOWERS + 1) * INGAME * (RAISE + 1)), money in big blinds. The 1 added to
    RAISE is the work's, the one added to QTYRAISE is Findler's; the one added to FOLLOWERS is ours, since the last
    player to act has none.
    """
    players = (seen.follower_count + 1) * seen.in_game_count
    return seen.pot_money / ((seen.raise_count + 1) * players * (seen.raise_money + 1))


def rh_decision(seen: Observation, k: float) -> Decision:
    """Formula 6: k times the RH relation as a decision."""
    return decision_of(k * rh_relation(seen))


def decision_of(value: float) -> Decision:
    """The decision for a value: rounded down and clamped to 1 to 5."""
    return Decision(math.floor(max(Decision.FOLD, min(Decision.LARGE_RAISE, value))))
