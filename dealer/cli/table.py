"""``arena table``: let a person play against bots, in this terminal or in a browser."""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from bots.errors import BotFailure
from bots.sdk.bot import bot_seed
from bots.sdk.options import Interval, Wording
from bots.sdk.registry import is_builtin, make_bot
from dealer.cli.shell.arguments import split_words
from dealer.cli.shell.command_options import Out
from dealer.cli.shell.completion import complete_word
from dealer.cli.shell.console import Terminal, abort, until_stopped
from dealer.cli.shell.contests import check_logs
from dealer.cli.shell.pages import open_browser, require_web
from dealer.cli.shell.sources import complete_run, run_path
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE
from dealer.match.faults import FaultPolicy
from dealer.person.bankroll_table import MAX_BANKROLL, MIN_BANKROLL, BankrollMatch, play_bankroll
from dealer.person.screen import Screen
from dealer.person.table_session import TableSession
from dealer.person.table_settings import table_config
from dealer.person.terminal_table import Entries, sit_down
from dealer.run.ending import Outcome
from dealer.run.folder import new_folder
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import contest_sentence
from dealer.run.run import Run, new_run, reopen
from dealer.run.run_settings import BotSettings, CardSeed, Host, OnFault, RunSettings
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player, unique_names
from engine.errors import quoted
from logs.errors import UnsupportedGameError
from logs.export import Exporter
from logs.formats.export_format import ExportOptions
from logs.pokerstars import POKERSTARS
from protocol import find_game


