"""``arena train``: bots that learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bots.learner.memory import Constants
from bots.learner.training import LearnerSettings
from dealer.cli.console import Terminal, abort, check_new_file
from dealer.cli.options import given, setting_options, takes_options
from dealer.cli.progress import LiveLine, time_left
from dealer.cli.reports import PageFile, PageForce, show_report, write_report
from dealer.cli.streams import EXIT_INTERRUPTED
from dealer.cli.train_cfr import cfr

if TYPE_CHECKING:
    from bots.learner.training import LearnerProgress

app = typer.Typer(help="Train players: the learner against any field, cfr against itself.", no_args_is_help=True)

_TRAINING: Final = "Training"
_CONSTANTS: Final = "How finely it looks"
_DEFAULTS: Final = LearnerSettings()


@app.callback()
def _group() -> None:
    """Train players: the learner against any field, cfr against itself."""


app.command()(cfr)


_ConstantOptions: Any = setting_options(Constants, _CONSTANTS)
_TrainingOptions: Any = setting_options(LearnerSettings, _TRAINING)


@app.command()
@takes_options
def learner(
    context: typer.Context,
    constants: _ConstantOptions,
    training: _TrainingOptions,
    game: Annotated[
        str,
        typer.Option("--game", help="A game (see 'arena games'), or a .game file.", rich_help_panel=_TRAINING),
    ] = _DEFAULTS.game,
    opponents: Annotated[
        str,
        typer.Option(
            metavar="BOTS",
            help="The field it learns on: bots with blanks between them. Fewer than there are seats are repeated, more "
            "take turns.",
            rich_help_panel=_TRAINING,
        ),
    ] = " ".join(_DEFAULTS.opponents),
    unseen: Annotated[
        str,
        typer.Option(metavar="BOTS", help="The field it is tested on and never learns on.", rich_help_panel=_TRAINING),
    ] = " ".join(_DEFAULTS.unseen),
    hands: Annotated[
        int, typer.Option("--hands", "-n", min=1, help="Hands, in whole blocks.", rich_help_panel=_TRAINING)
    ] = 40_000,
    memory: Annotated[
        Path,
        typer.Option("--memory", metavar="FILE", help="What it remembers; a training is gone on with."),
    ] = Path("learner.memory"),
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Train the learner: play hands against a field, remember what each decision earned, and test it now and then.

    After each block it plays unseen deals, frozen, against the field it learns on and against another one. The same
    command goes on with an interrupted training; a larger -n goes on with a finished one.
    """
    terminal = context.ensure_object(Terminal)
    from bots.learner.training import train
    from bots.studies.learner import training_report

    if out is not None:
        check_new_file(out, force)
    if memory.is_dir():
        abort(f"{memory} is a folder: --memory takes a file")
    try:
        looks = Constants(**given(constants))
    except ValueError as error:
        abort(str(error))
    settings = LearnerSettings(
        game=game,
        opponents=tuple(opponents.split()),
        unseen=tuple(unseen.split()),
        constants=looks,
        **given(training),
    )
    try:
        with LiveLine(terminal) as show:
            trained, blocks = train(settings, hands, memory, lambda progress: show(_line(progress)))
    except KeyboardInterrupt:
        abort(f"interrupted; {memory} holds every finished block: the same command goes on", EXIT_INTERRUPTED)
    report = training_report(settings, trained, blocks)
    show_report(terminal, report)
    looking = "".join(f",{name}={value:g}" for name, value in Constants().differences(looks).items())
    terminal.print(f"It plays as learner?memory={memory},learn=false{looking}")
    if out is not None:
        write_report(terminal, report, out)


def _line(progress: LearnerProgress) -> str:
    last = progress.blocks[-1]
    speed = "" if progress.hands_per_s is None else f", {progress.hands_per_s:,.0f} hands/s"
    return (
        f"block {len(progress.blocks)} of {progress.wanted}{time_left(progress.left_s)}: "
        f"{last.hands:,} hands{speed}, {last.cells:,} cells; "
        f"mbb/g learning {last.learning.mean:+,.0f}, frozen {last.field.mean:+,.0f}, "
        f"against the other field {last.unseen.mean:+,.0f}"
    )
