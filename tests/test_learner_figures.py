"""What `docs/learner.md` shows of the memories that come with the arena is what they won, and better than nothing."""

from __future__ import annotations

import pytest

from bots.learner.shipped import SHIPPED
from tests.scripts import script

REMAKE = script("learner/remake.py")


def test_the_page_shows_what_was_played() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_tables(text) == text


@pytest.mark.parametrize("name", SHIPPED)
def test_the_memory_was_played_that_comes_with_the_arena_and_wins_more_than_none(name: str) -> None:
    rows = REMAKE.stored(name)
    assert [row.opponent for row in rows] == list(REMAKE.OPPONENTS)
    assert {row.memory for row in rows} == {REMAKE.checksum(name)}
    gains = [row.trained_mbb - row.empty_mbb for row in rows]
    widths = [(row.trained_half_width**2 + row.empty_half_width**2) ** 0.5 for row in rows]
    assert sum(gains) > sum(width**2 for width in widths) ** 0.5
