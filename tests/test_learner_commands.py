"""`docs/learner-tables.md` shows the output of its commands."""

from __future__ import annotations

from tests.scripts import script

REMAKE = script("learner/commands.py")


def test_the_page_shows_what_was_printed() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_outputs(text) == text


def test_every_command_stands_on_the_page() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert all(f"    {command}\n" in text for command in REMAKE.COMMANDS.values())
    for name in REMAKE.COMMANDS:
        output = REMAKE.stored(name)
        assert output is not None
        assert output in text
