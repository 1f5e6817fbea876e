"""``arena evolve``: the evolution of agents."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from annotated_types import Interval

from bots.evolution.evolution import StopRule
from bots.evolved.runs import CHECKS, CheckSettings, EvolutionProgress, EvolvedRun, evolve_player, evolve_trainers
from bots.evolved.training import OPPONENTS, PLAYER, TRAINER, EvolvedSettings
from bots.sdk.options import Wording
from bots.workers import Workers
from dealer.cli.commands import ArenaGroup
from dealer.cli.computing import TRAINING, RunFolder, Scheduler, WorkerCount, computing
from dealer.cli.console import Terminal, abort
from dealer.cli.evolve_kuhn import kuhn
from dealer.cli.evolve_learner import learner
from dealer.cli.options import Given
from dealer.cli.progress import LiveLine, time_left
from engine.text import count_of
from logs.document import TEXT, Column, Table

app = typer.Typer(
    cls=ArenaGroup,
    help="Evolve players by genetic algorithms: of ten-handed limit hold'em and Kuhn poker, and the learner's "
    "constants.",
    no_args_is_help=True,
)

app.command()(kuhn)
app.command()(learner)

_STOP: Final = "When to stop"
_ALONG: Final = "Checks along the way"

_PLAYER_DEALS: Final = 520
_Generations = Annotated[int | None, "Breed at most this many generations.", Interval(ge=1), Wording(group=_STOP)]
_CheckEvery = Annotated[
    int,
    "Generations between checks of the best individual: against opponents outside the training, random "
    "trainers and earlier champions; 0: never.",
    Interval(ge=0),
    Wording(group=_ALONG),
]
_CheckDeals = Annotated[
    int, "Deals of such a check, each played 100 times; no training uses them.", Interval(ge=1), Wording(group=_ALONG)
]


@app.command()
def trainers(
    context: typer.Context,
    folder: RunFolder,
    settings: EvolvedSettings,
    count: Annotated[int, "How many trainers.", Interval(ge=1), Wording(group=TRAINING)] = OPPONENTS,
    generations: _Generations = TRAINER.generations,
    patience: Annotated[
        int, "Stop after this many generations without a better trainer.", Interval(ge=1), Wording(group=_STOP)
    ] = TRAINER.patience or 0,
    renewals: Annotated[
        int, "Stop after this many generations with a better trainer.", Interval(ge=1), Wording(group=_STOP)
    ] = TRAINER.opponents or 0,
    check_every: _CheckEvery = CHECKS.every,
    check_deals: _CheckDeals = CHECKS.deals,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
) -> None:
    """Evolve the trainers of the evolved agent: each plays against nine others, which better ones replace.

    Unfinished runs in the folder are resumed.
    """
    terminal = context.ensure_object(Terminal)
    rule = StopRule(generations=generations, patience=patience, opponents=renewals)
    checks = CheckSettings(every=check_every, deals=check_deals)
    with _evolving(terminal, folder, workers, scheduler) as (over, show):
        runs = evolve_trainers(folder, settings, rule, count=count, checks=checks, workers=over, show=show)
    _report(terminal, runs)


@app.command()
def player(
    context: typer.Context,
    folder: RunFolder,
    settings: Annotated[Given, EvolvedSettings, {"deals": f"{_PLAYER_DEALS}"}],
    generations: _Generations = PLAYER.generations,
    check_every: _CheckEvery = CHECKS.every,
    check_deals: _CheckDeals = CHECKS.deals,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
) -> None:
    """Evolve the player, against the nine trainers of a folder.

    An unfinished run is resumed. The final chromosome is a bot: `evolved?chromosome=FILE`.
    """
    terminal = context.ensure_object(Terminal)
    rule, asked = (
        StopRule(generations=generations),
        EvolvedSettings(**settings | {"deals": settings.get("deals", _PLAYER_DEALS)}),
    )
    checks = CheckSettings(every=check_every, deals=check_deals)
    with _evolving(terminal, folder, workers, scheduler) as (over, show):
        run = evolve_player(folder, asked, rule, checks=checks, workers=over, show=show)
    _report(terminal, [run])
    terminal.sentence(f"It plays as evolved?chromosome={run.path}")


@contextlib.contextmanager
def _evolving(
    terminal: Terminal, folder: Path, count: int, scheduler: str | None
) -> Iterator[tuple[Workers | None, Callable[[EvolutionProgress], None]]]:
    """The workers, and the callback for the progress after each generation."""
    with computing(folder, "every finished generation", count, scheduler) as workers, LiveLine(terminal) as line:
        try:
            yield workers, lambda progress: line(progress_line(progress))
        except MemoryError:
            abort("there is not enough memory: use a smaller population, fewer deals or a smaller tournament")


def progress_line(progress: EvolutionProgress) -> str:
    """The progress of a run, the most important first."""
    generation = progress.generation
    of = f" ({progress.number}/{progress.runs})" if progress.runs > 1 else ""
    left = time_left(progress.left_s)
    if left and not progress.is_exact:
        left += " at most"
    renewed = (
        f", trainers renewed {generation.renewals}x, {generation.since_renewal} generations ago"
        if generation.renewals
        else ""
    )
    speed = f", {progress.hands / progress.seconds / 1e6:.1f} M hands/s" if progress.seconds else ""
    return (
        f"{progress.name}{of}: generation {generation.number}{left}, best {generation.best:+,.0f}, "
        f"mean {generation.mean:+,.0f}, best trainer {generation.best_opponent or 0:+,.0f} dollars{renewed}, "
        f"genes used {generation.used_share:.0%}{speed}"
    )


def _report(terminal: Terminal, runs: list[EvolvedRun]) -> None:
    columns = (
        "run",
        Column("generations", ",", rank=1),
        "best",
        Column("mean", ",", rank=2),
        Column("best trainer", ",", rank=3),
        Column("genes used", ",", rank=4),
        Column("ended because", format=TEXT),
    )
    rows = (
        (
            run.name,
            f"{run.last.number:,}",
            f"{run.last.best:+,.0f}",
            f"{run.last.mean:+,.0f}",
            f"{run.last.best_opponent or 0:+,.0f}",
            f"{run.last.used_share:.0%}",
            run.reason.value,
        )
        for run in runs
    )
    terminal.table(Table.of("", columns, rows))
    terminal.sentence(f"{count_of(len(runs), 'chromosome')} in {runs[0].path.parent}; gains are dollars over all hands")
