"""Errors quoted in `docs/faq.md`, compared with those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ROOT

COMMANDS = {
    "blanks separate": ("limit", "./my bot.sh", "calling"),
    "./my_bot.sh": ("limit", "./my_bot.sh", "calling"),
    "needs 2 players": ("limit", "python", "bot.py", "calling"),
    "is not empty": ("kuhn", "--out", "full"),
}
"""Parts of messages, each with arguments of `arena play` that cause it."""


@pytest.mark.skipif("os.name == 'nt'", reason="the hints are those of another system")
@pytest.mark.parametrize("part", COMMANDS)
def test_quoted_error_equals_that_of_the_program(arena_here: Arena, tmp_path: Path, part: str) -> None:
    for name in ("bot.py", "my bot.sh", "my_bot.sh", "full/file"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("pass\n")
    page = (ROOT / "docs" / "faq.md").read_text("utf-8")
    (quoted,) = (text for text in re.findall(r"^## `([^`]+)`", page, re.MULTILINE) if part in text)
    result = arena_here("play", *COMMANDS[part])
    assert result.code == 2
    assert quoted.removeprefix("… ").removeprefix("RUN ") in result.sentence
