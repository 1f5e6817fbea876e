"""``arena doctor``: takes one bot through scripted situations and says what is wrong, where, and what to do."""

from __future__ import annotations

import contextlib
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from dealer.cli.console import EXIT_FAILED, EXIT_INTERRUPTED, Terminal, abort
from dealer.cli.options import JsonOutput, Quiet
from dealer.errors import LaunchError, PlayerError
from dealer.table.players import Player, PlayerKind, parse_player
from protocol import GameDefinitionError, find_game

if TYPE_CHECKING:
    from dealer.doctor.examination import Examination, Setup
    from dealer.doctor.report import DoctorReport
    from dealer.doctor.situations import Situation

__all__ = ["doctor"]

_EXAMINATION = "Examination"
_TCP = "A client that somebody else starts"
_OUTPUT = "Output"
_WIDTH = 100
"""Sentences are hard to read in longer lines."""
_START_TIMEOUT_S = 30.0
_TCP_START_TIMEOUT_S = 300.0
_MOST_SHOWN = 2000
"""Bytes of a line that --verbose shows."""


def doctor(
    context: typer.Context,
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT",
            help="A built-in bot (see 'arena bots'), a command that is started with host and port, or 'tcp' for a "
            "client that connects by itself.",
            show_default=False,
        ),
    ] = None,
    game: Annotated[
        str,
        typer.Option("--game", "-g", help="A game (see 'arena games') or a .game file.", rich_help_panel=_EXAMINATION),
    ] = "limit",
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="SITUATION",
            help="Try this situation only; may be given several times.",
            rich_help_panel=_EXAMINATION,
        ),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the situations and stop.", rich_help_panel=_EXAMINATION)
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1e6,
            help="Seconds for one answer, and for the bot to end once the dealer has closed.",
            rich_help_panel=_EXAMINATION,
        ),
    ] = 10.0,
    wait: Annotated[
        float,
        typer.Option(
            min=0.0, max=1e6, help="Seconds of silence in the situation 'long-wait'.", rich_help_panel=_EXAMINATION
        ),
    ] = 2.0,
    start_timeout: Annotated[
        float | None,
        typer.Option(
            max=1e9,
            help="Seconds for the bot to connect and name the version; 0 waits for ever.",
            show_default="30; tcp: 300",
            rich_help_panel=_EXAMINATION,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="Seed of the cards, of the opponents and of a built-in bot.",
            rich_help_panel=_EXAMINATION,
        ),
    ] = 0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 for warnings, too.", rich_help_panel=_EXAMINATION)
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.", rich_help_panel=_TCP)
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.", rich_help_panel=_TCP)
    ] = 0,
    reconnect: Annotated[
        bool,
        typer.Option(
            "--reconnect",
            help="Wait for the client again where a situation needs a connection of its own.",
            rich_help_panel=_TCP,
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show every line that is said.", rich_help_panel=_OUTPUT)
    ] = False,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
) -> None:
    """Take a bot through scripted situations and say what it does wrong: which byte of which line, and what to do.

    Exit code 0 if nothing is wrong, 1 if something is, 2 if the bot cannot be started.
    """
    from dealer.doctor.display import list_view
    from dealer.doctor.examination import Setup
    from dealer.doctor.report import make_report
    from dealer.doctor.situations import SITUATIONS, find_situation

    terminal = context.ensure_object(Terminal)
    if list_them:
        _show_view(terminal, list_view(SITUATIONS))
        return
    if bot is None:
        abort("name a bot to examine: a built-in bot, a command, or 'tcp'; 'arena doctor --help' says more")
    if not host:
        abort("--host needs an address: 127.0.0.1 for this machine, 0.0.0.0 to let other machines in")
    try:
        player = parse_player(bot)
        game_name, rules = find_game(game)
        wanted = [find_situation(name) for name in only or []]
    except (PlayerError, GameDefinitionError, ValueError) as error:
        abort(str(error))
    is_tcp = player.kind is PlayerKind.TCP
    asked_s = (_TCP_START_TIMEOUT_S if is_tcp else _START_TIMEOUT_S) if start_timeout is None else start_timeout
    limit_s = asked_s if asked_s > 0 else None
    setup = Setup(
        rules,
        [situation for situation in SITUATIONS if situation in wanted or not wanted],
        seed=seed,
        start_timeout_s=limit_s,
        timeout_s=timeout,
        wait_s=wait,
        comes_again=reconnect,
    )

    where = (host, port) if is_tcp else ("127.0.0.1", 0)
    examination = _examine(
        terminal, setup, player, game_name, where, shows=not (quiet or as_json or verbose), tells=verbose
    )
    report = make_report(examination, bot=bot, game=game_name, seed=seed)
    if as_json:
        terminal.print(report.model_dump_json(indent=2))
    else:
        _show(terminal, report, quiet=quiet)
    is_faulty = report.errors > 0 or (strict and report.warnings > 0)
    raise typer.Exit(EXIT_INTERRUPTED if examination.is_interrupted else EXIT_FAILED if is_faulty else 0)


