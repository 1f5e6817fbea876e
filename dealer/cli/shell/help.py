"""The help of a command as text: in short, a line per option (``-h``), or in full, the text below each option.

A short help of more than 40 lines only names the options that are rarely needed. The short meaning of an option is the
first clause of its text, which ends at ``.``, ``:`` or ``;``. Nothing heavy is imported: ``arena -h`` prints the list
of commands without any command.
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
MAX_SHORT_LINES: Final = 40
"""A longer short help only names the options that are rarely needed."""
_NARROWEST_TEXT: Final = 30
"""Where the window leaves less beside the names, the text is below them."""


class Entry(NamedTuple):
    """An argument, an option or a command."""

    names: str
    """As it is typed, with its value."""
    text: str
    note: str = ""
    """Its default and bounds."""
    is_rare: bool = False

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
    if is_full:
        return _full_text(page, width)
    text = _short_text(page, width)
    if text.count("\n") > MAX_SHORT_LINES:
        text = _short_text(page, width, names_rare=True)
    return text


def _full_text(page: Page, width: int) -> str:
    blocks = [_usage(page, width), *_paragraphs(page.description, width)]
    for title, entries in page.sections:
        blocks.append("\n".join([title, *_below(entries, width)]))
    for title, entries in page.commands:
        blocks.append("\n".join([title, *_beside(entries, width)]))
    return "\n\n".join([*blocks, *_paragraphs(page.epilog, width)]) + "\n"


def _short_text(page: Page, width: int, *, names_rare: bool = False) -> str:
    """A line for each entry; with `names_rare`, a line per section for the names of those that are rarely needed."""
    blocks = [_usage(page, width), *_paragraphs(page.description.split("\n\n")[0], width)]
    for title, entries in (*page.sections, *page.commands):
        lines = [title]
        shown = [entry for entry in entries if not (names_rare and entry.is_rare)]
        if shown:
            lines += _beside(_shortened(shown), width)
        if len(shown) < len(entries):
            names = [_longest_name(entry) for entry in entries if entry not in shown]
            lines.append(_wrapped(f"{', '.join(names)}: see --help", width, "  ", "  "))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _usage(page: Page, width: int) -> str:
    return _wrapped(page.usage, width, "Usage: ", " " * 7)


def _longest_name(entry: Entry) -> str:
    """The name of an option without its value: ``--quiet`` of ``-q, --quiet``."""
    names: list[str] = re.findall(r"--?[\w-]+", entry.names)
    return max(names, key=len)


def first_clause(text: str) -> str:
    return re.split(r"[.:;](?=\s|$)", text, maxsplit=1)[0]


def _shortened(entries: Sequence[Entry]) -> list[Entry]:
    shortened = []
    for entry in entries:
        names = re.sub(r"--(\S+), --no-\1", r"--[no-]\1", entry.names)
        shortened.append(Entry(names, first_clause(entry.text)))
    return shortened


def _beside(entries: Sequence[Entry], width: int) -> Iterator[str]:
    """The text at the right of the names, below them in a narrow window."""
    column = min(max(len(entry.names) for entry in entries), _WIDEST_NAMES) + 4
    if width - column < _NARROWEST_TEXT:
        yield from _below(entries, width)
        return
    for entry in entries:
        yield _wrapped(entry.text, width, f"  {entry.names}  ".ljust(column), " " * column)


def _below(entries: Sequence[Entry], width: int) -> Iterator[str]:
    for entry in entries:
        yield f"  {entry.names}"
        yield _wrapped(entry.full_text, width, " " * 6, " " * 6)


def _paragraphs(text: str, width: int) -> list[str]:
    """Wrapped paragraphs; those with indented lines are examples and stay as they are."""
    paragraphs = []
    for part in text.split("\n\n"):
        if "\n " in part:
            paragraphs.append(part)
        elif part:
            paragraphs.append(_wrapped(part, width))
    return paragraphs


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
