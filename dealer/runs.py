"""A play or a tournament with its folder, from its settings to its result.

`new_play`, `new_tournament` and `reopen` make a `Run`, `Run.play` plays it; the command line and `dealer.library` are
built on these.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from bots.workers import Workers
from dealer.contest.config import Command, RunConfig, Score, read_config, validated
from dealer.contest.contest import Contest, Watch
from dealer.contest.ending import Outcome
from dealer.contest.plan import RunPlan, plan_run
from dealer.contest.progress import Progress, progress_of
from dealer.contest.settling import keep_games, repeatable, settle
from dealer.contest.tournament import Tournament
from dealer.errors import ConfigError, DealerError, LaunchError, ResultError, SettingProblem
from dealer.record.folder import CONFIG_NAME, RESULT_NAME, RunLock, empty_folder, is_busy, new_folder
from dealer.record.resume import extend_log
from dealer.results.contest import contest_result
from dealer.results.reading import read_result
from dealer.results.schema import ContestResult, TournamentResult
from dealer.results.tournament import tournament_result
from logs.estimation import FixedHands
from logs.formats import ExportWarning
from logs.whole_file import write_whole

__all__ = [
    "AnyResult",
    "GuardedCallback",
    "OnProgress",
    "Run",
    "UnfinishedRun",
    "new_play",
    "new_table",
    "new_tournament",
    "raise_first",
    "reopen",
    "unfinished_runs",
]

_PROGRESS_S = 0.2

OnProgress: TypeAlias = Callable[[Progress], None]
AnyResult: TypeAlias = ContestResult | TournamentResult
_Value = TypeVar("_Value")
_Result = TypeVar("_Result", bound=AnyResult)
_Result_co = TypeVar("_Result_co", bound=AnyResult, covariant=True)


class Run(Generic[_Result_co]):
    """A play or a tournament with its folder, ready to be played.

    Attributes:
        plan: what is played.
        folder: its folder.
        finished: the result of a run that has nothing left to play; None otherwise.
        warnings: sentences about hands that hand histories cannot hold, once played.
        unwritten: sentences about results that could not be written, once played.
    """

    def __init__(
        self,
        plan: RunPlan,
        make_result: Callable[[Tournament, str], _Result_co],
        finished: _Result_co | None = None,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        """Wrap a plan whose folder exists; see `new_play`, `new_tournament` and `reopen`.

        Args:
            plan: what is played.
            make_result: makes the result; raises an error if nothing could be played.
            finished: the result of a run that has nothing left to play.
            forget: called where nothing could be played.
        """
        self.plan = plan
        self.finished = finished
        self.folder = plan.folder
        self.warnings: list[str] = []
        self.unwritten: list[str] = []
        self._make_result = make_result
        self._forget = forget
        self._contests: list[Contest] = []
        self._playing: asyncio.Task[None] | None = None
        self._is_interrupted = False

    @property
    def resume_command(self) -> str:
        """The command that resumes the run."""
        path = str(self.folder)
        return f"arena resume {subprocess.list2cmdline([path]) if os.name == 'nt' else shlex.quote(path)}"

    @property
    def is_table(self) -> bool:
        """Whether its first player is a person at this terminal."""
        return self.plan.settled.command is Command.TABLE

    def history_warnings(self) -> list[ExportWarning]:
        """What importers will not like about the hand histories, where their stakes or folder were asked for."""
        settled = self.plan.settled
        if settled.histories.folder is None and all(named.chip_value == 1 for named in settled.games):
            return []
        found = [
            format_.warning(contest.game, contest.record.options)
            for contest in self.plan.contests
            for format_ in contest.record.exports
        ]
        return list(dict.fromkeys(warning for warning in found if warning is not None))

    async def play(
        self, on_progress: OnProgress | None = None, watch: Watch | None = None, cluster: Workers | None = None
    ) -> _Result_co:
        """Play the run to its end and write its result; needs a loop of `dealer.table.loop.new_event_loop`.

        A run that is interrupted or cancelled returns the result so far; one that has finished before is left as it is.

        Args:
            on_progress: called several times a second, and once more at the end.
            watch: called with the events of all matches; nothing is heard of those of a cluster.
            cluster: who plays the contests of a tournament instead of this machine.

        A callback that raises an error is not called again; the run goes on, and the error is raised when it has ended
        and its result is written.

        Raises:
            DealerError: nothing could be played: the folder is in use, or a bot or a socket cannot be had.
        """
        if self.finished is not None:
            return self.finished
        with contextlib.closing(RunLock(self.folder)) as lock:
            told, watched = GuardedCallback(on_progress), GuardedCallback(watch)
            tournament = Tournament(self.plan, self._write_contest, None if watch is None else watched, cluster)
            self._contests = tournament.contests
            watching = None if on_progress is None else asyncio.create_task(_watch(tournament, told))
            try:
                if not self._is_interrupted:
                    self._playing = asyncio.create_task(tournament.play())
                    await self._playing
            finally:
                if watching is not None:
                    watching.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await watching
            told(progress_of(tournament))
            try:
                result = self._make_result(tournament, self.resume_command)
            except DealerError:
                if not any(run.hands for contest in tournament.contests for run in contest.runs):
                    lock.close()
                    self._forget()
                raise
            result = await asyncio.to_thread(_with_estimates, result)
            self._write(self.folder / RESULT_NAME, result)
        runs = (run for contest in tournament.contests for run in contest.runs)
        self.warnings += dict.fromkeys(sentence for run in runs for sentence in run.not_exported())
        self.warnings += [sentence for contest in tournament.contests for sentence in contest.lost_hands]
        raise_first(told, watched)
        return result

    def contests(self) -> list[Contest]:
        """Its contests with their scores, once played; those of a run that had finished before are read from its logs.

        Raises:
            StartError: the logs cannot be read, or are not those of the run.
        """
        if not self._contests and self.finished is not None:
            self._contests = Tournament(self.plan).contests
            for contest in self._contests:
                contest.prepare()
        return self._contests

    def interrupt(self) -> None:
        """End the run as soon as possible; `play` returns the result so far."""
        self._is_interrupted = True
        if self._playing is not None:
            self._playing.cancel()

    def interrupt_after_hand(self) -> None:
        """Interrupt it as soon as the hands that are being played are over, so that none is dealt twice."""
        held = [contest.hold() for contest in self._contests]
        if not any(held):
            self.interrupt()

    def _write_contest(self, contest: Contest) -> None:
        """Write the result of a tournament's contest into its own folder."""
        folder = contest.plan.record.folder
        if folder != self.folder and contest.ending is not None and contest.ending.error is None:
            self._write(folder / RESULT_NAME, contest_result(contest, resume=self.resume_command))

    def _write(self, path: Path, result: AnyResult) -> None:
        try:
            write_whole(path, result.model_dump_json(indent=2) + "\n")
        except OSError as error:
            self.unwritten.append(f"cannot write {path}: {error.strerror}")


