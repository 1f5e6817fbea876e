"""``arena study``: the claims of the publications that bots come from, judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bots.studies.learner import LearnerStudySettings
from bots.studies.report import Report
from dealer.cli.console import Terminal, abort, check_new_file
from dealer.cli.options import takes_options
from dealer.cli.progress import showing_progress
from dealer.cli.reports import PageFile, PageForce, show_report, write_report
from dealer.cli.settings import given, setting_options
from dealer.cli.spread import RunFolder, Scheduler, WorkerCount, computing, workers_from
from dealer.cli.streams import EXIT_INTERRUPTED

app = typer.Typer(
    help="Report on the publications that bots come from: printed figures next to ours.", no_args_is_help=True
)

_LearnerOptions: Any = setting_options(LearnerStudySettings)
_KEPT: Final = "what is finished"


def _begin(context: typer.Context, out: Path | None, force: bool) -> Terminal:
    if out is not None:
        check_new_file(out, force)
    return context.ensure_object(Terminal)


def _finish(terminal: Terminal, report: Report, out: Path | None) -> None:
    show_report(terminal, report)
    if out is not None:
        write_report(terminal, report, out)


@app.command()
def evolved(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the finished runs.")],
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", metavar="FOLDER", help="Also compare the player of this folder; may be repeated."),
    ] = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Deals that nothing was trained on, each played 100 times.")
    ] = 1000,
    matches: Annotated[
        int,
        typer.Option(
            "--matches",
            min=0,
            help="Deals of each match against other bots, more where it must win at a table of ten; 0 plays none.",
        ),
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of these deals, and of the matches.")] = 20_121,
    gene_deals: Annotated[
        int, typer.Option("--gene-deals", min=1, help="Deals on which the use of the genes is counted.")
    ] = 2000,
    workers: WorkerCount = 1,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Report on an evolution: its figures compared with the printed ones, on unseen deals and against other bots.

    The graphs are on the page that --out writes.
    """
    from bots.evolved.runs import read_runs
    from bots.studies.evolved import EvolvedStudySettings, evolved_report

    terminal = _begin(context, out, force)
    runs = read_runs(folder)
    others = [read_runs(path) for path in beside or ()]
    settings = EvolvedStudySettings(deals=deals, matches=matches, seed=seed, gene_deals=gene_deals)
    try:
        with workers_from(workers) as over, showing_progress(terminal, "playing") as show:
            found = evolved_report(runs, settings, others, workers=over, show=show)
    except KeyboardInterrupt:
        abort("interrupted; a report cannot be resumed: the same command starts it over", EXIT_INTERRUPTED)
    _finish(terminal, found, out)


@app.command()
@takes_options
def learner(
    context: typer.Context,
    folder: RunFolder,
    settings: _LearnerOptions,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Report on the learner: every experiment of the thesis, with intervals over seeds, and matches against all bots.

    The learning curves are on the page that --out writes. An interrupted command resumes where it stopped.
    """
    terminal = _begin(context, out, force)
    from bots.studies.learner import learner_report, play_all

    wanted = LearnerStudySettings(**given(settings))
    with computing(folder, _KEPT, workers, scheduler) as over, showing_progress(terminal, "playing") as show:
        played = play_all(wanted, folder, workers=over, show=show)
    _finish(terminal, learner_report(wanted, played), out)


@app.command()
def kuhn(
    context: typer.Context,
    folder: RunFolder,
    seeds: Annotated[
        int, typer.Option(min=2, help="Runs of an experiment; of long ones a fifth or a twentieth are done.")
    ] = 100,
    workers: WorkerCount = 1,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Compare every figure of the thesis on Kuhn poker by genetic algorithms with our runs and with exact values.

    All experiments run with few seeds first; an interrupted command resumes where it stopped.
    """
    terminal = _begin(context, out, force)
    from bots.studies.kuhn import kuhn_report
    from bots.studies.kuhn_runs import experiments, read_results, run_experiments

    with computing(folder, _KEPT, workers) as over, showing_progress(terminal, "running") as show:
        run_experiments(folder, experiments(), seeds, workers=over, show=show)
    _finish(terminal, kuhn_report(read_results(folder, experiments(), seeds)), out)


@app.command()
def lp_mc(
    context: typer.Context,
    folder: RunFolder,
    hands: Annotated[int, typer.Option(min=4, help="Hands of each match of the whole bot, an even number.")] = 4000,
    workers: WorkerCount = 1,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Judge the tables of the thesis on lp-mc: solve the game before the flop and play the whole bot.

    An interrupted command resumes where it stopped.
    """
    terminal = _begin(context, out, force)
    if hands % 2:
        abort(f"--hands {hands}: it must be even, as every deal is played in both seats")
    from bots.studies.lp_mc import lp_mc_report

    with computing(folder, _KEPT, workers) as over, showing_progress(terminal, "playing") as show:
        report = lp_mc_report(folder, hands, workers=over, show=show)
    _finish(terminal, report, out)


@app.command()
def rembrant(context: typer.Context, out: PageFile = None, force: PageForce = False) -> None:
    """Judge the statements of the paper on Rembrant about its rules; no hands are played."""
    terminal = _begin(context, out, force)
    from bots.studies.rembrant import rembrant_report

    _finish(terminal, rembrant_report(), out)
