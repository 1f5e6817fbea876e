"""``arena bots``: list the bots with their games, or the options of one bot."""

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
    """Option of a bot, as in ``bot?name=value``, for JSON."""

    name: str
    default: OptionValue
    type: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BotData:
    """Bot, for JSON.

    Attributes:
        origin: the package that declares it; empty for a built-in bot.
        games: short names of the shipped games that it plays.
    """

    name: str
    summary: str
    origin: str
    games: tuple[str, ...]
    options: tuple[BotOption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BotsData:
    """Result of ``arena bots --json``."""

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
    if name is None:
        document = _bots_document(describe_all())
    else:
        document = _bot_document(describe(name))
    show_document(terminal, document, as_json=as_json)


def _bots_document(bots: Sequence[BotDescription]) -> Document:
    columns = ("bot", Column("games", TEXT, rank=2), Column("description", TEXT))
    rows = [(bot.name, _games_text(bot.name), _summary(bot)) for bot in bots]
    section = Section("", (Table.of("", columns, rows),))
    data = BotsData(bots=tuple([_bot_data(bot) for bot in bots]))
    return Document("Bots", sections=(section,), data=data)


def _bot_document(bot: BotDescription) -> Document:
    columns = ("option", Column("default", NAME, rank=1), Column("type", NAME, rank=2), Column("meaning", TEXT))
    rows = []
    for option in bot.options:
        rows.append((option.name, _default_text(option.default), option.type_name, option.meaning))
    sections = []
    if rows:
        sections.append(Section("", (Table.of("", columns, rows),)))
    facts = (Fact("games", _games_text(bot.name), TEXT),)
    data = BotsData(bots=(_bot_data(bot),))
    return Document(bot.name, (f"{_summary(bot)}.",), facts, tuple(sections), data=data)


def _default_text(default: OptionValue) -> str:
    if default is None:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return str(default)


def _summary(bot: BotDescription) -> str:
    if bot.origin:
        return f"{bot.summary} ({bot.origin})"
    return bot.summary


_FAMILIES: Final = {"all": "", "hold'em": "holdem.", "limit hold'em": "holdem.limit."}
"""Names of groups of games, with the beginning of the full names of their games."""


def _bot_data(bot: BotDescription) -> BotData:
    options = []
    for option in bot.options:
        options.append(
            BotOption(name=option.name, default=option.default, type=option.type_name, meaning=option.meaning)
        )
    games = tuple(_find_games(bot.name).values())
    return BotData(name=bot.name, summary=bot.summary, origin=bot.origin, games=games, options=tuple(options))


@cache
def _find_games(name: str) -> dict[str, str]:
    """Return the short names of the shipped games that a bot plays, by their full names."""
    shipped = shipped_games()
    games = [find_game(game)[1] for game in shipped]
    try:
        refusals = parse_player(name, None, games, in_process=True).refusals
    except PlayerError:
        return {}
    return {game: short_name(game) for game, refusal in zip(shipped, refusals, strict=True) if refusal is None}


def _games_text(name: str) -> str:
    """Name the shipped games that a bot plays, by their groups if it plays all of a group."""
    remaining = _find_games(name)
    words = []
    for family, beginning in _FAMILIES.items():
        members = [game for game in shipped_games() if game.startswith(beginning)]
        if remaining.keys() >= set(members):
            words.append(family)
            remaining = {game: short for game, short in remaining.items() if game not in members}
    return ", ".join([*words, *remaining.values()])
