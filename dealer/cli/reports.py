"""A study's report: its tables in the terminal, all of it as a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dealer.cli.console import Terminal, write_file

if TYPE_CHECKING:
    from bots.studies.report import Report

PageFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write a page with all tables and charts, too.")
]
PageForce = Annotated[bool, typer.Option("--force", help="Overwrite an existing page.")]


def show_report(terminal: Terminal, report: Report) -> None:
    """Print what a report says in words and tables; its charts are for the page."""
    terminal.print(report.title, style="bold")
    for sentence in report.sentences:
        terminal.sentence(sentence)
    if report.facts:
        terminal.sentence(", ".join(f"{name} {value}" for name, value in report.facts))
    for section in report.sections:
        if not section.sentences and not section.tables:
            continue
        terminal.print()
        terminal.print(section.title, style="bold")
        for sentence in section.sentences:
            terminal.sentence(sentence)
        for view in section.tables:
            terminal.view(replace(view, title="" if view.title == section.title else view.title, note=""))
            if view.note:
                terminal.sentence(view.note)


def write_report(terminal: Terminal, report: Report, path: Path) -> None:
    """Write the page; check with `dealer.cli.console.check_new_file` before long work that it can be written."""
    from bots.studies.report import format_report

    write_file(path, format_report(report))
    terminal.print(f"The page with all charts is {path}.")
