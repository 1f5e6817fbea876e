"""The result of an analysis: a document in the terminal or as JSON, and with its charts as a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import Terminal, check_new_file, write_file
from logs.document import Document, Table

PageFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write a page with all tables and charts.")
]
PageForce = Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")]


def check_page(path: Path | None, force: bool) -> None:
    """End the command before its long work if the page could not be written."""
    if path is not None:
        check_new_file(path, force)


def show_document(
    terminal: Terminal,
    document: Document,
    path: Path | None = None,
    *,
    page: Document | None = None,
    as_json: bool = False,
) -> None:
    """Print a document without its charts, or as JSON; write `page`, or the document, to the path."""
    if as_json:
        from logs.document.plain import json_data

        terminal.json(json_data(document))
    else:
        _print_document(terminal, document)
    if path is not None:
        from logs.document.page import format_page

        write_file(path, format_page(page or document))
        terminal.sentence(f"The page with all charts is {path}.")


def _print_document(terminal: Terminal, document: Document) -> None:
    terminal.heading(document.title)
    for sentence in document.sentences:
        terminal.sentence(sentence)
    if document.facts:
        terminal.sentence(", ".join(f"{fact.name} {fact.text}" for fact in document.facts))
    for section in document.sections:
        shown = [part for part in section.parts if isinstance(part, str | Table)]
        if not shown:
            continue
        terminal.heading(section.title)
        for part in shown:
            if isinstance(part, str):
                terminal.sentence(part)
            else:
                terminal.table(replace(part, title="" if part.title == section.title else part.title))
