"""``arena stats``: statistics of each bot's play."""

from __future__ import annotations

import csv
import io
from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.reading import ChipValue, GameName, Sources, Strict, counted, hand_finder
from logs.tracker.definitions import STATISTICS

EPILOG = "\n\n".join(f"{statistic.short}: {statistic.definition}" for statistic in STATISTICS)
"""The definitions of the statistics, for the end of the help."""


def stats(
    context: typer.Context,
    sources: Sources,
    full: Annotated[
        bool, typer.Option("--full", help="Print all tables: by position and street, starting hands, final hands.")
    ] = False,
    brief: Annotated[bool, typer.Option("--brief", hidden=True)] = False,
    times: Annotated[bool, typer.Option("--times", help="Read the times of actions, too; takes longer.")] = False,
    game: GameName = None,
    chip_value: ChipValue = None,
    strict: Strict = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=1000,
            help="Processes that count big logs.",
            show_default="one per processor",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all statistics as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one row per bot and position as CSV.")] = False,
    variance: Annotated[
        bool, typer.Option("--variance", help="Print win rates by estimators with less luck in them, instead.")
    ] = False,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="NAME[=POLICY]",
            help="With --variance: a player whose probabilities are known, by a bot, file:PATH or ask:COMMAND; the "
            "name alone takes the bot from the run's result.",
        ),
    ] = None,
    ranges: Annotated[
        bool,
        typer.Option(
            "--ranges",
            help="With --policy: also AIVAT at the mean over all cards that a known player might have held; slow.",
        ),
    ] = False,
    save: Annotated[
        bool, typer.Option("--save", help="With --variance: also write them to the run's result.json.")
    ] = False,
) -> None:
    """Show how each bot plays: its win rate, how often it bets, raises and goes to showdown, by position and street.

    The definitions are those of tracking tools.
    """
    if as_json and as_csv:
        abort("--json and --csv contradict each other; give one")
    terminal = context.ensure_object(Terminal)
    if variance:
        if full or brief or times or as_csv or workers is not None:
            abort(
                "--variance prints a table of its own: it goes with --json, --policy, --save, --game, --chip-value and "
                "--strict"
            )
        if ranges and not policy:
            abort("--ranges goes with --policy: it needs a player whose policy is known")
        from dealer.cli.estimates import show_estimates

        show_estimates(
            terminal,
            sources,
            known=policy or [],
            over_ranges=ranges,
            find=hand_finder(game, chip_value, strict=strict),
            as_json=as_json,
            save=save,
        )
        return
    if policy or ranges or save:
        abort("--policy, --ranges and --save go with --variance")
    counts = counted(terminal, sources, hand_finder(game, chip_value, strict=strict), times=times, workers=workers)
    from logs.tracker.statistics import statistics_of
    from logs.tracker.tables import COLUMNS, rows, statistics_tables

    statistics = statistics_of(counts)
    if as_json:
        terminal.print(statistics.model_dump_json(indent=2))
        return
    if as_csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(statistics))
        terminal.print(text.getvalue(), end="")
        return
    overview, *others = statistics_tables(statistics)
    terminal.view(overview)
    if full:
        for view in others:
            terminal.view(view)
    more = "" if full else "; --full adds positions, streets and hands"
    terminal.say(f"arena stats --help defines the statistics{more}.")
