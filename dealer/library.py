"""Python interface of the dealer: play contests and tournaments, and resume them.

`play`, `tournament` and `resume` return the result of a run. The package `dealer` exports the names of `__all__`.
The command line and the server use `dealer.run.run` instead.

Matches need an event loop of their own kind (`dealer.table.loop`). The async functions therefore play in a thread with
such a loop, and call callbacks in the loop of their caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from bots.sdk.options import options_of
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
from dealer.run.choices import Command
from dealer.run.contest import MatchEvent, Watch
from dealer.run.ending import AwaitedPlayer, Outcome, Wait
from dealer.run.results import AnyResult, ContestResult, GameStandings, PlayerResult, TournamentResult
from dealer.run.run import BotEntry, GuardedCallback, OnProgress, Run, new_run, raise_first, reopen, without_objects
from dealer.run.run_settings import RunSettings, validated
from dealer.run.tournament_run import Progress
from dealer.table.loop import new_event_loop
from dealer.table.players import object_text
from engine.errors import quoted

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


_Result = TypeVar("_Result", bound=AnyResult)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_NAMED: Final = {"command", "games", "bots", "format"}
"""Settings that are parameters of their own, or follow from the function."""


def _takes_settings(function: _Function) -> _Function:
    """Replace ``**settings`` by the single settings in the signature of a function, for help and editors."""
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
    """Play a contest and return its result, with win rates and their intervals.

    Args:
        game: name of a game, or path of a ``.game`` file.
        bots: a player per seat: a built-in bot, a command, or ``tcp``. ``NAME=BOT`` gives it a name. A class derived
            from `bots.Bot`, or an object of one, plays in this process. Each match has a new bot of the class, or a
            copy of the object.
        out: new or empty folder for logs and results. None writes them to a temporary folder.
        on_progress: called several times a second during play, and once more at the end. If it raises an exception,
            it is not called again, and the exception is raised at the end.
        watch: called with all events of all matches, such as hands, actions and faults. Exceptions are treated as for
            `on_progress`.
        settings: fields of `dealer.run.run_settings.RunSettings`. None selects the default.

    Raises:
        ConfigError: the settings are invalid.
        StartError: the folder cannot be used, or a bot or socket is unavailable.
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
    """Play a contest inside a running event loop, see `play`.

    Cancelling the call ends the contest. The hands played so far stay in `out`.
    """
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
        games: names of games, or paths of ``.game`` files.
        bots: built-in bots or commands. ``NAME=BOT`` gives a bot a name.
        format: ``round-robin``, or ``gauntlet`` for the first bot against all others.
        out: as for `play`.
        on_progress: as for `play`.
        watch: as for `play`.
        settings: fields of `dealer.run.run_settings.RunSettings`. None selects the default.

    Raises:
        ConfigError: the settings are invalid.
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
    """Play a tournament inside a running event loop, see `tournament`. Cancelling the call ends it."""
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
    """Resume an interrupted run, with the same cards, logs and result as without the interruption.

    The result of a finished run is returned unchanged, unless `deals` asks for more.

    Args:
        folder: folder of the run.
        deals: new total number of deals; None keeps the number.
        bots: players as passed to `play`. Required if objects, or classes that cannot be imported, are among them,
            because no file holds these.
        on_progress: as for `play`.
        watch: as for `play`.

    Raises:
        ConfigError: the folder holds no run, or `deals` or `bots` do not fit it.
        DealerError: the result of the run cannot be read.
        StartError: the folder is in use, its files are not those of the run, or a bot or socket is unavailable.
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
    """Resume a run inside a running event loop, see `resume`. Cancelling the call interrupts the run again."""
    return await _play_in_thread(partial(reopen, deals=deals, bots=bots), folder, on_progress, watch)


def _run_of(kind: type[_Result], settings: dict[str, Any], **own: object) -> Callable[[Path], Run[_Result]]:
    """Validate settings; return a function that creates the run in a folder.

    Args:
        kind: type of the result, which determines the command.
        settings: keyword settings of the caller.
        own: settings that are parameters of the caller.
    """
    command = Command.PLAY if kind is ContestResult else Command.TOURNAMENT
    if "command" in settings:
        raise ConfigError(SettingProblem("command", f"it follows from the function, here {command}; leave it out"))
    own["bots"], objects = without_objects(own["bots"])
    if objects and settings.get("in_process") is None:
        settings["in_process"] = True
    if objects and not settings["in_process"]:
        names = ", ".join(object_text(bot) for bot in objects.values())
        problem = (
            f"{names} cannot play over TCP, because a class or an object plays in the process that has it; leave it out"
        )
        raise ConfigError(SettingProblem("in_process", problem))
    return partial(new_run, validated(settings | own | {"command": command}), objects=objects)


def _play_here(
    twin: Callable[..., object],
    make: Callable[[Path], Run[_Result]],
    out: _Path | None,
    on_progress: OnProgress | None,
    watch: Watch | None,
) -> _Result:
    """Create a run and play it in this thread.

    Args:
        twin: async function to name if a loop is running.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(f"an event loop is running in this thread: await dealer.{twin.__name__}(...) instead")
    with _created_run(make, out, on_progress, watch) as run, asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(run.play(on_progress, watch))
        if result.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        return _without_folder(result, is_kept=out is not None)


@contextlib.contextmanager
def _created_run(
    make: Callable[[Path], Run[_Result]], out: _Path | None, on_progress: object, watch: object
) -> Iterator[Run[_Result]]:
    """Check the callbacks and create a run in its folder, or in a temporary one if `out` is None."""
    for name, callback in (("on_progress", on_progress), ("watch", watch)):
        if callback is not None and not callable(callback):
            raise ConfigError(SettingProblem(name, f"must be a function, not {quoted(callback)}"))
    if out is not None:
        yield make(Path(out))
        return
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
        yield make(Path(folder))


def _without_folder(result: _Result, *, is_kept: bool) -> _Result:
    """Remove a temporary folder from a result."""
    if is_kept:
        return result
    update: dict[str, Any] = {"folder": None, "resume": None}
    if isinstance(result, TournamentResult):
        contests = [contest.model_copy(update=update) for contest in result.contests]
        return result.model_copy(update=update | {"contests": contests})
    return result.model_copy(update=update)


async def _play_in_thread(
    make: Callable[[Path], Run[_Result]], out: _Path | None, on_progress: OnProgress | None, watch: Watch | None
) -> _Result:
    """Create a run and play it in a thread with a loop of its own. Callbacks run in the loop of the caller."""
    with _created_run(make, out, on_progress, watch) as run:
        caller_loop = asyncio.get_running_loop()
        run_loop = new_event_loop()
        shown, watched = GuardedCallback(on_progress), GuardedCallback(watch)

        def show(progress: Progress) -> None:
            caller_loop.call_soon_threadsafe(shown, progress)

        def notify(event: MatchEvent) -> None:
            caller_loop.call_soon_threadsafe(watched, event)

        def work() -> _Result:
            with asyncio.Runner(loop_factory=lambda: run_loop) as runner:
                return runner.run(run.play(on_progress and show, watch and notify))

        thread = asyncio.create_task(asyncio.to_thread(work))
        try:
            result = await asyncio.shield(thread)
        except asyncio.CancelledError:
            # The loop is closed if the run has just ended.
            with contextlib.suppress(RuntimeError):
                run_loop.call_soon_threadsafe(run.interrupt)
            await asyncio.wait([thread])
            raise
        raise_first(shown, watched)
        return _without_folder(result, is_kept=out is not None)
