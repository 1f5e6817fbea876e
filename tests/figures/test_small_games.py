"""Output in `research/tables/small-games.md`, compared with that of its commands."""

from __future__ import annotations

import pytest

from tests.scripts import script

pytestmark = pytest.mark.slow


def test_page_has_the_output_of_its_commands() -> None:
    remake = script("research/small-games/remake.py")
    text = remake.PAGE.read_text("utf-8")
    assert remake.remade(text) == text
