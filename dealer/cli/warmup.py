"""``arena warmup``: compiles all kernels once, so that no bot and no command waits for it later."""

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
from bots.workers import each_result, local_workers
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import LiveLine, showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.errors import FolderBusyError, LaunchError
from dealer.run.folder import lock_run
from engine.text import count_of
from logs.document import Column, Document, Section, Table

_WAIT_S: Final = 0.2
_MAX_PROCESSES: Final = 8
"""More have nothing to compile: the largest job takes an eighth of the time."""
_TITLE: Final = "Compiled code"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledPart:
    """What was compiled for a bot or a computation."""

    name: str
    functions: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmupData:
    """Compiled code, as ``arena warmup --json`` prints it.

    Attributes:
        state: ``compiled`` now, ``ready`` before, or ``removed``.
        folder: where it is kept, or was.
        functions: compiled now.
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
    """Compile the kernels of bots and commands once: they stay on disk, and both start quickly.

    Without it each process compiles what it needs, which takes some seconds.
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
        abort(f"{error}; {disk.FOLDER_VARIABLE} names another folder")
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
    """Compile everything into a new folder and publish it, unless another process does so meanwhile."""
    from engine.kernels import disk
    from engine.kernels.jit import is_switched_off

    if is_switched_off():
        abort("nothing can be compiled: the environment variable NUMBA_DISABLE_JIT switches numba off", EXIT_FAILED)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(terminal, root):
        if disk.is_filled():
            return _ready(f"Another process has compiled everything, in {disk.cache_folder()}", disk.cache_folder())
        began_s = time.monotonic()
        folder = disk.start_filling()
        rows: dict[int, tuple[str, int, float]] = {}
        names = [what for what, _ in _jobs()]
        count = min(os.cpu_count() or 1, _MAX_PROCESSES, len(names))
        try:
            with (
                local_workers(count) if count > 1 else contextlib.nullcontext() as workers,
                showing_progress(terminal, "compiling") as show,
            ):
                for number, row in each_result(workers, _compile, [folder] * len(names), names):
                    rows[number] = names[number], *row
                    show(len(rows) / len(names), names[number])
            to = disk.publish(folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, WorkersError):
                abort(str(error), EXIT_FAILED)
            raise
    done = [rows[at] for at in sorted(rows)]
    table = Table.of("", ("compiled", Column("functions", ",", rank=1), Column("seconds", ",.1f")), done)
    seconds = time.monotonic() - began_s
    functions = sum(count for _, count, _ in done)
    sentence = f"{count_of(functions, 'function')} compiled in {seconds:.1f} s, kept in {to}"
    compiled = tuple(CompiledPart(name=name, functions=count, seconds=part_s) for name, count, part_s in done)
    data = WarmupData(state="compiled", folder=str(to), functions=functions, seconds=seconds, compiled=compiled)
    return Document(_TITLE, (sentence,), sections=(Section("", (table,)),), data=data)


def _compile(folder: Path, what: str) -> tuple[int, float]:
    """Do a job, in this process; how many functions it compiled, and the seconds."""
    from engine.kernels.jit import kernels_written_to

    began_s = time.monotonic()
    with kernels_written_to(folder) as names:
        dict(_jobs())[what]()
    return len(names), time.monotonic() - began_s


def _jobs() -> list[tuple[str, Callable[[], None]]]:
    """The engine's kernels, the preparation of built-in bots, and the kernels of training."""
    from bots.sdk.registry import builtin_names, make_bot
    from bots.warmup import TRAINING_JOBS
    from engine.warmup import ENGINE_JOBS

    bots = {name: make_bot(name, 0) for name in builtin_names()}
    preparing = [(f"the bot {name}", partial(_prepare, bot)) for name, bot in bots.items() if _prepares(bot)]
    return [*ENGINE_JOBS, *preparing, *TRAINING_JOBS]


def _prepares(bot: Bot) -> bool:
    of_any = Bot.prepare, Bot.prepare_for_many_hands
    return (type(bot).prepare, type(bot).prepare_for_many_hands) != of_any


def _prepare(bot: Bot) -> None:
    from protocol import find_game, shipped_games

    games = (find_game(name)[1] for name in ("limit", *shipped_games()))
    bot.prepare(next(game for game in games if bot.refusal(game) is None))
    bot.prepare_for_many_hands()


@contextlib.contextmanager
def _alone(terminal: Terminal, root: Path) -> Iterator[None]:
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
