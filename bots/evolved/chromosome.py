"""Charts for the first round, genes for the later ones, and files of chromosomes.

A gene has two thresholds, whole numbers from -100 to 100 (chapter 3.3.1 of the thesis). If the weight of the hand times
the odds is above the first, the player raises; if it is above the second, it calls; otherwise it folds. A situation is
one of 9 categories of hands, 8 positions and 70 states of the betting, so there are 5,040 genes.

The first line of a file has a record of the training. Then follow the two thresholds of each gene, a signed byte each.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from bots.artifact import FileKind, read_artifact, write_artifact
from bots.errors import BotFileError
from engine.cards import STARTING_HANDS

POSITION_CLASSES: Final = ("small blind", "big blind", "early", "6th", "7th", "8th", "9th", "dealer")
"""Positions that the thesis distinguishes at a table of ten."""
# The thesis prints its charts without their colours. These are rebuilt from the groups of Sklansky and Malmuth, with
# changes that the statistics of the thesis require.
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
"""Starting hands from strong to weak. The hands that are missing form the last tier."""
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
"""Actions of each tier, by position and raises so far.

The four letters are for the blind alone and for one, two and three raises: F fold or check, C call, R raise or, at the
limit of raises, call.
"""


@cache
def chart() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the actions by position class, starting hand and raises so far: 0 fold, 1 call, 2 raise."""
    tier_of_hand = {}
    for tier, names in enumerate(_TIERS):
        for name in names.split():
            tier_of_hand[name] = tier
    rows = [row.split() for row in _ROWS]
    charts = []
    for position in range(len(POSITION_CLASSES)):
        actions_by_hand = []
        for name in STARTING_HANDS:
            tier = tier_of_hand.get(name, len(_TIERS))
            actions = ["FCR".index(letter) for letter in rows[tier][position]]
            actions_by_hand.append(tuple(actions))
        charts.append(tuple(actions_by_hand))
    return tuple(charts)


def chart_position(position: int, players: int) -> int:
    """Return the position class of a position at a table of 2 to 10 players.

    Smaller tables than those of the thesis lack the early positions.

    Args:
        position: 0 for the first to act after the flop.
    """
    # With two players the dealer has the small blind and acts last after the flop, so it counts as a dealer.
    if players == 2 and position == 1:
        return 7
    if players == 2:
        return 1
    if position < 2:
        return position
    return max(2, 7 - (players - 1 - position))


HAND_CATEGORIES: Final = 9
POSITIONS: Final = 8
MAX_RAISES: Final = 4
_RAISES: Final = MAX_RAISES + 1
# A state is the number of raises in the round before and in this one. Before the flop the blind counts as a raise, so
# that the flop has 4 x 5 states, and turn and river have 5 x 5 each.
_FIRST_STATES: Final = (0, MAX_RAISES * _RAISES, MAX_RAISES * _RAISES + _RAISES * _RAISES)
BETTING_STATES: Final = _FIRST_STATES[2] + _RAISES * _RAISES
GENES: Final = HAND_CATEGORIES * POSITIONS * BETTING_STATES
THRESHOLD: Final = 100
"""Maximum absolute value of a threshold."""


Odds: TypeAlias = Literal["reward", "price"]
"""Meaning of the "odds of the pot"; the words and the formula of the thesis allow two.

- reward: pot divided by pot and price, which is 1 if a check is free and falls with the price.
- price: price divided by the pot, the literal reading, which is 0 if a check is free and rises with the price.
"""
ODDS: Final[tuple[Odds, ...]] = ("reward", "price")


def gene(category: int, position: int, round_: int, raises_before: int, raises: int) -> int:
    """Return the number of the gene for a situation.

    Args:
        category: category of hole cards and board, 0 (high card) to 8 (straight flush).
        position: position class, 0 to 7.
        round_: 1 flop, 2 turn, 3 river.
        raises_before: raises in the round before; on the flop 0 to 3 without the blind, later 0 to 4.
        raises: raises in this round, 0 to 4.
    """
    state = _FIRST_STATES[round_ - 1] + raises_before * _RAISES + raises
    return (category * POSITIONS + position) * BETTING_STATES + state


def decision(raise_above: int, call_above: int, weight: float, to_call: float, pot: float, odds: Odds) -> int:
    """Return a gene's decision: 0 fold, 1 call, 2 raise.

    Args:
        weight: chance not to lose against the active players, 0 to 1.
        to_call: price of a call.
        pot: chips of all players in the pot, in the unit of the price.
    """
    value = THRESHOLD * weight * odds_factor(to_call, pot, odds)
    if value > raise_above:
        return 2
    if value > call_above:
        return 1
    return 0


def odds_factor(to_call: float, pot: float, odds: Odds) -> float:
    """Return the factor of a hand's weight for the odds, see `decision` for the arguments."""
    if odds == "reward":
        return pot / (pot + to_call)
    return to_call / pot


CHAMPION: Final = os.path.join(os.path.dirname(__file__), "champion.chromosome")
"""Shipped chromosome, whose first line has the commands, seeds and date of its training."""
_KIND: Final = FileKind("a chromosome of acpc-arena's evolved agent", 2, "`arena evolve` writes such files")


@dataclass(frozen=True, slots=True)
class Chromosome:
    """Contents of a file.

    Attributes:
        thresholds: thresholds for raising and for calling, of each gene in turn.
        record: settings, date and results of the training, as JSON.
    """

    thresholds: tuple[int, ...]
    record: str


def write_chromosome(path: str, thresholds: bytes, record: Mapping[str, Any]) -> None:
    """Write a file.

    Args:
        thresholds: a signed byte each.
    """
    write_artifact(path, _KIND, {"training": dict(record)}, thresholds)


def read_chromosome(path: str) -> Chromosome:
    """Read a file.

    Raises:
        BotFileError: the file is missing, damaged, of another version, or not a chromosome.
    """
    artifact = read_artifact(path, _KIND)
    values = tuple(array("b", bytes(artifact.contents)))
    if len(values) != 2 * GENES:
        raise BotFileError(path, f"it has {len(values)} thresholds, not {2 * GENES}")
    if any(not -THRESHOLD <= value <= THRESHOLD for value in values):
        raise BotFileError(path, f"it has thresholds outside of -{THRESHOLD} to {THRESHOLD}")
    return Chromosome(values, json.dumps(artifact.header.get("training"), sort_keys=True))


def recorded_odds(chromosome: Chromosome) -> str:
    """Return the odds of a chromosome's training, by default ``reward``."""
    match json.loads(chromosome.record):
        case {"settings": {"odds": str(odds)}}:
            return odds
    return "reward"
