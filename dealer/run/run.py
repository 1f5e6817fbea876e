"""Run of a contest or tournament in its folder: create it, play it, open it again.

    run = new_run(validated({"bots": ["calling", "random"]}), None)
    result = await run.play()

`Run.play` needs a loop from `dealer.table.loop.new_event_loop`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar, cast

from bots.errors import WorkersError
from bots.sdk.bot import Bot
from bots.workers import Workers
from dealer.errors import (
    ConfigError,
    DealerError,
    FolderTakenError,
    SettingProblem,
)
from dealer.run.affinity import DealerCore, core_count, usable_cores
from dealer.run.choices import Affinity, Command, Score
from dealer.run.contest import Contest, Watch
from dealer.run.contest_plan import Plan
from dealer.run.dealers import MIN_HANDS, DealerProcesses
from dealer.run.ending import Outcome
from dealer.run.folder import (
    CONFIG_NAME,
    RESULT_NAME,
    clear_unfinished,
    empty_folder,
    launching,
    lock_run,
    new_folder,
)
from dealer.run.plan import planned_contests, raised_limits_sentence, repeatable, settle
from dealer.run.recovery import check_match, extend_log
from dealer.run.remote import RemoteContest
from dealer.run.results import AnyResult, ContestResult, read_result
from dealer.run.results.summary import contest_result, tournament_result
from dealer.run.run_settings import BotSettings, RunSettings, read_config, validated
from dealer.run.sliced_run import SliceProcesses
from dealer.run.tournament_run import Progress, Tournament, progress_of
from dealer.table.players import BotObject, object_text, require_source
from engine.errors import quoted
from logs.estimation import FixedDeals
from logs.formats.export_format import ExportWarning
from logs.whole_file import FileLock, write_whole

BotEntry: TypeAlias = str | Mapping[str, Any] | type[Bot] | Bot
"""Player as passed by a Python program: a text, a table, a class or an object."""
_PROGRESS_S = 0.2
_LOCK_PATIENCE_S = 2.0
"""Time for the dealer processes of a killed run to exit. They inherit the lock of its folder."""
OnProgress: TypeAlias = Callable[[Progress], None]
Compute: TypeAlias = Callable[..., Awaitable[Any]]
"""Call a function with its arguments in another process. Raises `WorkersError` if that fails."""
_Value = TypeVar("_Value")
_Result = TypeVar("_Result", bound=AnyResult)
_Result_co = TypeVar("_Result_co", bound=AnyResult, covariant=True)


class Run(Generic[_Result_co]):
    """Contest or tournament with its folder.

    Attributes:
        plan: plan of the run.
        planned: plans of its contests.
        folder: existing folder of the run.
        finished: result of a run with nothing left to play, otherwise None.
        warnings: sentences about comments, hands and faults left out of files; filled by `play`.
        unwritten: sentences about results that could not be written; filled by `play`.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        finished: _Result_co | None = None,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare a run.

        Args:
            plan: plan of the run.
            folder: existing folder of the run.
            finished: result of a run with nothing left to play.
            forget: called if nothing could be played.
        """
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
        quoted_path = subprocess.list2cmdline([path]) if os.name == "nt" else shlex.quote(path)
        return f"arena resume {quoted_path}"

    @property
    def is_table(self) -> bool:
        """The first player is a person at this terminal."""
        return self.plan.command is Command.TABLE

    def history_warnings(self) -> list[ExportWarning]:
        """Return problems of importers with the hand histories, if the settings name stakes or a folder for them."""
        plan = self.plan
        if not plan.histories and all(named.chip_value == 1 for named in plan.games):
            return []
        warnings: dict[ExportWarning, None] = {}
        for contest in self.planned:
            for format_ in contest.record.exports:
                warning = format_.warning(contest.game, contest.record.options)
                if warning is not None:
                    warnings[warning] = None
        return list(warnings)

    def clock_notes(self) -> list[str]:
        """Return a sentence per player whose limits are raised."""
        sentences = [raised_limits_sentence(self.plan, player) for player in self.plan.players]
        return [sentence for sentence in sentences if sentence]

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
        """Play the run to its end and write its result. Needs a loop from `dealer.table.loop.new_event_loop`.

        An interrupted or cancelled run returns the result so far. A finished run returns its result at once. A callback
        that raises an exception is not called again, and the exception is raised after the result has been written.

        Args:
            on_progress: called every `progress_s` seconds, and once more at the end.
            watch: called with the events of all matches, except those of a cluster.
            cluster: machines that play the contests of a tournament instead of this one.
            progress_s: interval between calls of `on_progress`.
            compute: computes the result of a contest in another process; None for this process.
            dealers: shared processes that play the matches. None starts processes of the run's own, if it is long.
            watches_newest: whether `watch` needs only the newest events of hands and actions.

        Raises:
            DealerError: nothing could be played, because the folder is in use, or a bot or socket is unavailable.
        """
        if self.finished is not None:
            return self.finished
        with contextlib.closing(lock_run(self.folder, _LOCK_PATIENCE_S)) as lock, contextlib.ExitStack() as resources:
            shown = GuardedCallback(on_progress)
            watched = GuardedCallback(watch)
            own_dealers = None
            if cluster is not None:
                self._contests = [RemoteContest(plan, cluster) for plan in self.planned]
                # The cluster decides how many contests it plays at a time.
                at_once = len(self._contests)
            else:
                core = None
                if dealers is None:
                    own_dealers = self._new_dealers(lock)
                    core = self._own_core() if own_dealers is None else None
                elif not self._can_be_dealt_elsewhere:
                    dealers = None
                self._contests = self._local_contests(
                    None if watch is None else watched,
                    watches_newest=watches_newest,
                    dealers=own_dealers or dealers,
                    core=core,
                    processes=self._slice_processes(resources),
                    # A server has no processor to spare, and a person at a table waits for no estimate.
                    values_hands=compute is None and not self.is_table,
                )
                at_once = self.plan.workers
            tournament = Tournament(self._contests, at_once, self._write_contest)
            if not self._is_interrupted:
                try:
                    await self._play_all(tournament, shown, None if on_progress is None else progress_s)
                finally:
                    if own_dealers is not None:
                        await own_dealers.close()
            shown(progress_of(tournament))
            try:
                result = await self._result(tournament, compute)
            except DealerError:
                if not any(contest.scores.hands_played for contest in tournament.contests):
                    # Released first, as `forget` removes the folder and with it the file of the lock.
                    lock.close()
                    self._forget()
                raise
            result = await (compute or asyncio.to_thread)(_with_estimates, result)
            self._write(self.folder / RESULT_NAME, result)
        tallies = [tally for contest in tournament.contests for tally in contest.tallies]
        self.warnings += dict.fromkeys(sentence for tally in tallies for sentence in tally.warnings)
        self.warnings += dict.fromkeys(sentence for contest in tournament.contests for sentence in contest.warnings)
        raise_first(shown, watched)
        return result

    def _local_contests(
        self,
        watch: Watch | None,
        *,
        watches_newest: bool,
        dealers: DealerProcesses | None,
        core: DealerCore | None,
        processes: SliceProcesses | None,
        values_hands: bool,
    ) -> list[Contest]:
        workers = asyncio.Semaphore(self.plan.workers)
        return [
            Contest(
                plan,
                workers,
                watch,
                watches_newest=watches_newest,
                dealers=dealers,
                core=core,
                processes=processes,
                values_hands=values_hands,
            )
            for plan in self.planned
        ]

    async def _play_all(
        self, tournament: Tournament, shown: GuardedCallback[Progress], progress_s: float | None
    ) -> None:
        """Play the contests, and show progress meanwhile; None shows it only at the start."""
        playing = self._playing = asyncio.create_task(tournament.play())
        while not playing.done():
            shown(progress_of(tournament))
            try:
                await asyncio.wait([playing], timeout=progress_s)
            except asyncio.CancelledError:
                playing.cancel()
        # A cancelled tournament returns, unless it is cancelled before its first step.
        with contextlib.suppress(asyncio.CancelledError):
            playing.result()

    @property
    def _can_be_dealt_elsewhere(self) -> bool:
        # Linked players are reached by function calls in this process.
        return not self.plan.in_process and not any(player.is_linked for player in self.plan.players)

    @property
    def _match_count(self) -> int:
        return sum(len(contest.match_plans) for contest in self.planned)

    def _new_dealers(self, lock: FileLock) -> DealerProcesses | None:
        """Create dealer processes, unless matches are played one at a time or the run is short."""
        plan = self.plan
        hands = sum(match_plan.hands for contest in self.planned for match_plan in contest.match_plans)
        if plan.workers == 1 or hands < MIN_HANDS or not self._can_be_dealt_elsewhere:
            return None
        count = min(plan.workers, core_count(), self._match_count)
        return DealerProcesses(count, has_affinity=plan.affinity is Affinity.AUTO, held=[lock.fileno()])

    def _slice_processes(self, resources: contextlib.ExitStack) -> SliceProcesses | None:
        """Start processes for in-process bots, if there are several workers."""
        plan = self.plan
        if not plan.in_process or plan.workers == 1:
            return None
        count = plan.workers
        # Only the matches of a play are cut into slices for further workers.
        if plan.command is Command.TOURNAMENT:
            count = min(count, self._match_count)
        return resources.enter_context(SliceProcesses(count))

    def _own_core(self) -> DealerCore | None:
        """Choose a core that this process shares with quick bots, if it plays one match at a time."""
        if self.plan.workers > 1 or self.plan.affinity is Affinity.OFF:
            return None
        cores = usable_cores()
        if not cores:
            return None
        # Several runs at a time on this machine begin with different cores.
        return DealerCore(cores[os.getpid() % len(cores)], cores, has_spare_cores=len(cores) > 1)

    async def _result(self, tournament: Tournament, compute: Compute | None) -> _Result_co:
        """Return the result, or raise the error of a contest that could not start."""
        result: Any
        if self.plan.command is Command.TOURNAMENT:
            result = tournament_result(tournament, self.folder, resume=self.resume_command)
        else:
            (contest,) = tournament.contests
            if contest.ending is not None and contest.ending.error is not None:
                raise contest.ending.error
            result = await self._contest_result(contest, compute)
        return cast("_Result_co", result)

    async def _contest_result(self, contest: Contest, compute: Compute | None) -> ContestResult:
        if compute is None:
            return contest_result(contest, resume=self.resume_command)
        try:
            result: ContestResult = await compute(partial(contest_result, resume=self.resume_command), contest)
        except WorkersError as error:
            # Corrected scores may have been too much for the process. Without them, this one computes it quickly.
            contest.leave_luck()
            self.warnings.append(f"{error}: the result has no win rates without the luck of the cards")
            result = contest_result(contest, resume=self.resume_command)
        return result

    def contests(self) -> list[Contest]:
        """Return the contests with their scores; those of a finished run are read from its logs.

        Raises:
            StartError: a log cannot be read, or is not that of the run.
        """
        if not self._contests and self.finished is not None:
            self._contests = [Contest(plan, asyncio.Semaphore(1)) for plan in self.planned]
            for contest in self._contests:
                contest.prepare()
        return self._contests

    def checked_logs(self) -> Iterator[float]:
        """Compare the existing logs with the seed and the rules; yield the completed fraction before each of them.

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
        """Interrupt the run after the current hands, so that none is dealt twice."""
        # A list, because `any` would stop calling `hold` at the first contest that holds.
        held = [contest.hold() for contest in self._contests]
        if not any(held):
            self.interrupt()

    def _write_contest(self, contest: Contest) -> None:
        folder = contest.plan.record.folder
        # A contest that is no part of a tournament has the folder of the run, whose result `play` writes.
        if folder != self.folder and contest.ending is not None and contest.ending.error is None:
            self._write(folder / RESULT_NAME, contest_result(contest, resume=self.resume_command))

    def _write(self, path: Path, result: AnyResult) -> None:
        try:
            write_whole(path, result.model_dump_json(indent=2) + "\n")
        except OSError as error:
            self.unwritten.append(f"cannot write {path}: {error.strerror}")