def table(
    terminal: Terminal,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            autocompletion=complete_word,
            help="A game, then the other players: as for 'arena play'; a single one takes all other seats.",
            show_default="limit, and a built-in bot that plays the game",
        ),
    ] = None,
    name: Annotated[str, "Your name in logs and hand histories."] = "hero",
    deals: Annotated[
        int | None, "Deals to play.", Interval(1, 2**32 - 1), Wording(flags="-n", otherwise="until you leave")
    ] = None,
    seed: CardSeed = None,
    pause: Annotated[
        float | None, "Time before the next hand, instead of Enter.", Interval(0, 3600), Wording("SECONDS")
    ] = None,
    show_all: Annotated[bool, "Show all cards after each hand."] = False,
    four_colours: Annotated[bool, "Show each suit in a colour of its own."] = False,
    bankroll: Annotated[
        int | None,
        "Chips that carry over from hand to hand. Play ends when a player is broke, with fewer than the big blind. The "
        "other players are built-in bots, and the folder of --out has the hands as PokerStars histories.",
        Interval(MIN_BANKROLL, MAX_BANKROLL),
        Wording(otherwise="the same stacks in every hand"),
    ] = None,
    host: Annotated[Host, Wording(otherwise="127.0.0.1")] = "",
    on_fault: OnFault = FaultPolicy.RESTART,
    browser: Annotated[bool, "Play in a browser instead of this terminal."] = False,
    port: Annotated[int, "Port of the page for --browser; 0 means any free port.", Interval(0, 65535)] = 0,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Resume the match in this folder.",
            parser=run_path,
            autocompletion=complete_run,
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Play against bots yourself, in this terminal or in a browser.

    You take the first seat, as another client of the dealer: your hands are logged and exported like all others. Only
    the bots play by the clock. Bots with an 'explain' option report their reasons, which are shown after each hand.
    """
    settings = {"deals": deals, "seed": seed, "host": host or None, "on_fault": on_fault}
    if bankroll is not None:
        other_options = (browser, host, resume, pause, show_all, on_fault is not FaultPolicy.RESTART)
        if any(option not in (False, None, "") for option in other_options):
            abort(
                "--bankroll plays in this terminal with bots of this process; leave out --browser, --host, --on-fault, "
                "--pause, --resume and --show-all"
            )
        table_settings = _table_settings(words or [], name, settings)
        _play_bankroll(terminal, table_settings, bankroll, deals, out, has_four_colours=four_colours)
        return
    if browser:
        require_web("--browser")
    if resume is not None:
        if words or host or seed is not None or out is not None or deals is not None:
            abort("--resume continues a match as it was; leave out game, bots, --deals, --seed, --host and --out")
        run = _reopen_table(resume)
    else:
        run = new_run(_table_settings(words or [], name, settings), out)
    if browser:
        _play_page(terminal, run, port)
    play_seat(terminal, run, pause_s=pause, shows_all=show_all, has_four_colours=four_colours)


def _table_settings(words: list[str], name: str, settings: dict[str, Any]) -> RunSettings:
    arguments = split_words(words)
    games = arguments.get("games", ["limit"])
    if len(games) > 1:
        abort("a match at a table has one game")
    bots = [BotSettings(bot=bot) for bot in arguments.get("bots", [])]
    return table_config(games[0], bots, name=name, **settings)


def _play_bankroll(
    terminal: Terminal,
    settings: RunSettings,
    bankroll: int,
    hands: int | None,
    out: Path | None,
    *,
    has_four_colours: bool,
) -> None:
    """Let the person play with chips that carry over, and print the end."""
    game = find_game(settings.games[0])[1]
    try:
        POKERSTARS.check(game)
    except UnsupportedGameError as error:
        abort(f"--bankroll writes PokerStars histories: {error}")
    seed = settings.seed
    if seed is None:
        seed = secrets.randbits(32)
    players = [parse_player(bot.bot, bot.directory) for bot in settings.bots]
    bots = []
    for number, player in enumerate(players[1:], 1):
        if not is_builtin(player.text):
            abort(f"--bankroll plays with built-in bots, and {quoted(player.text)} is none")
        bots.append(make_bot(player.text, bot_seed(seed, 0, number) if isinstance(seed, int) else None))
    names = unique_names(players)
    match = BankrollMatch(game, bots, names, bankroll, seed)
    folder = new_folder(out, names)
    options = ExportOptions(hero=names[0], begin_us=time.time_ns() // 1000)
    exporter = Exporter(POKERSTARS, folder, options)
    screen = Screen(terminal.out, has_four_colours=has_four_colours)
    try:
        sentence = play_bankroll(match, screen, Entries(), hands=hands, keep=exporter.write)
    except BotFailure as error:
        abort(str(error), EXIT_FAILED)
    finally:
        exporter.close()
    terminal.print("")
    terminal.sentence(sentence)
    if exporter.skipped:
        terminal.note(exporter.not_written())
    terminal.sentence(f"Seed {seed}. Hands are in {folder}")


def _reopen_table(folder: Path) -> Run[ContestResult]:
    run: Run[Any] = reopen(folder)
    if not run.is_table:
        abort(f"{folder} is not a match at a table; 'arena resume {folder}' resumes it")
    return run


def play_seat(terminal: Terminal, run: Run[ContestResult], **appearance: Any) -> NoReturn:
    """Let the person play a run in the terminal, print the result, and end the command.

    Args:
        appearance: keyword arguments of `sit_down`.

    Raises:
        typer.Exit: with the exit code of the run's outcome.
    """
    _end_if_finished(terminal, run)
    session = TableSession(run)
    is_interrupted = sit_down(terminal.out, session, **appearance)
    terminal.print("")
    _end(terminal, session, is_interrupted=is_interrupted)


def _play_page(terminal: Terminal, run: Run[ContestResult], port: int) -> NoReturn:
    """Let the person play a run in a browser, print the result, and end the command."""
    _end_if_finished(terminal, run)
    from dealer.web.local_site import play_in_browser

    def show_address(address: str) -> None:
        terminal.sentence("Play in your browser at this address, which is for you alone. Ctrl-C here ends the table.")
        terminal.print(address)
        terminal.out.file.flush()
        if terminal.out.is_terminal:
            open_browser(terminal, address)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        session = runner.run(until_stopped(play_in_browser(run, port, show_address)))
    if session is None:
        abort("interrupted before the page could be shown", EXIT_INTERRUPTED)
    _end(terminal, session, is_interrupted=False)


def _end_if_finished(terminal: Terminal, run: Run[ContestResult]) -> None:
    if run.finished is not None:
        check_logs(terminal, run)
        terminal.sentence(run.finished.sentence)
        terminal.sentence(f"{run.folder} has finished; 'arena resume {run.folder} -n DEALS' plays more deals.")
        raise typer.Exit


def _end(terminal: Terminal, session: TableSession, *, is_interrupted: bool) -> NoReturn:
    """Print the result of a run, and end the command with its exit code."""
    run = session.run
    result = session.result
    if result is None:
        abort(session.problem or "nothing could be played")
    terminal.sentence(_result_sentence(result))
    if len(result.players) > 2 and result.hands_played:
        chips = ", ".join(f"{player.name} {player.chips:+z,.10g}" for player in result.players)
        terminal.sentence(f"Chips: {chips}.")
    for sentence in (*run.warnings, *run.unwritten):
        terminal.note(sentence)
    terminal.sentence(f"Seed {result.seed}. Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Resume with: {result.resume}")
    if run.unwritten:
        raise typer.Exit(EXIT_USAGE)
    if result.outcome is Outcome.INTERRUPTED:
        # Leaving the table is a normal end, unless it was Ctrl-C.
        raise typer.Exit(EXIT_INTERRUPTED if is_interrupted else 0)
    raise typer.Exit(0 if result.outcome.is_complete else EXIT_FAILED)


def _result_sentence(result: ContestResult) -> str:
    # To the person who left the table, the match is finished.
    if result.outcome is Outcome.INTERRUPTED:
        result = result.model_copy(update={"outcome": Outcome.FINISHED, "reason": "you have left the table."})
    return contest_sentence(result)
