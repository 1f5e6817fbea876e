"""``arena hands``: the hands a bot lost most on, or one by its number, as text."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.console import Terminal, abort
from dealer.cli.options import Json
from dealer.cli.reading import Problems, Sources, StrictHandOptions
from engine.text import shown
from logs.acpc_log.writer import state_text
from logs.contest_scores import LargestLoss, largest_losses
from logs.record import HandRecord
from logs.view import views_of


def hands(
    context: typer.Context,
    sources: Sources,
    worst: Annotated[int, "How many hands to show.", Interval(1)] = 10,
    player: Annotated[str | None, "Whose losses.", Wording(otherwise="the first player")] = None,
    number: Annotated[
        int | None, "Show the hands of this number instead.", Interval(0), Wording(flags="--hand")
    ] = None,
    as_json: Json = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show the hands a bot lost most on: each with the same deal in the other seatings; or one hand by its number."""
    terminal = context.ensure_object(Terminal)
    lost: list[LargestLoss] = []
    numbered: list[HandRecord] = []
    with Problems(terminal) as problems:
        find = reading.finder(strict=reading.strict)
        source = find(sources, on_problem=problems, times=number is not None)
        if number is not None:
            numbered = [record for record in source.hands() if record.hand_number == number]
        else:
            lost = largest_losses(source, player, count=worst)
    if not lost and not numbered:
        abort("there is no such hand" if number is not None else "there is no hand that the player lost")
    if as_json:
        terminal.json([*map(_data, numbered), *map(_loss_data, lost)])
        return
    for record in numbered:
        _print_hand(terminal, record)
    for place, one in enumerate(lost, 1):
        terminal.print(f"{place}. {one.player} {one.chips:+,.10g}", style="bold")
        _print_hand(terminal, one.hand)
        for _, other in one.others:
            value = other.values[other.names.index(one.player)] if one.player in other.names else 0.0
            terminal.sentence(f"The same deal in another seating: {one.player} {value:+,.10g}")
            _print_hand(terminal, other)


def _data(record: HandRecord) -> dict[str, Any]:
    """A hand as the HTTP interface has it, with its match and what the bots said."""
    return {
        "match": record.match_name,
        "number": record.hand_number,
        "names": record.names,
        "state": state_text(record),
        "values": record.values,
        "comments": [{"name": record.names_by_seat[one.seat], "text": one.text} for one in record.comments],
    }


def _loss_data(lost: LargestLoss) -> dict[str, Any]:
    others = [_data(other) for _, other in lost.others]
    return {"player": lost.player, "chips": lost.chips, "hand": _data(lost.hand), "others": others}


def _print_hand(terminal: Terminal, record: HandRecord) -> None:
    views = views_of(record)
    seats = views[-1].seats
    width = max(len(seat.name) for seat in seats)
    terminal.sentence(f"{shown(record.match_name)}, hand {record.hand_number}")
    for seat in seats:
        cards = " ".join(seat.cards) or "?"
        terminal.print(f"  {seat.place:<4} {seat.name:<{width}}  {cards:<5}  {seat.value:+,.10g}")
    for view in views:
        if view.begins_round:
            terminal.sentence(f"{view.words} (pot {view.pot:,})", indent=2)
        else:
            terminal.sentence(view.words, indent=4)
        for name, text in view.comments:
            terminal.sentence(f"{name}: {text}", indent=6)
    terminal.blank()
