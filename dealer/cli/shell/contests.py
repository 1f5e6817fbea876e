"""Play a run with its progress line, and print its result.

Used by `arena play`, `deal`, `tournament`, `resume` and `benchmark`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import typer

from bots.workers import Workers
from dealer.cli.shell.command_options import RunOptions, warning_text
from dealer.cli.shell.computations import workers_from
from dealer.cli.shell.console import Terminal, abort, check_writable, on_stop, write_file
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import LiveLine, showing_progress
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE
from dealer.errors import ConfigError
from dealer.reports.gate_report import junit_report
from dealer.reports.result_documents import result_document
from dealer.run.choices import Command, Score
from dealer.run.contest import Watch
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import AwaitedPlayer, Outcome
from dealer.run.results import AnyResult
from dealer.run.results.result_sentences import expectation, rounded_up
from dealer.run.run import Run, new_run
from dealer.run.run_settings import RunSettings, read_config, user_defaults, validated
from dealer.run.tournament_run import Progress
from dealer.table.bot_code import interrupting_bot_code
from dealer.table.collector import relax_collector
from dealer.table.loop import new_event_loop
from engine.text import count_of, duration

_EXIT_CODES: Final = {Outcome.FAILED: EXIT_FAILED, Outcome.INTERRUPTED: EXIT_INTERRUPTED}
_Observer: TypeAlias = Callable[[Path], AbstractContextManager[Watch]]
"""Context for the run in a folder, which yields a callback for the events of the run."""
_Result = TypeVar("_Result", bound=AnyResult)


def run_new(
    terminal: Terminal,
    command: Command,
    settings: dict[str, Any],
    options: RunOptions,
    scheduler: str | None = None,
    observer: _Observer | None = None,
    *,
    preview: Callable[[RunSettings], None] | None = None,
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Play a new run, or pass its settings to `preview`, and end the command.

    Settings of the command line take precedence over those of the configuration file, these over the user's defaults,
    and these over `defaults`.

    Args:
        settings: settings of the command line.
        scheduler: address of a dask cluster that plays the contests.
        observer: shows pages of the run while it is played.
        preview: receives the settings instead of a run being played.
        defaults: defaults of the command. Its number of deals does not apply to a run with a stop rule.

    Raises:
        ConfigError: a setting is invalid.
        typer.Exit: with the exit code of the run's outcome.
    """
    check_writable(options.junit)
    if scheduler is not None and "workers" in settings:
        abort("--workers counts matches on this machine and does not go with --scheduler; leave one out")
    config: dict[str, Any] = {}
    if options.config is not None:
        config = _read_config_of(command, options.config)
        if "games" in settings:
            config.pop("game", None)
    chosen = user_defaults() | config | settings | {"command": command}
    command_defaults = dict(defaults)
    if "stop" in chosen:
        command_defaults.pop("deals", None)
    run_settings = validated(command_defaults | chosen)
    if preview is not None:
        preview(run_settings)
        return
    check_scheduler(run_settings.score, scheduler)
    # Connect before creating the folder.
    with workers_from(1, scheduler) as cluster:
        try:
            run = new_run(run_settings, options.out)
        except ConfigError as error:
            if options.config is None or error.source:
                raise
            if not _is_all_of_file(error, config, settings):
                raise
            raise ConfigError(*error.problems, source=str(options.config)) from None
        play_and_show(terminal, run, options, cluster, observer)


def check_scheduler(score: Score, scheduler: str | None) -> None:
    """Abort the command if a cluster cannot decide by the scores of the stop rule."""
    if scheduler is not None and score is Score.AIVAT:
        abort("with the score 'aivat', hands are valued on this machine; leave out --scheduler")


def _read_config_of(command: Command, path: Path) -> dict[str, Any]:
    """Read the settings of a configuration file that is for this command or for any."""
    config = read_config(path)
    written = validated(config, str(path))
    if "command" in config and written.command is not command:
        raise ConfigError(f"{path} is for 'arena {written.command}', not for 'arena {command}'")
    return config


