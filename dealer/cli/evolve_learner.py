"""``arena evolve learner``: the constants of the bot that learns, by evolution."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from bots.learner.tuning import MeasuredConstants, TuningSettings, check, search
from dealer.cli.computing import RunFolder, Scheduler, WorkerCount, computing
from dealer.cli.console import Terminal, check_new_file
from dealer.cli.options import given, setting_options, takes_options
from dealer.cli.progress import LiveLine, time_left
from dealer.cli.reports import PageFile, PageForce, show_report, write_report

_SEARCH: Final = "Search"
_DEFAULTS: Final = TuningSettings()
_SearchOptions: Any = setting_options(TuningSettings, _SEARCH)


@takes_options
def learner(
    context: typer.Context,
    folder: RunFolder,
    settings: _SearchOptions,
    game: Annotated[
        str, typer.Option("--game", help="A game (see 'arena games'), or a .game file.", rich_help_panel=_SEARCH)
    ] = _DEFAULTS.game,
    opponents: Annotated[
        str,
        typer.Option(
            metavar="BOTS",
            help="The field of all learners: bots with blanks between them. Fewer than there are seats are repeated, "
            "more take turns.",
            rich_help_panel=_SEARCH,
        ),
    ] = " ".join(_DEFAULTS.opponents),
    seeds: Annotated[
        int,
        typer.Option(
            min=5,
            help="Trainings and tests of the best at the end.",
            rich_help_panel=_SEARCH,
        ),
    ] = 20,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Search the ten constants of the learner by evolution.

    A set of constants is worth what a learner with it wins, frozen, on unseen deals after its training. The best is
    then measured again. An interrupted search is continued by the same command.
    """
    terminal = context.ensure_object(Terminal)
    from bots.learner.memory import Constants
    from bots.studies.learner import tuning_report

    if out is not None:
        check_new_file(out, force)
    wanted = TuningSettings(game=game, opponents=tuple(opponents.split()), **given(settings))
    with (
        computing(folder, "every measurement", workers, scheduler) as over,
        LiveLine(terminal) as show,
    ):
        measured = search(wanted, folder, workers=over, show=_progress(show, wanted.budget))
        best = max(measured, key=lambda one: one.mbb).constants
        others = [wanted.seed + at for at in range(1, seeds + 1)]
        checks = check(
            wanted,
            {"default": Constants(), "evolution": best},
            others,
            folder,
            workers=over,
            show=lambda done: show(f"measured again with {done} of {seeds} seeds"),
        )
    report = tuning_report(wanted, measured, checks)
    show_report(terminal, report)
    if out is not None:
        write_report(terminal, report, out)


def _progress(show: Callable[[str], None], budget: int) -> Callable[[int, MeasuredConstants], None]:
    """Tells how a search stands; the time left from its second batch on."""
    first: list[float] = []

    def show_progress(done: int, best: MeasuredConstants) -> None:
        now_s = time.monotonic()
        if not first:
            first.extend((now_s, done))
        left_s = None if done == first[1] else (now_s - first[0]) / (done - first[1]) * (budget - done)
        show(f"{done:,} of {budget:,} learners{time_left(left_s)}, best {best.mbb:+,.0f} mbb/g")

    return show_progress
