"""``arena mcp``: let agents play that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from pathlib import Path
from typing import Annotated, Final

import typer

from bots.sdk.options import Interval, Wording
from bots.sdk.registry import known_names
from dealer.cli.shell.arguments import split_words
from dealer.cli.shell.completion import complete_word
from dealer.cli.shell.console import Terminal, abort, on_stop, until_stopped
from dealer.cli.shell.server_login import TOKEN_VARIABLE, read_token, server_address
from dealer.cli.shell.streams import EXIT_INTERRUPTED, restore_standard_output
from dealer.joining.connection import ALL_GAMES, JoinSettings
from dealer.run.folder import new_folder, unused_folder
from dealer.table.loop import new_event_loop
from dealer.table.players import NAME_RULE, Player, PlayerKind, is_name, parse_player
from engine.errors import quoted
from protocol import find_game, shipped_games
from protocol.game_definition import short_name

MCP_INSTALL: Final = "pip install mcp"


def mcp(
    terminal: Terminal,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME...] [BOT...]",
            autocompletion=complete_word,
            help="Games, then opponents, which agents may choose.",
            show_default="all that are built in",
        ),
    ] = None,
    name: Annotated[str, "Name of the agent in logs and hand histories."] = "agent",
    runs: Annotated[Path, "Folder of the matches."] = Path("runs"),
    server: Annotated[
        str | None,
        "Play on a server, as a bot of the token's user; also on its ladder.",
        Wording("ADDRESS", group="Server", otherwise="matches of this machine"),
    ] = None,
    token_file: Annotated[
        Path | None,
        "File with the token, or with the server's line NAME TOKEN.",
        Wording("FILE", group="Server", otherwise=f"the variable {TOKEN_VARIABLE}"),
    ] = None,
    ca: Annotated[
        Path | None, "With https, trust the certificates of this file only.", Wording("FILE", group="Server")
    ] = None,
    port: Annotated[
        int | None,
        "Serve streamable HTTP on this port of this machine; 0 means any free port.",
        Interval(0, 65535),
        Wording(otherwise="standard input and output"),
    ] = None,
) -> None:
    """Let agents play that speak the Model Context Protocol.

    They have tools to start matches, to act and to read results. A program such as a chat client starts this command,
    and talks to it over standard input and output. An agent that is restarted continues at the same decision.
    """
    if importlib.util.find_spec("mcp") is None:
        abort(f"agents need one more package: {MCP_INSTALL}")
    if not is_name(name):
        abort(f"--name: {quoted(name, 100)} cannot be a name: {NAME_RULE}")
    # Imported here, because it takes a second.
    from dealer.agents.agent_seats import AgentSeats
    from dealer.agents.agent_serving import serve_address, serve_streams
    from dealer.agents.local_seats import LocalSeats
    from dealer.agents.server_seats import ServerSeats

    seats: AgentSeats
    if server is None:
        if token_file is not None or ca is not None:
            abort("--token-file and --ca need a server; name it with --server")
        arguments = split_words(words or [])
        seats = LocalSeats(
            runs.absolute(), games=_games(arguments.get("games")), bots=_bots(arguments.get("bots")), name=name
        )
    else:
        if words:
            abort("with --server, the server has the games and bots; leave them out")
        folder = new_folder(unused_folder((name, "joined"), runs.absolute()), ())
        settings = JoinSettings(
            server_address(server),
            read_token(None, token_file),
            Player("tcp", name, PlayerKind.TCP),
            folder,
            games=(ALL_GAMES,),
            is_on_ladder=True,
            ca=ca,
        )
        seats = ServerSeats(settings)

    async def serve_port(port: int) -> None:
        async with serve_address(seats, port) as address:
            terminal.note(f"Agents of this machine connect to {address} (Ctrl-C ends)")
            await asyncio.Event().wait()

    if port is not None:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(until_stopped(serve_port(port)))
        return
    restore_standard_output(terminal.out.file)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        if runner.run(serve_streams(seats, on_stop)):
            # A thread waits for standard input, and a normal exit would wait for the thread.
            os._exit(EXIT_INTERRUPTED)


def _games(texts: list[str] | None) -> dict[str, str]:
    """Return the games by the names that agents see."""
    if texts is None:
        return {short_name(name): name for name in shipped_games()}
    games = {}
    for text in texts:
        # A file is found again from any folder.
        path = text if text in shipped_games() or not os.path.exists(text) else os.path.abspath(text)
        games[short_name(find_game(text)[0])] = path
    return games


def _bots(texts: list[str] | None) -> dict[str, str]:
    """Return the opponents by the names that agents see."""
    if texts is None:
        return {name: name for name in known_names()}
    bots = {}
    for text in texts:
        player = parse_player(text)
        if player.kind is PlayerKind.TCP:
            abort("'tcp' names no bot that this command could start; name a bot or a command")
        bots[player.name] = text
    return bots
