"""``arena evolve``: evolve players by genetic algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from bots.evolution.evolution import StopRule
from bots.evolved.report import runs_document, runs_page
from bots.evolved.runs import CheckSettings, EvolvedRun, evolve_player, evolve_trainers, run_names
from bots.evolved.training import OPPONENTS, PLAYER, TRAINER, EvolvedSettings
from bots.sdk.options import Interval, Wording
from dealer.cli.evolve_kuhn import kuhn
from dealer.cli.evolve_learner import learner
from dealer.cli.shell.command_options import TypedOptions
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.computations import TRAINING, RunFolder, Scheduler, WorkerCount, computing
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import DocumentOptions

app = typer.Typer(
    cls=ArenaGroup,
    help="Evolve hold'em and Kuhn players, or the learner's constants.",
    no_args_is_help=True,
)

app.command()(kuhn)
app.command()(learner)

_STOP: Final = "When to stop"

_PLAYER_DEALS: Final = 520
_FOLDER_CONTENT: Final = "every finished generation"
_Hands = Annotated[
    bool,
    "Also write the last hands, for a tracker. They are those of the best individual in the last generation, as "
    "PokerStars histories in the folder 'hands'.",
    Wording(flags="--hands", group=TRAINING),
]
_Generations = Annotated[int | None, "Breed at most this many generations.", Interval(1), Wording(group=_STOP)]


@app.command()
def trainers(
    terminal: Terminal,
    folder: RunFolder,
    settings: EvolvedSettings,
    count: Annotated[int, "Number of trainers.", Interval(1), Wording(group=TRAINING)] = OPPONENTS,
    generations: _Generations = TRAINER.generations,
    patience: Annotated[
        int, "Stop after this many generations without a better trainer.", Interval(1), Wording(group=_STOP)
    ] = TRAINER.patience or 0,
    renewals: Annotated[
        int, "Stop after this many generations with a better trainer.", Interval(1), Wording(group=_STOP)
    ] = TRAINER.opponents or 0,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    hands: _Hands = False,
    *,
    checks: CheckSettings,
    output: DocumentOptions,
) -> None:
    """Evolve the trainers of the evolved player: each plays against nine others, which better ones replace.

    Unfinished runs in the folder are resumed.
    """
    rule = StopRule(generations=generations, patience=patience, opponents=renewals)
    with computing(terminal, "evolving", folder, _FOLDER_CONTENT, workers, scheduler) as (pool, show):
        runs = evolve_trainers(folder, settings, rule, count=count, checks=checks, workers=pool, show=show)
    _show(terminal, folder, runs, hands, output)


@app.command()
def player(
    terminal: Terminal,
    folder: RunFolder,
    settings: Annotated[TypedOptions, EvolvedSettings, {"deals": f"{_PLAYER_DEALS}"}],
    generations: _Generations = PLAYER.generations,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    hands: _Hands = False,
    *,
    checks: CheckSettings,
    output: DocumentOptions,
) -> None:
    """Evolve the player against the nine trainers of a folder.

    An unfinished run is resumed. The final chromosome is a bot: `evolved?chromosome=FILE`.
    """
    settings.setdefault("deals", _PLAYER_DEALS)
    rule = StopRule(generations=generations)
    evolved_settings = EvolvedSettings(**settings)
    with computing(terminal, "evolving", folder, _FOLDER_CONTENT, workers, scheduler) as (pool, show):
        run = evolve_player(folder, evolved_settings, rule, checks=checks, workers=pool, show=show)
    _show(terminal, folder, [run], hands, output)


def _show(
    terminal: Terminal, folder: Path, runs: Sequence[EvolvedRun], writes_hands: bool, output: DocumentOptions
) -> None:
    """Print the document of runs, and write their page and their hands if the options say so."""
    page = runs_page(runs) if output.out is not None else None
    output.show(terminal, runs_document(runs), page)
    if writes_hands:
        from bots.evolved.training_hands import training_hands, write_hands

        for run in runs:
            settings = run.settings
            opponents = [f"opponent-{number}" for number in range(1, OPPONENTS + 1)]
            if run.is_player:
                opponents = run_names(OPPONENTS)
            names = (run.name, *opponents)
            odds = (settings.odds,) * len(names)
            hands = training_hands(settings.evaluator.deal_set, run.table, odds, names, run.name)
            write_hands(folder / "hands", hands, run.name, settings.rake)
        if not output.as_json:
            terminal.sentence(f"The hands of the last generation are in {folder / 'hands'}")
