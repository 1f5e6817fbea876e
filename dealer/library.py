"""A play or a tournament with its folder, from its settings to its result.

`new_run` and `reopen` make a `Run`, `Run.play` plays it; the command line and the server use these.
`play`, `tournament` and `resume` each make a `Run`, play it and return its result. `from dealer import ...` gives the
names of `__all__`.

Matches need an event loop of their own kind (`dealer.table.loop`), so the async twins play in a thread with such a loop
and deliver callbacks to the loop they were called from.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import shlex
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

from bots.errors import WorkersError
from bots.sdk.bot import Bot
from bots.sdk.options import options_of
from bots.workers import Workers
from dealer.errors import (
    ConfigError,
    DealerError,
    FolderBusyError,
    FolderTakenError,
    LaunchError,
    ListenError,
    PlayerError,
    RecoveryError,
    SettingProblem,
    StartError,
)
from dealer.match.events import (
    ActionPlayed,
    FaultSeen,
    HandFinished,
    HandStarted,
    MatchEnded,
    MatchStarted,
    StrayConnection,
)
from dealer.run.affinity import DealerCore, core_count, usable_cores
from dealer.run.choices import Affinity, Command, Score
from dealer.run.contest import Contest, MatchEvent, Watch
from dealer.run.contest_plan import Plan
from dealer.run.dealers import MIN_HANDS, DealerProcesses
from dealer.run.ending import AwaitedPlayer, Outcome, Wait
from dealer.run.folder import (
    CONFIG_NAME,
    RESULT_NAME,
    clear_unfinished,
    empty_folder,
    launching,
    lock_run,
    new_folder,
)
from dealer.run.plan import planned_contests, repeatable, settle
from dealer.run.recovery import check_match, extend_log
from dealer.run.remote import RemoteContest
from dealer.run.results import AnyResult, ContestResult, GameStandings, PlayerResult, TournamentResult, read_result
from dealer.run.results.summary import contest_result, tournament_result
from dealer.run.run_settings import BotSettings, RunSettings, read_config, validated
from dealer.run.sliced_run import SliceProcesses
from dealer.run.tournament_run import Progress, Tournament, progress_of
from dealer.table.loop import new_event_loop
from dealer.table.players import BotObject, object_text, require_source
from engine.errors import quoted
from logs.estimation import FixedDeals
from logs.formats.export_format import ExportWarning
from logs.whole_file import FileLock, write_whole

__all__ = [
    "ActionPlayed",
    "AwaitedPlayer",
    "ConfigError",
    "ContestResult",
    "DealerError",
    "FaultSeen",
    "FolderBusyError",
    "FolderTakenError",
    "GameStandings",
    "HandFinished",
    "HandStarted",
    "LaunchError",
    "ListenError",
    "MatchEnded",
    "MatchEvent",
    "MatchStarted",
    "Outcome",
    "PlayerError",
    "PlayerResult",
    "Progress",
    "RecoveryError",
    "StartError",
    "StrayConnection",
    "TournamentResult",
    "Wait",
    "play",
    "play_async",
    "resume",
    "resume_async",
    "tournament",
    "tournament_async",
]

BotEntry: TypeAlias = str | Mapping[str, Any] | type[Bot] | Bot
"""A player as a Python program passes it: a text, a table, a class or an object."""
_PROGRESS_S = 0.2
_LOCK_PATIENCE_S = 2.0
"""Time for the dealer processes of a run that was killed to end."""
OnProgress: TypeAlias = Callable[[Progress], None]
Compute: TypeAlias = Callable[..., Awaitable[Any]]
"""Gives the result of a function and its arguments, computed elsewhere; raises `WorkersError` where that fails."""
_Value = TypeVar("_Value")
_Result = TypeVar("_Result", bound=AnyResult)
_Result_co = TypeVar("_Result_co", bound=AnyResult, covariant=True)


class Run(Generic[_Result_co]):
    """A play or a tournament with its folder, ready to be played.

    Attributes:
        finished: the result of a run that has nothing left to play; None otherwise.
        warnings: sentences about hands that hand histories cannot represent, once played.
        unwritten: sentences about results that could not be written, once played.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        finished: _Result_co | None = None,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        """Wrap a plan and its existing folder; `forget` is called if nothing could be played."""
        self.plan = plan
        self.finished = finished
        self.planned = planned_contests(plan, folder)
        self.folder = folder
        self.warnings: list[str] = []
        self.unwritten: list[str] = []
        self._forget = forget
        self._contests: list[Contest] = []
        self._playing: asyncio.Task[None] | None = None
        self._is_interrupted = False

    @property
    def resume_command(self) -> str:
        path = str(self.folder)
        return f"arena resume {subprocess.list2cmdline([path]) if os.name == 'nt' else shlex.quote(path)}"

    @property
    def is_table(self) -> bool:
        """Whether its first player is a person at this terminal."""
        return self.plan.command is Command.TABLE

    def history_warnings(self) -> list[ExportWarning]:
        """Problems of importers with the hand histories, where their stakes or folder were asked for."""
        plan = self.plan
        if not plan.histories and all(named.chip_value == 1 for named in plan.games):
            return []
        found = [
            format_.warning(contest.game, contest.record.options)
            for contest in self.planned
            for format_ in contest.record.exports
        ]
        return list(dict.fromkeys(warning for warning in found if warning is not None))

    async def play(
        self,
        on_progress: OnProgress | None = None,
        watch: Watch | None = None,
        cluster: Workers | None = None,
        *,
        progress_s: float = _PROGRESS_S,
        compute: Compute | None = None,
        dealers: DealerProcesses | None = None,
        watches_newest: bool = False,
    ) -> _Result_co:
        """Play the run to its end and write its result; needs a loop of `dealer.table.loop.new_event_loop`.

        A run that is interrupted or cancelled returns the result so far; one that has finished before is left as it is.
        A callback that raises an error is not called again; the run continues, and the error is raised when it has
        ended and its result is written.

        Args:
            on_progress: called every `progress_s` seconds, and once more at the end.
            watch: called with the events of all matches, except those of a cluster.
            cluster: plays the contests of a tournament instead of this machine.
            compute: computes the result of a play in another process; None for this one.
            dealers: processes that play the matches, and go on afterwards; None for processes of its own, in long runs.
            watches_newest: whether `watch` needs only the newest events of hands and actions, several times a second.

        Raises:
            DealerError: nothing could be played: the folder is in use, or a bot or a socket cannot be had.
        """
        if self.finished is not None:
            return self.finished
        with contextlib.closing(lock_run(self.folder, _LOCK_PATIENCE_S)) as lock, contextlib.ExitStack() as ended:
            shown, watched = _GuardedCallback(on_progress), _GuardedCallback(watch)
            workers = asyncio.Semaphore(self.plan.workers)
            own_dealers = core = processes = None
            if cluster is None and dealers is None:
                own_dealers = self._new_dealers(lock)
                core = self._core() if own_dealers is None else None
            if cluster is None and self.plan.in_process and self.plan.workers > 1:
                matches = sum(len(plan.match_plans) for plan in self.planned)
                is_cut = self.plan.command is not Command.TOURNAMENT
                count = self.plan.workers if is_cut else min(self.plan.workers, matches)
                processes = ended.enter_context(SliceProcesses(count))
            playing_dealers = own_dealers or (dealers if self._can_be_dealt_elsewhere else None)
            self._contests = [
                Contest(
                    plan,
                    workers,
                    watch and watched,
                    watches_newest=watches_newest,
                    dealers=playing_dealers,
                    core=core,
                    processes=processes,
                )
                if cluster is None
                else RemoteContest(plan, cluster)
                for plan in self.planned
            ]
            # A cluster keeps its own order.
            at_once = self.plan.workers if cluster is None else len(self._contests)
            tournament = Tournament(self._contests, at_once, self._write_contest)
            if not self._is_interrupted:
                playing = self._playing = asyncio.create_task(tournament.play())
                while not playing.done():
                    shown(progress_of(tournament))
                    try:
                        await asyncio.wait([playing], timeout=None if on_progress is None else progress_s)
                    except asyncio.CancelledError:
                        playing.cancel()
                # It returns when it is cancelled, unless that was before its first step.
                with contextlib.suppress(asyncio.CancelledError):
                    playing.result()
                if own_dealers is not None:
                    await own_dealers.close()
            shown(progress_of(tournament))
            try:
                if compute is None:
                    result = self._result(tournament)
                else:
                    result = await self._result_elsewhere(tournament, compute)
            except DealerError:
                if not any(contest.scores.hands_played for contest in tournament.contests):
                    lock.close()
                    self._forget()
                raise
            result = await (compute or asyncio.to_thread)(_with_estimates, result)
            self._write(self.folder / RESULT_NAME, result)
        tallies = [tally for contest in tournament.contests for tally in contest.tallies]
        self.warnings += dict.fromkeys(sentence for tally in tallies for sentence in tally.warnings)
        _raise_first(shown, watched)
        return result

    @property
    def _can_be_dealt_elsewhere(self) -> bool:
        """Whether another process can play the matches: linked players are reached by calls in this one."""
        return not self.plan.in_process and not any(player.is_linked for player in self.plan.players)

    def _new_dealers(self, lock: FileLock) -> DealerProcesses | None:
        """Processes for the matches, if there are several at a time and enough hands to be worth their start."""
        plan = self.plan
        hands = sum(match_plan.hands for contest in self.planned for match_plan in contest.match_plans)
        if plan.workers == 1 or hands < MIN_HANDS or not self._can_be_dealt_elsewhere:
            return None
        count = min(plan.workers, core_count(), sum(len(contest.match_plans) for contest in self.planned))
        return DealerProcesses(count, has_affinity=plan.affinity is Affinity.AUTO, held=[lock.fileno()])

    def _core(self) -> DealerCore | None:
        """A core that this process shares with quick bots while it plays one match at a time."""
        if self.plan.workers > 1 or self.plan.affinity is Affinity.OFF:
            return None
        cores = usable_cores()
        if not cores:
            return None
        # Runs side by side begin with different cores.
        return DealerCore(cores[os.getpid() % len(cores)], cores, has_spare_cores=len(cores) > 1)

    def _result(self, tournament: Tournament) -> _Result_co:
        """The result, or the error of a play that could not begin."""
        result: Any
        if self.plan.command is Command.TOURNAMENT:
            result = tournament_result(tournament, self.folder, resume=self.resume_command)
        else:
            (contest,) = tournament.contests
            if contest.ending is not None and contest.ending.error is not None:
                raise contest.ending.error
            result = contest_result(contest, resume=self.resume_command)
        return cast("_Result_co", result)

    async def _result_elsewhere(self, tournament: Tournament, compute: Compute) -> _Result_co:
        """The result of a play, computed by another process; without luck corrected where that fails."""
        (contest,) = tournament.contests
        if contest.ending is not None and contest.ending.error is not None:
            raise contest.ending.error
        try:
            result = await compute(partial(contest_result, resume=self.resume_command), contest)
        except WorkersError as error:
            contest.leave_luck()
            self.warnings.append(f"{error}: the result has no win rates without the luck of the cards")
            result = contest_result(contest, resume=self.resume_command)
        return cast("_Result_co", result)

    def contests(self) -> list[Contest]:
        """Its contests with their scores, once played; those of a run that had finished before are read from its logs.

        Raises:
            StartError: the logs cannot be read, or are not those of the run.
        """
        if not self._contests and self.finished is not None:
            self._contests = [Contest(plan, asyncio.Semaphore(1)) for plan in self.planned]
            for contest in self._contests:
                contest.prepare()
        return self._contests

    def checked_logs(self) -> Iterator[float]:
        """Compare its logs, as far as they exist, with its seed and the rules; yields the part compared before each.

        Raises:
            RecoveryError: a line differs.
            OSError: a log cannot be read.
        """
        matches = [(contest, match_plan) for contest in self.planned for match_plan in contest.match_plans]
        for number, (contest, match_plan) in enumerate(matches):
            yield number / len(matches)
            check_match(contest.setup_of(match_plan), contest.record)

    def interrupt(self) -> None:
        """End the run as soon as possible; `play` returns the result so far."""
        self._is_interrupted = True
        if self._playing is not None:
            self._playing.cancel()

    def interrupt_after_hand(self) -> None:
        """Interrupt it as soon as the current hands are over, so that none is dealt twice."""
        held = [contest.hold() for contest in self._contests]
        if not any(held):
            self.interrupt()

    def _write_contest(self, contest: Contest) -> None:
        folder = contest.plan.record.folder
        if folder != self.folder and contest.ending is not None and contest.ending.error is None:
            self._write(folder / RESULT_NAME, contest_result(contest, resume=self.resume_command))

    def _write(self, path: Path, result: AnyResult) -> None:
        try:
            write_whole(path, result.model_dump_json(indent=2) + "\n")
        except OSError as error:
            self.unwritten.append(f"cannot write {path}: {error.strerror}")


