"""The paper on Rembrant: its statements about its rules compared with its tables, and its places at the ACPC 2011."""

from __future__ import annotations

from itertools import product
from typing import Final

from bots.rembrant.rules import (
    GROUPS,
    POSTFLOP_RULES,
    POSTFLOP_TABLES,
    PREFLOP_TABLES,
    STREETS,
    HandKind,
    Move,
    Opponent,
)
from bots.studies.report import Claim, Claims, Report, Section, Verdict
from engine.cards import STARTING_HANDS

_STRAIGHTS: Final = tuple(kind for kind in HandKind if kind.name.startswith("STRAIGHT"))
_OTHERS: Final = "our tables are different"
_BETS: Final = (Opponent.RAISE, Opponent.RE_RAISE, Opponent.ALL_IN)


def rembrant_report() -> Report:
    """Judge the statements of the paper about its rules; no hands are played."""
    tables = sorted([*PREFLOP_TABLES, *POSTFLOP_TABLES])
    groups = {GROUPS[hand] for hand in STARTING_HANDS}
    paying = sum(
        Move.FOLD not in (cell.passive, cell.aggressive)
        for cell in (POSTFLOP_RULES[situation].cell for situation in product(_STRAIGHTS, STREETS, _BETS))
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
            why="the tables of the paper contradict its text; the bot follows them with a straight or better"
            if paying
            else "",
        ),
        *(
            Claim(
                f"place at the ACPC 2011, two-player no-limit, by {way}",
                "not played",
                printed=str(place),
                verdict=Verdict.UNDECIDED,
                why="the other programs of that competition are not available",
            )
            for way, place in (("total bankroll", 6), ("instant run-off", 4))
        ),
    )
    return Report(
        "Poker program Rembrant: its claims",
        ("The paper prints rules and two places in a competition. Only the rules can be checked.",),
        (),
        (Section("Claims", (), (Claims("Statements of the paper", claims),)),),
    )
