"""``arena serve event``: announce round robins of a server's bots and publish results."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.shell.command_options import Json
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, open_store, read_settings
from dealer.errors import ConfigError, RefusedError
from dealer.server.db import event_records
from dealer.server.db.audit import operator
from dealer.server.db.bot_registry import known_games
from dealer.server.db.event_records import ScheduledEvent, add_event, disqualify, edit_event, withdraw_event
from dealer.server.db.store import Store
from dealer.server.event_results import event_detail, event_document
from dealer.server.event_settings import EventSettings
from dealer.server.server_settings import full_game_name
from engine.errors import quoted
from engine.text import count_of

app = typer.Typer(
    cls=ArenaGroup,
    help="Announce events: round robins between frozen versions of a server's bots. Publish their results.",
    no_args_is_help=True,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the event.")]


@app.command()
def new(
    terminal: Terminal,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file that describes the event.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Announce an event, also while the server runs: entries open and close at its times, then it is played."""
    settings = read_settings(EventSettings, file)
    with contextlib.closing(open_store(data)) as store:
        try:
            game = full_game_name(settings.game, known_games(store))
            store.write_now(lambda db: add_event(db, operator(), settings, game))
        except RefusedError as error:
            raise ConfigError(str(error), source=str(file)) from None
        _show(terminal, store, settings.name)


@app.command()
def edit(
    terminal: Terminal,
    name: _Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file with all settings, as for 'new'.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Replace the settings of an event that has not closed."""
    settings = read_settings(EventSettings, file)
    with contextlib.closing(open_store(data)) as store:
        event = _event(store, name)
        try:
            game = full_game_name(settings.game, known_games(store))
            store.write_now(lambda db: edit_event(db, operator(), event, settings, game))
        except RefusedError as error:
            raise ConfigError(str(error), source=str(file)) from None
        _show(terminal, store, settings.name)


@app.command()
def withdraw(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Withdraw an event: remove it before it closes; later, cancel the contests that have not ended."""
    with contextlib.closing(open_store(data)) as store:
        event = _event(store, name)
        store.write_now(lambda db: withdraw_event(db, operator(), event))
        remaining = event_records.event(store, name)
    if remaining is None:
        terminal.sentence(f"The event {name} is withdrawn, and another one can have its name.")
    else:
        terminal.sentence(f"The event {name} is withdrawn. Its contests end now; those that had ended are kept.")


@app.command("disqualify")
def disqualify_bot(
    terminal: Terminal,
    name: _Name,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Name of the bot.")],
    data: ServerData = SERVER_DATA,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Shown on the page of the event.")] = "by the organisers",
) -> None:
    """Exclude a bot, at any time: its contests do not count, and the standings are made anew."""
    with contextlib.closing(open_store(data)) as store:
        event = _event(store, name)
        store.write_now(lambda db: disqualify(db, operator(), event, bot, reason))
        _show(terminal, store, name)


@app.command()
def show(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA, as_json: Json = False) -> None:
    """Print the state, the standings and the contests of an event."""
    with contextlib.closing(open_store(data)) as store:
        show_document(terminal, event_document(store, event_detail(store, _event(store, name))), as_json=as_json)


@app.command()
def publish(
    terminal: Terminal,
    name: _Name,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New or empty folder.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Write a finished event to a folder that any web server can host: pages, JSON, logs and hand histories."""
    from dealer.cli.shell.event_folder import publish as publish_event

    with contextlib.closing(open_store(data)) as store:
        contests = publish_event(store, data, _event(store, name), folder)
    terminal.sentence(f"{count_of(contests, 'contest')} of {name} written; the first page is {folder / 'index.html'}")


def _show(terminal: Terminal, store: Store, name: str) -> None:
    show_document(terminal, event_document(store, event_detail(store, _event(store, name))))


def _event(store: Store, name: str) -> ScheduledEvent:
    event = event_records.event(store, name)
    if event is None:
        raise RefusedError(f"there is no event {quoted(name)}")
    return event
