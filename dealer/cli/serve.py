"""``arena serve``: a persistent match server for bots and programs."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import getpass
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.serve_event import app as event_app
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.console import Terminal, abort, until_stopped
from dealer.cli.shell.pages import WEB_INSTALL, has_web
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, known_store
from dealer.run.run_settings import NO_ADDRESS
from dealer.server.accounts import LEAST_LETTERS, MOST_LETTERS, Scope, add_token, add_user, revoke_tokens, set_password
from dealer.server.db.store import DATABASE_NAME, Store, back_up
from dealer.server.reference_settings import read_reference_settings
from dealer.server.server import FIRST_USER, Started, WebFace, is_reserved, reset_results
from dealer.server.server import serve as serve_until_cancelled
from dealer.server.server_settings import ServerSettings, default_settings, example, read_toml_settings
from dealer.table.collector import spare_collector
from dealer.table.listener import reachable_at
from dealer.table.loop import new_event_loop
from dealer.table.players import NAME_RULE, is_name
from engine.errors import quoted
from engine.text import count_of, meant

_CONFIG_NAME = "arena-server.toml"


class _ServeGroup(ArenaGroup):
    """`arena serve CONFIG` is short for `arena serve start CONFIG`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        word = args[0] if args else "-"
        is_unknown = re.fullmatch("[A-Za-z]+", word) and word not in self.commands and not Path(word).exists()
        if is_unknown and not ctx.resilient_parsing:
            near = meant(word, self.commands)
            hint = f"its commands are {', '.join(self.commands)}" if near is None else f"did you mean {near!r}?"
            abort(f"'arena serve' has no command '{word}', and there is no configuration of this name; {hint}")
        return super().parse_args(ctx, args if word in self.commands else ["start", *args])


app = typer.Typer(
    cls=_ServeGroup, help="Run a persistent match server: clients queue matches between its bots and their own."
)
app.add_typer(event_app, name="event")
_Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]


@app.command(
    epilog="'arena serve' has more commands, each with --help: user, password, revoke, event, backup and reset. A "
    "configuration with one of these names is given as ./NAME."
)
def start(
    terminal: Terminal,
    config: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONFIG",
            help="A configuration: FILE.toml, or a configuration file of the ACPC's benchmark server. Without one, all "
            "games and all built-in bots are available.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        "Address to listen on; 0.0.0.0 admits other machines.",
        Wording(otherwise="as configured; 127.0.0.1"),
    ] = None,
    port: Annotated[
        int | None,
        "Port of the text protocol; 0 means any.",
        Interval(0, 65535),
        Wording(otherwise="as configured; 54000"),
    ] = None,
    web_port: Annotated[
        int | None,
        "Port of the pages; 0 means any.",
        Interval(0, 65535),
        Wording(otherwise="as configured; 8080"),
    ] = None,
    data: ServerData = SERVER_DATA,
    init: Annotated[bool, f"Write {_CONFIG_NAME}, with all settings, and stop."] = False,
    verbose: Annotated[bool, "Log connections, faults and runs to standard error.", Wording(flags="-v")] = False,
) -> None:
    """Run a persistent match server: clients queue matches between its bots and their own.

    It speaks the protocol of the ACPC's benchmark server, and has pages for browsers and an HTTP interface. Ctrl-C
    stops it; unfinished matches continue at the next start.
    """
    if init and config is not None:
        abort("--init writes a configuration of its own; give it alone")
    if init:
        _write_example(terminal)
        return
    settings = _settings(config)
    if host == "":
        abort(f"--host: {NO_ADDRESS}")
    settings = replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
        web=settings.web if web_port is None else replace(settings.web, port=web_port),
    )
    _serve(terminal, settings, data, is_verbose=verbose)


@app.command()
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
    for name in every:
        _checked_name(name)
    if repeated := [name for name in dict.fromkeys(every) if every.count(name) > 1]:
        abort(f"{repeated[0]} is named more than once; no user was created")
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot make the folder {data}: {error.strerror}")
    with contextlib.closing(Store(data / DATABASE_NAME)) as store:
        tokens = store.write_now(lambda db: [add_token(db, add_user(db, name), wanted) for name in every])
    for name, token in zip(every, tokens, strict=True):
        terminal.print(f"{name} {token}")
    if len(every) == 1:
        terminal.note("This is the login. The token is not stored and cannot be shown again.")
    else:
        terminal.note("These are the logins. The tokens are not stored and cannot be shown again.")


