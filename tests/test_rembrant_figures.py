"""The tables of `docs/rembrant-tables.md` are those of the claims and of the matches that were played."""

from __future__ import annotations

import pytest

from bots.sdk.registry import make_bot
from tests.scripts import script

REMAKE = script("rembrant/remake.py")


def test_the_page_shows_what_was_played() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text, REMAKE.stored()) == text


def test_every_option_was_played() -> None:
    wanted = [(options, opponent) for options in REMAKE.OPTIONS for opponent in REMAKE.OPPONENTS]
    assert [(row.options, row.opponent) for row in REMAKE.stored()] == wanted[1:], (
        "the default has no match with itself"
    )
    assert {row.deals for row in REMAKE.stored()} == {REMAKE.DEALS}
    for options in REMAKE.OPTIONS[1:]:
        make_bot(f"rembrant?{options}")


@pytest.mark.slow  # thousands of hands
def test_a_match_can_be_repeated() -> None:
    stored = next(row for row in REMAKE.stored() if row.options == "complete=7" and row.opponent == "rembrant")
    assert REMAKE.play("complete=7", "rembrant") == stored
