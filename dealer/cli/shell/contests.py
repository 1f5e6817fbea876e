"""A run from its settings to its exit code, for `arena play`, `deal`, `tournament` and `resume`.

It shows the progress of the run meanwhile, and at the end its result.
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
from typing import Any, Final, NoReturn, TypeAlias

import typer

from bots.workers import Workers
from dealer.cli.shell.command_options import RunOptions, warning_text
from dealer.cli.shell.computations import workers_from
from dealer.cli.shell.console import Terminal, abort, check_writable, on_stop, write_file
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import LiveLine, showing_progress
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE
from dealer.errors import ConfigError
from dealer.library import Run, new_run
from dealer.reports.gate_report import junit_report
from dealer.reports.result_documents import result_document
from dealer.run.choices import Command
from dealer.run.contest import Watch
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import AwaitedPlayer, Outcome
from dealer.run.results import AnyResult
from dealer.run.results.result_sentences import expectation, rounded_up
from dealer.run.run_settings import RunSettings, read_config, user_defaults, validated
from dealer.run.tournament_run import Progress
from dealer.table.bot_code import interrupting_bot_code
from dealer.table.collector import relax_collector
from dealer.table.loop import new_event_loop
from engine.text import count_of, duration

_EXIT_CODES: Final = {Outcome.FAILED: EXIT_FAILED, Outcome.INTERRUPTED: EXIT_INTERRUPTED}
Observer: TypeAlias = Callable[[Path], AbstractContextManager[Watch]]
"""Observes the run in a folder while it is played: a context that gives the callback for its events."""


def run_new(
    terminal: Terminal,
    command: Command,
    settings: dict[str, Any],
    options: RunOptions,
    scheduler: str | None = None,
    observer: Observer | None = None,
    *,
    preview: Callable[[RunSettings], None] | None = None,
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Play what the settings ask for in a new folder, or show them to `preview`, and end the command.

    The settings of the command line take precedence over those of the configuration file, these over the user's
    defaults, and these over those of the command, whose number of deals is for runs without a stop rule.
    """
    check_writable(options.junit)
    if scheduler is not None and "workers" in settings:
        abort("--workers counts matches on this machine, and a cluster has workers of its own: leave one out")
    data: dict[str, Any] = {}
    if options.config is not None:
        data = read_config(options.config)
        written = validated(data, str(options.config))
        if "command" in data and written.command is not command:
            raise ConfigError(f"{options.config} is for 'arena {written.command}', not for 'arena {command}'")
        if "games" in settings:
            data.pop("game", None)
    given = user_defaults() | data | settings | {"command": command}
    own = {name: value for name, value in defaults.items() if name != "deals" or "stop" not in given}
    asked = validated(own | given)
    if preview is not None:
        preview(asked)
        return
    # Connect before creating the folder.
    with workers_from(1, scheduler) as cluster:
        try:
            run = new_run(asked, options.out)
        except ConfigError as error:
            # A problem without a setting is a bot's.
            named = {setting or "bots" for setting, _ in error.problems}
            of_file = {"games" if name == "game" else name for name in data} - settings.keys()
            if options.config is None or error.source or not named <= of_file:
                raise
            raise ConfigError(*error.problems, source=str(options.config)) from None
        play_and_show(terminal, run, options, cluster, observer)


def play_and_show(
    terminal: Terminal,
    run: Run[AnyResult],
    options: RunOptions,
    cluster: Workers | None = None,
    observer: Observer | None = None,
) -> None:
    """Play a run, print its result, and end the command with the exit code of its outcome."""
    if options.verbose:
        terminal.show_log()
    is_silent = options.quiet or options.as_json
    for warning in run.history_warnings():
        terminal.note(warning_text(warning))
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
    document = result_document(result, is_verbose=options.verbose)
    show_document(terminal, document, as_json=options.as_json, quiet=options.quiet)
    if options.junit is not None:
        write_file(options.junit, junit_report(result))
    raise typer.Exit(EXIT_USAGE if run.unwritten else _EXIT_CODES.get(result.outcome, 0))


async def _play(run: Run[AnyResult], line: RunLine, cluster: Workers | None, watch: Watch | None = None) -> AnyResult:
    on_stop(run.interrupt)
    guard: AbstractContextManager[object] = contextlib.nullcontext()
    if run.plan.in_process:
        guard = interrupting_bot_code(partial(line.give_up, run.resume_command))
    with guard:
        # Pages show the newest moment of each match.
        return await run.play(line.show, watch, cluster, watches_newest=watch is not None)


def check_logs(terminal: Terminal, run: Run[AnyResult]) -> None:
    """End the command if the logs of a run differ from what its seed and the rules give."""
    with showing_progress(terminal, "checking the logs") as show:
        for part in run.checked_logs():
            show(part)


class RunLine(LiveLine):
    """The progress of a run; `is_silent` leaves only the addresses of players that the user has to start."""

    def __init__(self, terminal: Terminal, *, is_silent: bool) -> None:
        super().__init__(terminal, is_silent=is_silent)
        self._announced: tuple[AwaitedPlayer, ...] = ()
        self._noted: set[str] = set()

    def expect(self, plan: ContestPlan) -> None:
        """Print how long a stop rule is likely to take."""
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
        """End the process where a bot of it cannot be interrupted."""
        self.__exit__(None, None, None)
        how = f" Resume with: {resume_command}" if resume_command else ""
        self._terminal.note(f"A bot does not stop when it is interrupted.{how}")
        os._exit(EXIT_INTERRUPTED)


def status_line(progress: Progress, width: int | None = None) -> str:
    """The progress of a run in one line of at most `width` characters: the least important parts are left out."""
    parts = _parts(progress)
    for least in range(max(expendable for _, expendable in parts), -1, -1):
        line = " · ".join(text for text, expendable in parts if expendable <= least)
        if width is None or len(line) <= width:
            break
    return line


def _parts(progress: Progress) -> list[tuple[str, int]]:
    """The parts of the line, each with how early it is left out of a line that is too long; 0 for never."""
    is_alone = progress.contests == 1
    waiting = ""
    if progress.awaited and is_alone:
        waiting = _waiting(progress.awaited, progress.start_time_left_s)
    if waiting and not progress.hands:
        return [(waiting, 0)]
    parts = []
    for wait in progress.waits:
        # For a single contest, awaited players come at the end.
        if not is_alone or wait.hand_number is not None:
            parts.append((str(wait), 1))
            break
    if not is_alone:
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
    """The parts about the deals and the time that are left."""
    parts = []
    left = progress.deals_planned - progress.deals
    if progress.has_stop_rule and progress.deals_needed is not None:
        left = min(left, progress.deals_needed)
    if progress.has_stop_rule:
        if progress.deals_needed is None:
            text = "deals needed: unknown yet"
        elif left:
            text = f"about {rounded_up(left):,} more deals needed"
        else:
            text = "enough is known"
        parts.append((text, 5))
    if progress.hands_per_second and progress.deals_planned:
        hands = left * progress.hands_planned / progress.deals_planned
        parts.append((f"{duration(hands / progress.hands_per_second)} left", 2))
    return parts


def _waiting(players: tuple[AwaitedPlayer, ...], left_s: float | None) -> str:
    names = " and ".join(f"{player.name} at {player.address}" for player in players)
    if left_s is None:
        return f"waiting for {names}, without limit"
    return f"waiting for {names}, {left_s:.0f} s left"
