"""The ``arena`` application: mounts the commands."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from dealer.cli import bench, bot, bots, deal, doctor, export, games, gate, play, report, resume, stats, tournament
from dealer.cli.console import out

__all__ = ["app"]

app = typer.Typer(
    name="arena",
    help="Matches between poker programs over the ACPC protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"acpc-arena {version('acpc-arena')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Matches between poker programs over the ACPC protocol."""


app.command("play")(play.play)
app.command("tournament")(tournament.tournament)
app.command("resume")(resume.resume)
app.command("gate")(gate.gate)
app.command("export")(export.export)
app.command("stats", epilog=stats.DEFINITIONS)(stats.stats)
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)
app.command("deal")(deal.deal)
app.command("bot")(bot.bot)
app.command("bots")(bots.bots)
app.command("games")(games.games)
app.add_typer(bench.app, name="bench")