class GuardedCallback(Generic[_Value]):
    """A callback from outside: its first error is kept for the end of the run and ends the calls, not the run.

    Attributes:
        error: the error, if there was one.
    """

    def __init__(self, callback: Callable[[_Value], None] | None) -> None:
        self.error: Exception | None = None
        self._callback = callback

    def __call__(self, value: _Value) -> None:
        """Call it, unless it has failed before."""
        if self._callback is None or self.error is not None:
            return
        try:
            self._callback(value)
        except Exception as error:
            self.error = error


def raise_first(*callbacks: GuardedCallback[Any]) -> None:
    """Raise the first error that any of the callbacks met."""
    for callback in callbacks:
        if callback.error is not None:
            raise callback.error


def _with_estimates(result: _Result) -> _Result:
    """A contest with corrected scores has its win rates by all estimators, from its logs."""
    if not isinstance(result, ContestResult) or result.score is not Score.CORRECTED or not result.hands_counted:
        return result
    from logs.hand_source import find
    from logs.variance.many_files import reduce_hands
    from logs.variance.reduction import Reduction

    reduction = Reduction()
    reduce_hands(find([result.folder or ""]), reduction)
    return result.model_copy(update={"estimates": reduction.estimates().games[0]})


async def _watch(tournament: Tournament, on_progress: OnProgress) -> None:
    while True:
        on_progress(progress_of(tournament))
        await asyncio.sleep(_PROGRESS_S)


def _play_result(tournament: Tournament, resume: str) -> ContestResult:
    (contest,) = tournament.contests
    if contest.ending is not None and contest.ending.error is not None:
        raise contest.ending.error
    return contest_result(contest, resume=resume)


def _tournament_result(tournament: Tournament, resume: str) -> TournamentResult:
    return tournament_result(tournament, resume=resume)


def new_play(config: RunConfig, out: Path | None) -> Run[ContestResult]:
    """A new play.

    Args:
        config: its settings.
        out: its folder, new or empty; None makes a new one in ``runs``.

    Raises:
        ConfigError: settings that make no sense.
        StartError: the folder is in use or cannot be written.
    """
    return _new(config, Command.PLAY, out, _play_result)


