"""``arena bots``: the bots with their games, and the options of one bot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Final

import typer

from bots.sdk.registry import BotDescription, OptionValue, describe, describe_all
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.completion import complete_bot
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import show_document
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from logs.document import NAME, TEXT, Column, Document, Fact, Section, Table
from protocol import find_game, shipped_games
from protocol.game_definition import short_name


@dataclass(frozen=True, slots=True, kw_only=True)
class BotOption:
    """An option of a bot, as in ``bot?name=value``."""

    name: str
    default: OptionValue
    type: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotData:
    """A bot, as JSON has it.

    Attributes:
        origin: the package that brings it; empty for a built-in bot.
        games: the shipped games that it plays, by their short names.
    """

    name: str
    summary: str
    origin: str
    games: tuple[str, ...]
    options: tuple[BotOption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotsData:
    """Bots, as ``arena bots --json`` prints them."""

    schema_version: int = 1
    bots: tuple[BotData, ...]


def bots(
    terminal: Terminal,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT",
            help="A bot whose options are listed.",
            show_default="every bot, in one line",
            autocompletion=complete_bot,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the bots, built in or from installed packages, with their games; or the options of one bot."""
    document = bots_document(describe_all()) if name is None else bot_document(describe(name))
    show_document(terminal, document, as_json=as_json)


def bots_document(found: Sequence[BotDescription]) -> Document:
    columns = ("bot", Column("games", TEXT, rank=2), Column("description", TEXT))
    table = Table.of("", columns, ((bot.name, _games(bot.name), _summary(bot)) for bot in found))
    return Document("Bots", sections=(Section("", (table,)),), data=BotsData(bots=tuple(map(_data, found))))


def bot_document(bot: BotDescription) -> Document:
    columns = ("option", Column("default", NAME, rank=1), Column("type", NAME, rank=2), Column("meaning", TEXT))
    rows = ((one.name, _shown(one.default), one.type_name, one.meaning) for one in bot.options)
    section = Section("", (Table.of("", columns, rows),))
    facts = (Fact("games", _games(bot.name), TEXT),)
    return Document(
        bot.name, (f"{_summary(bot)}.",), facts, (section,) if bot.options else (), data=BotsData(bots=(_data(bot),))
    )


def _shown(default: OptionValue) -> str:
    if default is None:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return str(default)


def _summary(bot: BotDescription) -> str:
    return f"{bot.summary} ({bot.origin})" if bot.origin else bot.summary


_FAMILIES: Final = {"all": "", "hold'em": "holdem.", "limit hold'em": "holdem.limit."}
"""Names of many games, by the beginning of their full names."""


def _data(bot: BotDescription) -> BotData:
    options = [
        BotOption(name=option.name, default=option.default, type=option.type_name, meaning=option.meaning)
        for option in bot.options
    ]
    games = tuple(_played(bot.name).values())
    return BotData(name=bot.name, summary=bot.summary, origin=bot.origin, games=games, options=tuple(options))


@cache
def _played(name: str) -> dict[str, str]:
    """The short names of the shipped games that a bot plays, by their full names."""
    shipped = shipped_games()
    try:
        refusals = parse_player(name, None, [find_game(game)[1] for game in shipped], in_process=True).refusals
    except PlayerError:
        return {}
    return {game: short_name(game) for game, refusal in zip(shipped, refusals, strict=True) if refusal is None}


def _games(name: str) -> str:
    """The shipped games that a bot plays, by their short names or as families."""
    left = _played(name)
    words = []
    for family, beginning in _FAMILIES.items():
        members = [game for game in shipped_games() if game.startswith(beginning)]
        if left.keys() >= set(members):
            words.append(family)
            left = {game: short for game, short in left.items() if game not in members}
    return ", ".join([*words, *left.values()])
