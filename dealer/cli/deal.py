"""``arena deal``: the dealer alone, for bots that connect by themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import RunOptions, takes_run_options
from dealer.cli.running import run_new
from protocol import GameDefinitionError, find_game

__all__ = ["deal"]

_START_TIMEOUT_S = 300.0
_HANDS = 1000


@takes_run_options
def deal(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's name or a .game file.")],
    seats: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SEAT...]", help="A built-in bot, a command, or 'tcp' (the default for every seat)."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    ports: Annotated[str, typer.Option(help="Ports by seat, separated by commas; 0 or none: any free port.")] = "",
    *,
    options: RunOptions,
) -> None:
    """Deal a match for clients that connect to its ports, seat by seat; says whom it waits for, where and how long."""
    if not host:
        abort("--host needs an address: 127.0.0.1 for this machine, 0.0.0.0 to let other machines in")
    try:
        players = find_game(game)[1].num_players
    except GameDefinitionError as error:
        abort(str(error))
    settings = {"start_timeout_s": _START_TIMEOUT_S, "hands": _HANDS, "seating": "single", "workers": 1}
    if options.stop is not None:
        del settings["hands"]
    settings |= options.settings()
    settings |= {
        "command": "play",
        "games": [game],
        "bots": seats or ["tcp"] * players,
        "host": host,
        "ports": _read_ports(ports),
    }
    run_new(context.ensure_object(Terminal), settings, options)


def _read_ports(text: str) -> list[int]:
    ports = []
    for part in text.split(",") if text else []:
        if not (part.strip().isascii() and part.strip().isdigit()) or int(part) > 65535:
            abort(f"--ports {text}: {part!r} is no port; give numbers from 0 to 65535, separated by commas")
        ports.append(int(part))
    return ports
