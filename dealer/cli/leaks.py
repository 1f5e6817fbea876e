"""``arena leaks``: where a player loses."""

from __future__ import annotations

import dataclasses
import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dealer.cli.console import Terminal, abort, check_new_file
from dealer.cli.progress import showing_progress
from dealer.cli.reading import ChipValue, GameName, Problems, Sources, Strict, hand_finder
from dealer.cli.reports import PageFile, PageForce, show_report, write_report
from dealer.run.leaks import (
    MOST_NAMED,
    command_for,
    leaks_table,
    of_dimension,
    sentences_beside,
    sentences_of,
    tables_of,
    worst_table,
)
from engine.holdem import is_holdem
from engine.text import count_of

if TYPE_CHECKING:
    from bots.equilibrium.deviations import ChosenAction, Deviations, Situation
    from bots.studies.report import Report, Section
    from logs.leaks import Cell, Leaks


def leaks(
    context: typer.Context,
    sources: Sources,
    player: Annotated[
        str | None, typer.Option("--player", help="Whose leaks.", show_default="the first player")
    ] = None,
    beside: Annotated[
        str | None, typer.Option("--beside", metavar="BOT", help="Hold it against the policy of a bot, such as cfr.")
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="How many deals to name.")] = 10,
    game: GameName = None,
    chip_value: ChipValue = None,
    strict: Strict = False,
    out: PageFile = None,
    force: PageForce = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Find where a player loses: decisions in which another player with the same cards did better.

    For duplicate matches of hold'em. Of games whose equilibrium is known, Kuhn's and Leduc, any hands do: there each
    decision is told by what it gives away. With --beside it is told what departing from a bot's policy costs. What is
    named holds for all questions asked together, at 95 %.
    """
    from logs.leaks import deals_in, leaks_of

    terminal = context.ensure_object(Terminal)
    if out is not None:
        check_new_file(out, force)
    with Problems(terminal) as problems, showing_progress(terminal, "reading hands") as show:
        source = hand_finder(game, chip_value, strict=strict)(sources, on_problem=problems)
        deals = deals_in(source, lambda hands: show(None, f"{hands:,} hands"))
        first = next(deals, None)
        everything = deals if first is None else chain([first], deals)
        if beside is not None and first is not None:
            from bots.errors import PolicyError, SpecError
            from bots.evaluation.policies import leaks_against_policy, parse_policy

            try:
                found = leaks_against_policy(everything, player, parse_policy(beside, first[0][1].game), beside)
            except (PolicyError, SpecError) as error:
                abort(str(error))
            report, data = _report(found, sources, beside=beside), _as_json(found, sources)
            whole = _report(found, sources, is_whole=True, beside=beside)
        elif first is not None and not is_holdem(first[0][1].game):
            from bots.equilibrium.deviations import deviations_of

            departures = deviations_of(everything, player)
            report, data = report_of_deviations(departures), dataclasses.asdict(departures)
            whole = report
        else:
            found = leaks_of(everything, player, worst=worst)
            report, data = _report(found, sources), _as_json(found, sources)
            whole = _report(found, sources, is_whole=True)
    if as_json:
        terminal.print(json.dumps(data, indent=2))
    else:
        show_report(terminal, report)
    if out is not None:
        write_report(terminal, whole, out)


def _report(found: Leaks, sources: list[Path], *, is_whole: bool = False, beside: str = "") -> Report:
    from bots.studies.report import Report, Section

    unit = "decisions" if beside else "deals"
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
        ("hands" if beside else "deals", f"{found.deals:,}"),
        ("questions", f"{found.asked:,}"),
    )
    sentences = sentences_beside(found, beside) if beside else sentences_of(found)
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


def _as_json(found: Leaks, sources: list[Path]) -> dict[str, Any]:
    return {
        "player": found.player,
        "others": list(found.others),
        "deals": found.deals,
        "parted": found.parted,
        "unpaired_hands": found.unpaired,
        "questions": found.asked,
        "bound": found.bound,
        "leaks": [_cell_as_json(cell) for cell in found.leaks],
        "cells": [_cell_as_json(cell) for cell in found.cells],
        "worst": [
            {
                **dataclasses.asdict(divergence),
                "paths": list(paths),
                "command": command_for(paths, divergence.hand_number, sources),
            }
            for divergence, paths in found.worst
        ],
    }


def _cell_as_json(cell: Cell) -> dict[str, Any]:
    return {
        "dimension": cell.dimension,
        "name": cell.name,
        "deals": cell.deals,
        "chips_per_100_hands": cell.per_100_hands,
        "half_width_simultaneous_95": cell.half_width,
        "is_leak": cell.is_leak,
        "choices": [
            {"player": did, "other": other, "deals": deals, "chips_per_100_hands": chips}
            for did, other, deals, chips in cell.choices
        ],
    }


_MOST_NAMED: Final = 20


def report_of_deviations(found: Deviations) -> Report:
    """What was given away, the most expensive decisions first."""
    from bots.studies.report import Report, Section
    from logs.page.table import TableView

    costly = [one for one in found.situations if one.per_100_hands > 0]
    rows = [
        (one.name, f"{one.deals:,}", _rate(one), "; ".join(_told(played) for played in one.choices))
        for one in costly[:_MOST_NAMED]
    ]
    columns = (
        ("decision", "position, card, betting"),
        ("deals", "in which it came up"),
        ("chips/100", "chips given away per hundred of all hands, against an equilibrium"),
        ("what it did", "how often; how often an equilibrium does it; the exact cost of doing it once, in chips"),
    )
    more = len(costly) - len(rows)
    note = f"{more} more that cost something are in --json." if more > 0 else ""
    facts = (
        ("player", found.player),
        ("hands", f"{found.hands:,}"),
        ("deals", f"{found.deals:,}"),
        ("decisions", f"{found.decisions:,}"),
    )
    sections = (Section("What costs most", (), (TableView("", columns, tuple(rows), note),)),) if rows else ()
    return Report(f"What {found.player} gives away", _sentences(found, costly), facts, sections)


def _sentences(found: Deviations, costly: list[Situation]) -> tuple[str, ...]:
    if not costly:
        said = [f"Nothing that {found.player} did in these hands costs anything against an equilibrium."]
    else:
        worst = costly[0]
        said = [
            f"{found.player} gives away most here: {worst.name}, {_rate(worst)} chips per hundred hands: "
            f"{_told(worst.choices[0])}.",
            f"Its decisions in these hands cost {found.per_100_hands:,.1f} ± {found.half_width:,.1f} chips per hundred "
            "hands in all, each counted as if an equilibrium had been the opponent. That cost is exact; the intervals "
            "are about how often it comes to a decision and what it then does, and hold together at 95 %.",
        ]
    if found.unmet:
        said.append(
            f"{count_of(found.unmet, 'decision')} came up that an equilibrium never lets come up; no cost is told of "
            "them."
        )
    said.append("How much a better opponent could win from the player, arena exploit says of its policy.")
    return tuple(said)


def _rate(one: Situation) -> str:
    half = "" if one.half_width is None else f" ± {one.half_width:,.1f}"
    return f"{one.per_100_hands:,.1f}{half}"


def _told(played: ChosenAction) -> str:
    cost = f"costs {played.cost:,.4g}" if played.cost else "costs nothing"
    return f"{played.did} {played.times:,} times ({100 * played.chance:.0f} % in an equilibrium, {cost})"
