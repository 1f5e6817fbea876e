"""Snapshots of whole hands as text.

After an intended change regenerate them, and read every line of the difference before committing it:

    ARENA_UPDATE_SNAPSHOTS=1 pytest tests/logs/pokerstars/test_golden.py && git diff tests/logs/pokerstars/golden

"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logs.pokerstars import format_pokerstars
from tests.logs.pokerstars.checker import check_file
from tests.logs.pokerstars.hand_cases import HAND_CASES

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", HAND_CASES)
def test_a_hand_is_written_as_kept(name: str) -> None:
    text = format_pokerstars(*HAND_CASES[name])
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
        path.write_text(text, "utf-8", newline="\n")
    assert text == path.read_text("utf-8")
    check_file(text)


def test_every_text_is_of_a_hand() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(HAND_CASES)
