"""``arena doctor``: plays scripted situations with a bot and reports what is wrong, where, and what to do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from annotated_types import Interval

from bots.sdk.options import Wording
from dealer.cli.console import Terminal, abort, check_writable, until_stopped, write_file
from dealer.cli.options import JsonOutput, Junit, Quiet
from dealer.cli.progress import LiveLine
from dealer.cli.report_output import PageFile, PageForce, check_page, show_document
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.match.events import LineReceived, LineSent
from dealer.run.settings import NO_ADDRESS, Host
from dealer.table.loop import new_event_loop
from dealer.table.players import Player, PlayerKind, parse_player
from engine import Game
from protocol import find_game

if TYPE_CHECKING:
    from dealer.doctor.report import Examination
    from dealer.doctor.situations import ExaminationSetup

_START_TIMEOUT_S = 30.0
_TCP_START_TIMEOUT_S = 300.0
_MOST_SHOWN = 2000
"""Bytes of a line that --verbose shows."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    game: Annotated[str, "A game (see 'arena games') or a .game file.", Wording(flags="-g", group="Examination")] = (
        "limit"
    )
    situations: Annotated[
        list[str] | None,
        "Play only this situation; may be repeated.",
        Wording("NAME", flags="--situation", group="Examination"),
    ] = None
    lists: Annotated[bool, "List the situations and stop.", Wording(flags="--list", group="Examination")] = False
    timeout: Annotated[
        float,
        "Seconds for one answer; also for the bot to end after the dealer has closed.",
        Interval(ge=0.001, le=1e6),
        Wording("SECONDS", group="Examination"),
    ] = 10.0
    wait: Annotated[
        float,
        "Seconds of silence in the situation 'long-wait'.",
        Interval(ge=0.0, le=1e6),
        Wording("SECONDS", group="Examination"),
    ] = 2.0
    start_timeout: Annotated[
        float | None,
        "Seconds for the bot to connect and name the version; 0 waits forever.",
        Interval(ge=0, le=1e9),
        Wording("SECONDS", group="Examination", otherwise="30; tcp: 300"),
    ] = None
    seed: Annotated[
        int,
        "Seed of the cards, the opponents and a built-in bot.",
        Interval(ge=0, le=2**32 - 1),
        Wording(group="Examination"),
    ] = 0
    strict: Annotated[bool, "Also exit with code 1 for warnings.", Wording(group="Examination")] = False
    host: Annotated[Host, Wording(group="A client that connects by itself")] = "127.0.0.1"
    port: Annotated[
        int,
        "Port to listen on; 0 takes a free one.",
        Interval(ge=0, le=65535),
        Wording(group="A client that connects by itself"),
    ] = 0
    reconnect: Annotated[
        bool,
        "Wait for the client to reconnect; some situations need a connection of their own.",
        Wording(group="A client that connects by itself"),
    ] = False
    verbose: Annotated[bool, "Show every line sent and received.", Wording(flags="-v", group="Output")] = False
    quiet: Quiet = False
    out: PageFile = None
    force: PageForce = False
    as_json: JsonOutput = False
    junit: Junit = None


def doctor(
    context: typer.Context,
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT",
            help="A bot, a command, or 'tcp': a bot of 'arena bots', FILE.py:CLASS or MODULE:CLASS; a command that is "
            "started with host and port; 'tcp' for a client that connects by itself.",
            show_default=False,
        ),
    ] = None,
    *,
    options: DoctorOptions,
) -> None:
    """Play scripted situations with a bot and report its faults: which byte of which line is wrong, and what to do.

    Exit code 0 if nothing is wrong, 1 if something is, 2 if the bot cannot be started.
    """
    from dealer.doctor.report import doctor_document, junit_of, situations_document
    from dealer.doctor.situations import SITUATIONS

    terminal = context.ensure_object(Terminal)
    if options.lists:
        show_document(terminal, situations_document(SITUATIONS), as_json=options.as_json)
        return
    check_page(options.out, options.force)
    check_writable(options.junit)
    if bot is None:
        abort("name a bot to examine: a bot (see 'arena bots'), a command, or 'tcp'; see 'arena doctor --help'")
    try:
        player, (game_name, game) = parse_player(bot), find_game(options.game)
        examination = _examine(terminal, player, game_name, _setup(game, player, options), options)
    except ValueError as error:
        abort(str(error))
    report = examination.report(bot=bot, game=game_name)
    if options.junit is not None:
        write_file(options.junit, junit_of(report, is_strict=options.strict))
    document, page = doctor_document(report, is_quiet=options.quiet), doctor_document(report)
    show_document(terminal, document, options.out, page=page, as_json=options.as_json)
    is_faulty = report.errors > 0 or (options.strict and report.warnings > 0)
    raise typer.Exit(EXIT_INTERRUPTED if examination.is_interrupted else EXIT_FAILED if is_faulty else 0)


def _setup(game: Game, player: Player, options: DoctorOptions) -> ExaminationSetup:
    from dealer.doctor.situations import SITUATIONS, ExaminationSetup, find_situation

    if not options.host:
        raise ValueError(f"--host: {NO_ADDRESS}")
    wanted = [find_situation(name) for name in options.situations or []] or SITUATIONS
    start_timeout_s = options.start_timeout
    if start_timeout_s is None:
        start_timeout_s = _TCP_START_TIMEOUT_S if player.kind is PlayerKind.TCP else _START_TIMEOUT_S
    return ExaminationSetup(
        game,
        [one for one in SITUATIONS if one in wanted],
        options.seed,
        start_timeout_s=start_timeout_s or None,
        timeout_s=options.timeout,
        wait_s=options.wait,
        comes_again=options.reconnect,
    )


def _examine(
    terminal: Terminal, player: Player, game_name: str, setup: ExaminationSetup, options: DoctorOptions
) -> Examination:
    from dealer.doctor.examination import BotHost, examine
    from dealer.doctor.report import printable
    from dealer.doctor.situations import Situation

    is_silent = options.quiet or options.as_json or options.verbose or not terminal.err.is_terminal
    address = (options.host, options.port) if player.kind is PlayerKind.TCP else ("127.0.0.1", 0)
    with LiveLine(terminal, is_silent=is_silent) as line, asyncio.Runner(loop_factory=new_event_loop) as runner:
        line("waiting for the bot")

        def show(event: Situation | LineSent | LineReceived | str) -> None:
            match event:
                case Situation(name, what):
                    line(f"{name}: {what}")
                case str(note):
                    terminal.note(note)
                case LineSent(line=data) | LineReceived(line=data) if options.verbose:
                    text = printable(data[:_MOST_SHOWN]).removesuffix(r"\r\n")
                    more = "..." if len(data) > _MOST_SHOWN else ""
                    terminal.trace(f"{'dealer' if isinstance(event, LineSent) else 'bot   '}  {text}{more}")

        with BotHost(player, setup, game_name, address, show) as bot_host:
            examination = runner.run(until_stopped(examine(setup, bot_host, show)))
    assert examination is not None, "an examination that is stopped is a result"
    return examination
