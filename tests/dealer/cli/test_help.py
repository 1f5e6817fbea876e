"""The help of every command, as it was last agreed on.

After a wanted change write the snapshots anew and look at the difference before committing it:

    ARENA_UPDATE_SNAPSHOTS=1 pytest tests/dealer/cli/test_help.py && git diff tests/dealer/cli/snapshots

The boxes drawn around the text are not part of a snapshot: they are the libraries' business.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import pytest

from dealer.cli import COMMANDS as LISTED
from dealer.cli.app import application
from tests.dealer.cli.conftest import Arena

SNAPSHOTS = Path(__file__).parent / "snapshots"
COMMANDS = (
    "",
    "play",
    "table",
    "tournament",
    "resume",
    "runs",
    "show",
    "gate",
    "crosstable",
    "export",
    "stats",
    "report",
    "hands",
    "leaks",
    "doctor",
    "deal",
    "serve",
    "serve user",
    "serve password",
    "serve revoke",
    "serve backup",
    "join",
    "bot",
    "bots",
    "games",
    "warmup",
    "equity",
    "solve",
    "solve equities",
    "solve preflop",
    "solve kuhn",
    "solve leduc",
    "solve kuhn3",
    "solve game",
    "bench",
    "bench bot",
    "bench dealer",
)


def _words(text: str) -> str:
    """The text without boxes, blank lines and columns."""
    lines = (re.sub(r"\s+", " ", re.sub(r"[─-╿]", " ", line)).strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_is_the_one_agreed_on(arena: Arena, command: str) -> None:
    ran = arena(*command.split(), "--help")
    assert ran.code == 0
    assert ran.err == ""
    path = SNAPSHOTS / f"{command.replace(' ', '-') or 'arena'}.txt"
    if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
        path.write_text(_words(ran.out), "utf-8")
    assert _words(ran.out) == path.read_text("utf-8")


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    app = application(LISTED)
    groups = {group.name: group.typer_instance and group.typer_instance.info.help for group in app.registered_groups}
    said = {command.name: inspect.getdoc(command.callback) for command in app.registered_commands} | groups
    assert {name: " ".join(str(text).split("\n\n")[0].split()) for name, text in said.items()} == LISTED
    assert {command.name for command in application(["games"]).registered_commands} == {"games"}


def test_h_is_help(arena: Arena) -> None:
    assert arena("play", "-h") == arena("play", "--help")


def test_every_snapshot_is_of_a_command() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == {name.replace(" ", "-") or "arena" for name in COMMANDS}


def test_without_arguments_there_is_help(arena: Arena) -> None:
    ran = arena()
    assert ran.code == 2
    assert "Usage: arena" in ran.out + ran.err


def test_the_version(arena: Arena) -> None:
    ran = arena("--version")
    assert ran.code == 0
    assert re.fullmatch(r"acpc-arena \d+\.\d+\.\d+\S*\n", ran.out)
