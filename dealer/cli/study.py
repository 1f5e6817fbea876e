"""``arena study``: the claims of the publications that bots come from, judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bots.studies.learner import LearnerStudySettings
from dealer.cli.commands import ArenaGroup
from dealer.cli.computing import RunFolder, Scheduler, WorkerCount, computing, workers_from
from dealer.cli.console import Terminal, abort, write_file
from dealer.cli.options import given, setting_options, takes_options
from dealer.cli.progress import showing_progress
from dealer.cli.report_output import PageFile, PageForce, check_page
from dealer.cli.streams import EXIT_INTERRUPTED

if TYPE_CHECKING:
    from bots.studies.report import Report

app = typer.Typer(
    cls=ArenaGroup,
    help="Report on the publications that bots come from: printed figures next to ours.",
    no_args_is_help=True,
)

_LearnerOptions: Any = setting_options(LearnerStudySettings)
_KEPT: Final = "the finished part"


@app.command()
def evolved(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the finished runs.")],
    compare: Annotated[
        list[Path] | None,
        typer.Option("--compare", metavar="FOLDER", help="Also compare with the player of this folder; repeatable."),
    ] = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Deals that no training used, each played 100 times.")
    ] = 1000,
    matches: Annotated[
        int,
        typer.Option(
            "--matches",
            min=0,
            help="Deals of each match against other bots; more at a table of ten; 0 plays none.",
        ),
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of these deals and of the matches.")] = 20_121,
    gene_deals: Annotated[
        int, typer.Option("--gene-deals", min=1, help="Deals on which the use of the genes is counted.")
    ] = 2000,
    workers: WorkerCount = 1,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Report on an evolution: its figures next to the printed ones, results on unseen deals and against other bots.

    The graphs are on the page that --out writes.
    """
    from bots.evolved.runs import read_runs
    from bots.studies.evolved import EvolvedStudySettings, evolved_report

    check_page(out, force)
    terminal = context.ensure_object(Terminal)
    runs = read_runs(folder)
    others = [read_runs(path) for path in compare or ()]
    settings = EvolvedStudySettings(deals=deals, matches=matches, seed=seed, gene_deals=gene_deals)
    try:
        with workers_from(workers) as over, showing_progress(terminal, "playing") as show:
            found = evolved_report(runs, settings, others, workers=over, show=show)
    except KeyboardInterrupt:
        abort("interrupted; the report is computed in one piece: the same command starts over", EXIT_INTERRUPTED)
    show_report(terminal, found, out)


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
    """Report on the learner: every experiment of its thesis, with intervals over seeds, and matches against all bots.

    The learning curves are on the page that --out writes. The same command resumes after an interruption.
    """
    check_page(out, force)
    terminal = context.ensure_object(Terminal)
    from bots.studies.learner import learner_report, play_all

    wanted = LearnerStudySettings(**given(settings))
    with computing(folder, _KEPT, workers, scheduler) as over, showing_progress(terminal, "playing") as show:
        played = play_all(wanted, folder, workers=over, show=show)
    show_report(terminal, learner_report(wanted, played), out)


@app.command()
def kuhn(
    context: typer.Context,
    folder: RunFolder,
    seeds: Annotated[
        int, typer.Option(min=2, help="Runs of an experiment; of long ones only a fifth or a twentieth.")
    ] = 100,
    workers: WorkerCount = 1,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Judge the figures of the thesis on Kuhn poker: each next to runs of ours and exact values.

    All experiments are first run with few seeds. The same command resumes after an interruption.
    """
    check_page(out, force)
    terminal = context.ensure_object(Terminal)
    from bots.studies.kuhn import kuhn_report
    from bots.studies.kuhn_runs import experiments, read_results, run_experiments

    with computing(folder, _KEPT, workers) as over, showing_progress(terminal, "running") as show:
        run_experiments(folder, experiments(), seeds, workers=over, show=show)
    show_report(terminal, kuhn_report(read_results(folder, experiments(), seeds)), out)


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

    The same command resumes after an interruption.
    """
    check_page(out, force)
    terminal = context.ensure_object(Terminal)
    if hands % 2:
        abort(f"--hands {hands}: it must be even, as every deal is played in both seats")
    from bots.studies.lp_mc import lp_mc_report

    with computing(folder, _KEPT, workers) as over, showing_progress(terminal, "playing") as show:
        report = lp_mc_report(folder, hands, workers=over, show=show)
    show_report(terminal, report, out)


@app.command()
def rembrant(context: typer.Context, out: PageFile = None, force: PageForce = False) -> None:
    """Judge the statements of the paper on Rembrant about its rules; no hands are played."""
    check_page(out, force)
    terminal = context.ensure_object(Terminal)
    from bots.studies.rembrant import rembrant_report

    show_report(terminal, rembrant_report(), out)


def show_report(terminal: Terminal, report: Report, path: Path | None = None) -> None:
    """Print a report without its charts, and write it to the path."""
    terminal.heading(report.title)
    for sentence in report.sentences:
        terminal.sentence(sentence)
    if report.facts:
        terminal.sentence(", ".join(f"{name} {value}" for name, value in report.facts))
    for section in report.sections:
        if not section.sentences and not section.tables:
            continue
        terminal.heading(section.title)
        for sentence in section.sentences:
            terminal.sentence(sentence)
        for view in section.tables:
            terminal.table(replace(view, title="" if view.title == section.title else view.title))
    if path is not None:
        from bots.studies.report import format_report

        write_file(path, format_report(report))
        terminal.print(f"The page with all charts is {path}.")
