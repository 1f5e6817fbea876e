"""``arena leaks``: where a player loses."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dealer.cli.console import Terminal, check_new_file
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.reading import GameName, Problems, Sources, Strict, game_named
from dealer.cli.working import working
from dealer.results.sentences import count_of

if TYPE_CHECKING:
    from bots.findings import Report, Section, TableView
    from logs.leaks import Cell, Leaks

__all__ = ["leaks"]

_MOST_NAMED: Final = 10
_BY: Final = (
    ("street", "By street"),
    ("position", "By position"),
    ("starting hand", "By starting hand"),
    ("hand on the street", "By what the cards made"),
    ("board", "By board"),
    ("price", "By price"),
)


def leaks(
    context: typer.Context,
    sources: Sources,
    player: Annotated[
        str | None, typer.Option("--player", help="Whose leaks.", show_default="the first player")
    ] = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="How many deals to name.")] = 10,
    game: GameName = None,
    strict: Strict = False,
    out: PageFile = None,
    force: PageForce = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say where a player loses: the decisions in which it did worse with its cards than the other player with the same.

    For duplicate matches of two players of hold'em. What is named holds for all questions asked together, at 95 %.
    """
    from logs.leaks import find_leaks

    terminal = context.ensure_object(Terminal)
    if out is not None:
        check_new_file(out, force)
    with Problems(terminal) as problems, working(terminal, "reading hands") as show:
        found = find_leaks(
            sources,
            player,
            worst=worst,
            on_hands=lambda hands: show(None, f"{hands:,} hands"),
            game=game_named(game),
            strict=strict,
            on_problem=problems,
        )
    if as_json:
        terminal.print(json.dumps(_as_json(found, sources), indent=2))
    else:
        show_findings(terminal, _report(found, sources))
    if out is not None:
        write_findings(terminal, _report(found, sources, is_whole=True), out)


def _report(found: Leaks, sources: list[Path], *, is_whole: bool = False) -> Report:
    from bots.findings import Report, Section

    sections: list[Section] = []
    if found.leaks:
        sections.append(_named(found, is_whole=is_whole))
    if is_whole:
        sections.append(Section("All decisions", (), (_table("", _of(found, "decision")),)))
    sections += [Section(title, (), (_table("", _of(found, by)),)) for by, title in _BY if _of(found, by)]
    if found.worst:
        sections.append(_worst(found, sources))
    facts = (
        ("player", found.player),
        ("against", ", ".join(found.others)),
        ("deals", f"{found.deals:,}"),
        ("questions", f"{found.asked:,}"),
    )
    return Report(f"Leaks of {found.player}", _sentences(found), facts, tuple(sections))


def _sentences(found: Leaks) -> tuple[str, ...]:
    """What was found, the most important first."""
    other = found.others[0] if len(found.others) == 1 else "the others"
    if found.leaks:
        leak = found.leaks[0]
        first = (
            f"{found.player} loses most here: {leak.name}, {_rate(leak)} chips per hundred hands. {_most(leak, other)}"
        )
    elif found.wider:
        wide = found.wider[0]
        first = (
            f"{found.player} loses ({wide.dimension}: {wide.name}, {_rate(wide)} chips per hundred hands), but by "
            "which decision is nothing that these hands can show."
        )
    else:
        first = f"A leak of {found.player} is nothing that these hands can show."
    said = [
        first,
        f"Both played the same cards in {count_of(found.deals, 'deal')}, and parted in {found.parted:,} of them. What "
        f"{found.player} made of a deal beyond {other} stands to the account of the decision in which they parted.",
    ]
    if found.asked:
        said.append(
            f"The intervals hold together for {count_of(found.asked, 'question')}, at 95 %: each is "
            f"{found.bound:.2f} standard errors wide to either side."
        )
    if found.unpaired:
        said.append(f"{count_of(found.unpaired, 'hand')} without the other seating of the deal did not count.")
    return tuple(said)


