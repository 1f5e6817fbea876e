"""The users of a server, for ``arena serve``: created, invited, listed, disabled, removed; tokens and passwords."""

from __future__ import annotations

import contextlib
import csv
import getpass
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, open_store
from dealer.server.accounts import (
    MAX_PASSWORD_LENGTH,
    MIN_PASSWORD_LENGTH,
    Scope,
    add_invitation,
    add_token,
    disable_user,
    read_accounts,
    remove_user,
    revoke_tokens,
    set_password,
)
from dealer.server.db.audit import operator, with_audit
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.server.server import is_reserved
from dealer.table.players import NAME_RULE, is_name
from engine.errors import quoted
from engine.text import count_of
from logs.document import DATE, Column, Document, Section, Table

_Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
_Names: TypeAlias = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of users.")]
_Days: TypeAlias = Annotated[float, "Days until the links expire.", Interval(0.01, 3650)]
_Address: TypeAlias = Annotated[str, "Address of the server's pages, with which the links begin.", Wording("URL")]
_Out: TypeAlias = Annotated[Path | None, "Write the links to a new CSV file; they are not printed.", Wording("FILE")]
_ADDRESS = "http://127.0.0.1:8080"


def user(
    terminal: Terminal,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Names of users.")] = None,
    data: ServerData = SERVER_DATA,
    csv_file: Annotated[
        Path | None, "A CSV file of users: its column 'name', or its first column.", Wording("FILE", flags="--csv")
    ] = None,
    scopes: Annotated[
        str, "Scopes of the token: read, play, admin (sees and cancels everything).", Wording("LIST")
    ] = "read,play",
) -> None:
    """Create users and print their tokens, also before the first start; an existing user gets another token."""
    wanted = _scopes(scopes)
    every = [*(names or ()), *(() if csv_file is None else _names_in(csv_file))]
    if not every:
        abort("give the name of a user, or a file of names with --csv")
    _check_names(every)
    with contextlib.closing(_new_store(data)) as store:
        what = f"gave a token for {' '.join(sorted(wanted))} to {', '.join(every)}"
        change = with_audit(operator(), what, lambda db: [add_token(db, add_user(db, name), wanted) for name in every])
        tokens = store.write_now(change)
    for name, token in zip(every, tokens, strict=True):
        terminal.print(f"{name} {token}")
    if len(every) == 1:
        terminal.note("This is the login. The token is not stored and cannot be shown again.")
    else:
        terminal.note("These are the logins. The tokens are not stored and cannot be shown again.")


def users(
    terminal: Terminal,
    csv_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A CSV file of users: its column 'name', or its first column. Without one, all users are listed.",
            show_default=False,
        ),
    ] = None,
    data: ServerData = SERVER_DATA,
    days: _Days = 14.0,
    address: _Address = _ADDRESS,
    out: _Out = None,
    as_json: Json = False,
) -> None:
    """Create the users of a file, each with a link to choose a password; or list all users.

    A link works once. Who has a password already gets no link; 'arena serve invite' makes one in any case.
    """
    if csv_file is None:
        with contextlib.closing(open_store(data)) as store:
            show_document(terminal, _listed(store), as_json=as_json)
        return
    every = _names_in(csv_file)
    if not every:
        abort(f"{csv_file} names no user")
    _check_names(every)
    with contextlib.closing(_new_store(data)) as store:
        known = {account["name"] for account in read_accounts(store) if account["has_password"]}
        wanted = [name for name in every if name not in known]
        _invite(terminal, store, wanted, days=days, address=address, out=out)
    if len(wanted) < len(every):
        terminal.note(f"{count_of(len(every) - len(wanted), 'user')} of the file had a password already.")


def invite(
    terminal: Terminal,
    names: _Names,
    data: ServerData = SERVER_DATA,
    days: _Days = 14.0,
    address: _Address = _ADDRESS,
    out: _Out = None,
) -> None:
    """Print a link at which a user, new or known, chooses a password: also for one that was forgotten.

    A link works once, and a newer one replaces it. The password in use stays until the link is used.
    """
    _check_names(names)
    with contextlib.closing(_new_store(data)) as store:
        _invite(terminal, store, names, days=days, address=address, out=out)


