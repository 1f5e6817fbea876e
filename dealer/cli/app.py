"""The ``arena`` application: mounts the commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from dealer.cli import (
    bench,
    bot,
    bots,
    crosstable,
    deal,
    doctor,
    export,
    games,
    gate,
    play,
    report,
    resume,
    stats,
    tournament,
)
from dealer.cli.console import ArenaGroup, Terminal

__all__ = ["app"]

app = typer.Typer(
    name="arena",
    cls=ArenaGroup,
    help="Matches between poker programs over the ACPC protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.ensure_object(Terminal).print(f"acpc-arena {version('acpc-arena')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Matches between poker programs over the ACPC protocol."""
    context.ensure_object(Terminal)


app.command("play")(play.play)
app.command("tournament")(tournament.tournament)
app.command("resume")(resume.resume)
app.command("gate")(gate.gate)
app.command("crosstable")(crosstable.crosstable)
app.command("export")(export.export)
app.command("stats", epilog=stats.DEFINITIONS)(stats.stats)
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)
app.command("deal")(deal.deal)
app.command("bot")(bot.bot)
app.command("bots")(bots.bots)
app.command("games")(games.games)
app.add_typer(bench.app, name="bench")
