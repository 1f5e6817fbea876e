"""``arena train``: train bots that learn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bots.learner.memory import Constants
from bots.learner.training import LearnerSettings
from bots.sdk.options import Interval, Wording
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.computations import TRAINING, computing
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.train_cfr import cfr
from dealer.cli.train_values import values

app = typer.Typer(
    cls=ArenaGroup, help="Train the bot learner against any field, or cfr against itself.", no_args_is_help=True
)

app.command()(cfr)
app.command()(values)


@app.command()
def learner(
    terminal: Terminal,
    constants: Constants,
    training: LearnerSettings,
    hands: Annotated[int, "Hands, in whole blocks.", Interval(1), Wording(flags="-n", group=TRAINING)] = 40_000,
    memory: Annotated[
        Path, "File of the bot's memory; an existing training is continued.", Wording("FILE", group="Options")
    ] = Path("learner.memory"),
    *,
    output: DocumentOptions,
) -> None:
    """Train the learner: play hands against a field, remember the reward of each decision, and test after each block.

    The tests are on unseen deals, with a frozen memory, against the field of the training and another one. The same
    command resumes an interrupted training; a larger -n continues a finished one.
    """
    from bots.learner.training import train, training_document

    if memory.is_dir():
        abort(f"{memory} is a folder; --memory takes a file")
    settings = replace(training, constants=constants)
    with computing(terminal, "training", memory, "every finished block") as (_, show):
        trained, blocks = train(settings, hands, memory, show)
    output.show(terminal, training_document(settings, trained, blocks, memory))
