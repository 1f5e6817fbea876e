"""Estimate the deals that a stop rule will need from a pilot, for ``arena play --plan``."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

import typer

from dealer.cli.shell.console import Terminal, abort, on_stop
from dealer.cli.shell.contests import RunLine
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.run.choices import Score
from dealer.run.ending import Outcome
from dealer.run.plan import settle
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import rounded_up
from dealer.run.run import new_run
from dealer.run.run_settings import RunSettings
from dealer.run.tournament_run import Progress
from dealer.table.bot_code import interrupting_bot_code
from dealer.table.loop import new_event_loop
from engine.text import count_of, duration
from logs.document import Document
from logs.estimation import MIN_UNITS, FixedDeals
from protocol.game_definition import short_name

_PILOT_DEALS: Final = 1000
_PILOT_TIMEOUT_S: Final = 30.0


def show_plan(terminal: Terminal, settings: RunSettings, *, is_silent: bool, as_json: bool) -> None:
    """Play the pilot, print the estimate, and end the command.

    Raises:
        CommandError: there is no stop rule, or the pilot failed or was too short.
        typer.Exit: with the exit code of an interrupt, or 0.
    """
    plan = settle(settings)
    if isinstance(plan.stop, FixedDeals):
        abort("--plan estimates the deals of a stop rule; add one, such as --stop ci=20 or --stop better:0,30")
    with (
        tempfile.TemporaryDirectory(prefix="arena-plan-") as folder,
        RunLine(terminal, is_silent=is_silent or as_json) as line,
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        pilot = replace(settings, deals=min(plan.deals, _PILOT_DEALS), export=(), histories=None)
        result, progress, is_stopped = runner.run(_play_pilot(pilot, Path(folder) / "pilot", line))
    if result.outcome is Outcome.FAILED:
        abort(result.sentence, EXIT_FAILED)
    if progress.deals_needed is None:
        shortage = f"the pilot has {count_of(result.duplicates, 'deal')}, and an estimate needs at least {MIN_UNITS}"
        if is_stopped:
            abort(f"interrupted; {shortage}", EXIT_INTERRUPTED)
        abort(shortage, EXIT_FAILED)
    deals = progress.deals + progress.deals_needed
    document = _plan_document(result, progress, deals, max_deals=plan.deals)
    show_document(terminal, document, as_json=as_json, quiet=True)
    raise typer.Exit(EXIT_INTERRUPTED if is_stopped else 0)


def _plan_document(result: ContestResult, progress: Progress, deals: int, *, max_deals: int) -> Document:
    seconds = deals * result.seatings / result.hands_per_second
    pilot = f"A pilot of {count_of(result.duplicates, 'deal')} took {duration(result.seconds)}: {progress.rate}"
    if result.score is Score.CORRECTED:
        pilot = f"{pilot}, without the luck of the cards"
    if result.score is Score.AIVAT:
        pilot = f"{pilot}, by AIVAT"
    estimate = f"about {count_of(rounded_up(deals), 'deal')} of {short_name(result.game)}"
    if deals > max_deals:
        estimate = f"{estimate}, more than the {max_deals:,} that would be played"
    sentences = (
        f"{pilot}, {result.hands_per_second:,.0f} hands/s.",
        f"--stop {result.stop} is likely to need {estimate}: {duration(seconds)}.",
    )
    data = {"stop": result.stop, "deals": deals, "seconds": seconds, "pilot": result}
    return Document("Deals needed", sentences, data=data)


async def _play_pilot(settings: RunSettings, folder: Path, line: RunLine) -> tuple[ContestResult, Progress, bool]:
    """Play a pilot of at most 30 seconds.

    Returns:
        its result, its last progress, and whether a signal ended it.
    """
    run = new_run(settings, folder)
    latest: Progress | None = None
    is_stopped = False

    def stop() -> None:
        nonlocal is_stopped
        is_stopped = True
        run.interrupt()

    def give_up() -> NoReturn:
        # `line.give_up` ends the process without cleaning up.
        shutil.rmtree(folder.parent, ignore_errors=True)
        line.give_up()

    def show(progress: Progress) -> None:
        nonlocal latest
        latest = progress
        line.show(progress)

    on_stop(stop)
    asyncio.get_running_loop().call_later(_PILOT_TIMEOUT_S, run.interrupt)
    with interrupting_bot_code(give_up) if run.plan.in_process else contextlib.nullcontext():
        result = await run.play(show)
    assert latest is not None
    return result, latest, is_stopped
