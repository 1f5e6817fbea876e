"""``arena serve free``: free names of bots."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Annotated

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, open_store
from dealer.server.db.audit import operator
from dealer.server.db.bot_registry import free_name, used_names
from dealer.server.db.users import find_user
from engine.errors import quoted
from engine.text import count_of


def free(
    terminal: Terminal,
    names: Annotated[list[str] | None, typer.Argument(metavar="[BOT]...", help="Names of users' bots.")] = None,
    data: ServerData = SERVER_DATA,
    user: Annotated[str, "Free the names of all bots of a user.", Wording("NAME", otherwise="those of BOT only")] = "",
) -> None:
    """Free names of users' bots, so that others can have them. Results keep the bots, which cannot play again.

    All of the names are freed or none: a bot must have been disconnected for a minute.
    """
    all_names = list(names or ())
    with contextlib.closing(open_store(data)) as store:
        if user:
            owner = find_user(store, user)
            if owner is None:
                abort(f"there is no user {quoted(user)} in {data}")
            all_names += used_names(store, owner.id)
        if not all_names:
            abort("there is no name to free; name bots, or their user with --user")

        def change(db: sqlite3.Connection) -> None:
            for name in all_names:
                free_name(db, operator(), name)

        store.write_now(change)
    terminal.sentence(f"{count_of(len(all_names), 'name')} of bots freed.")
