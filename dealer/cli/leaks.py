"""``arena leaks``: where a player loses."""

from __future__ import annotations

import dataclasses
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dealer.cli.console import Terminal
from dealer.cli.options import Json, takes_options
from dealer.cli.progress import showing_progress
from dealer.cli.reading import Problems, Sources, StrictHandOptions
from dealer.cli.report_output import PageFile, PageForce, check_page, show_report
from dealer.run.leaks import (
    MOST_NAMED,
    leaks_data,
    leaks_table,
    of_dimension,
    sentences_beside,
    sentences_of,
    tables_of,
    worst_table,
)
from engine.holdem import is_holdem

if TYPE_CHECKING:
    from bots.studies.report import Report, Section
    from logs.leaks import Leaks


@takes_options
def leaks(
    context: typer.Context,
    sources: Sources,
    player: Annotated[
        str | None, typer.Option("--player", help="Whose leaks.", show_default="the first player")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="BOT", help="Compare with the policy of this bot, such as cfr."),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="How many deals to name.")] = 10,
    out: PageFile = None,
    force: PageForce = False,
    as_json: Json = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Find where a player loses: decisions in which another player with the same cards did better.

    Works for duplicate matches of hold'em, and for any hands of Kuhn and Leduc poker, whose equilibrium is known: there
    each decision is shown with the chips it gives away. With --compare it is shown with the cost of departing from a
    bot's policy. The intervals of all leaks hold together, at 95 %.
    """
    from logs.leaks import deals_in, leaks_of

    terminal = context.ensure_object(Terminal)
    check_page(out, force)
    page: Report | None = None
    with Problems(terminal) as problems, showing_progress(terminal, "reading hands") as show:
        source = reading.finder(strict=reading.strict)(sources, on_problem=problems)
        deals = deals_in(source, lambda hands: show(None, f"{hands:,} hands"))
        first = next(deals, None)
        everything = deals if first is None else chain([first], deals)
        if compare is None and first is not None and not is_holdem(first[0][1].game):
            from bots.equilibrium.deviations import deviations_of
            from bots.studies.deviations import deviations_report

            deviations = deviations_of(everything, player)
            report, data = deviations_report(deviations), dataclasses.asdict(deviations)
        else:
            if compare is not None and first is not None:
                from bots.evaluation.policies import leaks_against_policy, open_policy

                with open_policy(compare, first[0][1].game) as policy:
                    found = leaks_against_policy(everything, player, policy, compare)
            else:
                found = leaks_of(everything, player, worst=worst)
            report, data = _report(found, sources, policy=compare or ""), leaks_data(found, sources)
            page = _report(found, sources, policy=compare or "", is_whole=True)
    show_report(terminal, report, out, page=page, data=data if as_json else None)


def _report(found: Leaks, sources: list[Path], *, is_whole: bool = False, policy: str = "") -> Report:
    from bots.studies.report import Report, Section

    unit = "decisions" if policy else "deals"
    sections: list[Section] = []
    if found.leaks:
        sections.append(_named(found, is_whole=is_whole, unit=unit))
    if is_whole:
        sections.append(Section("All decisions", (), (leaks_table("", of_dimension(found, "decision"), unit=unit),)))
    sections += [Section(table.title, (), (dataclasses.replace(table, title=""),)) for table in tables_of(found, unit)]
    if found.worst:
        sections.append(Section("Deals that cost most", (), (worst_table(found, sources),)))
    facts = (
        ("player", found.player),
        ("against", ", ".join(found.others)),
        ("hands" if policy else "deals", f"{found.deals:,}"),
        ("questions", f"{found.asked:,}"),
    )
    sentences = sentences_beside(found, policy) if policy else sentences_of(found)
    return Report(f"Leaks of {found.player}", sentences, facts, tuple(sections))


def _named(found: Leaks, *, is_whole: bool, unit: str) -> Section:
    from bots.studies.report import Bar, BarChart, Section

    shown = found.leaks[:MOST_NAMED]
    note = "" if len(shown) == len(found.leaks) else f"{len(found.leaks) - len(shown)} more are in --json."
    parts: list[Any] = [leaks_table("", shown, note, unit=unit)]
    if is_whole:
        bars = [
            Bar(name=one.name, height=one.per_100_hands, low=one.per_100_hands - half, high=one.per_100_hands + half)
            for one in shown
            if (half := one.half_width) is not None
        ]
        parts.append(BarChart(title="Leaks", label="chips per hundred hands", bars=tuple(bars)))
    return Section("Leaks", (), tuple(parts))
