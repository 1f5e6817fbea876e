"""``arena report``: write a page about runs and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import IntervalOption
from dealer.cli.shell.console import Terminal, check_new_file, write_file
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.sources import Sources, StrictHandOptions, Transcript, read_counts
from dealer.errors import ResultError
from dealer.reports.run_report import report_document
from dealer.run.choices import ShownInterval
from dealer.run.folder import RESULT_NAME
from dealer.run.results import AnyResult, read_result
from engine.text import count_of
from logs.contest_scores import Loss, WorstDeals
from logs.document.page import format_page
from logs.hand_source import HandSource
from logs.leaks import Leaks, LeaksRefused, all_leaks_of, deals_in
from logs.record import HandRecord

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
            otherwise=f"{_PAGE} in the folder, or in the current one for other sources",
        ),
    ] = None,
    interval: IntervalOption = ShownInterval.USUAL,
    title: Annotated[str | None, "Title of the page.", Wording(otherwise="the names of the bots")] = None,
    transcript: Transcript = None,
    force: Annotated[bool, "Overwrite an existing file."] = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Write one page about runs or logs: win rates over time, statistics and leaks of each bot, faults, big pots.

    The page needs neither a network nor other files.
    """
    if out_file is None:
        out_file = Path(_PAGE)
        if len(sources) == 1 and sources[0].is_dir():
            out_file = sources[0] / _PAGE
    check_new_file(out_file, force)
    counts = read_counts(terminal, sources, reading.finder(strict=reading.strict), transcript=transcript, times=True)
    results = []
    for source in sources:
        result = _read_result(terminal, source)
        if result is not None:
            results.append(result)
    leaks, no_leaks, worst_deals = _compare_deals(terminal, sources, reading.finder())
    document = report_document(
        counts,
        results,
        title,
        leaks=leaks,
        sources=sources,
        no_leaks=no_leaks,
        worst_deals=worst_deals,
        interval=interval,
    )
    write_file(out_file, format_page(document))
    terminal.sentence(f"{out_file}: {count_of(counts.hands, 'hand')}")


def _compare_deals(
    terminal: Terminal, sources: list[Path], find: Callable[..., HandSource]
) -> tuple[Sequence[Leaks], str, Sequence[Loss]]:
    """Compare the hands of each deal.

    Returns:
        the leaks of all players, or the reason for their absence, and the worst deals.
    """
    worst = WorstDeals()

    def keep_worst(deals: Iterable[Sequence[tuple[str, HandRecord]]]) -> Iterator[Sequence[tuple[str, HandRecord]]]:
        for deal in deals:
            worst.add(deal)
            yield deal

    leaks: Sequence[Leaks] = ()
    no_leaks = ""
    with showing_progress(terminal, "comparing hands of the same cards") as show:

        def show_hands(hands: int) -> None:
            show(None, count_of(hands, "hand"))

        # Problems were reported when the hands were counted.
        source = find(sources, on_problem=lambda problem: None)
        deals = keep_worst(deals_in(source, show_hands))
        try:
            leaks = all_leaks_of(deals)
        except LeaksRefused as error:
            no_leaks = str(error)
            # Read the remaining deals, too, for the worst ones.
            for _ in deals:
                pass
    return leaks, no_leaks, worst.losses


def _read_result(terminal: Terminal, source: Path) -> AnyResult | None:
    if not (source / RESULT_NAME).is_file():
        return None
    try:
        return read_result(source)
    except ResultError as error:
        terminal.note(f"{error}; the page uses only the logs")
        return None