class GuardedCallback(Generic[_Value]):
    """Callback of a user. Its first exception ends the calls and is kept for the end of the run."""

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


def raise_first(*callbacks: GuardedCallback[Any]) -> None:
    for callback in callbacks:
        if callback.error is not None:
            raise callback.error


def _with_estimates(result: _Result) -> _Result:
    """Add win rates by all estimators, computed from the logs, to the result of a contest with corrected scores."""
    if not isinstance(result, ContestResult) or result.score is not Score.CORRECTED or not result.hands_counted:
        return result
    from logs.hand_source import find
    from logs.variance.reduction import Reduction, reduce_hands

    reduction = Reduction()
    reduce_hands(find([result.folder or ""]), reduction)
    return result.model_copy(update={"estimates": reduction.estimates().games[0]})


def new_run(config: RunSettings, out: Path | None, objects: Mapping[int, BotObject] = MappingProxyType({})) -> Run[Any]:
    """Create a run in a new folder.

    Args:
        config: settings of the run.
        out: new or empty folder; None for a new folder in ``runs``.
        objects: players, by index, that are classes or objects of this program.

    Raises:
        ConfigError: the settings contradict each other.
        StartError: the folder is in use or cannot be written.
    """
    plan = settle(config, objects)
    names = plan.names
    if len(names) > 4:
        names = (*names[:3], f"{len(names) - 3}-more")
    is_created = out is None or not out.is_dir()
    folder = new_folder(out, names)
    with contextlib.closing(lock_run(folder)), launching(f"write to {folder}"):
        if (folder / CONFIG_NAME).exists():
            # Another process created a run here before this one had the lock.
            raise FolderTakenError(folder, holds_run=True)
        plan.keep_games(folder)
        write_whole(folder / CONFIG_NAME, repeatable(config, plan).to_toml())
    return Run(plan, folder, forget=partial(empty_folder, folder, is_removed=is_created))


