"""From the settings of a command to its exit code, for `arena play`, `deal`, `tournament` and `resume`."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

import typer

from bots.workers import Workers, cluster_workers
from dealer.cli.console import Terminal, abort, check_writable, write_file
from dealer.cli.live import LiveLine
from dealer.cli.options import RunOptions, warning_text
from dealer.cli.outcome import exit_code, show_contest, show_tournament
from dealer.cli.streams import EXIT_USAGE
from dealer.errors import ConfigError
from dealer.library import AnyResult, Run, new_play, new_tournament
from dealer.run.contest import Watch
from dealer.run.gate import junit_report
from dealer.run.results import ContestResult
from dealer.run.settings import Command, RunSettings, read_config, user_defaults, validated
from dealer.table.collector import spare_collector
from dealer.table.loop import new_event_loop

Observer: TypeAlias = Callable[[Path], AbstractContextManager[Watch]]
"""What observes the run in a folder while it is played: a context that gives the callback for its events."""


def run_new(
    terminal: Terminal,
    command: Command,
    settings: dict[str, Any],
    options: RunOptions,
    scheduler: str | None = None,
    observer: Observer | None = None,
) -> None:
    """Run what the settings and the configuration file ask for, in a new folder, and end the command.

    Args:
        observer: observes the run while it is played.
    """
    check_writable(options.junit)
    if scheduler is not None and options.workers is not None:
        abort("--workers counts matches on this machine, and a cluster has workers of its own: leave one out")
    asked = _merged(command, settings, options.config)
    # Before there is a folder: without the cluster there is no run.
    with _cluster(scheduler) as cluster:
        run = new_play(asked, options.out) if command is Command.PLAY else new_tournament(asked, options.out)
        play_and_show(terminal, run, options, cluster, observer)


@contextlib.contextmanager
def _cluster(scheduler: str | None) -> Iterator[Workers | None]:
    if scheduler is None:
        yield None
        return
    with cluster_workers(scheduler) as workers:
        yield workers


def _merged(command: Command, settings: dict[str, Any], path: Path | None) -> RunSettings:
    """The user's defaults, the settings of the file and those of the command line; later ones take precedence."""
    data: dict[str, Any] = {}
    if path is not None:
        data = read_config(path)
        written = validated(data, str(path))
        if "command" in data and written.command is not command:
            raise ConfigError(f"{path} is for 'arena {written.command}', not for 'arena {command}'")
        if "games" in settings:
            data.pop("game", None)
    if "hands" in data:
        data["deals"] = data.pop("hands")
    return validated(user_defaults() | data | settings | {"command": command})


def resume_and_show(terminal: Terminal, run: Run[AnyResult], options: RunOptions, scheduler: str | None) -> None:
    """Resume a run, as `play_and_show`; `scheduler` is that of the cluster that plays."""
    if scheduler is not None and run.plan.settings.command is not Command.TOURNAMENT:
        abort(f"a cluster plays the contests of a tournament; {run.folder} holds one contest: leave --scheduler out")
    with _cluster(scheduler) as cluster:
        play_and_show(terminal, run, options, cluster)


def play_and_show(
    terminal: Terminal,
    run: Run[AnyResult],
    options: RunOptions,
    cluster: Workers | None = None,
    observer: Observer | None = None,
) -> None:
    """Play a run, print what became of it, and end the command with the exit code of its outcome."""
    if options.verbose:
        terminal.show_log()
    is_silent = options.quiet or options.as_json
    for warning in run.history_warnings():
        terminal.say(warning_text(warning))
    with (
        contextlib.nullcontext() if observer is None else observer(run.folder) as watch,
        LiveLine(terminal, is_silent=is_silent) as line,
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        line.expect(run.planned[0])
        spare_collector()
        result = runner.run(_play(run, line, cluster, watch))
    for sentence in (*run.warnings, *run.unwritten):
        terminal.say(sentence)
    if options.as_json:
        terminal.print(result.model_dump_json(indent=2))
    elif isinstance(result, ContestResult):
        show_contest(terminal, result, quiet=options.quiet, verbose=options.verbose)
    else:
        show_tournament(terminal, result, quiet=options.quiet)
    if options.junit is not None:
        write_file(options.junit, junit_report(result))
    raise typer.Exit(EXIT_USAGE if run.unwritten else exit_code(result.outcome))


async def _play(run: Run[AnyResult], line: LiveLine, cluster: Workers | None, watch: Watch | None = None) -> AnyResult:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            # Not on Windows, where Ctrl-C cancels this task, which has the same effect.
            loop.add_signal_handler(number, run.interrupt)
    return await run.play(line, watch, cluster)
