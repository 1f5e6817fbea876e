"""``arena hands``: the hands a bot lost most on, or one by its number, as text."""

from __future__ import annotations

from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import takes_options
from dealer.cli.reading import Problems, Sources, StrictHandOptions
from engine.text import shown
from logs.contest_scores import largest_losses
from logs.record import HandRecord
from logs.view import views_of


@takes_options
def hands(
    context: typer.Context,
    sources: Sources,
    worst: Annotated[int, typer.Option("--worst", min=1, help="How many hands to show.")] = 10,
    player: Annotated[
        str | None, typer.Option("--player", help="Whose losses.", show_default="the first player")
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--hand", min=0, help="Show the hands of this number instead.", show_default=False),
    ] = None,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show the hands a bot lost most on: each with the same deal in the other seatings; or one hand by its number."""
    terminal = context.ensure_object(Terminal)
    found = 0
    with Problems(terminal) as problems:
        find = reading.finder(strict=reading.strict)
        source = find(sources, on_problem=problems, times=number is not None)
        if number is not None:
            for record in source.hands():
                if record.hand_number == number:
                    found += 1
                    _print_hand(terminal, record)
        else:
            lost = largest_losses(source, player, count=worst)
            for found, one in enumerate(lost, 1):
                terminal.print(f"{found}. {one.player} {one.chips:+,.10g}", style="bold")
                _print_hand(terminal, one.hand)
                for _, other in one.others:
                    value = other.values[other.names.index(one.player)] if one.player in other.names else 0.0
                    terminal.sentence(f"The same deal in another seating: {one.player} {value:+,.10g}")
                    _print_hand(terminal, other)
    if not found:
        abort("there is no such hand" if number is not None else "there is no hand that the player lost")


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