def _most(leak: Cell, other: str) -> str:
    """What the player does there that costs most, as a sentence."""
    did, others, deals, chips = leak.choices[0]
    return f"It chose to {did} where {other} chose to {others} in {count_of(deals, 'deal')}: {chips:+,.1f}."


def _named(found: Leaks, *, is_whole: bool) -> Section:
    from bots.findings import Bar, BarChart, Section

    shown = found.leaks[:_MOST_NAMED]
    note = "" if len(shown) == len(found.leaks) else f"{len(found.leaks) - len(shown)} more are in --json."
    parts: list[Any] = [_table(note, shown)]
    if is_whole:
        bars = [
            Bar(name=one.name, height=one.per_100_hands, low=one.per_100_hands - half, high=one.per_100_hands + half)
            for one in shown
            if (half := one.half_width) is not None
        ]
        parts.append(BarChart(title="Leaks", label="chips per hundred hands", bars=tuple(bars)))
    return Section("Leaks", (), tuple(parts))


def _table(note: str, cells: tuple[Cell, ...]) -> TableView:
    from bots.findings import TableView

    rows = [
        (one.name, f"{one.deals:,}", _rate(one), "leak" if one.is_leak else "", _choice(one))
        for one in cells
        if one.half_width is not None
    ]
    small = [one for one in cells if one.half_width is None]
    if small:
        chips = sum(one.per_100_hands for one in small)
        what = f"{len(small)} with too few deals to ask"
        rows.append((what, f"{sum(one.deals for one in small):,}", f"{chips:+,.1f}", "", ""))
    columns = (
        ("where they parted", "the decision in which the two did different things with the same cards"),
        ("deals", "in which they parted there"),
        ("chips/100", "chips per hundred of all hands, against what the other player made of the same cards"),
        ("", "a leak: the whole interval lies below 0"),
        ("dearest", "what the player did, what the other did, and chips per hundred hands"),
    )
    kept = [at for at in range(5) if at != 3 or any(row[3] for row in rows)]
    return TableView("", tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows), note)


def _choice(cell: Cell) -> str:
    did, others, deals, chips = cell.choices[0]
    return f"{did}, not {others}: {chips:+,.1f} in {deals:,}"


def _worst(found: Leaks, sources: list[Path]) -> Section:
    from bots.findings import Section, TableView

    rows = []
    for parting, paths in found.worst:
        board = f" on {parting.cards_on_board}" if parting.cards_on_board else ""
        what = f"{parting.cards}{board}, {parting.street}, {parting.bets}: {parting.did}, not {parting.others}"
        chips = f"{parting.chips:+,.10g}", f"{parting.others_chips:+,.10g}"
        rows.append((what, *chips, _command(paths, parting.hand_number, sources)))
    columns = (
        ("cards and decision", ""),
        (found.player, "what it made of the cards, in chips"),
        ("other", "what the other player made of the same cards"),
        ("to see both hands", "`arena replay` with the same words shows them in the browser"),
    )
    return Section("Deals that cost most", (), (TableView("", columns, tuple(rows)),))


def _command(paths: tuple[str, ...], number: int, sources: list[Path]) -> str:
    """The command that shows both hands of a deal: of their folder, or of the files where these were given."""
    given = {os.path.normpath(source) for source in sources}
    folders = {os.path.dirname(path) or "." for path in paths}
    named = paths if any(os.path.normpath(path) in given for path in paths) else sorted(folders)
    return shlex.join(["arena", "hands", *named, "--hand", str(number)])


def _of(found: Leaks, dimension: str) -> tuple[Cell, ...]:
    return tuple(one for one in found.cells if one.dimension == dimension)


def _rate(cell: Cell) -> str:
    return f"{cell.per_100_hands:+,.1f} ± {cell.half_width or 0.0:,.1f}"


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
                **dataclasses.asdict(parting),
                "paths": list(paths),
                "command": _command(paths, parting.hand_number, sources),
            }
            for parting, paths in found.worst
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
