"""Commands of earlier versions, and their replacements."""

from __future__ import annotations

import shlex

import pytest

from dealer.cli.shell.old_spellings import new_spelling
from tests.dealer.cli.conftest import Arena


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("exploit kuhn calling --save best.policy", "exploit exact kuhn calling --save best.policy"),
        ("exploit kuhn3 random --json", "exploit exact kuhn3 random --json"),
        ("exploit limit 'ask:./new --fast' --run kept", "exploit bound limit 'ask:./new --fast' --run kept"),
        ("exploit --hands 50 nolimit mfs", "exploit bound --hands 50 nolimit mfs"),
        ("exploit leduc cfr --against random --json", "exploit against leduc cfr random --json"),
        ("exploit --against=cfr limit cfr --boards 2", "exploit against limit cfr cfr --boards 2"),
        ("stats last --variance", "luck last"),
        ("stats --variance --policy A --policy=B=mfs run", "luck --known A --known=B=mfs run"),
        ("stats run --variance --ranges --save --json", "luck run --ranges --save --json"),
        ("stats run --policy A", "luck run --known A"),
    ],
)
def test_old_command_has_a_new_spelling(old: str, new: str) -> None:
    assert new_spelling(shlex.split(old)) == f"arena {new}"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "play kuhn calling --against random",
        "exploit",
        "exploit -h",
        "exploit kuhn calling --help",
        "exploit exact kuhn calling",
        "exploit bound limit cfr",
        "exploit against kuhn calling random",
        "exploit chess calling",
        "stats run --json",
        "luck run --save",
    ],
)
def test_current_commands_have_no_new_spelling(words: str) -> None:
    assert new_spelling(shlex.split(words)) is None


def test_old_command_prints_its_new_spelling_and_does_not_run(arena_here: Arena) -> None:
    result = arena_here("exploit", "kuhn", "calling", "--against", "random")
    assert (result.code, result.out) == (2, "")
    assert result.sentence == "'arena exploit' has a new spelling; write: arena exploit against kuhn calling random"
