"""``arena join``: connect a bot to a server by an outgoing connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import Quiet, TypedOptions, Verbose
from dealer.cli.shell.completion import complete_player
from dealer.cli.shell.console import Terminal, abort, until_stopped
from dealer.cli.shell.progress import LiveLine
from dealer.cli.shell.server_login import TOKEN_VARIABLE, read_token, server_address
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.joining.connection import ALL_GAMES, JoinSettings
from dealer.joining.server_client import (
    OUTPUT_FOLDER,
    ConnectionLost,
    JoinedServer,
    Joining,
    LadderNews,
    News,
    PlayedSeat,
)
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.run.folder import empty_folder, new_folder
from dealer.table.loop import new_event_loop
from dealer.table.players import NAME_RULE, Player, PlayerKind, is_name, parse_player
from engine.errors import quoted
from engine.text import count_of
from logs.estimation import Estimate, StopRuleError, parse_stop_rule
from protocol.game_definition import short_name
from protocol.joining import (
    DEFAULT_TERMS,
    Challenge,
    ChallengeState,
    ContestTerms,
    LadderWait,
    RunOver,
    RunStanding,
    SeatOffer,
)


@dataclass(frozen=True, slots=True)
class _Challenges:
    challenge: Annotated[
        list[str] | None,
        "Play against this bot, then leave; for a game with more seats, several names with commas. Repeat "
        "the option for more contests.",
        Wording("NAME", group="Challenges"),
    ] = None
    game: Annotated[
        str | None, "Game of the challenges.", Wording(group="Challenges", otherwise="the first of --games")
    ] = None
    deals: Annotated[
        int | None,
        "Largest number of deals of each challenge.",
        Interval(1),
        Wording(flags="-n", group="Challenges", otherwise="that of the server"),
    ] = None
    stop: Annotated[str | None, "Stop rule, as for 'arena play'.", Wording("RULE", group="Challenges")] = None
    seating: Annotated[
        Seating | None, "Seatings of each deal.", Wording(group="Challenges", otherwise=DEFAULT_TERMS.seating)
    ] = None
    card_seed: Annotated[
        int | None,
        "Seed of the cards; such results do not count in standings.",
        Interval(1, 2**32 - 1),
        Wording("SEED", group="Challenges", otherwise="a secret one"),
    ] = None
    practice: Annotated[
        bool,
        "Same cards in every seating; they show leaks, and such results do not count in standings.",
        Wording(group="Challenges"),
    ] = DEFAULT_TERMS.practice
    on_fault: Annotated[
        FaultPolicy | None,
        "Fault policy, as for 'arena play'.",
        Wording(group="Challenges", otherwise=DEFAULT_TERMS.on_fault),
    ] = None


def join(
    terminal: Terminal,
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Address of the server's pages, or its HOST:PORT.")],
    bot: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT...",
            help="As for 'arena play'; or '--' and a command with its arguments.",
            autocompletion=complete_player,
        ),
    ],
    *,
    name: Annotated[str | None, "Name of the bot.", Wording(otherwise="as in 'arena play'")] = None,
    token: Annotated[
        str | None,
        f"Token; the variable {TOKEN_VARIABLE} or a file hides it from other users of this machine.",
        Wording(group="Login"),
    ] = None,
    token_file: Annotated[
        Path | None, "File with the token, or with the server's line NAME TOKEN.", Wording("FILE", group="Login")
    ] = None,
    connection: Annotated[TypedOptions, JoinSettings],
    out: Annotated[
        Path | None,
        "New or empty folder for the bot's output.",
        Wording(group="Options", otherwise="a new one in runs/"),
    ] = None,
    challenges: Annotated[TypedOptions, _Challenges],
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Connect a bot to a server to play its bots and those of other users.

    The client only makes an outgoing connection, a WebSocket. It starts the bot for each match, and reconnects if the
    connection breaks. Ctrl-C leaves; with --challenge or --contests it leaves by itself.
    """
    if verbose:
        terminal.show_log()
    address = server_address(server)
    if "ca" in connection and not address.startswith("https"):
        abort("--ca: certificates are used only with https://")
    secret = read_token(token, token_file)
    player = _player(bot, name)
    games = tuple(word for word in connection.pop("games", "limit").split(",") if word)
    if not games:
        abort(f"--games: name at least one game, or '{ALL_GAMES}'")
    joined_challenges = _make_challenges(challenges, games, player.name)
    has_folder = out is not None and out.is_dir()
    has_runs = Path("runs").is_dir()
    folder = new_folder(out, (f"{player.name}-joined",))
    settings = JoinSettings(
        address=address,
        token=secret,
        player=player,
        folder=folder,
        games=games,
        challenges=joined_challenges,
        **connection,
    )
    try:
        with LiveLine(terminal) as show, asyncio.Runner(loop_factory=new_event_loop) as runner:
            on_news = partial(_show_news, terminal, settings, show, quiet)
            ending = runner.run(until_stopped(Joining(settings, on_news).run()))
    finally:
        if not (folder / OUTPUT_FOLDER).exists():
            # Nothing was played, so leave no new folder behind.
            empty_folder(folder, is_removed=not has_folder)
            if out is None and not has_runs:
                with contextlib.suppress(OSError):
                    folder.parent.rmdir()
    if ending is None:
        terminal.sentence(f"{player.name} has left {settings.address}.")
        raise typer.Exit(EXIT_INTERRUPTED)
    raise typer.Exit(0 if ending.is_good else EXIT_FAILED)


