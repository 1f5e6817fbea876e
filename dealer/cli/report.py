"""``arena report``: a page about runs and logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from dealer.cli.console import Terminal, check_new_file, write_file
from dealer.cli.options import takes_options
from dealer.cli.progress import showing_progress
from dealer.cli.reading import Sources, StrictHandOptions, Transcript, counted
from dealer.errors import ResultError
from dealer.reports.report import report_of_results
from dealer.run.folder import RESULT_NAME
from dealer.run.leaks import tables_in_short
from dealer.run.results import AnyResult, read_result
from engine.text import count_of
from logs.document import Table
from logs.hand_source import HandSource
from logs.report import format_report

_PAGE: Final = "report.html"


@takes_options
def report(
    context: typer.Context,
    sources: Sources,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write.",
            show_default=f"{_PAGE} in the folder, or in the present one for other hands than those of one folder",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.", show_default="the names of the bots")] = None,
    transcript: Transcript = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Write one page about runs or logs: win rates over time, how each bot plays and where it loses, faults, big pots.

    The page needs neither a network nor other files.
    """
    if out_file is None:
        out_file = sources[0] / _PAGE if len(sources) == 1 and sources[0].is_dir() else Path(_PAGE)
    check_new_file(out_file, force)
    terminal = context.ensure_object(Terminal)
    find = reading.finder(strict=reading.strict)
    counts = counted(terminal, sources, find, transcript=transcript, times=True)
    results = [result for source in sources if (result := _result(terminal, source)) is not None]
    leaks, no_leaks = _leaks(terminal, sources, reading.finder())
    write_file(out_file, format_report(report_of_results(counts, results, title, leaks=leaks, no_leaks=no_leaks)))
    terminal.sentence(f"{out_file}: {count_of(counts.hands, 'hand')}")


def _leaks(terminal: Terminal, sources: list[Path], find: Callable[..., HandSource]) -> tuple[list[Table], str]:
    """The tables of the leaks of all players, or the reason why there are none."""
    from logs.leaks import LeaksRefused, all_leaks_of, deals_in

    with showing_progress(terminal, "comparing hands of the same cards") as show:
        try:
            # Problems were reported while the hands were counted.
            source = find(sources, on_problem=lambda problem: None)
            found = all_leaks_of(deals_in(source, lambda hands: show(None, f"{hands:,} hands")))
        except LeaksRefused as error:
            return [], str(error)
    return [table for one in found for table in tables_in_short(one, sources)], ""


def _result(terminal: Terminal, source: Path) -> AnyResult | None:
    if not (source / RESULT_NAME).is_file():
        return None
    try:
        return read_result(source)
    except ResultError as error:
        terminal.note(f"{error}: the page uses only the logs")
        return None
