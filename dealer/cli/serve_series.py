"""``arena serve series``: announce events that repeat, or groups with a final."""

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
from dealer.server.db.audit import operator
from dealer.server.db.bot_registry import known_games
from dealer.server.db.series_records import Series, add_series, find_series, withdraw_series
from dealer.server.db.store import Store
from dealer.server.series_results import series_document
from dealer.server.series_settings import SeriesSettings
from dealer.server.server_settings import full_game_name
from engine.errors import quoted

app = typer.Typer(
    cls=ArenaGroup,
    help="Announce series of events: repeated every day or week with a table, or groups with a final.",
    no_args_is_help=True,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the series.")]


@app.command()
def new(
    terminal: Terminal,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file that describes the series.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Announce the events of a series, also while the server runs."""
    settings = read_settings(SeriesSettings, file)
    with contextlib.closing(open_store(data)) as store:
        try:
            game = full_game_name(settings.game, known_games(store))
            store.write_now(lambda db: add_series(db, operator(), settings, game))
        except RefusedError as error:
            raise ConfigError(str(error), source=str(file)) from None
        show_document(terminal, series_document(_find(store, settings.name)))


@app.command()
def show(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA, as_json: Json = False) -> None:
    """Print the table and the events of a series."""
    with contextlib.closing(open_store(data)) as store:
        show_document(terminal, series_document(_find(store, name)), as_json=as_json)


@app.command()
def withdraw(terminal: Terminal, name: _Name, data: ServerData = SERVER_DATA) -> None:
    """Withdraw all events of a series that are not finished."""
    with contextlib.closing(open_store(data)) as store:
        series = _find(store, name)
        store.write_now(lambda db: withdraw_series(db, operator(), series))
    terminal.sentence(f"The series {name} is withdrawn; finished events are kept.")


def _find(store: Store, name: str) -> Series:
    series = find_series(store, name)
    if series is None:
        raise RefusedError(f"there is no series {quoted(name)}")
    return series
