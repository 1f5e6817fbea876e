"""Which of the two moves of a slash cell: ``call/re-raise``, ``check/raise``, ``call/fold``.

The work says what the slashes are for, not what decides: play passively when the hand is hard to beat, aggressively
when it is good but vulnerable, probe on the flop with weak hands, and pay nothing when one card makes a straight. There
are two readings of that; each gives the probability of the more aggressive move.

deterministic, by the first rule that applies:

1. a weak hand that nobody has bet against (``check/raise``): bet on the flop, to learn what the opponent has; check
   later;
2. four cards to a straight on the board and a hand that does not beat a straight: the more passive move;
3. a cell with a fold: stay in, unless there are four cards to a flush on the board and the bot has no flush;
4. any other cell: the more aggressive move on a board that invites draws, the more passive one otherwise.

probabilistic, by the board alone. A cell with a fold has the probabilities reversed, because one can stay in on a quiet
board: `chance_danger` on a dry board, `chance_dry` where rule 2 or 3 would fold, `chance` otherwise. Any other
cell: `chance_danger` on a board that invites draws, `chance_dry` on a dry one or where rule 2 applies, `chance`
otherwise.
"""

from __future__ import annotations

from bots.rembrant.cells import Cell, Move
from bots.rembrant.danger import Danger
from bots.rembrant.kinds import BEATS_STRAIGHTS, WEAK, Kind
from bots.rembrant.style import DETERMINISTIC, Style

__all__ = ["chance_of_aggression"]


def chance_of_aggression(cell: Cell, kind: Kind, danger: Danger, style: Style) -> float:
    """The probability of the more aggressive move of a cell with a slash after the flop."""
    is_beatable = kind not in BEATS_STRAIGHTS
    straight_threat = is_beatable and danger.is_four_to_straight
    flush_threat = is_beatable and danger.is_four_to_flush
    invites_draws = danger.invites_draws(on_river=style.river_danger)
    can_fold = cell.passive is Move.FOLD

    if style.reading == DETERMINISTIC:
        if kind in WEAK and cell.passive is Move.CHECK:
            return float(danger.cards == 3)
        if straight_threat:
            return 0.0
        return float(not flush_threat if can_fold else invites_draws)

    if straight_threat or (can_fold and flush_threat):
        return style.chance_dry
    is_dry = danger.is_dry and not invites_draws
    if can_fold:
        return style.chance_danger if is_dry else style.chance
    if invites_draws:
        return style.chance_danger
    return style.chance_dry if is_dry else style.chance
