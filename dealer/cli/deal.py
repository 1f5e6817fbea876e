"""``arena deal``: the dealer alone, for bots that connect by themselves."""

from __future__ import annotations

from typing import Annotated

import typer

from dealer.cli.console import abort
from dealer.cli.options import (
    Coalesce,
    FixedSeats,
    Hands,
    JsonOutput,
    Out,
    Quiet,
    SeedOption,
    StartTimeout,
    THand,
    TPerHand,
    TResponse,
)
from dealer.cli.running import plan_match, read_game, read_players, run_plan

__all__ = ["deal"]


def deal(
    game_text: Annotated[str, typer.Argument(metavar="GAME", help="A game's name or a .game file.")],
    seats: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SEAT...]", help="A built-in bot, a command, or 'tcp' (the default for every seat)."),
    ] = None,
    hands: Hands = 1000,
    seed: SeedOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    ports: Annotated[str, typer.Option(help="Ports by seat, separated by commas; 0 or none: any free port.")] = "",
    out: Out = None,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    t_response: TResponse = 600.0,
    t_hand: THand = 600.0,
    t_per_hand: TPerHand = 7.0,
    start_timeout: StartTimeout = 300.0,
    fixed_seats: FixedSeats = False,
    coalesce: Coalesce = None,
) -> None:
    """Deal a match for clients that connect to its ports, seat by seat; says whom it waits for, where and how long."""
    if not host:
        abort("--host needs an address: 127.0.0.1 for this machine, 0.0.0.0 to let other machines in")
    game_name, game = read_game(game_text)
    players = read_players(seats or ["tcp"] * game.num_players, game_name, game)
    plan = plan_match(
        game_name,
        game,
        players,
        hands=hands,
        seed=seed,
        out=out,
        t_response=t_response,
        t_hand=t_hand,
        t_per_hand=t_per_hand,
        start_timeout=start_timeout,
        fixed_seats=fixed_seats,
        coalesce=coalesce,
        host=host,
        ports=_read_ports(ports),
    )
    run_plan(plan, quiet=quiet, as_json=as_json)


def _read_ports(text: str) -> tuple[int, ...]:
    ports = []
    for part in text.split(",") if text else []:
        if not (part.strip().isascii() and part.strip().isdigit()) or int(part) > 65535:
            abort(f"--ports {text}: {part!r} is no port; give numbers from 0 to 65535, separated by commas")
        ports.append(int(part))
    return tuple(ports)
