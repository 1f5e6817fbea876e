from __future__ import annotations

import pytest

from engine.text import clean


@pytest.mark.parametrize(
    ("text", "cleaned"), [("", ""), ("Zoë \t\n", "Zoë \t\n"), ("a\udcffb\udc80", "a�b�"), ("\udcc3\udcab", "ë")]
)
def test_bytes_that_are_no_text_are_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
