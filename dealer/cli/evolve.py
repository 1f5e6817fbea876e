"""``arena evolve``: the evolution of agents."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.live import Live
from rich.text import Text

from bots.errors import WorkersError
from bots.evolution import StopRule
from bots.evolved.checks import CheckSettings
from bots.evolved.runs import CHECKS, Progress, Run, evolve_player, evolve_trainers
from bots.evolved.training import OPPONENTS, PLAYER, TRAINER, TrainingSettings
from bots.workers import Workers, cluster_workers, local_workers
from dealer.cli.console import Terminal, abort
from dealer.cli.evolve_kuhn import kuhn
from dealer.cli.evolve_kuhn_report import kuhn_report
from dealer.cli.evolve_learner import learner
from dealer.cli.evolve_learner_report import learner_report
from dealer.cli.evolve_report import report
from dealer.cli.options import takes_options
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.results.sentences import count_of

__all__ = ["app", "progress_line"]

app = typer.Typer(
    help="Evolve agents of ten-handed limit hold'em and of Kuhn poker, and the constants of the learner.",
    no_args_is_help=True,
)

app.command()(kuhn)
app.command()(learner)
app.command("kuhn-report")(kuhn_report)
app.command("learner-report")(learner_report)

_PLAIN_EVERY_S: Final = 10.0
_TRAINING: Final = "Training"
_STOP: Final = "When to stop"
_ALONG: Final = "Checks along the way"
_WORK: Final = "Where it is computed"


def _help(about: Any) -> Any:
    """The option of a training setting; its meaning and default stand with the setting."""
    kind = type(about.default)
    flags = [f"--{about.name}/--no-{about.name}"] if kind is bool else [f"--{about.name}"]
    text = about.metadata["decides"]
    return typer.Option(*flags, help=f"{text[0].upper()}{text[1:]}.", rich_help_panel=_TRAINING)


def _options(**defaults: Any) -> Any:
    """The training's settings as options of a command; `defaults` are those that differ."""
    return make_dataclass(
        "_Options",
        [
            (about.name, Annotated[type(about.default), _help(about)], defaults.get(about.name, about.default))
            for about in fields(TrainingSettings)
        ],
        frozen=True,
    )


_TrainerOptions: Any = _options()
_PlayerOptions: Any = _options(deals=520)

_Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the runs; made if it is not there.")]
_Generations = Annotated[
    int | None, typer.Option("--generations", min=1, help="Breed at most this many generations.", rich_help_panel=_STOP)
]
_CheckEvery = Annotated[
    int,
    typer.Option(
        "--check-every",
        min=0,
        help="Let the best individual meet opponents from whom nothing is learned, random trainers and earlier "
        "champions, whenever so many generations have been bred; 0 never does.",
        rich_help_panel=_ALONG,
    ),
]
_CheckDeals = Annotated[
    int,
    typer.Option(
        "--check-deals",
        min=1,
        help="Deals of such a meeting, each played 100 times; no training sees them.",
        rich_help_panel=_ALONG,
    ),
]
_WorkerCount = Annotated[
    int, typer.Option("--workers", min=1, max=1000, help="Processes that play the hands.", rich_help_panel=_WORK)
]
_Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Let the workers of a dask cluster play the hands.",
        rich_help_panel=_WORK,
    ),
]


@app.command()
@takes_options
def trainers(
    context: typer.Context,
    folder: _Folder,
    settings: _TrainerOptions,
    count: Annotated[
        int, typer.Option("--count", min=1, help="How many trainers.", rich_help_panel=_TRAINING)
    ] = OPPONENTS,
    generations: _Generations = TRAINER.generations,
    patience: Annotated[
        int,
        typer.Option(min=1, help="Stop when this many generations brought no better trainer.", rich_help_panel=_STOP),
    ] = TRAINER.patience or 0,
    renewals: Annotated[
        int,
        typer.Option(min=1, help="Stop when this many generations brought a better trainer.", rich_help_panel=_STOP),
    ] = TRAINER.opponents or 0,
    check_every: _CheckEvery = CHECKS.every,
    check_deals: _CheckDeals = CHECKS.deals,
    workers: _WorkerCount = 1,
    scheduler: _Scheduler = None,
) -> None:
    """Evolve the trainers of the evolved agent: each plays against nine others, which better ones replace.

    A folder that holds unfinished runs is gone on with.
    """
    terminal = context.ensure_object(Terminal)
    rule = StopRule(generations=generations, patience=patience, opponents=renewals)
    asked, checks = _training(settings), CheckSettings(every=check_every, deals=check_deals)
    with _workers(workers, scheduler) as over, _kept(folder), _Live(terminal) as show:
        runs = evolve_trainers(folder, asked, rule, count=count, checks=checks, workers=over, show=show)
    _report(terminal, runs)


