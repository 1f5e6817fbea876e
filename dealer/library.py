"""Plays, tournaments and resumed runs from Python: what `from dealer import play` gives.

`play`, `tournament` and `resume`, each with an async twin, make a `dealer.runs.Run`, play it and return its result.

Matches need an event loop of their own kind (`dealer.table.loop`), so the async twins play in a thread with such a loop
and deliver callbacks to the loop they were called from.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

from dealer.contest.config import Command, validated
from dealer.contest.contest import Watch
from dealer.contest.ending import Outcome
from dealer.results.schema import ContestResult, TournamentResult
from dealer.runs import (
    AnyResult,
    GuardedCallback,
    OnProgress,
    Run,
    new_play,
    new_tournament,
    raise_first,
    reopen,
)
from dealer.table.loop import new_event_loop
from engine import Seed

__all__ = ["Settings", "play", "play_async", "resume", "resume_async", "tournament", "tournament_async"]

_Value = TypeVar("_Value")
_Result = TypeVar("_Result", bound=AnyResult)


class Settings(TypedDict, total=False):
    """The settings that a play and a tournament share; `dealer.contest.config.RunConfig` describes them.

    A setting that is left out or None has its default.
    """

    hands: int | None
    seed: Seed | None
    seating: str | None
    stop: str | None
    score: str
    workers: int | None
    in_process: bool
    fixed_seats: bool
    on_fault: str
    t_response_s: float
    t_hand_s: float
    t_per_hand_s: float
    start_timeout_s: float
    coalesce_ms: float | None
    host: str
    ports: Sequence[int]
    export: Sequence[str] | str | None
    histories: str | None
    hero: str | None
    observed: bool
    stakes: str | None
    currency: str
    directory: str | None


_Folder: TypeAlias = str | os.PathLike[str]


def play(
    game: str,
    bots: Sequence[str],
    *,
    out: _Folder | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Unpack[Settings],
) -> ContestResult:
    """Play a contest and say who won, by how much, and how sure that is.

    Args:
        game: a game's name or the path of a ``.game`` file.
        bots: a player per seat: a built-in bot, a command, or ``tcp``; ``NAME=BOT`` gives it a name.
        out: a new or empty folder for logs and results; without one they are written to a temporary folder that is
            removed at the end.
        on_progress: called several times a second while the contest is played, and once more at the end. After an
            error of its own it is not called again; the error is raised when the contest has ended.
        watch: called with every event of every match, in order: hands, actions, faults; errors as for
            `on_progress`.
        settings: see `Settings`.

    Raises:
        ConfigError: settings that make no sense.
        StartError: the folder cannot be used, or a bot or a socket cannot be had.
        RuntimeError: an event loop is running in this thread; use `play_async` there.
    """
    return _here(play_async, _play_of(game, bots, settings), out, on_progress, watch)


async def play_async(
    game: str,
    bots: Sequence[str],
    *,
    out: _Folder | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Unpack[Settings],
) -> ContestResult:
    """`play` inside a running event loop; cancelling it ends the contest, and what was played stays in `out`."""
    return await _beside(_play_of(game, bots, settings), out, on_progress, watch)


def tournament(
    games: Sequence[str],
    bots: Sequence[str],
    *,
    format: str = "round-robin",
    out: _Folder | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Unpack[Settings],
) -> TournamentResult:
    """Play a tournament: contests between all bots, in every game.

    Args:
        games: names of games or paths of ``.game`` files.
        bots: built-in bots or commands; ``NAME=BOT`` gives a name.
        format: ``round-robin``, or ``gauntlet`` for the first bot against all others.
        out: as for `play`.
        on_progress: as for `play`.
        watch: as for `play`.
        settings: see `Settings`.

    Raises:
        ConfigError: settings that make no sense.
        StartError: the folder cannot be used.
        RuntimeError: an event loop is running in this thread; use `tournament_async` there.
    """
    return _here(tournament_async, _tournament_of(games, bots, format, settings), out, on_progress, watch)


async def tournament_async(
    games: Sequence[str],
    bots: Sequence[str],
    *,
    format: str = "round-robin",
    out: _Folder | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    **settings: Unpack[Settings],
) -> TournamentResult:
    """`tournament` inside a running event loop; cancelling it ends the tournament."""
    return await _beside(_tournament_of(games, bots, format, settings), out, on_progress, watch)


def resume(
    folder: _Folder,
    *,
    hands: int | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> AnyResult:
    """Go on with an interrupted run: the same cards, logs and result as if it had not been interrupted.

    A run that has finished is left as it is, unless more hands are asked for.

    Args:
        folder: of the run.
        hands: how many deals to play in all instead of those asked for so far.
        on_progress: as for `play`.
        watch: as for `play`.

    Raises:
        ConfigError: the folder holds no run.
        StartError: the folder is in use, its files are not those of the run, or a bot or a socket cannot be had.
        RuntimeError: an event loop is running in this thread; use `resume_async` there.
    """
    return _here(resume_async, partial(reopen, hands=hands), folder, on_progress, watch)


async def resume_async(
    folder: _Folder,
    *,
    hands: int | None = None,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
) -> AnyResult:
    """`resume` inside a running event loop; cancelling it interrupts the run again."""
    return await _beside(partial(reopen, hands=hands), folder, on_progress, watch)


def _play_of(game: str, bots: Sequence[str], settings: Settings) -> Callable[[Path], Run[ContestResult]]:
    return partial(new_play, validated({"command": Command.PLAY, **settings, "games": [game], "bots": list(bots)}))


def _tournament_of(
    games: Sequence[str], bots: Sequence[str], format: str, settings: Settings
) -> Callable[[Path], Run[TournamentResult]]:
    own = {"command": Command.TOURNAMENT, "games": list(games), "bots": list(bots), "format": format}
    return partial(new_tournament, validated({**settings, **own}))


def _here(
    twin: Callable[..., object],
    make: Callable[[Path], Run[_Result]],
    out: _Folder | None,
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
    with _kept_or_temporary(out) as folder, asyncio.Runner(loop_factory=new_event_loop) as runner:
        result = runner.run(make(folder).play(on_progress, watch))
        if result.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        return _without_folder(result, is_kept=out is not None)


@contextlib.contextmanager
def _kept_or_temporary(out: _Folder | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _without_folder(result: _Result, *, is_kept: bool) -> _Result:
    """A result whose files are gone names no folder."""
    if is_kept:
        return result
    gone: dict[str, Any] = {"folder": None, "resume": None}
    if isinstance(result, TournamentResult):
        return result.model_copy(update=gone | {"contests": [c.model_copy(update=gone) for c in result.contests]})
    return result.model_copy(update=gone)


async def _beside(
    make: Callable[[Path], Run[_Result]], out: _Folder | None, on_progress: OnProgress | None, watch: Watch | None
) -> _Result:
    """Make a run and play it in a thread with a loop of its own; callbacks come to the loop of the caller."""
    with _kept_or_temporary(out) as folder:
        return _without_folder(await _run_beside(make(folder), on_progress, watch), is_kept=out is not None)


async def _run_beside(run: Run[_Result], on_progress: OnProgress | None, watch: Watch | None) -> _Result:
    here = asyncio.get_running_loop()
    there = new_event_loop()

    told, watched = GuardedCallback(on_progress), GuardedCallback(watch)

    def delivered(callback: GuardedCallback[_Value]) -> Callable[[_Value], None]:
        def deliver(value: _Value) -> None:
            here.call_soon_threadsafe(callback, value)

        return deliver

    def work() -> _Result:
        with asyncio.Runner(loop_factory=lambda: there) as runner:
            return runner.run(run.play(on_progress and delivered(told), watch and delivered(watched)))

    thread = asyncio.create_task(asyncio.to_thread(work))
    try:
        result = await asyncio.shield(thread)
    except asyncio.CancelledError:
        with contextlib.suppress(RuntimeError):
            # Its loop is closed when the run has just ended.
            there.call_soon_threadsafe(run.interrupt)
        await asyncio.wait([thread])
        raise
    raise_first(told, watched)
    return result
