"""The paper on Rembrant: what it says of its own rules, held against its tables, and its places at the ACPC 2011."""

from __future__ import annotations

from itertools import product
from typing import Final

from bots.rembrant.rules import (
    POSTFLOP_TABLES,
    PREFLOP_TABLES,
    STREETS,
    HandKind,
    Move,
    Opponent,
    group_of,
    postflop_rule,
)
from bots.studies.report import Claim, Claims, Report, Section, Verdict
from engine.cards import STARTING_HANDS

_STRAIGHTS: Final = tuple(kind for kind in HandKind if kind.name.startswith("STRAIGHT"))
_OTHERS: Final = "the tables read here are others"
_BETS: Final = (Opponent.RAISE, Opponent.RE_RAISE, Opponent.ALL_IN)


def rembrant_report() -> Report:
    """Judge what the paper says of its rules; nothing is played."""
    tables = sorted([*PREFLOP_TABLES, *POSTFLOP_TABLES])
    groups = {group_of(hand) for hand in STARTING_HANDS}
    paying = sum(
        Move.FOLD not in (cell.passive, cell.aggressive)
        for cell in (postflop_rule(*situation).cell for situation in product(_STRAIGHTS, STREETS, _BETS))
    )
    situations = len(_STRAIGHTS) * len(STREETS) * len(_BETS)
    claims = (
        Claim.plain(
            "tables of rules, numbered from 2 on", "16", str(len(tables)), tables == list(range(2, 18)), _OTHERS
        ),
        Claim.plain(
            "groups of starting hands, every hand in one", "9", str(len(groups)), groups == set(range(1, 10)), _OTHERS
        ),
        Claim(
            "with four cards to a straight on the board no bet is paid: cells for a straight that pay one",
            f"{paying} of {situations}",
            printed="0",
            verdict=Verdict.REFUTED if paying else Verdict.REPRODUCED,
            why="the paper's own tables contradict its sentence; the bot goes by them with a straight or better"
            if paying
            else "",
        ),
        *(
            Claim(
                f"place at the ACPC 2011, two-player no-limit, by {way}",
                "not played",
                printed=str(place),
                verdict=Verdict.UNDECIDED,
                why="the programs of that competition are not here",
            )
            for way, place in (("total bankroll", 6), ("instant run-off", 4))
        ),
    )
    return Report(
        "Poker program Rembrant: what it says of itself",
        ("The paper prints rules and two places in a competition; the rules can be held against each other.",),
        (),
        (Section("Claims", (), (Claims("What the paper says", claims),)),),
    )