@app.command()
def password(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Give a user a password for the pages, typed or from standard input."""
    _checked_name(name)
    with contextlib.closing(known_store(data)) as store:
        if not _is_known(store, name):
            abort(f"there is no user {name}; create one with 'arena serve user {name}'")
        given = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
        if not LEAST_LETTERS <= len(given) <= MOST_LETTERS:
            abort(f"a password has {LEAST_LETTERS} to {MOST_LETTERS} letters")
        store.write_now(lambda db: set_password(db, add_user(db, name), given))
    terminal.sentence(f"{name} has a new password, and is logged out everywhere.")


@app.command()
def revoke(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """End all tokens of a user."""
    with contextlib.closing(known_store(data)) as store:
        if not _is_known(store, name):
            abort(f"there is no user {name} in {data}")
        count = store.write_now(lambda db: revoke_tokens(db, name))
    terminal.sentence(f"{count_of(count, 'token')} of {name} revoked.")


@app.command()
def backup(
    terminal: Terminal,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Copy the database to a new file, also while the server runs."""
    back_up(data / DATABASE_NAME, file)
    sentence = f"The database is copied to {file}; the files of the runs are in {data / 'runs'}"
    terminal.sentence(sentence)


@app.command()
def reset(
    terminal: Terminal,
    data: ServerData = SERVER_DATA,
    results: Annotated[bool, "Remove requests, runs, ratings and logs; users, tokens and bots stay."] = False,
    yes: Annotated[bool, "Do not ask for confirmation."] = False,
) -> None:
    """Remove the results of a server that is not running."""
    if not results:
        abort("nothing is removed without --results, for requests, runs, ratings and logs")
    known_store(data).close()

    def is_wanted(runs: int) -> bool:
        if yes:
            return True
        terminal.note(
            f"{count_of(runs, 'run')} in {data} will be removed, with all requests, ratings and logs; "
            "'arena serve backup' can copy the database before. Type yes to continue:"
        )
        return sys.stdin.readline().strip().lower() == "yes"

    if not reset_results(data, is_wanted):
        abort("nothing was removed")
    terminal.sentence(f"The results in {data} are removed; users, tokens and bots are kept.")


def _settings(path: Path | None) -> ServerSettings:
    if path is None:
        return default_settings()
    return read_toml_settings(path) if path.suffix == ".toml" else read_reference_settings(path)


def _write_example(terminal: Terminal) -> None:
    path = Path(_CONFIG_NAME)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example())
    except FileExistsError:
        abort(f"{path} exists already, and nothing is ever overwritten")
    terminal.sentence(f"Written: {path}. Start the server with: arena serve {path}")


def _scopes(text: str) -> frozenset[Scope]:
    try:
        return frozenset(Scope(word.strip()) for word in text.split(","))
    except ValueError:
        abort(f"--scopes: '{text}' is not a list of {', '.join(Scope)}")


def _checked_name(name: str) -> None:
    if not is_name(name):
        abort(f"no user can be called {quoted(name, 100)}: {NAME_RULE}")
    if is_reserved(name):
        abort(f"no user can be called {name}: the server uses this name itself; choose another")


def _names_in(path: Path) -> list[str]:
    """The names in a CSV file, with or without a header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        abort(f"{path}: {getattr(error, 'strerror', None) or error}")
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    column = head.index("name") if "name" in head else 0
    if short := [number for number, row in enumerate(rows, 1) if len(row) <= column]:
        abort(f"{path}: row {short[0]} has no name")
    return [row[column].strip() for row in rows[1 if "name" in head else 0 :]]


def _is_known(store: Store, name: str) -> bool:
    return bool(store.read("SELECT 1 FROM users WHERE name = ?", name))


def _page_addresses(settings: ServerSettings, page: str) -> list[str]:
    """The addresses of the pages for other machines, given the one for this machine."""
    from dealer.web.serving import page_address

    hosts = reachable_at(settings.host)
    if hosts != (settings.host,) and settings.web.names:
        # Nothing is answered under another name.
        hosts = settings.web.names
    port = urlsplit(page).port or 0
    return [page_address(host, port, is_secure=bool(settings.web.certificate)) for host in hosts]


def _serve(terminal: Terminal, settings: ServerSettings, data: Path, *, is_verbose: bool) -> None:
    if is_verbose:
        terminal.show_log()

    def show(started: Started) -> None:
        for address, number in started.addresses:
            terminal.sentence(f"Listening on {', '.join(reachable_at(address))} port {number}. Files are in {data}")
        if started.page is not None:
            terminal.sentence(f"The pages are at {', '.join(_page_addresses(settings, started.page))}")
        else:
            terminal.sentence(f"There are no pages, and no bots can join; for both: {WEB_INSTALL}")
        if started.waiting:
            terminal.sentence(f"Resuming {count_of(started.waiting, 'request')} of the last start.")
        if started.token is not None:
            terminal.print(f"Log in with: {FIRST_USER} {started.token}")
            terminal.sentence(
                "The token is not stored and cannot be shown again; 'arena serve user NAME' creates others."
            )
        terminal.out.file.flush()

    web: WebFace | None = None
    if has_web():
        from dealer.web.server_site import server_site

        web = server_site
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        spare_collector()
        runner.run(until_stopped(serve_until_cancelled(settings, data, show, web=web)))
    terminal.sentence("The server has ended. Unfinished matches continue at the next start.")
    raise typer.Exit