class _GuardedCallback(Generic[_Value]):
    """A caller's callback: its first error is kept for the end of the run and ends the calls, not the run."""

    def __init__(self, callback: Callable[[_Value], None] | None) -> None:
        self.error: Exception | None = None
        self._callback = callback

    def __call__(self, value: _Value) -> None:
        if self._callback is None or self.error is not None:
            return
        try:
            self._callback(value)
        except Exception as error:
            self.error = error


def _raise_first(*callbacks: _GuardedCallback[Any]) -> None:
    for callback in callbacks:
        if callback.error is not None:
            raise callback.error


def _with_estimates(result: _Result) -> _Result:
    """Add the win rates by all estimators, from the logs, to a contest with corrected scores."""
    if not isinstance(result, ContestResult) or result.score is not Score.CORRECTED or not result.hands_counted:
        return result
    from logs.hand_source import find
    from logs.variance.reduction import Reduction, reduce_hands

    reduction = Reduction()
    reduce_hands(find([result.folder or ""]), reduction)
    return result.model_copy(update={"estimates": reduction.estimates().games[0]})


def new_run(config: RunSettings, out: Path | None, objects: Mapping[int, BotObject] = MappingProxyType({})) -> Run[Any]:
    """A new run of the command in the settings.

    Args:
        out: its folder, new or empty; None makes a new one in ``runs``.
        objects: the players, by their place, that are classes or objects of this program.

    Raises:
        ConfigError: the settings contradict each other.
        StartError: the folder is in use or cannot be written.
    """
    plan = settle(config, objects)
    names = plan.names if len(plan.names) <= 4 else (*plan.names[:3], f"{len(plan.names) - 3}-more")
    is_ours = out is None or not out.is_dir()
    folder = new_folder(out, names)
    with contextlib.closing(lock_run(folder)), launching(f"write to {folder}"):
        if (folder / CONFIG_NAME).exists():
            # Another process was faster.
            raise FolderTakenError(folder, holds_run=True)
        plan.keep_games(folder)
        write_whole(folder / CONFIG_NAME, repeatable(config, plan).to_toml())
    return Run(plan, folder, forget=partial(empty_folder, folder, is_removed=is_ours))