@app.command()
@takes_options
def player(
    context: typer.Context,
    folder: _Folder,
    settings: _PlayerOptions,
    generations: _Generations = PLAYER.generations,
    check_every: _CheckEvery = CHECKS.every,
    check_deals: _CheckDeals = CHECKS.deals,
    workers: _WorkerCount = 1,
    scheduler: _Scheduler = None,
) -> None:
    """Evolve the player, against the nine trainers of a folder.

    An unfinished run is gone on with. The chromosome it leaves is a bot: `evolved?chromosome=FILE`.
    """
    terminal = context.ensure_object(Terminal)
    rule, asked = StopRule(generations=generations), _training(settings)
    checks = CheckSettings(every=check_every, deals=check_deals)
    with _workers(workers, scheduler) as over, _kept(folder), _Live(terminal) as show:
        run = evolve_player(folder, asked, rule, checks=checks, workers=over, show=show)
    _report(terminal, [run])
    terminal.print(f"It plays as evolved?chromosome={run.path}")


def _training(settings: Any) -> TrainingSettings:
    return TrainingSettings(**{about.name: getattr(settings, about.name) for about in fields(TrainingSettings)})


@contextlib.contextmanager
def _workers(count: int, scheduler: str | None) -> Iterator[Workers | None]:
    if scheduler is not None and count > 1:
        abort("--workers counts processes of this machine, and a cluster has workers of its own: leave one out")
    if scheduler is None and count == 1:
        yield None
        return
    with cluster_workers(scheduler) if scheduler is not None else local_workers(count) as workers:
        yield workers


@contextlib.contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Whatever ends the command early, say what is kept, and how to go on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        abort(f"interrupted; {folder} holds every finished generation: the same command goes on", EXIT_INTERRUPTED)
    except WorkersError as error:
        abort(f"{error}; {folder} holds every finished generation: the same command goes on", EXIT_FAILED)
    except MemoryError:
        abort("there is not enough memory: ask for a smaller population, fewer deals or a smaller tournament")


class _Live:
    """Shows progress: one line, redrawn on a terminal and printed now and then elsewhere."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._live = None
        if terminal.err.is_terminal:
            self._live = Live(Text(""), console=terminal.err, auto_refresh=False, transient=True)
        self._next_s = time.monotonic() + _PLAIN_EVERY_S

    def __enter__(self) -> _Live:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        line = progress_line(progress)
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif time.monotonic() >= self._next_s:
            self._terminal.say(line)
            self._next_s = time.monotonic() + _PLAIN_EVERY_S


def progress_line(progress: Progress) -> str:
    """How a run stands, the most important first."""
    generation = progress.generation
    of = f" ({progress.number}/{progress.runs})" if progress.runs > 1 else ""
    left = (
        ""
        if progress.left_s is None
        else f", {_duration(progress.left_s)} left{'' if progress.is_exact else ' at most'}"
    )
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


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _report(terminal: Terminal, runs: list[Run]) -> None:
    terminal.table(
        ["run", "generations", "best", "mean", "best trainer", "genes used", "ended because"],
        [
            [
                run.name,
                f"{run.last.number:,}",
                f"{run.last.best:+,.0f}",
                f"{run.last.mean:+,.0f}",
                f"{run.last.best_opponent or 0:+,.0f}",
                f"{run.last.used_share:.0%}",
                run.reason.value,
            ]
            for run in runs
        ],
        left=(0, 6),
    )
    terminal.print(f"{count_of(len(runs), 'chromosome')} in {runs[0].path.parent}; gains are dollars over all hands")


app.command()(report)
