"""Format the help of a command.

``-h`` prints a line per option, ``--help`` their full texts. The short text of an option is the first clause of its
full one, which ends at ``.``, ``:`` or ``;``. A short help of more than 40 lines lists rare options by name only.
"""

# Nothing heavy is imported: `arena -h` prints the list of commands without importing any.
from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_MAX_WIDTH: Final = 100
_MAX_NAMES_WIDTH: Final = 26
"""Columns of the names; texts of longer names begin further right."""
MAX_SHORT_LINES: Final = 40
_MIN_TEXT_WIDTH: Final = 30
"""Columns beside the names below which texts are printed under the names."""


class Entry(NamedTuple):
    """Line of the help about an argument, an option or a command.

    Attributes:
        names: its names with the placeholder of its value, such as ``-o, --out FILE``.
        note: its default and bounds.
        is_rare: whether a long short help lists only its name.
    """

    names: str
    text: str
    note: str = ""
    is_rare: bool = False

    @property
    def full_text(self) -> str:
        return f"{self.text} [{self.note}]" if self.note else self.text


class Page(NamedTuple):
    """Help of a command or group.

    Attributes:
        sections: arguments and options by heading.
        commands: commands of a group by heading.
    """

    usage: str
    description: str
    sections: Sequence[tuple[str, Sequence[Entry]]]
    commands: Sequence[tuple[str, Sequence[Entry]]] = ()
    epilog: str = ""


HELP_ENTRY: Final = Entry("-h, --help", "Print help: a line per option with -h, everything with --help.")


def page_text(page: Page, *, is_full: bool) -> str:
    """Format a page for the width of the window, or for 80 columns without one."""
    width = min(shutil.get_terminal_size().columns, _MAX_WIDTH)
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
    """Format a line per entry; with `names_rare`, only the names of rare entries."""
    blocks = [_usage(page, width), *_paragraphs(page.description.split("\n\n")[0], width)]
    for title, entries in (*page.sections, *page.commands):
        lines = [title]
        shown = [entry for entry in entries if not (names_rare and entry.is_rare)]
        if shown:
            lines += _beside(_shortened(shown), width)
        if len(shown) < len(entries):
            rare_names = [_longest_name(entry) for entry in entries if entry not in shown]
            lines.append(_wrapped(f"{', '.join(rare_names)}: see --help", width, "  ", "  "))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _usage(page: Page, width: int) -> str:
    return _wrapped(page.usage, width, "Usage: ", " " * 7)


def _longest_name(entry: Entry) -> str:
    """Return the long name of an option, such as ``--quiet`` for ``-q, --quiet``."""
    names: list[str] = re.findall(r"--?[\w-]+", entry.names)
    return max(names, key=len)


def _first_clause(text: str) -> str:
    return re.split(r"[.:;](?=\s|$)", text, maxsplit=1)[0]


def _shortened(entries: Sequence[Entry]) -> list[Entry]:
    shortened = []
    for entry in entries:
        names = re.sub(r"--(\S+), --no-\1", r"--[no-]\1", entry.names)
        shortened.append(Entry(names, _first_clause(entry.text)))
    return shortened


def _beside(entries: Sequence[Entry], width: int) -> Iterator[str]:
    """Format entries with the texts to the right of the names, or below them in a narrow window."""
    column = min(max(len(entry.names) for entry in entries), _MAX_NAMES_WIDTH) + 4
    if width - column < _MIN_TEXT_WIDTH:
        yield from _below(entries, width)
        return
    for entry in entries:
        yield _wrapped(entry.text, width, f"  {entry.names}  ".ljust(column), " " * column)


def _below(entries: Sequence[Entry], width: int) -> Iterator[str]:
    for entry in entries:
        yield f"  {entry.names}"
        yield _wrapped(entry.full_text, width, " " * 6, " " * 6)


def _paragraphs(text: str, width: int) -> list[str]:
    """Split a text into paragraphs, and wrap all but examples, which have indented lines."""
    paragraphs = []
    for part in text.split("\n\n"):
        if "\n " in part:
            paragraphs.append(part)
        elif part:
            paragraphs.append(_wrapped(part, width))
    return paragraphs


def _wrapped(text: str, width: int, first_indent: str = "", indent: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()),
        max(width, len(indent) + _MIN_TEXT_WIDTH),
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ).rstrip()


def version_line() -> str:
    from importlib.metadata import version

    return f"acpc-arena {version('acpc-arena')}"
