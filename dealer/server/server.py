"""Start and stop a whole server: its folder, store, service and text port.

server.sqlite3      database (`dealer.server.db.store`)
runs/00000001/      files of a run, as `arena play` writes them
run.lock            held while a server is running
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
from dealer.errors import ConfigError, FolderBusyError, RefusedError, ServerError
from dealer.run.affinity import core_count
from dealer.run.dealers import DealerProcesses
from dealer.run.folder import lock_run
from dealer.server.accounts import Accounts, GuessLimit, add_token
from dealer.server.computing import Computing
from dealer.server.db.audit import operator, record_change, with_audit
from dealer.server.db.run_changes import GUEST_NAME, remove_results
from dealer.server.db.store import DATABASE_NAME, Store, back_up
from dealer.server.db.teams import form_team
from dealer.server.db.users import User, add_user
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
from dealer.table.players import NAME_RULE, is_name
from engine.text import shown
from logs.whole_file import FileLock
from protocol.benchmark import OWN_SEAT

_log = logging.getLogger(__name__)

FIRST_USER = "player"
"""User that the first start of a server without users creates."""
_RESERVED = frozenset(name.casefold() for name in (LADDER_USER, OWN_SEAT, GUEST_NAME, *builtin_names()))
_COPIED_FOLDERS = ("runs", "uploads")
_MAX_THREADS = 200
_LOCK_TIMEOUT_S = 5.0


def is_reserved(name: str) -> bool:
    """Return whether a name is reserved for the server, guests, built-in bots or clients' own agents."""
    return name.casefold() in _RESERVED or name.startswith("(")


def check_team_name(name: str) -> None:
    """Check the name of a new team.

    Raises:
        RefusedError: it is not valid or reserved.
    """
    if not is_name(name):
        raise RefusedError(f"no team can be called {shown(name)}: {NAME_RULE}")
    if is_reserved(name):
        raise RefusedError(f"no team can be called {name}: the name is reserved for the server")


def form_own_team(db: sqlite3.Connection, user: User, name: str, max_members: int) -> None:
    """Form a team with its founder as the only member.

    Args:
        max_members: 0 if only organisers form teams.

    Raises:
        RefusedError: the name cannot be had, the user is in a team, or only organisers form teams.
    """
    if not max_members:
        raise RefusedError("organisers form the teams of this server; ask one")
    check_team_name(name)
    form_team(db, user.name, name, [user.name])


@dataclass(frozen=True, slots=True)
class Started:
    """Report of a server that has started.

    Attributes:
        addresses: of the text port, as (address, port).
        token: of `FIRST_USER`, at the first start only; it cannot be read again.
        waiting: number of unfinished requests of an earlier start.
        page: address for browsers; None for a server without pages.
    """

    addresses: tuple[tuple[str, int], ...]
    token: str | None
    waiting: int
    page: str | None = None


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Parts of a server that its ports use."""

    settings: ServerSettings
    folder: Path
    store: Store
    service: Service
    accounts: Accounts
    errors: ErrorLog = field(default_factory=ErrorLog)


WebFace: TypeAlias = Callable[[ServerParts], AbstractAsyncContextManager[str]]
"""Makes a context manager that serves HTTP and returns the address for browsers."""


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
    """Run a server until cancelled; the next start resumes the runs in progress.

    Needs an event loop of `dealer.table.loop.new_event_loop`.

    Args:
        folder: of all data; created if missing.
        on_started: called once the server accepts clients.
        web: pages and HTTP interface; None for none.
        workers: for computations, and not ended; None to start its own.
        dealer_count: number of processes that play matches; None for one per core, 0 to play them in this process.

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
    # Each bot that is slow to end occupies a thread, so the default limit would block everything else.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="server"))
    errors = ErrorLog()
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(errors.listening())
        # Dealer processes of a killed server hold the lock until they end.
        lock = _lock(folder, "name another folder with --data", _LOCK_TIMEOUT_S)
        stack.callback(lock.close)
        store = stack.enter_context(contextlib.closing(Store(folder / DATABASE_NAME)))
        token = store.write_now(lambda db: _add_first_users(db, settings))
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


def _lock(folder: Path, remedy: str, timeout_s: float = 0.0) -> FileLock:
    try:
        return lock_run(folder, timeout_s)
    except FolderBusyError:
        raise ServerError(f"another server is running in {folder}; {remedy}") from None


def reset_results(folder: Path, is_wanted: Callable[[int], bool]) -> bool:
    """Remove requests, runs, ratings and logs of a stopped server, but keep users, tokens and bots.

    Args:
        is_wanted: asks for confirmation, given the number of runs.

    Returns:
        False if it was not confirmed.

    Raises:
        ServerError: a server is running in the folder, or a file cannot be removed.
    """
    with contextlib.closing(_lock(folder, "stop it first")), contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        if not is_wanted(store.read("SELECT count(*) AS n FROM runs")[0]["n"]):
            return False
        store.write_now(with_audit(operator(), "removed all results", remove_results))
        try:
            for path in (folder / "runs").glob("*"):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        except OSError as error:
            raise ServerError(f"{error.filename} cannot be removed: {error.strerror}; repeat the reset") from None
    return True


def copy_folder(folder: Path, copy: Path) -> None:
    """Copy everything a server keeps, also while it runs: a server can be started with the copy.

    Args:
        copy: a new folder.

    Raises:
        ServerError: it exists or cannot be written.
        StoreError: `folder` has no database.
    """
    if copy.exists():
        raise ServerError(f"{copy} exists already; name a new folder")
    new = copy.with_name(f"{copy.name}.new")
    try:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        make_private(new)
        # The database comes first: a restart continues a run from its log, which may have more hands than the
        # database knows of, but not fewer.
        back_up(folder / DATABASE_NAME, new / DATABASE_NAME)
        for name in _COPIED_FOLDERS:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, new / name, copy_function=_copy_file)
        new.replace(copy)
    except OSError as error:
        raise ServerError(f"{error.filename or copy} cannot be copied: {error.strerror or error}") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _copy_file(source: str, copy: str) -> None:
    # The server may remove a file in the meantime, such as a log after `keep_days`.
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, copy)


def _make_private(settings: ServerSettings, folder: Path) -> None:
    """Create the server's folder and deny it to other users, including those of bots.

    Raises:
        ServerError: it cannot be created, or bots run as another user who can read it.
    """
    # The folder of runs may be a link to another disk.
    folders = (folder, folder / "runs")
    try:
        for path in folders:
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ServerError(f"the folder {folder} cannot be created: {error.strerror}") from None
    try:
        for path in folders:
            make_private(path)
    except OSError as error:
        has_bot_users = any(bot.user for game in settings.games for bot in game.bots.values())
        reason = error.strerror or str(error)
        if settings.bot_user or has_bot_users:
            raise ServerError(f"{folder} cannot be closed to other users: {reason}") from None
        _log.warning("%s cannot be closed to other users, who can read seeds and cards: %s", folder, reason)


def _add_first_users(db: sqlite3.Connection, settings: ServerSettings) -> str | None:
    """Add the users of the configuration, or at the first start `FIRST_USER`; return the token of the latter."""
    for name, _ in settings.passwords:
        if is_reserved(name):
            raise ConfigError(f"no user can be called {name}: the name is reserved for the server")
        add_user(db, name)
    if db.execute("SELECT 1 FROM users").fetchone() is not None:
        return None
    return add_token(db, add_user(db, FIRST_USER))
