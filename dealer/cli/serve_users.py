"""``arena serve user``, ``users``, ``invite`` and others: manage the users of a server."""

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

_Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")]
_Names: TypeAlias = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of users.")]
_Days: TypeAlias = Annotated[float, "Days until the links expire.", Interval(0.01, 3650)]
_Address: TypeAlias = Annotated[str, "Address of the server's pages, with which links begin.", Wording("URL")]
_Out: TypeAlias = Annotated[Path | None, "Write the links to a new CSV file instead of printing them.", Wording("FILE")]
_ADDRESS = "http://127.0.0.1:8080"


def user(
    terminal: Terminal,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Names of users.")] = None,
    data: ServerData = SERVER_DATA,
    csv_file: Annotated[
        Path | None, "CSV file of users: its column 'name', or its first column.", Wording("FILE", flags="--csv")
    ] = None,
    scopes: Annotated[
        str, "Scopes of the token: read, play, admin (sees and cancels everything).", Wording("LIST")
    ] = "read,play",
) -> None:
    """Create users and print their tokens, also before the first start; an existing user gets another token."""
    token_scopes = _parse_scopes(scopes)
    all_names = list(names or ())
    if csv_file is not None:
        all_names += _read_names(csv_file)
    if not all_names:
        abort("NAME is missing; name users, or a file of names with --csv")
    _check_names(all_names)

    def add_tokens(db: sqlite3.Connection) -> list[str]:
        return [add_token(db, add_user(db, name), token_scopes) for name in all_names]

    with contextlib.closing(_create_store(data)) as store:
        note = f"gave a token for {' '.join(sorted(token_scopes))} to {', '.join(all_names)}"
        tokens = store.write_now(with_audit(operator(), note, add_tokens))
    for name, token in zip(all_names, tokens, strict=True):
        terminal.print(f"{name} {token}")
    if len(all_names) == 1:
        terminal.note("This is the login. The token is not stored and cannot be shown again.")
    else:
        terminal.note("These are the logins. The tokens are not stored and cannot be shown again.")


