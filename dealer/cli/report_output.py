"""The result of an analysis: its tables in the terminal or all of it as JSON, and with its charts as a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dealer.cli.console import Terminal, check_new_file, write_file

if TYPE_CHECKING:
    from bots.studies.report import Report

PageFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write a page with all tables and charts.")
]
PageForce = Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")]


def check_page(path: Path | None, force: bool) -> None:
    """End the command before its long work if the page could not be written."""
    if path is not None:
        check_new_file(path, force)


def show_report(
    terminal: Terminal, report: Report, path: Path | None = None, *, page: Report | None = None, data: Any = None
) -> None:
    """Print a report without its charts, or `data` as JSON instead; write `page`, or the report, to the path."""
    if data is not None:
        terminal.json(data)
    else:
        _print_report(terminal, report)
    if path is not None:
        from bots.studies.report import format_report

        write_file(path, format_report(page or report))
        terminal.print(f"The page with all charts is {path}.")


def _print_report(terminal: Terminal, report: Report) -> None:
    terminal.heading(report.title)
    for sentence in report.sentences:
        terminal.sentence(sentence)
    if report.facts:
        terminal.sentence(", ".join(f"{name} {value}" for name, value in report.facts))
    for section in report.sections:
        if not section.sentences and not section.tables:
            continue
        terminal.heading(section.title)
        for sentence in section.sentences:
            terminal.sentence(sentence)
        for view in section.tables:
            terminal.table(replace(view, title="" if view.title == section.title else view.title))
