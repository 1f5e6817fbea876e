"""``arena bots``: the bots with their games, and the options of one bot."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from bots.sdk.registry import BotDescription, describe, describe_all
from dealer.cli.console import Terminal
from dealer.cli.options import Json
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from logs.document import NAME, TEXT, Column, Table
from protocol import find_game, shipped_games
from protocol.game_definition import short_name


def bots(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A bot whose options are listed.", metavar="BOT", show_default="every bot, in one line"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the bots, built in or from installed packages, with their games; or the options of one bot."""
    terminal = context.ensure_object(Terminal)
    if as_json:
        terminal.json(list(map(_data, describe_all())) if name is None else _data(describe(name)))
        return
    if name is None:
        rows = [[bot.name, _games(bot.name), _summary(bot)] for bot in describe_all()]
        games = Column("games", format=TEXT, rank=2)
        terminal.table(Table.of("", ("bot", games, Column("description", format=TEXT)), rows))
        return
    bot = describe(name)
    terminal.sentence(f"{bot.name}: {_summary(bot)}. Games: {_games(bot.name)}.")
    if bot.options:
        columns = (
            "option",
            Column("default", format=NAME, rank=1),
            Column("type", format=NAME, rank=2),
            Column("meaning", format=TEXT),
        )
        terminal.table(Table.of("", columns, _options(bot)))


def _summary(bot: BotDescription) -> str:
    return f"{bot.summary} ({bot.origin})" if bot.origin else bot.summary


_FAMILIES: Final = {"all": "", "hold'em": "holdem.", "limit hold'em": "holdem.limit."}
"""Names of many games, by the beginning of their full names."""


def _data(bot: BotDescription) -> dict[str, Any]:
    options = [
        {"name": option.name, "default": option.default, "type": option.type_name, "meaning": option.decides}
        for option in bot.options
    ]
    games = list(_played(bot.name).values())
    return {"name": bot.name, "summary": bot.summary, "origin": bot.origin, "games": games, "options": options}


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


def _options(bot: BotDescription) -> list[list[str]]:
    rows = []
    for option in bot.options:
        default = (
            str(option.default).lower()
            if isinstance(option.default, bool)
            else ""
            if option.default is None
            else str(option.default)
        )
        rows.append([option.name, default, option.type_name, option.decides])
    return rows
