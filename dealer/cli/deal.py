"""``arena deal``: the dealer alone, for bots that connect by themselves."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import RunOptions, takes_run_options
from dealer.cli.running import run_new
from dealer.contest.config import Command, RunConfig
from dealer.contest.schedule import Seating
from protocol import GameDefinitionError, find_game

__all__ = ["deal"]

_HOST: Final[str] = RunConfig().host
_DEFAULTS: Final[dict[str, Any]] = {"start_timeout_s": 300.0, "hands": 1000, "seating": Seating.SINGLE, "workers": 1}
"""People need time to connect, and their bots do not play every seat."""


@takes_run_options
def deal(
    context: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's name or a .game file.")],
    seats: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SEAT...]", help="A bot, a command, or 'tcp' (the default for every seat)."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 admits other machines.")] = _HOST,
    ports: Annotated[str, typer.Option(help="Ports by seat, separated by commas; 0 or none: any free port.")] = "",
    *,
    options: RunOptions,
) -> None:
    """Deal a match to clients that connect to its ports, one per seat; says who is awaited, where and for how long.

    By default 1000 hands are dealt, in one seating, and clients have 300 seconds to connect.
    """
    if not host:
        abort("--host needs an address: 127.0.0.1 for this machine, 0.0.0.0 to admit other machines")
    try:
        players = find_game(game)[1].num_players
    except GameDefinitionError as error:
        abort(str(error))
    given = options.settings
    defaults = _DEFAULTS | ({"hands": None} if "stop" in given else {})
    own = {"games": [game], "bots": seats or ["tcp"] * players, "host": host, "ports": _read_ports(ports)}
    run_new(context.ensure_object(Terminal), Command.PLAY, defaults | given | own, options)


def _read_ports(text: str) -> list[int]:
    ports = []
    for part in text.split(",") if text else []:
        if not (part.strip().isascii() and part.strip().isdigit()) or int(part) > 65535:
            abort(f"--ports {text}: {part!r} is not a valid port; give numbers from 0 to 65535, separated by commas")
        ports.append(int(part))
    return ports