def reopen(folder: Path, deals: int | None = None, bots: Sequence[BotEntry] = ()) -> Run[AnyResult]:
    """Open the run in a folder, to resume it.

    Args:
        folder: folder of the run.
        deals: new total number of deals; None keeps the number.
        bots: players of the run, required if classes or objects that no file holds are among them.

    Raises:
        ConfigError: the folder holds no run, its settings cannot be read, or the number of deals cannot be changed.
        ResultError: the result cannot be read.
        StartError: the folder is in use, or its files are not those of the run.
    """
    path = folder / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(f"{folder} holds no run: there is no {CONFIG_NAME} in it")
    config = validated(read_config(path), str(path))
    texts, objects = without_objects(bots)
    if bots and validated({"bots": texts}).bots != config.bots:
        before = ", ".join(bot.bot for bot in config.bots)
        raise ConfigError(SettingProblem("bots", f"the run in {folder} has other players: {before}"))
    try:
        plan = settle(config, objects)
    except ConfigError as error:
        raise ConfigError(*error.problems, source=error.source or str(path)) from None
    for contest_folder in {folder, *(contest.record.folder for contest in planned_contests(plan, folder))}:
        clear_unfinished(contest_folder)
    result = read_result(folder) if (folder / RESULT_NAME).exists() else None
    if deals is not None:
        plan = _extended(config, plan, folder, deals, result, objects)
    # A run that was extended has a result of fewer deals.
    has_all_deals = result is not None and all(contest.deals_asked == plan.deals for contest in result.contests)
    is_finished = result is not None and result.outcome.is_complete and has_all_deals
    return Run(plan, folder, result if is_finished else None)


