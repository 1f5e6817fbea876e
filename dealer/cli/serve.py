"""``arena serve``: a persistent match server for bots and programs."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.serve_event import app as event_app
from dealer.cli.serve_users import COMMANDS as USER_COMMANDS
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.console import Terminal, abort, until_stopped
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.pages import WEB_INSTALL, has_web
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, open_store
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.errors import ConfigError
from dealer.run.run_settings import NO_ADDRESS
from dealer.server.checkup import Check, checkup_document, examine
from dealer.server.db.audit import note_backup
from dealer.server.db.store import DATABASE_NAME, back_up
from dealer.server.reference_settings import read_reference_settings
from dealer.server.server import FIRST_USER, Started, WebFace, reset_results
from dealer.server.server import serve as serve_until_cancelled
from dealer.server.server_settings import DEFAULT_PORT, ServerSettings, default_settings, example, read_toml_settings
from dealer.table.collector import relax_collector
from dealer.table.listener import reachable_at
from dealer.table.loop import new_event_loop
from engine.text import closest_word, count_of
from logs.document import Tone

_CONFIG_NAME = "arena-server.toml"


class _ServeGroup(ArenaGroup):
    """`arena serve CONFIG` is short for `arena serve start CONFIG`."""

    default_command = "start"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        word = args[0] if args else "-"
        is_unknown = re.fullmatch("[A-Za-z]+", word) and word not in self.commands and not Path(word).exists()
        if is_unknown and not ctx.resilient_parsing:
            near = closest_word(word, self.commands)
            hint = f"its commands are {', '.join(self.commands)}" if near is None else f"did you mean {near!r}?"
            abort(f"'arena serve' has no command '{word}', and there is no configuration of this name; {hint}")
        return super().parse_args(ctx, args if word in self.commands else [self.default_command, *args])


app = typer.Typer(
    cls=_ServeGroup, help="Run a persistent match server: clients queue matches between its bots and their own."
)
app.add_typer(event_app, name="event")


@app.command(
    epilog="Each command has --help, such as 'arena serve user --help'. A configuration with the name of a command is "
    "given as ./NAME."
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
        Wording(otherwise=f"as configured; {DEFAULT_PORT}"),
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
    if host is not None:
        settings = replace(settings, host=host)
    if port is not None:
        settings = replace(settings, port=port)
    if web_port is not None:
        settings = replace(settings, web=replace(settings.web, port=web_port))
    _serve(terminal, settings, data, is_verbose=verbose)


for _command in USER_COMMANDS:
    app.command()(_command)


@app.command()
def doctor(
    terminal: Terminal,
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help="A configuration; without one, the defaults.")
    ] = None,
    data: ServerData = SERVER_DATA,
    as_json: Json = False,
) -> None:
    """Check a configuration and its environment, and say what to do; nothing is changed, also while the server runs.

    Bots of the configuration play a hand each against themselves. Exit code 1 if something is a fault.
    """
    try:
        settings = _settings(config)
    except ConfigError as error:
        checks = [Check("settings", Tone.BAD, str(error), "correct the file; arena serve --init writes an example")]
    else:
        found = "the defaults" if config is None else f"{config} can be read"
        checks = [Check("settings", Tone.GOOD, found), *examine(settings, data, has_pages=has_web())]
    show_document(terminal, checkup_document(checks), as_json=as_json)
    raise typer.Exit(EXIT_FAILED if any(check.tone is Tone.BAD for check in checks) else 0)


@app.command()
def backup(
    terminal: Terminal,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Copy the database to a new file, also while the server runs."""
    back_up(data / DATABASE_NAME, file)
    note_backup(data / DATABASE_NAME, file)
    terminal.sentence(f"The database is copied to {file}; the files of the runs are in {data / 'runs'}")


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
    open_store(data).close()

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
    terminal.show_log(logging.INFO if is_verbose else logging.ERROR)
    if not is_verbose:
        # Warnings of matches are faults of bots, which may be many.
        for package in ("dealer.server", "dealer.web"):
            logging.getLogger(package).setLevel(logging.WARNING)

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
        relax_collector()
        runner.run(until_stopped(serve_until_cancelled(settings, data, show, web=web)))
    terminal.sentence("The server has ended. Unfinished matches continue at the next start.")
    raise typer.Exit
