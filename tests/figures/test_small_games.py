"""The output in `research/tables/small-games.md` is that of its commands."""

from __future__ import annotations

import pytest

from tests.scripts import script

pytestmark = pytest.mark.slow


def test_the_page_shows_the_output() -> None:
    remake = script("research/small-games/remake.py")
    text = remake.PAGE.read_text("utf-8")
    assert remake.remade(text) == text
