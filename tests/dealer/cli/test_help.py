"""Help of every command, compared with snapshots.

After a wanted change write the snapshots anew and look at the difference before committing it:

    ARENA_UPDATE_SNAPSHOTS=1 pytest tests/dealer/cli/test_help.py && git diff tests/dealer/cli/snapshots

A command has a snapshot when there is a file of its name, which may be empty at first: ``NAME.txt`` is the full help,
``NAME.short.txt`` what ``-h`` prints at 80 columns.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from dealer.cli import COMMANDS as LISTED
from dealer.cli.shell.app import application
from dealer.cli.shell.commands import help_page
from dealer.cli.shell.help import MAX_SHORT_LINES, Entry, Page, page_text
from tests.dealer.cli.conftest import Arena

SNAPSHOTS = Path(__file__).parent / "snapshots"
COMMANDS = sorted(
    "" if path.stem == "arena" else path.stem.replace("-", " ")
    for path in SNAPSHOTS.glob("*.txt")
    if not path.stem.endswith(".short")
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_equals_its_snapshot(
    arena: Arena, arena_here: Arena, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, kind, columns in (("--help", "", "100"), ("-h", ".short", "80")):
        monkeypatch.setenv("COLUMNS", columns)
        result = arena_here(*command.split(), option) if command else arena(option, COLUMNS=columns)
        assert (result.code, result.err) == (0, "")
        path = SNAPSHOTS / f"{_stem(command)}{kind}.txt"
        if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
            path.write_text(result.out, "utf-8")
        assert result.out == path.read_text("utf-8")


def _stem(command: str) -> str:
    return command.replace(" ", "-") or "arena"


def _pages(command: Any, name: str, parent: Any) -> Iterator[Page]:
    context = typer.Context(command, info_name=name, parent=parent)
    yield help_page(command, context)
    for each, subcommand in getattr(command, "commands", {}).items():
        yield from _pages(subcommand, each, context)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[Page]:
    """Help of every command, also of those without a snapshot."""
    return [*_pages(get_command(application(LISTED)), "arena", None)]


def test_short_help_has_a_line_for_each_option_and_command(pages: list[Page], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for page in pages[1:]:
        sections = [*page.sections, *page.commands]
        blocks = page_text(page, is_full=False).split("\n\n")[-len(sections) :]
        for (title, entries), block in zip(sections, blocks, strict=True):
            first, *lines = block.splitlines()
            assert first == title
            assert max(map(len, lines)) <= 80
            if lines[-1].endswith(": see --help"):
                named = lines.pop().removesuffix(": see --help").split(", ")
                rare = [entry for entry in entries if entry.is_rare]
                assert len(named) == len(rare)
                assert all(name.strip() in entry.names for name, entry in zip(named, rare, strict=True))
                assert len(lines) + len(rare) == len(entries), block
            else:
                assert len(lines) == len(entries), block


def test_short_help_fits_a_screen(pages: list[Page], monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of commands is longer, since it has a line for each command."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = {page.usage: page_text(page, is_full=False).count("\n") for page in pages[1:]}
    assert {usage: count for usage, count in lines.items() if count > MAX_SHORT_LINES} == {}


def test_rare_options_are_explained_where_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    entries = [Entry("--near", "Near."), Entry("-f, --far N", "Far.", is_rare=True)]
    assert "  -f, --far N  Far\n" in page_text(Page("arena x", "", [("Options", entries)]), is_full=False)
    entries += [Entry(f"--near{number}", "Near.") for number in range(40)]
    assert "\n  --far: see --help\n" in page_text(Page("arena x", "", [("Options", entries)]), is_full=False)


def test_list_of_commands_has_a_line_for_each(arena: Arena) -> None:
    lines = [line for line in arena("-h", COLUMNS="80").out.splitlines() if line.startswith("  ")]
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines} == {*LISTED, "--version", "--install-completion", "-h,"}


@pytest.mark.parametrize("columns", [20, 80])
def test_full_help_is_never_cut(pages: list[Page], monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for page in pages:
        text = page_text(page, is_full=True)
        words = " ".join(text.split())
        for _, entries in (*page.sections, *page.commands):
            for entry in entries:
                assert " ".join(f"{entry.names} {entry.full_text}".split()) in words
        names = {f"  {entry.names}" for _, entries in page.sections for entry in entries}
        wide = {line for line in text.splitlines() if len(line) > max(columns, 40)} - names
        assert not {line for line in wide if " " in line.strip()}


def test_list_of_commands_has_their_first_sentences() -> None:
    app = application(LISTED)
    groups = {group.name: group.typer_instance and group.typer_instance.info.help for group in app.registered_groups}
    sentence = {command.name: inspect.getdoc(command.callback) for command in app.registered_commands} | groups
    assert {name: " ".join(str(text).split("\n\n")[0].split()) for name, text in sentence.items()} == LISTED
    assert {command.name for command in application(["games"]).registered_commands} == {"games"}


def test_every_snapshot_belongs_to_a_command() -> None:
    stems = {_stem(command) for command in COMMANDS}
    assert {path.name for path in SNAPSHOTS.iterdir()} == {
        f"{stem}{kind}.txt" for stem in stems for kind in ("", ".short")
    }


def test_no_arguments_print_the_help(arena: Arena) -> None:
    result = arena()
    assert result.code == 2
    assert "Usage: arena" in result.out + result.err


def test_version_is_printed(arena: Arena) -> None:
    result = arena("--version")
    assert result.code == 0
    assert re.fullmatch(r"acpc-arena \d+\.\d+\.\d+\S*\n", result.out)


def test_bot_after_two_dashes_is_started(arena_here: Arena) -> None:
    result = arena_here("--", "bot", "nonsense", "127.0.0.1", "1")
    assert (result.code, result.out) == (1, "")
    assert "nonsense" in result.err
