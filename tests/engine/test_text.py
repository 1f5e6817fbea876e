from __future__ import annotations

import pytest

from engine.text import ago, clean


@pytest.mark.parametrize(
    ("text", "cleaned"), [("", ""), ("Zoë \t\n", "Zoë \t\n"), ("a\udcffb\udc80", "a�b�"), ("\udcc3\udcab", "ë")]
)
def test_bytes_that_are_no_text_are_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "now"), (59, "now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"), (86_399, "23 h ago")],
)
def test_a_time_is_told_from_now(seconds: float, words: str) -> None:
    assert ago(1e9 - seconds, 1e9) == words


def test_a_time_of_days_ago_is_a_date() -> None:
    assert ago(1e9, 1e9 + 86_400) == "2001-09-09"
