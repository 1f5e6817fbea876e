"""``arena serve user``, ``users``, ``invite`` and others: manage the users of a server."""

from __future__ import annotations

import contextlib
import csv
import getpass
import io
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
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
    describe_logins,
    disable_user,
    read_accounts,
    remove_user,
    revoke_tokens,
    set_password,
)
from dealer.server.db.audit import operator, with_audit
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.teams import place_members
from dealer.server.db.texts import TextName, read_text
from dealer.server.db.users import add_person, add_user
from dealer.server.roster import Person, assign_logins, login_refusal, members_by_team, read_roster_file
from dealer.server.server import is_reserved
from dealer.server.server_settings import WebSettings, is_page_address
from dealer.table.listener import reachable_at
from engine.errors import quoted
from engine.text import count_of, listed
from logs.document import DATE, Column, Document, Section, Table

_Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")]
_Names: TypeAlias = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of users.")]
_Days: TypeAlias = Annotated[float, "Days until the links expire.", Interval(0.01, 3650)]
_Address: TypeAlias = Annotated[
    str | None,
    "Address of the server's pages, with which links begin.",
    Wording("URL", otherwise="as at the last start of the server"),
]
_Out: TypeAlias = Annotated[
    Path | None, "Add the links to a CSV file instead of printing them; it is created if missing.", Wording("FILE")
]
_LINK_COLUMNS = ("name", "login", "link")


def user(
    terminal: Terminal,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Names of users.")] = None,
    data: ServerData = SERVER_DATA,
    csv_file: Annotated[Path | None, "CSV file of people, as for 'users'.", Wording("FILE", flags="--csv")] = None,
    scopes: Annotated[
        str, "Scopes of the token: read, play, admin (sees and cancels everything).", Wording("LIST")
    ] = "read,play",
) -> None:
    """Create users and print their tokens, also before the first start; an existing user gets another token."""
    token_scopes = _parse_scopes(scopes)
    people = [Person(name, name) for name in names or ()]
    _check_names([person.name for person in people])
    if csv_file is not None:
        people += read_roster_file(csv_file)
    if not people:
        abort("NAME is missing; name users, or a file of names with --csv")
    with contextlib.closing(_create_store(data)) as store:
        logins = assign_logins(people, _read_people(store))

        def add_tokens(db: sqlite3.Connection) -> list[str]:
            numbers = [add_person(db, login, person.name) for person, login in logins.items()]
            place_members(db, operator(), members_by_team(logins))
            return [add_token(db, number, token_scopes) for number in numbers]

        note = f"gave a token for {' '.join(sorted(token_scopes))} to {', '.join(logins.values())}"
        tokens = store.write_now(with_audit(operator(), note, add_tokens))
    for (person, login), token in zip(logins.items(), tokens, strict=True):
        terminal.print(f"{login} {token}{_remark(person.name, login)}")
    if len(logins) == 1:
        terminal.note("This is the login. The token is not stored and cannot be shown again.")
    else:
        terminal.note("These are the logins. The tokens are not stored and cannot be shown again.")


def users(
    terminal: Terminal,
    csv_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV file of people: its column 'name', or its first column; logins in a column 'login', which are "
            "derived otherwise; teams in a column 'team'. Without a file, all users are listed.",
            show_default=False,
        ),
    ] = None,
    data: ServerData = SERVER_DATA,
    days: _Days = 14.0,
    address: _Address = None,
    out: _Out = None,
    as_json: Json = False,
) -> None:
    """Create the users of a file, each with a link to choose a password; or list all users.

    A link works once. Users with a password get no link; 'arena serve invite' makes one for any user.
    """
    if csv_file is None:
        with contextlib.closing(open_store(data)) as store:
            table = _users_table(store)
        if not as_json:
            table = table.without_empty()
        document = Document("Users", sections=(Section("Users", (table,)),))
        show_document(terminal, document, as_json=as_json)
        return
    people = read_roster_file(csv_file)
    with contextlib.closing(_create_store(data)) as store:
        accounts = {account["name"]: account for account in read_accounts(store)}
        logins = assign_logins(people, _read_people(store))
        links = _read_links(out)
        new_people = {}
        num_listed = 0
        for person, login in logins.items():
            account = accounts.get(login)
            if account is not None and account["has_password"]:
                continue
            if login in links and account is not None and account["is_invited"]:
                num_listed += 1
                continue
            new_people[login] = person.name
        teams = members_by_team(logins)
        _invite(terminal, store, new_people, teams, days=days, address=address, out=out)
    for team, members in teams.items():
        terminal.note(f"In the team {team}: {listed(members)}.")
    with_password = len(people) - len(new_people) - num_listed
    if with_password:
        terminal.note(f"{count_of(with_password, 'user')} of the file had a password already.")
    if num_listed:
        terminal.note(f"{count_of(num_listed, 'user')} of the file had a link in {out} already.")