def _is_all_of_file(error: ConfigError, config: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Return whether all settings of an error were read from the file and not overridden."""
    from_file = set(config)
    if "game" in from_file:
        from_file.remove("game")
        from_file.add("games")
    from_file -= settings.keys()
    # A problem without a setting is one of a bot.
    names = {setting or "bots" for setting, _ in error.problems}
    return names <= from_file


def play_and_show(
    terminal: Terminal,
    run: Run[AnyResult],
    options: RunOptions,
    cluster: Workers | None = None,
    observer: _Observer | None = None,
) -> None:
    """Play a run, print its result, and end the command.

    Raises:
        typer.Exit: with the exit code of the run's outcome.
    """
    is_silent = options.quiet or options.as_json
    result = play_run(terminal, run, cluster, observer, is_silent=is_silent, is_verbose=options.verbose)
    document = result_document(result, is_verbose=options.verbose, interval=options.interval)
    show_document(terminal, document, as_json=options.as_json, quiet=options.quiet)
    if options.junit is not None:
        write_file(options.junit, junit_report(result))
    exit_after(run, result)


def play_run(
    terminal: Terminal,
    run: Run[_Result],
    cluster: Workers | None = None,
    observer: _Observer | None = None,
    *,
    is_silent: bool,
    is_verbose: bool = False,
) -> _Result:
    """Play a run with its progress line, and return its result.

    Args:
        is_silent: print no progress.
        is_verbose: log connections, faults and restarts.
    """
    if is_verbose:
        terminal.show_log()
    for warning in run.history_warnings():
        terminal.note(warning_text(warning))
    if not is_silent:
        for sentence in run.clock_notes():
            terminal.note(sentence)
    with (
        contextlib.nullcontext() if observer is None else observer(run.folder) as watch,
        RunLine(terminal, is_silent=is_silent) as line,
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        line.expect(run.planned[0])
        relax_collector()
        result = runner.run(_play(run, line, cluster, watch))
    for sentence in (*run.warnings, *run.unwritten):
        terminal.note(sentence)
    return result


def exit_after(run: Run[AnyResult], result: AnyResult) -> NoReturn:
    """End the command with the exit code of a run's outcome."""
    if run.unwritten:
        raise typer.Exit(EXIT_USAGE)
    raise typer.Exit(_EXIT_CODES.get(result.outcome, 0))


async def _play(run: Run[_Result], line: RunLine, cluster: Workers | None, watch: Watch | None = None) -> _Result:
    on_stop(run.interrupt)
    guard: AbstractContextManager[object] = contextlib.nullcontext()
    if run.plan.in_process:
        guard = interrupting_bot_code(partial(line.give_up, run.resume_command))
    with guard:
        # Pages show the current state of each match, so older events may be dropped.
        return await run.play(line.show, watch, cluster, watches_newest=watch is not None)


def check_logs(terminal: Terminal, run: Run[AnyResult]) -> None:
    """Check that the logs of a run agree with its seed and the rules; abort the command if not."""
    with showing_progress(terminal, "checking the logs") as show:
        for part in run.checked_logs():
            show(part)


class RunLine(LiveLine):
    """Progress line of a run.

    A silent one prints only the addresses for players that the user must start.
    """

    def __init__(self, terminal: Terminal, *, is_silent: bool) -> None:
        super().__init__(terminal, is_silent=is_silent)
        self._announced: tuple[AwaitedPlayer, ...] = ()
        self._noted: set[str] = set()

    def expect(self, plan: ContestPlan) -> None:
        """Print the number of deals that a stop rule will probably take."""
        sentence = expectation(plan)
        if sentence is not None and not self._is_silent:
            self._terminal.note(f"--stop {sentence}")

    def show(self, progress: Progress) -> None:
        remote = tuple(player for player in progress.awaited if player.is_remote)
        if remote != self._announced:
            self._announced = remote
            if remote:
                self._terminal.note(_waiting(remote, progress.start_time_left_s))
        if self._is_silent:
            return
        for note in progress.notes:
            if note not in self._noted:
                self._noted.add(note)
                self._terminal.note(note)
        self(status_line(progress, self.width))

    def give_up(self, resume_command: str = "") -> NoReturn:
        """End the process at once, because the code of a bot in it does not react to an interrupt."""
        self.__exit__(None, None, None)
        message = "A bot does not stop when it is interrupted."
        if resume_command:
            message = f"{message} Resume with: {resume_command}"
        self._terminal.note(message)
        os._exit(EXIT_INTERRUPTED)


def status_line(progress: Progress, width: int | None = None) -> str:
    """Format the progress of a run in one line.

    Args:
        width: longest line in characters, to which the least important parts are left out; None for any.
    """
    parts = _parts(progress)
    line = ""
    for max_rank in range(max(rank for _, rank in parts), -1, -1):
        line = " · ".join(text for text, rank in parts if rank <= max_rank)
        if width is None or len(line) <= width:
            break
    return line


def _parts(progress: Progress) -> list[tuple[str, int]]:
    """Return the parts of the status line and their ranks; the highest is left out first."""
    is_single = progress.contests == 1
    waiting = ""
    if progress.awaited and is_single:
        waiting = _waiting(progress.awaited, progress.start_time_left_s)
    if waiting and not progress.hands:
        return [(waiting, 0)]
    parts = []
    for wait in progress.waits:
        # For a single contest, awaited players come at the end.
        if not is_single or wait.hand_number is not None:
            parts.append((str(wait), 1))
            break
    if not is_single:
        parts.append((f"{progress.contests_ended}/{count_of(progress.contests, 'contest')}", 4))
    parts.append((f"{progress.deals:,}/{count_of(progress.deals_planned, 'deal')}", 0))
    parts.append((f"{progress.hands_per_second:,.0f} hands/s", 6))
    if progress.rate is not None:
        parts.append((str(progress.rate), 3))
    elif progress.players and progress.hands:
        # When rotations are played one after the other, no deal is complete until the last one begins.
        parts.append((f"{' over '.join(progress.players)}: no complete duplicate yet", 7))
    if progress.is_correcting:
        parts.append(("computing win rates without the luck of the cards", 0))
    else:
        parts += _remaining_parts(progress)
    if progress.faults:
        parts.append((count_of(progress.faults, "fault"), 4))
    if waiting:
        parts.append((waiting, 1))
    return parts


def _remaining_parts(progress: Progress) -> list[tuple[str, int]]:
    """Return the parts about the remaining deals and time."""
    parts = []
    remaining_deals = progress.deals_planned - progress.deals
    if progress.has_stop_rule:
        if progress.deals_needed is None:
            text = "deals needed: unknown yet"
        else:
            remaining_deals = min(remaining_deals, progress.deals_needed)
            text = "enough is known"
            if remaining_deals:
                text = f"about {rounded_up(remaining_deals):,} more deals needed"
        parts.append((text, 5))
    if progress.hands_per_second and progress.deals_planned:
        hands = remaining_deals * progress.hands_planned / progress.deals_planned
        parts.append((f"{duration(hands / progress.hands_per_second)} left", 2))
    return parts


def _waiting(players: tuple[AwaitedPlayer, ...], remaining_s: float | None) -> str:
    names = " and ".join(f"{player.name} at {player.address}" for player in players)
    if remaining_s is None:
        return f"waiting for {names}, without limit"
    return f"waiting for {names}, {remaining_s:.0f} s left"