def reopen(folder: Path, deals: int | None = None, bots: Sequence[BotEntry] = ()) -> Run[AnyResult]:
    """The run in a folder, to be resumed.

    Args:
        deals: how many to play in all instead of those asked for so far; None leaves their number.
        bots: its players, where classes or objects that no file holds are among them.

    Raises:
        ConfigError: it holds no run, one that cannot be read, or one that cannot have so many deals.
        ResultError: its result cannot be read.
        StartError: it is in use, or its files are not those of the run.
    """
    path = folder / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
    config = validated(read_config(path), str(path))
    texts, objects = _without_objects(bots)
    if bots and validated({"bots": texts}).bots != config.bots:
        before = ", ".join(bot.bot for bot in config.bots)
        raise ConfigError(SettingProblem("bots", f"the run in {folder} has other players: {before}"))
    try:
        plan = settle(config, objects)
    except ConfigError as error:
        raise ConfigError(*error.problems, source=error.source or str(path)) from None
    for part in {folder, *(contest.record.folder for contest in planned_contests(plan, folder))}:
        clear_unfinished(part)
    finished = read_result(folder) if (folder / RESULT_NAME).exists() else None
    if deals is not None:
        plan = _extended(config, plan, folder, deals, finished, objects)
    contests = finished.contests if finished else []
    if finished is not None and (
        not finished.outcome.is_complete or any(contest.deals_asked != plan.deals for contest in contests)
    ):
        finished = None
    return Run(plan, folder, finished)