def _player(words: list[str], name: str | None) -> Player:
    if len(words) == 1:
        text = words[0]
    elif os.name == "nt":
        text = subprocess.list2cmdline(words)
    else:
        text = shlex.join(words)
    player = parse_player(text)
    if player.kind is PlayerKind.TCP:
        abort("'tcp' names no bot that this command could start; name a bot or a command")
    if name is not None:
        if not is_name(name):
            abort(f"--name: {quoted(name, 100)} cannot be a name: {NAME_RULE}")
        player = replace(player, name=name)
    return player


def _make_challenges(options: TypedOptions, games: tuple[str, ...], name: str) -> tuple[Challenge, ...]:
    """Make a challenge for each --challenge, with the terms of the other options."""
    opponents = options.pop("challenge", [])
    if options and not opponents:
        option = next(iter(options)).replace("_", "-")
        abort(f"--{option} needs an opponent; name one with --challenge")
    if "stop" in options:
        try:
            parse_stop_rule(options["stop"])
        except StopRuleError as error:
            abort(f"--stop: {error}")
    game = options.pop("game", None)
    if game is None:
        named_games = [word for word in games if word != ALL_GAMES]
        game = named_games[0] if named_games else "limit"
    seed = options.pop("card_seed", DEFAULT_TERMS.seed)
    # The terms are sent as JSON, so an enumeration as its value.
    values: dict[str, Any] = {option: getattr(value, "value", value) for option, value in options.items()}
    terms = ContestTerms(seed=seed, **values)
    challenges = []
    for opponent in opponents:
        tag = f"{name[:40]}-{secrets.token_hex(4)}"
        challenges.append(Challenge(tag, game, (name, *opponent.split(",")), terms=terms))
    return tuple(challenges)


def _show_news(
    terminal: Terminal, settings: JoinSettings, show: Callable[[str], None], is_quiet: bool, news: News
) -> None:
    """Print results to standard output, other news to standard error and in the live line."""
    match news:
        case RunOver():
            terminal.sentence(_result(news))
            terminal.out.file.flush()
        case RunStanding():
            rate = f" · {news.rate}" if news.rate else ""
            show(f"{news.match} · {news.hands:,}/{count_of(news.planned, 'hand')}{rate}")
        case LadderNews():
            sentence = _describe_wait(news)
            if news.is_new and not is_quiet:
                terminal.note(sentence)
            else:
                show(sentence)
        case PlayedSeat():
            terminal.note(f"{news.offer.match}: the bot has left: {news.problem}. Its output is in {news.output_path}")
            for line in news.last_lines:
                terminal.trace(f"    {line}")
            if news.cure:
                terminal.note(news.cure)
        case ChallengeState():
            terminal.note(f"The challenge {news.tag} is not played: {news.reason}")
        case ConnectionLost():
            terminal.note(f"{news.problem}; the next try is in {news.retry_s:g} s.")
        case JoinedServer(is_reconnect=True) if not is_quiet:
            terminal.note(f"{news.bot} is at {settings.address} again.")
        case JoinedServer() if not is_quiet:
            games = ", ".join(map(short_name, news.games)) or "all its games"
            message = f"{news.bot} has joined {settings.address} and plays {games}."
            if not settings.address.startswith("https"):
                message += " The connection is not encrypted."
            terminal.note(f"{message} Ctrl-C leaves.")
        case SeatOffer() if not is_quiet:
            terminal.note(f"{news.match}: a seat is offered in {short_name(news.game)}.")


def _describe_wait(news: LadderNews) -> str:
    """Say what a bot waits for on the ladder."""
    state = news.state
    match state.waits_for:
        case LadderWait.TURN:
            text = f"{news.bot} waits for its turn on the ladder: place {state.position:,} of {state.contests:,}"
            if state.requests:
                text += f", after {count_of(state.requests, 'request')} of users"
            return f"{text}."
        case LadderWait.OPPONENTS:
            return f"{news.bot} waits for opponents: no other bot plays its games on the ladder now."
        case LadderWait.CHANGE:
            return f"{news.bot} has played all its pairs of the ladder; it plays again when another bot joins."
        case LadderWait.GAME:
            return f"The ladder has none of the games of {news.bot}; name others with --games."
        case LadderWait.LADDER:
            return f"This server has no ladder. {news.bot} waits for challenges; --challenge makes one."


def _result(run: RunOver) -> str:
    label = run.match
    if run.runs > 1:
        label = f"{run.match}, run {run.run} of {run.runs}"
    if run.state != "finished" or run.player is None or run.mbb_per_game is None:
        return f"{label}: {run.state}. {run.reason}"
    won = Estimate(run.mbb_per_game, run.half_width_95).text()
    return f"{label}: {run.player} {won} in {count_of(run.hands, 'hand')}: {run.reason}"
