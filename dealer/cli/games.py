"""``arena games``: list the games that come with the arena, or print a definition."""

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
    """Game, for JSON. Amounts are in chips.

    Attributes:
        blinds: blind of each position.
        raise_sizes: raise size of each betting round; empty in no-limit games.
        stacks: stack of each seat; None if stacks are unlimited.
        definition: text of the ``.game`` file, for a game named on the command line.
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
    """Result of ``arena games --json``."""

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
    """List the built-in games, or print the definition of one. Any .game file can be played, too."""
    if name is not None:
        full_name, game = find_game(name)
        definition = Path(game_file(name)).read_text("utf-8", errors="replace")
        if as_json:
            data = GamesData(games=(_game_data(full_name, game, definition),))
            show_document(terminal, Document(short_name(full_name), data=data), as_json=True)
        else:
            terminal.print(definition.rstrip())
        return
    rows = []
    games_data = []
    for full_name in shipped_games():
        game = find_game(full_name)[1]
        rows.append((short_name(full_name), game.num_players, _betting_text(game), full_name))
        games_data.append(_game_data(full_name, game))
    columns = (
        "game",
        Column("players", ",", rank=1),
        Column("betting", format=TEXT),
        Column("full name", format=NAME, rank=2),
    )
    section = Section("", (Table.of("", columns, rows),))
    document = Document("Games", sections=(section,), data=GamesData(games=tuple(games_data)))
    show_document(terminal, document, as_json=as_json)


def _game_data(name: str, game: Game, definition: str | None = None) -> GameData:
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


def _betting_text(game: Game) -> str:
    """Describe betting, blinds and stacks, such as "no-limit, blinds 50/100, stacks 20000"."""
    betting = "no-limit"
    if game.is_limit:
        sizes = dict.fromkeys(game.raise_sizes)
        betting = f"limit {'/'.join(map(str, sizes))}"
    blinds = [str(blind) for blind in sorted(game.blinds) if blind]
    text = f"{betting}, blinds {'/'.join(blinds)}"
    if game.stacks[0] < DEFAULT_STACK:
        text += f", stacks {game.stacks[0]}"
    return text