def new_tournament(config: RunConfig, out: Path | None) -> Run[TournamentResult]:
    """A new tournament; like `new_play`."""
    return _new(config, Command.TOURNAMENT, out, _tournament_result)


def new_table(config: RunConfig, out: Path | None) -> Run[ContestResult]:
    """A new play in which the first player, ``tcp``, is a person; like `new_play`."""
    return _new(config, Command.TABLE, out, _play_result)


def _new(
    config: RunConfig, command: Command, out: Path | None, make_result: Callable[[Tournament, str], _Result]
) -> Run[_Result]:
    config = config.model_copy(update={"command": command})
    settled = settle(config)
    names = settled.names if len(settled.names) <= 4 else (*settled.names[:3], f"{len(settled.names) - 3}-more")
    is_ours = out is None or not out.is_dir()
    folder = new_folder(out, names)
    try:
        keep_games(settled, folder)
        write_whole(folder / CONFIG_NAME, repeatable(config, settled).to_toml())
    except OSError as error:
        raise LaunchError(f"write to {folder}", error.strerror) from None
    forget = partial(empty_folder, folder, is_removed=is_ours)
    return Run(plan_run(settled, folder), make_result, forget=forget)


def reopen(folder: Path, hands: int | None = None) -> Run[AnyResult]:
    """The run in a folder, to be resumed.

    Args:
        folder: of the run.
        hands: how many deals to play in all instead of those asked for so far; None leaves their number.

    Raises:
        ConfigError: it holds no run, one that cannot be understood, or one that cannot have so many hands.
        ResultError: its result cannot be read.
        StartError: it is in use, or its files are not those of the run.
    """
    path = folder / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
    config = validated(read_config(path), str(path))
    settled = settle(config)
    finished = read_result(folder) if (folder / RESULT_NAME).exists() else None
    if hands is not None:
        config = _extended(config, plan_run(settled, folder), hands, finished)
        settled = settle(config)
    contests = finished.contests if isinstance(finished, TournamentResult) else [finished] if finished else []
    if finished is not None and (
        not finished.outcome.is_complete or any(contest.hands_asked != settled.hands for contest in contests)
    ):
        finished = None
    make: Any = _tournament_result if settled.command is Command.TOURNAMENT else _play_result
    return Run(plan_run(settled, folder), make, finished)


def _extended(config: RunConfig, plan: RunPlan, hands: int, result: AnyResult | None) -> RunConfig:
    """The settings of a run with more hands, also in its folder."""
    validated({"hands": hands})
    if hands <= plan.settled.hands:
        raise ConfigError(
            SettingProblem("hands", f"{hands} is not more than the {plan.settled.hands} asked for before")
        )
    contests = result.contests if isinstance(result, TournamentResult) else [result] if result else []
    if any(contest.outcome is Outcome.STOPPED for contest in contests):
        raise ConfigError(SettingProblem("hands", "the stop rule has ended this run, and more hands change nothing"))
    if any(contest.slices > 1 for contest in plan.contests):
        why = "its hands are cut into slices, one for each worker; start a new run instead"
        raise ConfigError(SettingProblem("hands", f"a run of more workers than seatings cannot have more hands: {why}"))
    stop = None if isinstance(plan.settled.stop, FixedHands) else config.stop
    config = config.model_copy(update={"hands": hands, "stop": stop})
    with contextlib.closing(RunLock(plan.folder)):
        try:
            for contest in plan.contests:
                for slot in contest.slots:
                    log = contest.record.folder / f"{slot.name}.log"
                    extend_log(log, slot.name, contest.record.game_name, contest.seed_of(slot), contest.hands, hands)
            write_whole(plan.folder / CONFIG_NAME, repeatable(config, settle(config)).to_toml())
        except OSError as error:
            raise LaunchError(f"write to {plan.folder}", error.strerror) from None
    return config


class UnfinishedRun(NamedTuple):
    """A run that can be resumed.

    Attributes:
        folder: its folder.
        state: why it has not finished, in a sentence.
    """

    folder: Path
    state: str


def unfinished_runs(folder: Path = Path("runs")) -> list[UnfinishedRun]:
    """The runs in a folder that have something left to play, in the order of their names."""
    found = []
    for path in sorted(folder.glob(f"*/{CONFIG_NAME}")):
        run = path.parent
        if is_busy(run):
            found.append(UnfinishedRun(run, "it is still going on."))
        elif not (run / RESULT_NAME).exists():
            found.append(UnfinishedRun(run, "it was ended before it could write a result."))
        else:
            with contextlib.suppress(ResultError):
                result = read_result(run)
                if not result.outcome.is_complete:
                    found.append(UnfinishedRun(run, result.reason))
    return found
