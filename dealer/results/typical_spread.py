"""How much a deal scatters before anything is known of the players: what "hands needed" is reckoned with up front.

Measured between the simplest bots (raising and calling against random, in thousandths of the most a hand can lose):

                        one seating    all rotations
    limit, 2 players     170 - 540         50 - 250
    no-limit, 2 players  720 - 870        230 - 340
    Kuhn, 2 players      800 - 960        180 - 220
    Leduc                310 - 710        110 - 230

Bots that play well risk less: for them the figures below are a bound rather than a guess.
"""

from __future__ import annotations

from engine import Game
from logs.estimation import score_bounds

__all__ = ["typical_spread_mbb"]

_ONE_SEATING = 0.7
_ALL_SEATINGS = 0.25


def typical_spread_mbb(game: Game, seatings: int) -> float:
    """The standard deviation of a deal's score to reckon with, in mbb/g.

    Args:
        game: what is played.
        seatings: in how many seatings each deal is played.
    """
    lowest, _ = score_bounds(game)
    return -lowest * (_ONE_SEATING if seatings == 1 else _ALL_SEATINGS)
