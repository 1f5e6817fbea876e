"""``arena warmup``: compile all kernels once, so that no bot or command compiles them later."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from bots.errors import WorkersError
from bots.sdk.bot import Bot
from bots.sdk.conversation import overrides
from bots.workers import each_result, local_workers
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import LiveLine, showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.errors import FolderBusyError, LaunchError
from dealer.run.folder import lock_run
from engine import Game
from engine.text import count_of
from logs.document import Column, Document, Section, Table

_WAIT_S: Final = 0.2
# The largest job takes an eighth of the time, so more processes would not end sooner.
_MAX_PROCESSES: Final = 8
_TITLE: Final = "Compiled code"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPart:
    """Functions compiled for a bot or a computation, and the seconds, for JSON."""

    name: str
    functions: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupData:
    """Result of ``arena warmup --json``.

    Attributes:
        state: ``compiled`` by this command, ``ready`` before it, or ``removed``.
        folder: folder of the compiled code.
        functions: number of functions compiled by this command.
        seconds: time of the compilation.
        compiled: functions and time of each part.
    """

    schema_version: int = 1
    state: Literal["compiled", "ready", "removed"]
    folder: str
    functions: int = 0
    seconds: float = 0.0
    removed_folders: int = 0
    compiled: tuple[CompiledPart, ...] = ()


def warmup(
    terminal: Terminal,
    clear: Annotated[bool, "Remove the compiled code and compile nothing."] = False,
    as_json: Json = False,
) -> None:
    """Compile the kernels of bots and commands in advance. Later starts load them from disk.

    Without it each process compiles the kernels it needs, which takes some seconds.
    """
    from engine.kernels import disk

    try:
        if clear:
            document = _cleared(terminal, disk.root_folder())
        elif disk.is_filled():
            document = _ready(f"Everything is compiled already, in {disk.cache_folder()}", disk.cache_folder())
        else:
            document = _filled(terminal, disk.root_folder())
    except LaunchError as error:
        abort(f"{error}; name another folder with the environment variable {disk.FOLDER_VARIABLE}")
    except OSError as error:
        abort(f"{error.filename or disk.root_folder()}: {error.strerror or error}")
    show_document(terminal, document, as_json=as_json)


def _cleared(terminal: Terminal, root: Path) -> Document:
    from engine.kernels import disk

    removed = 0
    if root.is_dir():
        with _alone(terminal, root):
            removed = disk.clear()
    sentence = f"{count_of(removed, 'folder')} of compiled code removed from {root}"
    return Document(_TITLE, (sentence,), data=WarmupData(state="removed", folder=str(root), removed_folders=removed))


def _ready(sentence: str, folder: object) -> Document:
    return Document(_TITLE, (sentence,), data=WarmupData(state="ready", folder=str(folder)))


def _filled(terminal: Terminal, root: Path) -> Document:
    """Compile everything into a new folder, unless another process has done so meanwhile."""
    from engine.kernels import disk
    from engine.kernels.jit import is_switched_off

    if is_switched_off():
        abort("nothing can be compiled, because the environment variable NUMBA_DISABLE_JIT disables numba", EXIT_FAILED)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(terminal, root):
        if disk.is_filled():
            return _ready(f"Another process has compiled everything, in {disk.cache_folder()}", disk.cache_folder())
        start_s = time.monotonic()
        folder = disk.start_filling()
        try:
            parts = _compile_all(terminal, folder)
            final_folder = disk.publish(folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, WorkersError):
                abort(str(error), EXIT_FAILED)
            raise
    rows = [(part.name, part.functions, part.seconds) for part in parts]
    table = Table.of("", ("compiled", Column("functions", ",", rank=1), Column("seconds", ",.1f")), rows)
    seconds = time.monotonic() - start_s
    functions = sum(part.functions for part in parts)
    sentence = f"{count_of(functions, 'function')} compiled in {seconds:.1f} s, kept in {final_folder}"
    data = WarmupData(
        state="compiled", folder=str(final_folder), functions=functions, seconds=seconds, compiled=tuple(parts)
    )
    return Document(_TITLE, (sentence,), sections=(Section("", (table,)),), data=data)


def _compile_all(terminal: Terminal, folder: Path) -> list[CompiledPart]:
    """Do all jobs in several processes, and return their results in the order of the jobs."""
    names = [name for name, _ in _jobs()]
    parts: dict[int, CompiledPart] = {}
    count = min(os.cpu_count() or 1, _MAX_PROCESSES, len(names))
    with (
        local_workers(count) if count > 1 else contextlib.nullcontext() as workers,
        showing_progress(terminal, "compiling") as show,
    ):
        for number, (functions, part_s) in each_result(workers, _compile, [folder] * len(names), names):
            parts[number] = CompiledPart(name=names[number], functions=functions, seconds=part_s)
            show(len(parts) / len(names), names[number])
    return [parts[number] for number in sorted(parts)]


def _compile(folder: Path, name: str) -> tuple[int, float]:
    """Do a job in this process, and return the number of compiled functions and the seconds."""
    from engine.kernels.jit import kernels_written_to

    start_s = time.monotonic()
    with kernels_written_to(folder) as functions:
        # Making the bots may compile functions, too.
        job = dict(_jobs())[name]
        job()
    return len(functions), time.monotonic() - start_s


def _jobs() -> list[tuple[str, Callable[[], None]]]:
    """Return all compilations by name: those of the engine, of built-in bots, and of trainings."""
    from bots.sdk.registry import builtin_names, make_bot
    from bots.warmup import TRAINING_JOBS
    from engine.warmup import ENGINE_JOBS

    bot_jobs = []
    for name in builtin_names():
        bot = make_bot(name, 0)
        if _has_preparation(bot) and _first_game(bot) is not None:
            bot_jobs.append((f"the bot {name}", partial(_prepare, bot)))
    return [*ENGINE_JOBS, *bot_jobs, *TRAINING_JOBS]


def _has_preparation(bot: Bot) -> bool:
    return overrides(bot, "prepare") or overrides(bot, "prepare_for_many_hands")


def _first_game(bot: Bot) -> Game | None:
    """Return the first game that a bot plays; None for one that needs options."""
    from protocol import find_game, shipped_games

    for name in ("limit", *shipped_games()):
        game = find_game(name)[1]
        if bot.refusal(game) is None:
            return game
    return None


def _prepare(bot: Bot) -> None:
    game = _first_game(bot)
    if game is not None:
        bot.prepare(game)
    bot.prepare_for_many_hands()


@contextlib.contextmanager
def _alone(terminal: Terminal, root: Path) -> Iterator[None]:
    """Hold the lock of the folder in the block, after waiting for other processes."""
    lock = None
    with LiveLine(terminal, is_silent=not terminal.err.is_terminal) as show:
        while lock is None:
            try:
                lock = lock_run(root)
            except FolderBusyError:
                show("waiting for another process that is compiling")
                time.sleep(_WAIT_S)
    try:
        yield
    finally:
        lock.close()
