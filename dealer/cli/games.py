"""``arena games``: list the games that come with the arena."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.shell.command_options import Json
from dealer.cli.shell.completion import complete_game
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import show_document
from engine import Game
from engine.game import DEFAULT_STACK
from logs.document import NAME, TEXT, Column, Document, Section, Table
from protocol import find_game, shipped_games
from protocol.game_definition import game_file, short_name


@dataclass(frozen=True, slots=True, kw_only=True)
class GameData:
    """A game, as JSON has it.

    Attributes:
        raise_sizes: by betting round; empty without limits.
        stacks: by seat; None if there is no limit to what a player can lose.
        definition: the text of the ``.game`` file, of a game named on the command line.
    """

    name: str
    full_name: str
    players: int
    is_limit: bool
    blinds: tuple[int, ...]
    raise_sizes: tuple[int, ...]
    stacks: tuple[int, ...] | None
    definition: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GamesData:
    """Games, as ``arena games --json`` prints them."""

    schema_version: int = 1
    games: tuple[GameData, ...]


def games(
    terminal: Terminal,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="A game whose definition is printed: its name or a .game file.",
            show_default="every game, in one line",
            autocompletion=complete_game,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the games that come with the arena; or print the .game file of one. Any .game file can be played, too."""
    if name is not None:
        full, game = find_game(name)
        definition = Path(game_file(name)).read_text("utf-8", errors="replace")
        if as_json:
            data = GamesData(games=(_data(full, game, definition),))
            show_document(terminal, Document(short_name(full), data=data), as_json=True)
        else:
            terminal.print(definition.rstrip())
        return
    found = {name: find_game(name)[1] for name in shipped_games()}
    rows = [(short_name(name), game.num_players, _betting(game), name) for name, game in found.items()]
    columns = (
        "game",
        Column("players", ",", rank=1),
        Column("betting", format=TEXT),
        Column("full name", format=NAME, rank=2),
    )
    data = GamesData(games=tuple(_data(name, game) for name, game in found.items()))
    document = Document("Games", sections=(Section("", (Table.of("", columns, rows),)),), data=data)
    show_document(terminal, document, as_json=as_json)


def _data(name: str, game: Game, definition: str | None = None) -> GameData:
    return GameData(
        name=short_name(name),
        full_name=name,
        players=game.num_players,
        is_limit=game.is_limit,
        blinds=game.blinds,
        raise_sizes=game.raise_sizes,
        stacks=game.stacks if game.stacks[0] < DEFAULT_STACK else None,
        definition=definition,
    )


def _betting(game: Game) -> str:
    blinds = "/".join(str(blind) for blind in sorted(game.blinds) if blind)
    bets = f"limit {'/'.join(map(str, dict.fromkeys(game.raise_sizes)))}" if game.is_limit else "no-limit"
    stack = "" if game.stacks[0] >= DEFAULT_STACK else f", stacks {game.stacks[0]}"
    return f"{bets}, blinds {blinds}{stack}"