def _extended(
    config: RunSettings,
    plan: Plan,
    folder: Path,
    deals: int,
    result: AnyResult | None,
    objects: Mapping[int, BotObject],
) -> Plan:
    """Change the files of a run to a larger number of deals; return the new plan."""
    # Checks the bounds of the number.
    validated({"deals": deals})
    planned = planned_contests(plan, folder)
    if deals <= plan.deals:
        problem = f"{deals} is not more than the {plan.deals} of the run"
        raise ConfigError(SettingProblem("deals", problem))
    if result is not None and any(contest.outcome is Outcome.STOPPED for contest in result.contests):
        problem = "the stop rule has ended this run, so more deals would change nothing"
        raise ConfigError(SettingProblem("deals", problem))
    if any(contest.slices > 1 for contest in planned):
        problem = (
            "a run of more workers than seatings cannot have more deals: its hands are cut into slices, one for each "
            "worker; start a new run instead"
        )
        raise ConfigError(SettingProblem("deals", problem))
    for player in plan.players:
        require_source(player)
    # A rule of a fixed number of deals names the old number.
    config = replace(config, deals=deals, stop=None if isinstance(plan.stop, FixedDeals) else config.stop)
    longer = settle(config, objects)
    with contextlib.closing(lock_run(folder)), launching(f"write to {folder}"):
        for contest in planned:
            for match_plan in contest.match_plans:
                log = contest.record.folder / f"{match_plan.name}.log"
                extend_log(
                    log, match_plan.name, contest.record.game_name, contest.seed_of(match_plan), plan.deals, deals
                )
        # The settings last: after an interruption, the same command changes the remaining logs.
        write_whole(folder / CONFIG_NAME, repeatable(config, longer).to_toml())
    return longer


def without_objects(bots: Any) -> tuple[Any, dict[int, BotObject]]:
    """Replace classes and objects among the players by texts; return the players and the replaced ones by index.

    Raises:
        ConfigError: a player is not a text, table, bot class or bot.
    """
    if isinstance(bots, Bot | type):
        raise ConfigError(SettingProblem("bots", f"must be a list with a player per seat, not {quoted(bots)}"))
    if isinstance(bots, str) or not isinstance(bots, Sequence):
        return bots, {}
    entries: list[Any] = []
    objects: dict[int, BotObject] = {}
    for index, entry in enumerate(bots):
        bot = entry.get("bot") if isinstance(entry, Mapping) else entry
        if isinstance(bot, type) and not issubclass(bot, Bot):
            problem = f"{bot.__qualname__} is a class, but not of a bot: derive it from bots.Bot"
            raise ConfigError(SettingProblem("bots", problem))
        if not isinstance(bot, Bot | type):
            if not isinstance(entry, str | Mapping | BotSettings):
                problem = f"must be text, a table, a class or an object of a bot, not {quoted(bot)}"
                raise ConfigError(SettingProblem(f"bots.{index}", problem))
            entries.append(entry)
            continue
        objects[index] = bot
        text = object_text(bot)
        entries.append({**entry, "bot": text} if isinstance(entry, Mapping) else text)
    return entries, objects
