"""The charts of the agent before the flop, the genes after it, and chromosomes as files.

Charts. The thesis prints charts without their colours; these are rebuilt from the groups of Sklansky and Malmuth, moved
where the thesis's own statistics require it. A row has four letters: what to do when the blind alone, one, two or three
raises are in, with F for fold (a check where it is free), C for call and R for raise (a call at the limit of raises).

Genes. There are 5,040 genes: 9 categories of hands x 8 positions x 70 states of the betting, which are raises in the
round before (4 values before the flop, where the blind counts as a raise, 5 later) x raises in this round (5 values),
for each of the rounds after the first: 4 x 5 + 5 x 5 + 5 x 5. A gene has two thresholds, whole numbers from -100 to
100. With d the weight of the hand times the odds, the agent raises if d is above the first, calls if it is above the
second, and folds otherwise (chapter 3.3.1 of the thesis).

Files. The first line has a record of the training. Then come the two thresholds of gene 0, of gene 1, and so on, a
signed byte each.
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
"""The positions that the thesis distinguishes at a table of ten."""
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
"""The starting hands from strong to weak; all others are below."""
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
    tier_of_hand = {}
    for tier, names in enumerate(_TIERS):
        for name in names.split():
            tier_of_hand[name] = tier
    rows = [row.split() for row in _ROWS]
    charts = []
    for position in range(len(POSITION_CLASSES)):
        of_position = []
        for name in STARTING_HANDS:
            letters = rows[tier_of_hand.get(name, len(_TIERS))][position]
            of_position.append(tuple(["FCR".index(letter) for letter in letters]))
        charts.append(tuple(of_position))
    return tuple(charts)


def chart_position(position: int, players: int) -> int:
    """The position class of a position at a table of 2 to 10, 0 being the first to act after the flop.

    At ten it is that of the thesis. At smaller tables the blinds and the dealer stay what they are, and the others
    count from the dealer backwards, so that the early positions are those that are missing. Heads-up, the dealer is
    the small blind and acts last after the flop: it is a dealer.
    """
    if players == 2 and position == 1:
        return 7
    if players == 2:
        return 1
    if position < 2:
        return position
    return max(2, 7 - (players - 1 - position))


HAND_CATEGORIES: Final = 9
POSITIONS: Final = 8
MOST_RAISES: Final = 4
_RAISES: Final = MOST_RAISES + 1
_FIRST_STATES: Final = (0, MOST_RAISES * _RAISES, MOST_RAISES * _RAISES + _RAISES * _RAISES)
BETTING_STATES: Final = _FIRST_STATES[2] + _RAISES * _RAISES
GENES: Final = HAND_CATEGORIES * POSITIONS * BETTING_STATES
THRESHOLD: Final = 100
"""Thresholds go from minus this to this."""


Odds: TypeAlias = Literal["reward", "price"]
"""What "odds of the pot" means; the words and the formula of the thesis allow both.

- reward: the pot's share of pot and price: 1 where nothing is to be paid; the better the price, the higher.
- price: the price as a part of the pot, by the letter: 0 where nothing is to be paid; the worse the price, the higher.
"""
ODDS: Final[tuple[Odds, ...]] = ("reward", "price")


def gene(category: int, position: int, round_: int, raises_before: int, raises: int) -> int:
    """The number of the gene for a situation.

    Args:
        category: of the hand made of hole cards and board, 0 (high card) to 8 (straight flush).
        position: a position class, 0 to 7 (`bots.evolved.chromosome.POSITION_CLASSES`).
        round_: 1 flop, 2 turn, 3 river.
        raises_before: raises in the round before; on the flop 0 to 3 without the blind, later 0 to 4.
        raises: in this round, 0 to 4.
    """
    state = _FIRST_STATES[round_ - 1] + raises_before * _RAISES + raises
    return (category * POSITIONS + position) * BETTING_STATES + state


def decision(raise_above: int, call_above: int, weight: float, to_call: float, pot: float, odds: Odds) -> int:
    """Return a gene's decision: 0 fold, 1 call, 2 raise.

    Args:
        weight: the chance not to lose against those who have not folded, 0 to 1.
        pot: everything that has been put in, in the unit of the price `to_call`.
    """
    d = THRESHOLD * weight * odds_factor(to_call, pot, odds)
    if d > raise_above:
        return 2
    if d > call_above:
        return 1
    return 0


def odds_factor(to_call: float, pot: float, odds: Odds) -> float:
    """Return the factor of a hand's weight that stands for the odds; arguments as for `decision`."""
    if odds == "reward":
        return pot / (pot + to_call)
    return to_call / pot


CHAMPION: Final = os.path.join(os.path.dirname(__file__), "champion.chromosome")
"""The shipped one; its first line has the commands, seeds and date of its training."""
_KIND: Final = FileKind("a chromosome of acpc-arena's evolved agent", 2, "`arena evolve` writes such files")


@dataclass(frozen=True, slots=True)
class Chromosome:
    """Thresholds, two for each gene, first that above which it raises, then that above which it calls.

    `record` is that of its training, as JSON: settings, seeds, date, results.
    """

    thresholds: tuple[int, ...]
    record: str


def write_chromosome(path: str, thresholds: bytes, record: Mapping[str, Any]) -> None:
    """Write a file; thresholds are a signed byte each."""
    write_artifact(path, _KIND, {"training": dict(record)}, thresholds)


def read_chromosome(path: str) -> Chromosome:
    """Read a file; a `BotFileError` if it is not a chromosome, of another version, or damaged."""
    found = read_artifact(path, _KIND)
    values = tuple(array("b", bytes(found.contents)))
    if len(values) != 2 * GENES:
        raise BotFileError(path, f"it has {len(values)} thresholds, not {2 * GENES}")
    if any(not -THRESHOLD <= value <= THRESHOLD for value in values):
        raise BotFileError(path, f"it has thresholds outside of -{THRESHOLD} to {THRESHOLD}")
    return Chromosome(values, json.dumps(found.header.get("training"), sort_keys=True))


def recorded_odds(chromosome: Chromosome) -> str:
    """The odds that a chromosome was trained with; ``reward``, the default, where its record has none."""
    match json.loads(chromosome.record):
        case {"settings": {"odds": str(odds)}}:
            return odds
    return "reward"
