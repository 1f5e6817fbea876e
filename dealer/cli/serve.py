"""``arena serve``: run and maintain a persistent match server."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.serve_event import app as event_app
from dealer.cli.serve_names import free
from dealer.cli.serve_series import app as series_app
from dealer.cli.serve_teams import app as team_app
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
from dealer.server.server import FIRST_USER, Started, WebFace, copy_folder, reset_results
from dealer.server.server import serve as serve_until_cancelled
from dealer.server.server_settings import DEFAULT_PORT, ServerSettings, default_settings, example, read_toml_settings
from dealer.table.collector import relax_collector
from dealer.table.listener import reachable_at
from dealer.table.loop import new_event_loop
from engine.text import closest_word, count_of
from logs.document import Tone

_CONFIG_NAME = "arena-server.toml"


class _ServeGroup(ArenaGroup):
    """Group that reads `arena serve CONFIG` as `arena serve start CONFIG`."""

    default_command = "start"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            return super().parse_args(ctx, args)
        if args and not ctx.resilient_parsing:
            word = args[0]
            # A word of letters that is no file is rather a misspelt command than a configuration.
            if re.fullmatch("[A-Za-z]+", word) and not Path(word).exists():
                near = closest_word(word, self.commands)
                hint = f"did you mean {near!r}?" if near else f"its commands are {', '.join(self.commands)}"
                abort(f"'arena serve' has no command '{word}', and there is no configuration of this name; {hint}")
        return super().parse_args(ctx, [self.default_command, *args])


app = typer.Typer(
    cls=_ServeGroup, help="Run a persistent match server: clients queue matches between its bots and their own."
)
app.add_typer(event_app, name="event")
app.add_typer(series_app, name="series")
app.add_typer(team_app, name="team")


@app.command(
    epilog="Each command has --help, such as 'arena serve user --help'. Write ./NAME for a configuration that has the "
    "name of a command."
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
        "Port of the text protocol; 0 means any free port.",
        Interval(0, 65535),
        Wording(otherwise=f"as configured; {DEFAULT_PORT}"),
    ] = None,
    web_port: Annotated[
        int | None,
        "Port of the pages; 0 means any free port.",
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
        abort("--init writes a configuration of its own; leave out CONFIG")
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
app.command()(free)


@app.command()
def doctor(
    terminal: Terminal,
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help="A configuration; without one, the defaults.")
    ] = None,
    data: ServerData = SERVER_DATA,
    as_json: Json = False,
) -> None:
    """Check a configuration and its environment, and give advice. Nothing is changed, and the server may be running.

    Each bot of the configuration plays a hand against itself. The exit code is 1 if a check fails.
    """
    try:
        settings = _settings(config)
    except ConfigError as error:
        checks = [Check("settings", Tone.BAD, str(error), "correct the file; arena serve --init writes an example")]
    else:
        source = "the defaults" if config is None else f"{config} can be read"
        checks = [Check("settings", Tone.GOOD, source), *examine(settings, data, has_pages=has_web())]
    show_document(terminal, checkup_document(checks), as_json=as_json)
    is_bad = any(check.tone is Tone.BAD for check in checks)
    raise typer.Exit(EXIT_FAILED if is_bad else 0)


@app.command()
def backup(
    terminal: Terminal,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file; with --runs a new folder.")],
    data: ServerData = SERVER_DATA,
    runs: Annotated[bool, "Copy the whole folder, with the files of runs and of uploaded bots."] = False,
) -> None:
    """Copy the database to a new file, also while the server runs."""
    if runs:
        copy_folder(data, file)
        text = (
            f"The database, runs and uploads are copied to {file}; arena serve --data {file} starts a server with them."
        )
    else:
        back_up(data / DATABASE_NAME, file)
        text = f"The database is copied to {file}. Runs and uploads are only in {data}; --runs copies them."
    note_backup(data / DATABASE_NAME, file)
    terminal.sentence(text)


@app.command()
def reset(
    terminal: Terminal,
    data: ServerData = SERVER_DATA,
    results: Annotated[bool, "Remove requests, runs, ratings and logs; users, teams, tokens and bots stay."] = False,
    yes: Annotated[bool, "Do not ask for confirmation."] = False,
) -> None:
    """Remove the results of a server that is not running."""
    if not results:
        abort("--results is missing; it removes requests, runs, ratings and logs")
    open_store(data).close()

    def confirm(runs: int) -> bool:
        if yes:
            return True
        terminal.note(
            f"{count_of(runs, 'run')} in {data} will be removed, with all requests, ratings and logs. "
            "'arena serve backup' copies the database, but no logs; with --runs it copies everything. "
            "Type yes to continue:"
        )
        return sys.stdin.readline().strip().lower() == "yes"

    if not reset_results(data, confirm):
        abort("nothing was removed")
    terminal.sentence(f"The results in {data} are removed; users, teams, tokens and bots are kept.")


def _settings(path: Path | None) -> ServerSettings:
    if path is None:
        return default_settings()
    if path.suffix == ".toml":
        return read_toml_settings(path)
    return read_reference_settings(path)


def _write_example(terminal: Terminal) -> None:
    path = Path(_CONFIG_NAME)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example())
    except FileExistsError:
        abort(f"{path} exists already; move it, or edit it")
    terminal.sentence(f"Written: {path}. Start the server with: arena serve {path}")


def _serve(terminal: Terminal, settings: ServerSettings, data: Path, *, is_verbose: bool) -> None:
    terminal.show_log(logging.INFO if is_verbose else logging.ERROR)
    if not is_verbose:
        # Not those of matches: their warnings are faults of bots, which may be many.
        for package in ("dealer.server", "dealer.web"):
            logging.getLogger(package).setLevel(logging.WARNING)

    def show(started: Started) -> None:
        for address, number in started.addresses:
            terminal.sentence(f"Listening on {', '.join(reachable_at(address))} port {number}. Files are in {data}")
        if started.page is not None:
            from dealer.web.serving import public_addresses

            terminal.sentence(f"The pages are at {', '.join(public_addresses(settings, started.page))}")
        else:
            terminal.sentence(f"There are no pages, and no bots can join. Both need more packages: {WEB_INSTALL}")
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
