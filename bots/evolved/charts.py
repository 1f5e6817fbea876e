"""What the agent does before the flop: a chart for each position, and a row of it for each starting hand.

The work prints charts without their colours; these are rebuilt from the groups of Sklansky and Malmuth, moved where the
work's own statistics say so. A row has four letters: what to do when the blind alone, one, two or three raises are in,
with F for fold (a check where it is free), C for call and R for raise (a call where nobody may raise any more).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.starting_hands import STARTING_HANDS

__all__ = ["POSITION_CLASSES", "chart", "chart_position"]

POSITION_CLASSES: Final = ("small blind", "big blind", "early", "6th", "7th", "8th", "9th", "dealer")
"""The positions that the work tells apart at a table of ten."""

_TIERS: Final = (
    "AA KK",
    "QQ JJ AKs",
    "TT AQs AJs KQs AKo",
    "99 ATs KJs QJs JTs AQo",
    "88 77 66 55 44 33 22 KTs QTs KQo AJo ATo",
    "A9s A8s A7s A6s A5s A4s A3s A2s Q9s J9s T9s T8s 98s 97s 87s 76s 65s KJo QJo JTo",
    "K9s J8s 86s 75s 54s KTo QTo",
    "K8s K7s K6s K5s K4s K3s K2s Q8s T7s 64s 53s 43s J9o T9o 98o",
    "J7s 96s 85s 74s 42s 32s A9o K9o Q9o J8o T8o 87o 76o 65o 54o",
)
"""The starting hands from strong to weak; all others stand below."""

_ROWS: Final = (
    "RRRC RRRC RRRC RRRC RRRC RRRC RRRC RRRC",
    "RRCC RRCC RRCC RRCC RRCC RRCC RRCC RRCC",
    "RRCC RRCC RRCC RRCC RRCC RRCC RRCC RRCC",
    "RCFF RCFF RCFF RCFF RCFF RCFF RCFF RCFF",
    "CCFF CCFF CCFF CCFF CCFF RCFF RCFF RCFF",
    "CCFF CCFF CFFF CFFF CFFF CCFF RCFF RCFF",
    "CFFF CCFF FFFF FFFF FFFF CFFF RFFF RFFF",
    "CFFF CFFF FFFF FFFF FFFF FFFF CFFF CFFF",
    "CFFF CFFF FFFF FFFF FFFF FFFF FFFF CFFF",
    "FFFF CFFF FFFF FFFF FFFF FFFF FFFF FFFF",
)
"""The row of each tier, by position."""


@cache
def chart() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """By position class, starting hand and raises so far (0 to 3): 0 fold, 1 call, 2 raise."""
    tiers = {name: tier for tier, names in enumerate(_TIERS) for name in names.split()}
    rows = [[tuple(["FCR".index(letter) for letter in row]) for row in of_tier.split()] for of_tier in _ROWS]
    return tuple(
        [
            tuple([rows[tiers.get(name, len(_TIERS))][position] for name in STARTING_HANDS])
            for position in range(len(POSITION_CLASSES))
        ]
    )


def chart_position(position: int, players: int) -> int:
    """The position class of a position at a table of 2 to 10, 0 being the first to act after the flop.

    At ten it is the work's. At smaller tables the blinds and the dealer stay what they are, and the others count from
    the dealer backwards, so that the early positions are those that are missing. Heads-up, the dealer is the small
    blind and acts last after the flop: it is a dealer.
    """
    if players == 2:
        return 1 if position == 0 else 7
    if position < 2:
        return position
    return max(2, 7 - (players - 1 - position))