def _extended(
    config: RunSettings,
    plan: Plan,
    folder: Path,
    deals: int,
    result: AnyResult | None,
    objects: Mapping[int, BotObject],
) -> Plan:
    validated({"deals": deals})
    planned = planned_contests(plan, folder)
    if deals <= plan.deals:
        problem = f"{deals} is not more than the {plan.deals} asked for before"
        raise ConfigError(SettingProblem("deals", problem))
    if result is not None and any(contest.outcome is Outcome.STOPPED for contest in result.contests):
        problem = "the stop rule has ended this run, and more deals change nothing"
        raise ConfigError(SettingProblem("deals", problem))
    if any(contest.slices > 1 for contest in planned):
        problem = (
            "a run of more workers than seatings cannot have more deals: its hands are cut into slices, one for each "
            "worker; start a new run instead"
        )
        raise ConfigError(SettingProblem("deals", problem))
    for player in plan.players:
        require_source(player)
    config = replace(config, deals=deals, stop=None if isinstance(plan.stop, FixedDeals) else config.stop)
    longer = settle(config, objects)
    with contextlib.closing(lock_run(folder)), launching(f"write to {folder}"):
        for contest in planned:
            for match_plan in contest.match_plans:
                log = contest.record.folder / f"{match_plan.name}.log"
                extend_log(
                    log, match_plan.name, contest.record.game_name, contest.seed_of(match_plan), plan.deals, deals
                )
        write_whole(folder / CONFIG_NAME, repeatable(config, longer).to_toml())
    return longer


