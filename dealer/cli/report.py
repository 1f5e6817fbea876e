"""``arena report``: a page about runs and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, check_new_file, write_file
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.sources import Sources, StrictHandOptions, Transcript, read_counts
from dealer.errors import ResultError
from dealer.reports.run_report import report_document
from dealer.run.folder import RESULT_NAME
from dealer.run.results import AnyResult, read_result
from engine.text import count_of
from logs.contest_scores import Loss, WorstDeals
from logs.document.page import format_page
from logs.hand_source import HandSource
from logs.record import HandRecord

if TYPE_CHECKING:
    from logs.leaks import Leaks

_PAGE: Final = "report.html"


def report(
    terminal: Terminal,
    sources: Sources,
    out_file: Annotated[
        Path | None,
        "File to write.",
        Wording(
            "FILE",
            flags="--out -o",
            otherwise=f"{_PAGE} in the folder, or in the present one for other hands than those of one folder",
        ),
    ] = None,
    title: Annotated[str | None, "Title of the page.", Wording(otherwise="the names of the bots")] = None,
    transcript: Transcript = None,
    force: Annotated[bool, "Overwrite an existing file."] = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Write one page about runs or logs: win rates over time, how each bot plays and where it loses, faults, big pots.

    The page needs neither a network nor other files.
    """
    if out_file is None:
        out_file = sources[0] / _PAGE if len(sources) == 1 and sources[0].is_dir() else Path(_PAGE)
    check_new_file(out_file, force)
    counts = read_counts(terminal, sources, reading.finder(strict=reading.strict), transcript=transcript, times=True)
    results = [result for source in sources if (result := _result(terminal, source)) is not None]
    leaks, no_leaks, worst_deals = _compared(terminal, sources, reading.finder())
    document = report_document(
        counts, results, title, leaks=leaks, sources=sources, no_leaks=no_leaks, worst_deals=worst_deals
    )
    write_file(out_file, format_page(document))
    terminal.sentence(f"{out_file}: {count_of(counts.hands, 'hand')}")


def _compared(
    terminal: Terminal, sources: list[Path], find: Callable[..., HandSource]
) -> tuple[Sequence[Leaks], str, Sequence[Loss]]:
    """The leaks of all players, or the reason why there are none, and the worst deals."""
    from logs.leaks import LeaksRefused, all_leaks_of, deals_in

    worst = WorstDeals()

    def noted(deals: Iterable[Sequence[tuple[str, HandRecord]]]) -> Iterator[Sequence[tuple[str, HandRecord]]]:
        for deal in deals:
            worst.add(deal)
            yield deal

    leaks: Sequence[Leaks] = ()
    no_leaks = ""
    with showing_progress(terminal, "comparing hands of the same cards") as show:
        # Problems were reported while the hands were counted.
        source = find(sources, on_problem=lambda problem: None)
        deals = noted(deals_in(source, lambda hands: show(None, count_of(hands, "hand"))))
        try:
            leaks = all_leaks_of(deals)
        except LeaksRefused as error:
            no_leaks = str(error)
            for _ in deals:
                pass
    return leaks, no_leaks, worst.losses


def _result(terminal: Terminal, source: Path) -> AnyResult | None:
    if not (source / RESULT_NAME).is_file():
        return None
    try:
        return read_result(source)
    except ResultError as error:
        terminal.note(f"{error}: the page uses only the logs")
        return None
