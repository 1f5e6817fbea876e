"""Running what was asked for, from settings to exit code: new runs, and interrupted ones that go on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.live import expectation, waiting_line, watch
from dealer.cli.options import RunOptions
from dealer.cli.outcome import exit_code, show_contest, show_tournament
from dealer.contest.config import RunConfig, read_config, validated
from dealer.contest.contest import Contest
from dealer.contest.plan import Entrants, find_entrants, keep_games, plan_run, settled
from dealer.contest.tournament import Tournament
from dealer.errors import ConfigError, FolderTakenError, StartError
from dealer.record.folder import CONFIG_NAME, RESULT_NAME, RunLock, new_folder, write_whole
from dealer.results.contest import contest_result
from dealer.results.junit import junit_report
from dealer.results.schema import ContestResult, TournamentResult
from dealer.results.tournament import tournament_result
from dealer.table.loop import new_event_loop
from dealer.table.players import PlayerKind

__all__ = ["run_again", "run_new"]


def run_new(terminal: Terminal, settings: dict[str, Any], options: RunOptions, *, config: Path | None = None) -> None:
    """Run what the settings and a configuration file ask for, in a new folder, and end the command.

    Args:
        terminal: where it shows.
        settings: given on the command line.
        options: the same as typed, for what is not a setting.
        config: the file; that of the options by default.
    """
    path = config or options.config
    try:
        data = _merged(settings, path)
        asked = validated(data, str(path) if path is not None else "the command line")
        out_folder = None if options.out is None else options.out.absolute()
        junit = None if options.junit is None else options.junit.absolute()
        _enter(asked.directory, path)
        entrants = find_entrants(asked)
        whole = settled(asked, entrants, secrets.randbits(32))
        folder = new_folder(options.out if asked.directory is None else out_folder, _few(entrants.names))
        try:
            keep_games(entrants, folder)
            write_whole(folder / CONFIG_NAME, whole.to_toml())
        except OSError as error:
            abort(f"cannot write to {folder}: {error.strerror}")
    except FolderTakenError as error:
        hint = f" ('arena resume {error.folder}' goes on with the run in it)" if error.holds_run else ""
        abort(f"{error}{hint}; name another folder with --out, nothing is ever overwritten")
    except (ConfigError, StartError) as error:
        abort(str(error))
    _run(terminal, whole, entrants, folder, quiet=options.quiet, as_json=options.as_json, junit=junit)


def run_again(terminal: Terminal, folder: Path, *, quiet: bool, as_json: bool, junit: Path | None) -> None:
    """Go on with the interrupted run in a folder, and end the command."""
    path = folder / CONFIG_NAME
    if not path.is_file():
        abort(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
    try:
        config = validated(read_config(path.absolute()), str(path))
        folder, shown = folder.absolute(), folder
        junit = None if junit is None else junit.absolute()
        before = Path.cwd()
        _enter(config.directory, path)
        entrants = find_entrants(config)
        whole = settled(config, entrants, 0)
    except ConfigError as error:
        abort(str(error))
    _run(
        terminal, whole, entrants, shown if Path.cwd() == before else folder, quiet=quiet, as_json=as_json, junit=junit
    )


def _merged(settings: dict[str, Any], path: Path | None) -> dict[str, Any]:
    if path is None:
        return settings
    data = read_config(path)
    if data.get("command", settings["command"]) != settings["command"]:
        raise ConfigError(f"{path} is for 'arena {data['command']}', not for 'arena {settings['command']}'")
    if "games" in settings:
        data.pop("game", None)
    return data | settings


def _enter(directory: str | None, path: Path | None) -> None:
    """Go where the commands of a configuration file are to be started."""
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            raise ConfigError(f"{path}: directory: cannot start commands in {directory}: {error.strerror}") from None


def _few(names: tuple[str, ...]) -> tuple[str, ...]:
    return names if len(names) <= 4 else (*names[:3], f"{len(names) - 3}-more")


def _run(
    terminal: Terminal,
    config: RunConfig,
    entrants: Entrants,
    folder: Path,
    *,
    quiet: bool,
    as_json: bool,
    junit: Path | None,
) -> None:
    """Run it, show it, and end the command with the right exit code."""
    plan = plan_run(config, entrants, folder)
    resume = f"arena resume {_quoted(str(folder))}"
    try:
        lock = RunLock(folder)
    except StartError as error:
        abort(str(error))

    def on_ended(contest: Contest) -> None:
        if config.command == "tournament" and contest.ending is not None and not contest.ending.could_not_start:
            with contextlib.suppress(OSError):
                result = contest_result(contest, resume=resume)
                write_whole(contest.plan.folder / RESULT_NAME, result.model_dump_json(indent=2) + "\n")

    tournament = Tournament(plan, on_ended)
    with contextlib.closing(lock), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_run_and_watch(terminal, tournament, is_silent=quiet or as_json))
    result: ContestResult | TournamentResult
    if config.command == "play":
        (contest,) = tournament.contests
        assert contest.ending is not None
        if contest.ending.could_not_start:
            abort(contest.ending.reason.removesuffix("."))
        result = contest_result(contest, resume=resume)
    else:
        result = tournament_result(tournament, resume=resume)
    text = result.model_dump_json(indent=2)
    try:
        write_whole(folder / RESULT_NAME, text + "\n")
    except OSError as error:
        terminal.say(f"cannot write {folder / RESULT_NAME}: {error.strerror}")
    if junit is not None:
        try:
            write_whole(junit, junit_report(result))
        except OSError as error:
            terminal.say(f"cannot write {junit}: {error.strerror}")
    for contest in tournament.contests:
        for sentence in dict.fromkeys(sentence for run in contest.runs for sentence in run.not_exported()):
            terminal.say(sentence)
    if as_json:
        terminal.print(text)
    elif isinstance(result, ContestResult):
        show_contest(terminal, result, quiet=quiet)
    else:
        show_tournament(terminal, result, quiet=quiet)
    raise typer.Exit(exit_code(result.outcome))


def _quoted(path: str) -> str:
    return subprocess.list2cmdline([path]) if os.name == "nt" else shlex.quote(path)


async def _run_and_watch(terminal: Terminal, tournament: Tournament, *, is_silent: bool) -> None:
    playing = asyncio.create_task(tournament.play())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            # Not on Windows, where Ctrl-C cancels this task and with it the one it waits for.
            loop.add_signal_handler(number, playing.cancel)
    if not is_silent:
        for sentence in expectation(tournament):
            terminal.say(sentence)
    watching = None if is_silent else asyncio.create_task(watch(terminal, tournament))
    announcing = asyncio.create_task(_announce_seats(terminal, tournament, playing))
    try:
        await playing
    finally:
        for task in (watching, announcing):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def _announce_seats(terminal: Terminal, tournament: Tournament, playing: asyncio.Task[None]) -> None:
    """Say where clients that others start are awaited, whenever that changes."""
    if all(player.kind is not PlayerKind.TCP for plan in tournament.plan.contests for player in plan.players):
        return
    told = ""
    while not playing.done():
        line = waiting_line(tournament, is_remote=True)
        # Without the seconds left, which change all the time.
        places = line.partition(",")[0] if line else ""
        if line and places != told:
            told = places
            terminal.say(line)
        await asyncio.sleep(0.05)