def password(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Give a user a password for the pages, typed or from standard input."""
    _check_names([name])
    with contextlib.closing(open_store(data)) as store:
        if not _is_known(store, name):
            abort(f"there is no user {name}; create one with 'arena serve user {name}'")
        given = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
        if not MIN_PASSWORD_LENGTH <= len(given) <= MAX_PASSWORD_LENGTH:
            abort(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} letters")
        store.write_now(
            with_audit(operator(), f"gave {name} a password", lambda db: set_password(db, add_user(db, name), given))
        )
    terminal.sentence(f"{name} has a new password, and is logged out everywhere.")


def revoke(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """End all tokens of a user."""
    count = _changed(data, name, f"revoked all tokens of {name}", lambda db: revoke_tokens(db, name))
    terminal.sentence(f"{count_of(count, 'token')} of {name} revoked.")


def disable(
    terminal: Terminal,
    name: _Name,
    data: ServerData = SERVER_DATA,
    undo: Annotated[bool, "Let the user in again, with the same password and tokens."] = False,
) -> None:
    """Let a user log in no more; bots and results stay. A bot that is connected stays until its connection ends."""
    what = f"let {name} in again" if undo else f"disabled {name}"
    _changed(data, name, what, lambda db: disable_user(db, name, is_disabled=not undo))
    terminal.sentence(f"{name} can log in again." if undo else f"{name} cannot log in any more.")


def remove(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Remove a user: the name, the password and all tokens; bots and results stay, of a removed user."""
    _changed(data, name, f"removed {name}", lambda db: remove_user(db, name))
    terminal.sentence(f"{name} is removed.")


def _changed(data: Path, name: str, what: str, change: Callable[[sqlite3.Connection], int]) -> int:
    with contextlib.closing(open_store(data)) as store:
        if not _is_known(store, name):
            abort(f"there is no user {name} in {data}")
        return store.write_now(with_audit(operator(), what, change))


def _invite(
    terminal: Terminal, store: Store, names: Sequence[str], *, days: float, address: str, out: Path | None
) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        abort(f"--address: {quoted(address, 200)} is not the address of pages, such as {_ADDRESS}")
    file = None
    if out is not None:
        try:
            # The links are logins.
            number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            file = os.fdopen(number, "w", newline="", encoding="utf-8")
        except FileExistsError:
            abort(f"{out} exists already, and nothing is ever overwritten")
    what = f"invited {', '.join(names) or 'nobody'}"
    change = with_audit(
        operator(), what, lambda db: [add_invitation(db, add_user(db, name), 86_400 * days) for name in names]
    )
    secrets = store.write_now(change)
    links = [f"{address.rstrip('/')}/invitation/{secret}" for secret in secrets]
    if file is None:
        for name, link in zip(names, links, strict=True):
            terminal.print(f"{name} {link}")
    else:
        with file:
            csv.writer(file).writerows([("name", "link"), *zip(names, links, strict=True)])
        terminal.sentence(f"Written: {out}, with {count_of(len(links), 'link')}")
    terminal.note(f"Each link works once, within {count_of(days, 'day')}, and cannot be shown again.")


def _listed(store: Store) -> Document:
    columns = (
        Column("name"),
        Column("created", DATE, "UTC"),
        Column("logs in with"),
        Column("tokens", ","),
        Column("bots"),
    )
    rows = []
    for account in read_accounts(store):
        name = account["name"]
        if not is_reserved(name):
            rows.append((name, account["created_s"], _logins(account), account["tokens"], account["bots"] or ""))
    return Document("Users", (), (), (Section("Users", (Table.of("Users", columns, rows),)),))


def _logins(account: sqlite3.Row) -> str:
    """The means by which a user can log in."""
    if account["is_disabled"]:
        return "nothing: disabled"
    means = []
    if account["has_password"]:
        means.append("password")
    if account["tokens"] > 0:
        means.append("token")
    if account["is_invited"]:
        means.append("a link, not used yet")
    return ", ".join(means)


def _new_store(data: Path) -> Store:
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot make the folder {data}: {error.strerror}")
    return Store(data / DATABASE_NAME)


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return frozenset(Scope(word.strip()) for word in text.split(","))
    except ValueError:
        abort(f"--scopes: '{text}' is not a list of {', '.join(Scope)}")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not is_name(name):
            abort(f"no user can be called {quoted(name, 100)}: {NAME_RULE}")
        if is_reserved(name):
            abort(f"no user can be called {name}: the server uses this name itself; choose another")
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        abort(f"{repeated[0]} is named more than once; no user was created")


def _names_in(path: Path) -> list[str]:
    """The names in a CSV file, with or without a header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except UnicodeDecodeError as error:
        abort(f"{path}: byte {error.start + 1} is not UTF-8 text")
    except (OSError, csv.Error) as error:
        abort(f"{path}: {getattr(error, 'strerror', None) or error}")
    column = 0
    has_header = False
    if rows:
        head = [cell.strip().lower() for cell in rows[0]]
        has_header = "name" in head
        if has_header:
            column = head.index("name")
    names = []
    for number, row in enumerate(rows, 1):
        if len(row) <= column:
            abort(f"{path}: row {number} has no name")
        names.append(row[column].strip())
    return names[1:] if has_header else names


def _is_known(store: Store, name: str) -> bool:
    return bool(store.read("SELECT 1 FROM users WHERE name = ?", name))


COMMANDS = (user, users, invite, password, revoke, disable, remove)