_Function = TypeVar("_Function", bound=Callable[..., Any])
_NAMED: Final = {"command", "games", "bots", "format"}
"""Settings that are parameters, or follow from the function."""


def _takes_settings(function: _Function) -> _Function:
    """Show the settings as keywords in the signature of a function, in place of ``**settings``."""
    *own, _ = inspect.signature(function).parameters.values()
    keywords = [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.kind)
        for option in options_of(RunSettings)
        if option.name not in _NAMED
    ]
    function.__signature__ = inspect.Signature([*own, *keywords])  # type: ignore[attr-defined]
    return function


_Path: TypeAlias = str | os.PathLike[str]


@_takes_settings
def play(
    game: _Path,
    bots: Sequence[BotEntry],
    *,
    out: _Path | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> ContestResult:
    """Play a contest; its result has the win rates with their intervals.

    Args:
        game: a game's name or the path of a ``.game`` file.
        bots: a player per seat: a built-in bot, a command, or ``tcp``; ``NAME=BOT`` gives it a name. A class derived
            from `bots.Bot`, or an object of one, plays in this process; each match has a new bot of the class, or a
            copy of the object.
        out: a new or empty folder for logs and results; without one they are written to a temporary folder that is
            removed at the end.
        on_progress: called several times a second while the contest is played, and once more at the end. After an
            error of its own it is not called again; the error is raised when the contest has ended.
        watch: called with every event of every match, in order: hands, actions, faults; errors as for
            `on_progress`.
        settings: see `dealer.run.run_settings.RunSettings`; one that is None has its default.

    Raises:
        ConfigError: invalid settings.
        StartError: the folder cannot be used, or a bot or a socket cannot be had.
        RuntimeError: an event loop is running in this thread; use `play_async` there.
    """
    return _play_here(play_async, _run_of(ContestResult, settings, game=game, bots=bots), out, on_progress, watch)


@_takes_settings
async def play_async(
    game: _Path,
    bots: Sequence[BotEntry],
    *,
    out: _Path | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> ContestResult:
    """`play` inside a running event loop; cancelling it ends the contest, and what was played stays in `out`."""
    return await _play_in_thread(_run_of(ContestResult, settings, game=game, bots=bots), out, on_progress, watch)


@_takes_settings
def tournament(
    games: Sequence[_Path],
    bots: Sequence[BotEntry],
    *,
    format: str = "round-robin",
    out: _Path | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> TournamentResult:
    """Play a tournament: contests between all bots, in every game.

    Args:
        games: names of games or paths of ``.game`` files.
        bots: built-in bots or commands; ``NAME=BOT`` gives a name.
        format: ``round-robin``, or ``gauntlet`` for the first bot against all others.
        out: as for `play`.
        on_progress: as for `play`.
        watch: as for `play`.
        settings: see `dealer.run.run_settings.RunSettings`; one that is None has its default.

    Raises:
        ConfigError: invalid settings.
        StartError: the folder cannot be used.
        RuntimeError: an event loop is running in this thread; use `tournament_async` there.
    """
    return _play_here(
        tournament_async,
        _run_of(TournamentResult, settings, games=games, bots=bots, format=format),
        out,
        on_progress,
        watch,
    )


@_takes_settings
async def tournament_async(
    games: Sequence[_Path],
    bots: Sequence[BotEntry],
    *,
    format: str = "round-robin",
    out: _Path | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> TournamentResult:
    """`tournament` inside a running event loop; cancelling it ends the tournament."""
    return await _play_in_thread(
        _run_of(TournamentResult, settings, games=games, bots=bots, format=format), out, on_progress, watch
    )


def resume(
    folder: _Path,
    *,
    deals: int | None = None,
    bots: Sequence[BotEntry] = (),
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> AnyResult:
    """Resume an interrupted run: same cards, same logs, same result as without the interruption.

    A run that has finished is left as it is, unless more deals are asked for.

    Args:
        deals: how many to play in all instead of those asked for so far.
        bots: the players as they were given to `play`, where objects are among them, or classes that cannot be
            imported: no file holds these.
        on_progress: as for `play`.
        watch: as for `play`.

    Raises:
        ConfigError: the folder holds no run.
        StartError: the folder is in use, its files are not those of the run, or a bot or a socket cannot be had.
        RuntimeError: an event loop is running in this thread; use `resume_async` there.
    """
    return _play_here(resume_async, partial(reopen, deals=deals, bots=bots), folder, on_progress, watch)


async def resume_async(
    folder: _Path,
    *,
    deals: int | None = None,
    bots: Sequence[BotEntry] = (),
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> AnyResult:
    """`resume` inside a running event loop; cancelling it interrupts the run again."""
    return await _play_in_thread(partial(reopen, deals=deals, bots=bots), folder, on_progress, watch)


def _run_of(kind: type[_Result], settings: dict[str, Any], **own: object) -> Callable[[Path], Run[_Result]]:
    """Make the run of a function in a folder: a play or a tournament, by the kind of its result."""
    command = Command.PLAY if kind is ContestResult else Command.TOURNAMENT
    if "command" in settings:
        raise ConfigError(SettingProblem("command", f"it follows from the function, here {command}"))
    own["bots"], objects = _without_objects(own["bots"])
    if objects and settings.get("in_process") is None:
        settings["in_process"] = True
    if objects and not settings["in_process"]:
        names = ", ".join(object_text(bot) for bot in objects.values())
        problem = (
            f"a class or an object plays in the process that has it, and {names} cannot play over TCP: leave it out"
        )
        raise ConfigError(SettingProblem("in_process", problem))
    return partial(new_run, validated(settings | own | {"command": command}), objects=objects)


def _without_objects(bots: Any) -> tuple[Any, dict[int, BotObject]]:
    """Put texts in place of the classes and objects among players; return both.

    Raises:
        ConfigError: a class is not one of a bot.
    """
    if isinstance(bots, Bot | type):
        raise ConfigError(SettingProblem("bots", f"must be a list with a player per seat, not {quoted(bots)}"))
    if isinstance(bots, str) or not isinstance(bots, Sequence):
        return bots, {}
    entries: list[Any] = []
    objects: dict[int, BotObject] = {}
    for place, entry in enumerate(bots):
        bot = entry.get("bot") if isinstance(entry, Mapping) else entry
        if isinstance(bot, type) and not issubclass(bot, Bot):
            problem = f"{bot.__qualname__} is a class, but not of a bot: derive it from bots.Bot"
            raise ConfigError(SettingProblem("bots", problem))
        if not isinstance(bot, Bot | type):
            if not isinstance(entry, str | Mapping | BotSettings):
                problem = f"must be text, a table, a class or an object of a bot, not {quoted(bot)}"
                raise ConfigError(SettingProblem(f"bots.{place}", problem))
            entries.append(entry)
            continue
        objects[place] = bot
        text = object_text(bot)
        entries.append({**entry, "bot": text} if isinstance(entry, Mapping) else text)
    return entries, objects


def _play_here(
    twin: Callable[..., object],
    make: Callable[[Path], Run[_Result]],
    out: _Path | None,
    on_progress: OnProgress | None,
    watch: Watch | None,
) -> _Result:
    """Make a run and play it in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(f"an event loop is running in this thread: await dealer.{twin.__name__}(...) instead")
    with _made(make, out, on_progress, watch) as run, asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play(on_progress, watch))
        if result.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        return _without_folder(result, is_kept=out is not None)


@contextlib.contextmanager
def _made(
    make: Callable[[Path], Run[_Result]], out: _Path | None, on_progress: object, watch: object
) -> Iterator[Run[_Result]]:
    """Make a run in its folder, or without `out` in a temporary one; refuse callbacks that are no functions first."""
    for name, callback in (("on_progress", on_progress), ("watch", watch)):
        if callback is not None and not callable(callback):
            raise ConfigError(SettingProblem(name, f"must be a function, not {quoted(callback)}"))
    if out is not None:
        yield make(Path(out))
        return
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
        yield make(Path(folder))


def _without_folder(result: _Result, *, is_kept: bool) -> _Result:
    """A result without the folder, where that was temporary."""
    if is_kept:
        return result
    gone: dict[str, Any] = {"folder": None, "resume": None}
    if isinstance(result, TournamentResult):
        return result.model_copy(update=gone | {"contests": [c.model_copy(update=gone) for c in result.contests]})
    return result.model_copy(update=gone)


async def _play_in_thread(
    make: Callable[[Path], Run[_Result]], out: _Path | None, on_progress: OnProgress | None, watch: Watch | None
) -> _Result:
    """Make a run and play it in a thread with a loop of its own; callbacks run in the loop of the caller."""
    with _made(make, out, on_progress, watch) as run:
        here, there = asyncio.get_running_loop(), new_event_loop()
        shown, watched = _GuardedCallback(on_progress), _GuardedCallback(watch)

        def show(progress: Progress) -> None:
            here.call_soon_threadsafe(shown, progress)

        def notify(event: MatchEvent) -> None:
            here.call_soon_threadsafe(watched, event)

        def work() -> _Result:
            with asyncio.Runner(loop_factory=lambda: there) as runner:
                return runner.run(run.play(on_progress and show, watch and notify))

        thread = asyncio.create_task(asyncio.to_thread(work))
        try:
            result = await asyncio.shield(thread)
        except asyncio.CancelledError:
            with contextlib.suppress(RuntimeError):
                # Its loop is closed when the run has just ended.
                there.call_soon_threadsafe(run.interrupt)
            await asyncio.wait([thread])
            raise
        _raise_first(shown, watched)
        return _without_folder(result, is_kept=out is not None)
