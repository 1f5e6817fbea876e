"""``arena bots``: the bots that have a name, and what their options decide."""

from __future__ import annotations

from typing import Annotated

import typer

from bots.sdk.registry import BotDescription, describe, describe_all
from dealer.cli.console import Terminal


def bots(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="A bot, to see what each of its options decides.", metavar="BOT", show_default=False),
    ] = None,
) -> None:
    """List the bots that have a name, built in or from installed packages; or what the options of one bot decide."""
    terminal = context.ensure_object(Terminal)
    if name is not None:
        bot = describe(name)
        terminal.sentence(f"{bot.name}: {bot.summary}{f' ({bot.origin})' if bot.origin else ''}")
        if bot.options:
            terminal.table(["option", "default", "type", "what it decides"], _options(bot), left=(0, 1, 2), texts=(3,))
        return
    rows = []
    for bot in describe_all():
        options = [f"{option.name}={option.default} ({option.type_name})" for option in bot.options]
        rows.append([bot.name, bot.summary, ", ".join(options), bot.origin])
    terminal.table(["bot", "what it does", "options", "origin"], rows, texts=(1, 2, 3))


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
