"""``arena doctor``: play scripted situations with a bot and report its faults."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Annotated

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import JsonOutput, Junit, Quiet
from dealer.cli.shell.completion import complete_player
from dealer.cli.shell.console import Terminal, abort, check_new_file, check_writable, until_stopped, write_file
from dealer.cli.shell.documents import PageFile, PageForce, show_document
from dealer.cli.shell.progress import LiveLine
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.doctor.situations import SITUATIONS, DoctorSettings, Situation
from dealer.match.events import LineReceived, LineSent
from dealer.table.loop import new_event_loop
from dealer.table.players import PlayerKind, parse_player
from engine.text import escaped_bytes
from protocol import find_game

_MAX_SHOWN_BYTES = 2000
"""Bytes of a line that --verbose prints."""


def doctor(
    terminal: Terminal,
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT",
            autocompletion=complete_player,
            help="A bot, a command, or 'tcp'. A bot is a name from 'arena bots', FILE.py:CLASS or MODULE:CLASS; a "
            "command is started with host and port; 'tcp' stands for a client that connects by itself.",
            show_default=False,
        ),
    ] = None,
    *,
    settings: DoctorSettings,
    lists: Annotated[bool, "List the situations and stop.", Wording(flags="--list", group="Output")] = False,
    strict: Annotated[bool, "Also exit with code 1 for warnings."] = False,
    verbose: Annotated[bool, "Show every line sent and received.", Wording(flags="-v")] = False,
    quiet: Quiet = False,
    out: PageFile = None,
    force: PageForce = False,
    as_json: JsonOutput = False,
    junit: Junit = None,
) -> None:
    """Play scripted situations with a bot and report its faults. Each fault has its line, byte and remedy.

    The exit code is 0 without errors, 1 with errors, and 2 if the bot cannot be started.
    """
    from dealer.doctor.examination import ExaminedBot, examine
    from dealer.doctor.findings import Examination, doctor_document, junit_of, situations_document

    if lists:
        show_document(terminal, situations_document(SITUATIONS), as_json=as_json)
        return
    check_new_file(out, force)
    check_writable(junit)
    if bot is None:
        abort("BOT is missing; name a bot of 'arena bots', a command, or 'tcp'")
    try:
        player = parse_player(bot)
        game_name, game = find_game(settings.game)
    except ValueError as error:
        abort(str(error))
    examination = Examination(settings, game, is_remote=player.kind is PlayerKind.TCP)
    is_silent = quiet or as_json or verbose or not terminal.err.is_terminal
    with LiveLine(terminal, is_silent=is_silent) as line, asyncio.Runner(loop_factory=new_event_loop) as runner:
        line("waiting for the bot")
        show = partial(_show, terminal, line, is_verbose=verbose)
        with contextlib.closing(ExaminedBot(player, examination, game_name, show)) as examined:
            runner.run(until_stopped(examine(examination, examined.play, show)))
    report = examination.report(bot=bot, game=game_name)
    if junit is not None:
        write_file(junit, junit_of(report, is_strict=strict))
    show_document(terminal, doctor_document(report), out, as_json=as_json, quiet=quiet)
    if examination.is_interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if report.errors > 0 or (strict and report.warnings > 0):
        raise typer.Exit(EXIT_FAILED)
    raise typer.Exit(0)


def _show(
    terminal: Terminal, line: LiveLine, event: Situation | LineSent | LineReceived | str, *, is_verbose: bool
) -> None:
    match event:
        case Situation(name, description):
            line(f"{name}: {description}")
        case str(note):
            terminal.note(note)
        case LineSent(line=data) | LineReceived(line=data) if is_verbose:
            text = escaped_bytes(data[:_MAX_SHOWN_BYTES]).removesuffix(r"\r\n")
            if len(data) > _MAX_SHOWN_BYTES:
                text += "..."
            sender = "dealer" if isinstance(event, LineSent) else "bot"
            terminal.trace(f"{sender:6}  {text}")