def users(
    terminal: Terminal,
    csv_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV file of users: its column 'name', or its first column. Without one, all users are listed.",
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

    A link works once. Users with a password get no link; 'arena serve invite' makes one for any user.
    """
    if csv_file is None:
        with contextlib.closing(open_store(data)) as store:
            show_document(terminal, _users_document(store), as_json=as_json)
        return
    all_names = _read_names(csv_file)
    if not all_names:
        abort(f"{csv_file} names no user")
    _check_names(all_names)
    with contextlib.closing(_create_store(data)) as store:
        with_password = {account["name"] for account in read_accounts(store) if account["has_password"]}
        new_names = [name for name in all_names if name not in with_password]
        _invite(terminal, store, new_names, days=days, address=address, out=out)
    skipped = len(all_names) - len(new_names)
    if skipped:
        terminal.note(f"{count_of(skipped, 'user')} of the file had a password already.")


def invite(
    terminal: Terminal,
    names: _Names,
    data: ServerData = SERVER_DATA,
    days: _Days = 14.0,
    address: _Address = _ADDRESS,
    out: _Out = None,
) -> None:
    """Print a link at which a user, new or known, chooses a password. It also replaces a forgotten one.

    A link works once, and a newer one replaces it. The old password stays valid until the link is used.
    """
    _check_names(names)
    with contextlib.closing(_create_store(data)) as store:
        _invite(terminal, store, names, days=days, address=address, out=out)


def password(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Set a user's password for the pages, typed or from standard input."""
    _check_names([name])
    with contextlib.closing(open_store(data)) as store:
        if not _has_user(store, name):
            abort(f"there is no user {name}; create one with 'arena serve user {name}'")
        if sys.stdin.isatty():
            new_password = getpass.getpass("Password: ")
        else:
            new_password = sys.stdin.readline().rstrip("\r\n")
        if not MIN_PASSWORD_LENGTH <= len(new_password) <= MAX_PASSWORD_LENGTH:
            abort(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters")

        def change_password(db: sqlite3.Connection) -> None:
            set_password(db, add_user(db, name), new_password)

        store.write_now(with_audit(operator(), f"gave {name} a password", change_password))
    terminal.sentence(f"{name} has a new password, and is logged out everywhere.")


def revoke(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Revoke all tokens of a user."""
    count = _change_user(data, name, f"revoked all tokens of {name}", lambda db: revoke_tokens(db, name))
    terminal.sentence(f"{count_of(count, 'token')} of {name} revoked.")


def disable(
    terminal: Terminal,
    name: _Name,
    data: ServerData = SERVER_DATA,
    undo: Annotated[bool, "Let the user in again, with the same password and tokens."] = False,
) -> None:
    """Refuse a user's logins; bots and results stay. A connected bot stays until its connection ends."""
    note = f"let {name} in again" if undo else f"disabled {name}"
    _change_user(data, name, note, lambda db: disable_user(db, name, is_disabled=not undo))
    if undo:
        terminal.sentence(f"{name} can log in again.")
    else:
        terminal.sentence(f"{name} can no longer log in.")


def remove(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Remove a user: the name, the password and all tokens. Bots and results stay, as those of a removed user."""
    _change_user(data, name, f"removed {name}", lambda db: remove_user(db, name))
    terminal.sentence(f"{name} is removed.")


def _change_user(data: Path, name: str, note: str, change: Callable[[sqlite3.Connection], int]) -> int:
    """Apply a change to an existing user, with a note in the audit, and return its result."""
    with contextlib.closing(open_store(data)) as store:
        if not _has_user(store, name):
            abort(f"there is no user {name} in {data}")
        return store.write_now(with_audit(operator(), note, change))


def _invite(
    terminal: Terminal, store: Store, names: Sequence[str], *, days: float, address: str, out: Path | None
) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        abort(f"--address: {quoted(address, 200)} is not the address of pages, such as {_ADDRESS}")
    file = None
    if out is not None:
        try:
            # Readable by this user only, since the links are logins.
            number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            file = os.fdopen(number, "w", newline="", encoding="utf-8")
        except FileExistsError:
            abort(f"{out} exists already; choose another name")

    def add_invitations(db: sqlite3.Connection) -> list[str]:
        return [add_invitation(db, add_user(db, name), 86_400 * days) for name in names]

    note = f"invited {', '.join(names) or 'nobody'}"
    secrets = store.write_now(with_audit(operator(), note, add_invitations))
    links = [f"{address.rstrip('/')}/invitation/{secret}" for secret in secrets]
    if file is None:
        for name, link in zip(names, links, strict=True):
            terminal.print(f"{name} {link}")
    else:
        with file:
            csv.writer(file).writerows([("name", "link"), *zip(names, links, strict=True)])
        terminal.sentence(f"Written: {out}, with {count_of(len(links), 'link')}")
    terminal.note(f"Each link works once, within {count_of(days, 'day')}, and cannot be shown again.")


def _users_document(store: Store) -> Document:
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
    section = Section("Users", (Table.of("Users", columns, rows),))
    return Document("Users", sections=(section,))


def _logins(account: sqlite3.Row) -> str:
    """List the means by which a user can log in."""
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


def _create_store(data: Path) -> Store:
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot create the folder {data}: {error.strerror}")
    return Store(data / DATABASE_NAME)


def _parse_scopes(text: str) -> frozenset[Scope]:
    try:
        return frozenset(Scope(word.strip()) for word in text.split(","))
    except ValueError:
        abort(f"--scopes: '{text}' is not a list of {', '.join(Scope)}")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not is_name(name):
            abort(f"no user can be called {quoted(name, 100)}: {NAME_RULE}")
        if is_reserved(name):
            abort(f"no user can be called {name}: the name is reserved for the server; choose another")
    for name in names:
        if names.count(name) > 1:
            abort(f"{name} is named more than once; no user was created")


def _read_names(path: Path) -> list[str]:
    """Read the names of users from a CSV file, with or without a header."""
    rows = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                if any(cell.strip() for cell in row):
                    rows.append(row)
    except UnicodeDecodeError as error:
        abort(f"{path}: byte {error.start + 1} is not UTF-8 text")
    except (OSError, csv.Error) as error:
        abort(f"{path}: {getattr(error, 'strerror', None) or error}")
    column = 0
    has_header = False
    if rows:
        head = [cell.strip().lower() for cell in rows[0]]
        if "name" in head:
            has_header = True
            column = head.index("name")
    names = []
    for number, row in enumerate(rows, 1):
        if len(row) <= column:
            abort(f"{path}: row {number} has no name")
        names.append(row[column].strip())
    return names[1:] if has_header else names


def _has_user(store: Store, name: str) -> bool:
    return bool(store.read("SELECT 1 FROM users WHERE name = ?", name))


COMMANDS = (user, users, invite, password, revoke, disable, remove)
