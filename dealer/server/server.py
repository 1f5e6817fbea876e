"""A whole server: its folder, locked while it runs; its store, service and text port, started and ended together.

server.sqlite3      everything that is known (`dealer.server.store`)
runs/00000001/      the files of every run, as `arena play` leaves them
run.lock            taken by the server that is running
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dealer.errors import FolderBusyError, ServerError
from dealer.record.folder import RunLock
from dealer.server.accounts import Accounts, GuessLimit, add_token, add_user
from dealer.server.service import Service
from dealer.server.settings import ServerSettings
from dealer.server.store import DATABASE_NAME, Store
from dealer.server.text_port import TextPort

__all__ = ["FIRST_USER", "Started", "serve"]

FIRST_USER = "player"
"""The user that a server without any has from its first start on."""


_MOST_THREADS = 200


@dataclass(frozen=True, slots=True)
class Started:
    """What there is to say when a server has started.

    Attributes:
        addresses: where it listens: addresses and ports.
        token: of `FIRST_USER`, at the first start only; nobody can see it again.
        waiting: how many requests of an earlier start go on.
    """

    addresses: tuple[tuple[str, int], ...]
    token: str | None
    waiting: int


async def serve(
    settings: ServerSettings,
    folder: Path,
    on_started: Callable[[Started], None],
    *,
    guesses: GuessLimit | None = None,
) -> None:
    """Serve until cancelled; what goes on then is gone on with at the next start.

    Needs a loop of `dealer.table.loop.new_event_loop`.

    Args:
        settings: what the server is.
        folder: of everything it keeps; made if it is not there.
        on_started: called when it listens.
        guesses: how often somebody may fail to log in.

    Raises:
        ServerError: another server runs in the folder, or the database cannot be had.
        StartError: the port cannot be had, or the folder not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Bots that are slow to leave after their matches keep a thread each; nobody else shall wait for one.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="server"))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(contextlib.closing(RunLock(folder)))
        except FolderBusyError:
            raise ServerError(f"another server is running in {folder}; name another folder with --data") from None
        store = stack.enter_context(contextlib.closing(Store(folder / DATABASE_NAME)))
        token = store.write_now(lambda db: _first_users(db, settings))
        service = Service(settings, folder, store)
        port = TextPort(service, Accounts(store, dict(settings.passwords)), guesses)
        await port.start()
        try:
            on_started(Started(tuple(port.addresses), token, len(service.active())))
            await service.run()
        finally:
            await port.close()


def _first_users(db: sqlite3.Connection, settings: ServerSettings) -> str | None:
    """Enter the users of the configuration, in its order; without any, and at the first start, one with a token."""
    for name, _ in settings.passwords:
        add_user(db, name)
    if db.execute("SELECT 1 FROM users").fetchone() is not None:
        return None
    return add_token(db, add_user(db, FIRST_USER))
