"""The help of a command as text: in short, a line per option (``-h``), or in full, the text below each option.

The short meaning of an option is the first clause of its text, which ends at ``.``, ``:`` or ``;``. Nothing heavy is
imported: ``arena -h`` prints the list of commands without any command.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_WIDEST: Final = 100
_WIDEST_NAMES: Final = 26
"""Longer names push their text to the right."""
_NARROWEST_TEXT: Final = 30
"""Where the window leaves less beside the names, the text is below them."""


class Entry(NamedTuple):
    """An argument, an option or a command."""

    names: str
    """As it is typed, with its value."""
    text: str
    note: str = ""
    """Its default and bounds."""

    @property
    def full_text(self) -> str:
        return f"{self.text} [{self.note}]" if self.note else self.text


class Page(NamedTuple):
    """The help of a command."""

    usage: str
    description: str
    sections: Sequence[tuple[str, Sequence[Entry]]]
    commands: Sequence[tuple[str, Sequence[Entry]]] = ()
    epilog: str = ""


HELP_ENTRY: Final = Entry("-h, --help", "Print help: a line per option with -h, everything with --help.")


def page_text(page: Page, *, is_full: bool) -> str:
    """The page for the window, or for 80 columns where there is none."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    description = page.description if is_full else page.description.split("\n\n")[0]
    blocks = [_wrapped(page.usage, width, "Usage: ", " " * 7), *_paragraphs(description, width)]
    for title, entries in page.sections:
        lines = _below(entries, width) if is_full else _beside(_shortened(entries), width)
        blocks.append("\n".join([title, *lines]))
    for title, entries in page.commands:
        blocks.append("\n".join([title, *_beside(entries if is_full else _shortened(entries), width)]))
    if is_full:
        blocks += _paragraphs(page.epilog, width)
    return "\n\n".join(blocks) + "\n"


def first_clause(text: str) -> str:
    return re.split(r"[.:;](?=\s|$)", text, maxsplit=1)[0]


def _shortened(entries: Sequence[Entry]) -> list[Entry]:
    return [Entry(re.sub(r"--(\S+), --no-\1", r"--[no-]\1", one.names), first_clause(one.text)) for one in entries]


def _beside(entries: Sequence[Entry], width: int) -> Iterator[str]:
    """The text at the right of the names, below them in a narrow window."""
    column = min(max(len(entry.names) for entry in entries), _WIDEST_NAMES) + 4
    if width - column < _NARROWEST_TEXT:
        yield from _below(entries, width)
        return
    for names, text, _ in entries:
        yield _wrapped(text, width, f"  {names}  ".ljust(column), " " * column)


def _below(entries: Sequence[Entry], width: int) -> Iterator[str]:
    for entry in entries:
        yield f"  {entry.names}"
        yield _wrapped(entry.full_text, width, " " * 6, " " * 6)


def _paragraphs(text: str, width: int) -> list[str]:
    """Wrapped paragraphs; those with indented lines are examples and stay as they are."""
    return [part if "\n " in part else _wrapped(part, width) for part in text.split("\n\n") if part]


def _wrapped(text: str, width: int, first: str = "", others: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        max(width, len(others) + _NARROWEST_TEXT),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    ).rstrip()


def version_line() -> str:
    from importlib.metadata import version

    return f"acpc-arena {version('acpc-arena')}"
