"""A whole server: its folder, locked while it runs; its store, service and text port, started and ended together.

server.sqlite3      everything that is known (`dealer.server.db.store`)
runs/00000001/      the files of every run, as `arena play` leaves them
run.lock            taken by the server that is running
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from bots.sdk.registry import builtin_names
from bots.workers import Workers
from dealer.errors import ConfigError, FolderBusyError, ServerError
from dealer.run.affinity import core_count
from dealer.run.dealers import DealerProcesses
from dealer.run.folder import lock_run
from dealer.server.accounts import Accounts, GuessLimit, add_token
from dealer.server.computing import Computing
from dealer.server.db.audit import operator, record_change, with_audit
from dealer.server.db.run_changes import GUEST_NAME, remove_results
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.error_log import ErrorLog
from dealer.server.queue.ladder import LADDER_USER
from dealer.server.resources import (
    FILE_LIMIT_REMEDY,
    file_limit_problem,
    make_private,
    new_exception_handler,
    raise_limit,
)
from dealer.server.server_settings import ServerSettings, uploads_refusal
from dealer.server.service import Service
from dealer.server.textport.port import TextPort
from logs.whole_file import FileLock
from protocol.benchmark import OWN_SEAT

_log = logging.getLogger(__name__)

FIRST_USER = "player"
"""The user that a server without any has from its first start on."""
_RESERVED = frozenset(name.casefold() for name in (LADDER_USER, OWN_SEAT, GUEST_NAME, *builtin_names()))


_MOST_THREADS = 200
_LOCK_PATIENCE_S = 5.0


def is_reserved(name: str) -> bool:
    """Whether no user may have a name: it means the server itself, a guest, a built-in bot or a client's own agent."""
    return name.casefold() in _RESERVED or name.startswith("(")


@dataclass(frozen=True, slots=True)
class Started:
    """What is reported when a server has started.

    Attributes:
        token: of `FIRST_USER`, at the first start only; it cannot be shown again.
        waiting: how many requests of an earlier start go on.
        page: the address for browsers; None for a server without pages.
    """

    addresses: tuple[tuple[str, int], ...]
    token: str | None
    waiting: int
    page: str | None = None


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What a way in to a server needs of it."""

    settings: ServerSettings
    folder: Path
    store: Store
    service: Service
    accounts: Accounts
    errors: ErrorLog = field(default_factory=ErrorLog)


WebFace: TypeAlias = Callable[[ServerParts], AbstractAsyncContextManager[str]]
"""Answers over HTTP as long as it is entered; gives the address for browsers."""


async def serve(
    settings: ServerSettings,
    folder: Path,
    on_started: Callable[[Started], None],
    *,
    guesses: GuessLimit | None = None,
    web: WebFace | None = None,
    workers: Workers | None = None,
    dealer_count: int | None = None,
) -> None:
    """Serve until cancelled; what is being played then is resumed at the next start.

    Needs a loop of `dealer.table.loop.new_event_loop`.

    Args:
        folder: of everything it keeps; made if it is not there.
        web: the pages and the HTTP interface, started and ended with the rest.
        workers: compute for the server, and are left running; None for processes of its own.
        dealer_count: of processes that play matches; None for one per core, 0 to play them in this process.

    Raises:
        ConfigError: this system cannot confine uploaded bots.
        ServerError: another server runs in the folder, or the database cannot be opened.
        StartError: the port is not free, or the folder cannot be written.
    """
    if settings.uploads is not None and (refusal := uploads_refusal(settings.uploads, folder)) is not None:
        raise ConfigError(f"{refusal.problem}; {refusal.remedy}")
    _make_private(settings, folder)
    asyncio.get_running_loop().set_exception_handler(new_exception_handler())
    if problem := file_limit_problem(settings, raise_limit()):
        _log.warning("%s: %s", problem, FILE_LIMIT_REMEDY)
    # Bots that are slow to leave after their matches keep a thread each; nothing else may wait for one.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="server"))
    errors = ErrorLog()
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(errors.listening())
        # The dealer processes of a server that was killed hold the lock until they have ended.
        lock = _lock(folder, "name another folder with --data", _LOCK_PATIENCE_S)
        stack.callback(lock.close)
        store = stack.enter_context(contextlib.closing(Store(folder / DATABASE_NAME)))
        token = store.write_now(lambda db: _first_users(db, settings))
        store.write_now(
            lambda db: record_change(db, operator(), f"started the server, version {version('acpc-arena')}")
        )
        computing = stack.enter_context(contextlib.closing(Computing(workers)))
        count = core_count() if dealer_count is None else dealer_count
        dealers = DealerProcesses(count, has_affinity=True, held=[lock.fileno()]) if count else None
        if dealers is not None:
            stack.push_async_callback(dealers.close)
        service = Service(settings, folder, store, computing, dealers)
        accounts = Accounts(store, dict(settings.passwords), guesses)
        port = TextPort(service, accounts)
        stack.push_async_callback(port.close)
        await port.start()
        parts = ServerParts(settings, folder, store, service, accounts, errors)
        computing.prepare([game.game for game in settings.games])
        page = None if web is None else await stack.enter_async_context(web(parts))
        on_started(Started(tuple(port.addresses), token, len(service.queue.active()), page))
        await service.run()


def _lock(folder: Path, otherwise: str, patience_s: float = 0.0) -> FileLock:
    try:
        return lock_run(folder, patience_s)
    except FolderBusyError:
        raise ServerError(f"another server is running in {folder}; {otherwise}") from None


def reset_results(folder: Path, is_wanted: Callable[[int], bool]) -> bool:
    """Remove the requests, runs, ratings and logs of a server that is not running; users, tokens and bots stay.

    Args:
        is_wanted: is asked, with the number of runs, before anything is removed.

    Returns:
        whether it was wanted.

    Raises:
        ServerError: a server is running in the folder, or a file cannot be removed.
    """
    with contextlib.closing(_lock(folder, "stop it first")), contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        if not is_wanted(store.read("SELECT count(*) AS found FROM runs")[0]["found"]):
            return False
        store.write_now(with_audit(operator(), "removed all results", remove_results))
        try:
            for path in (folder / "runs").glob("*"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:
            raise ServerError(f"{error.filename} cannot be removed: {error.strerror}; reset once more") from None
    return True


def _make_private(settings: ServerSettings, folder: Path) -> None:
    """Keep other users, and so the bots that run as one, out of the server's folder.

    Raises:
        ServerError: it cannot be made, or bots run as another user who can read it.
    """
    # The runs may be a link to another disk.
    folders = (folder, folder / "runs")
    try:
        for one in folders:
            one.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServerError(f"the folder {folder} cannot be made: {error.strerror}") from None
    try:
        for one in folders:
            make_private(one)
    except OSError as error:
        runs_as_another = bool(settings.bot_user) or any(
            bot.user for game in settings.games for bot in game.bots.values()
        )
        reason = error.strerror or str(error)
        if runs_as_another:
            raise ServerError(f"{folder} cannot be closed to other users: {reason}") from None
        _log.warning("%s cannot be closed to other users, who can therefore read seeds and cards: %s", folder, reason)


def _first_users(db: sqlite3.Connection, settings: ServerSettings) -> str | None:
    """Enter the users of the configuration, in its order; without any, and at the first start, one with a token."""
    for name, _ in settings.passwords:
        if is_reserved(name):
            raise ConfigError(f"no user can be called {name}: the server uses this name itself")
        add_user(db, name)
    if db.execute("SELECT 1 FROM users").fetchone() is not None:
        return None
    return add_token(db, add_user(db, FIRST_USER))