def invite(
    terminal: Terminal,
    names: _Names,
    data: ServerData = SERVER_DATA,
    days: _Days = 14.0,
    address: _Address = None,
    out: _Out = None,
) -> None:
    """Print a link at which a user, new or known, chooses a password. It also replaces a forgotten one.

    A link works once, and a newer one replaces it. The old password stays valid until the link is used.
    """
    _check_names(names)
    with contextlib.closing(_create_store(data)) as store:
        _invite(terminal, store, {name: name for name in names}, {}, days=days, address=address, out=out)


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
    terminal: Terminal,
    store: Store,
    people: Mapping[str, str],
    teams: Mapping[str, Sequence[str]],
    *,
    days: float,
    address: str | None,
    out: Path | None,
) -> None:
    """Make a link for each of the people, and print it or add it to a file.

    Args:
        people: names by login.
        teams: logins of members by team, of new and known users.
    """
    base = _link_address(terminal, store, address)
    links = _read_links(out)

    def add_invitations(db: sqlite3.Connection) -> list[str]:
        numbers = [add_person(db, login, name) for login, name in people.items()]
        place_members(db, operator(), teams)
        return [add_invitation(db, number, 86_400 * days) for number in numbers]

    note = f"invited {', '.join(people) or 'nobody'}"
    secrets = store.write_now(with_audit(operator(), note, add_invitations))
    for (login, name), secret in zip(people.items(), secrets, strict=True):
        links[login] = name, f"{base}/invitation/{secret}"
    if out is None:
        for login, name in people.items():
            terminal.print(f"{login} {links[login][1]}{_remark(name, login)}")
    else:
        _write_links(out, links)
        terminal.sentence(f"Written: {out}, with {count_of(len(people), 'new link')}")
    terminal.note(f"Each link works once, within {count_of(days, 'day')}, and cannot be shown again.")


def _remark(name: str, login: str) -> str:
    return "" if name == login else f" ({name})"


def _read_people(store: Store) -> dict[str, str]:
    """Read the names of all users by login; empty for users that no roster names."""
    return {account["name"]: account["person"] for account in read_accounts(store)}


def _link_address(terminal: Terminal, store: Store, address: str | None) -> str:
    """Return the address with which links begin: of the option, or of the last start of the server."""
    if address is not None:
        if not is_page_address(address):
            abort(f"--address: {quoted(address, 200)} is not the address of pages, such as https://poker.example.org")
        return address.rstrip("/")
    recorded = read_text(store, TextName.ADDRESS)
    if not recorded:
        host = reachable_at("0.0.0.0")[0]
        recorded = f"http://{host}:{WebSettings().port}"
        terminal.note(
            f"The server has not been started with this folder. The links assume that its pages will be at {recorded}; "
            "--address names another address."
        )
    if urlsplit(recorded).hostname in ("127.0.0.1", "::1", "localhost"):
        terminal.note(
            f"The links begin with {recorded}, which only this machine can open. Start the server with --host 0.0.0.0, "
            "or name its public address with --address or in the setting web.address."
        )
    return recorded


def _read_links(path: Path | None) -> dict[str, tuple[str, str]]:
    """Read names and links by login from a file that `_write_links` wrote; empty without one."""
    if path is None or not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        abort(f"{path}: {getattr(error, 'strerror', None) or error}")
    if not rows or tuple(rows[0]) != _LINK_COLUMNS or any(len(row) != len(_LINK_COLUMNS) for row in rows):
        abort(f"{path} exists already and is no file of links; choose another name")
    return {login: (name, link) for name, login, link in rows[1:]}


def _write_links(path: Path, links: Mapping[str, tuple[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_LINK_COLUMNS, *((name, login, link) for login, (name, link) in links.items())])
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        # Readable by this user only, since the links are logins.
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text.getvalue())
        new.replace(path)
    except OSError as error:
        abort(f"{path} cannot be written: {error.strerror}")


def _users_table(store: Store) -> Table:
    columns = (
        Column("name"),
        Column("person"),
        Column("created", DATE, "UTC"),
        Column("logs in with"),
        Column("role"),
        Column("tokens", ","),
        Column("bots"),
    )
    rows = []
    for account in read_accounts(store):
        name = account["name"]
        if not is_reserved(name):
            role = "organiser" if account["is_organiser"] else ""
            logins, bots = describe_logins(account), account["bots"] or ""
            rows.append((name, account["person"], account["created_s"], logins, role, account["tokens"], bots))
    return Table.of("Users", columns, rows)


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
        if refusal := login_refusal(name):
            abort(refusal)
    for name in names:
        if names.count(name) > 1:
            abort(f"{name} is named more than once; no user was created")


def _has_user(store: Store, name: str) -> bool:
    return bool(store.read("SELECT 1 FROM users WHERE name = ?", name))


COMMANDS = (user, users, invite, password, revoke, disable, remove)
