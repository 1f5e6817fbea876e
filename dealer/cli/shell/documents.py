"""Print the document of a command as text or JSON, and write it to a file with its charts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, check_new_file, write_file
from dealer.person.screen import Screen
from logs.document import Document, HandGrid, Part, Particulars, Replay, Table
from logs.document.plain import json_data, markdown
from logs.document.terminal import STYLES, grid_lines, particulars_lines, replay_lines

PageFile = Annotated[
    Path | None,
    "Also write a page with all tables and charts. A name that ends in .json or .md selects that format.",
    Wording("FILE", flags="-o", group="Options"),
]
PageForce = Annotated[bool, "Overwrite an existing page.", Wording(group="Options")]


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Options of commands whose result is a document."""

    out: PageFile = None
    force: PageForce = False
    as_json: Json = False

    def __post_init__(self) -> None:
        check_new_file(self.out, self.force)

    def show(self, terminal: Terminal, document: Document, page: Document | None = None) -> None:
        show_document(terminal, document, self.out, page=page, as_json=self.as_json)


def show_document(
    terminal: Terminal,
    document: Document,
    path: Path | None = None,
    *,
    page: Document | None = None,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Print a document, and write it to a file if there is a path.

    Args:
        path: file to write; its ending selects the format, JSON, Markdown or HTML.
        page: document to write to the file instead.
        as_json: print JSON instead of text.
        quiet: print the sentences only.
    """
    if as_json:
        terminal.print(json.dumps(json_data(document), indent=2))
    elif quiet:
        for sentence in document.sentences:
            terminal.sentence(sentence)
    else:
        _print_document(terminal, document)
    if path is not None:
        write_file(path, _file_text(page or document, path.suffix))
        if not as_json:
            terminal.sentence(f"The page with all charts is {path}.")


def _file_text(document: Document, suffix: str) -> str:
    from logs.document.page import format_page

    match suffix:
        case ".json":
            return json.dumps(json_data(document), indent=2) + "\n"
        case ".md":
            return markdown(document)
        case _:
            return format_page(document)


def _print_document(terminal: Terminal, document: Document) -> None:
    terminal.heading(document.title)
    for sentence in document.sentences:
        terminal.sentence(sentence)
    if document.facts:
        terminal.sentence(", ".join(f"{fact.name} {fact.text}" for fact in document.facts))
    for section in document.sections:
        # A terminal shows no charts.
        parts = [part for part in section.parts if isinstance(part, str | Table | HandGrid | Particulars | Replay)]
        if not parts:
            continue
        if section.title != document.title:
            terminal.heading(section.title)
        for part in parts:
            _print_part(terminal, part, (section.title, document.title))
    for note in document.notes:
        terminal.note(note)


def _print_part(terminal: Terminal, part: Part, printed_titles: tuple[str, ...]) -> None:
    """Print a part, without its title if that is printed above it already."""
    width = terminal.out.width if terminal.out.is_terminal else None
    match part:
        case str():
            terminal.sentence(part)
        case Table():
            if part.title in printed_titles:
                part = replace(part, title="")
            if terminal.out.is_terminal:
                terminal.table(part, paint=Screen(terminal.out).painted)
            else:
                terminal.table(part)
        case HandGrid():
            terminal.heading(part.heading)
            terminal.lines(grid_lines(part, width, terminal.out.color_system), part.note)
        case Replay():
            terminal.heading(part.title)
            terminal.lines(replay_lines(part, width))
        case Particulars():
            terminal.heading(part.title, STYLES[part.tone])
            terminal.lines(particulars_lines(part, width))