def _examine(
    terminal: Terminal,
    setup: Setup,
    player: Player,
    game_name: str,
    where: tuple[str, int],
    *,
    shows: bool,
    tells: bool,
) -> Examination:
    """Take the bot through the situations; ends the command where it cannot be started.

    Args:
        terminal: for progress.
        setup: what is tried.
        player: the bot.
        game_name: what is played.
        where: the address and the port to listen on.
        shows: whether the progress is shown.
        tells: whether every line is.
    """
    from dealer.doctor.examination import Examination
    from dealer.doctor.visits import BotHost

    limit_s = setup.start_timeout_s

    def say_waiting(address: str, number: int) -> None:
        left = "without limit" if limit_s is None else f"{limit_s:g} s left"
        terminal.say(f"waiting for the bot at {address}:{number}, {left}")

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _progress(terminal, is_wanted=shows) as on_situation,
        BotHost(
            player,
            game_name=game_name,
            seed=setup.seed,
            folder=Path(folder),
            start_timeout_s=limit_s,
            host=where[0],
            port=where[1],
            on_waiting=say_waiting,
        ) as bot_host,
        _stopped_by_signals(),
    ):
        examination = Examination(
            setup, bot_host, on_situation=on_situation, on_line=partial(_say_line, terminal) if tells else None
        )
        try:
            examination.run()
        except LaunchError as error:
            abort(str(error))
    return examination


def _show(terminal: Terminal, report: DoctorReport, *, quiet: bool) -> None:
    from dealer.doctor.display import finding_view, situations_view

    if not quiet:
        _show_view(terminal, situations_view(report))
        for finding in report.findings:
            _show_view(terminal, finding_view(finding, min(terminal.out.width, _WIDTH)))
            terminal.print()
    terminal.print(report.sentence)


def _show_view(terminal: Terminal, view: RenderableType) -> None:
    terminal.out.print(view, soft_wrap=False, width=min(terminal.out.width, _WIDTH))


def _say_line(terminal: Terminal, is_bots: bool, line: bytes) -> None:
    from dealer.doctor.display import printable

    text = printable(line[:_MOST_SHOWN]).removesuffix(r"\r\n")
    terminal.say(f"{'bot   ' if is_bots else 'dealer'}  {text}{'...' if len(line) > _MOST_SHOWN else ''}")


@contextlib.contextmanager
def _progress(terminal: Terminal, *, is_wanted: bool) -> Iterator[Callable[[Situation], None]]:
    """Show the present situation on a terminal; elsewhere nothing."""
    if not (is_wanted and terminal.err.is_terminal):
        yield lambda situation: None
        return
    with terminal.err.status("waiting for the bot") as status:
        yield lambda situation: status.update(f"{situation.name}: {situation.what}")


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a request to end the process end it as Ctrl-C does, so that the bot is stopped."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        # Signals belong to the main thread; another has none to take.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
