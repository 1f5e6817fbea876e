"""``arena play --plan``: how many deals a stop rule is likely to need, from a pilot whose files are not kept."""

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
from dealer.library import new_run
from dealer.run.choices import Score
from dealer.run.ending import Outcome
from dealer.run.plan import settle
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import rounded_up
from dealer.run.run_settings import RunSettings
from dealer.run.tournament_run import Progress
from dealer.table.bot_code import interrupting_bot_code
from dealer.table.loop import new_event_loop
from engine.text import count_of, duration
from logs.document import Document
from logs.estimation import MIN_UNITS, FixedDeals
from protocol.game_definition import short_name

PILOT_DEALS: Final = 1000
_PILOT_TIMEOUT_S: Final = 30.0


def show_plan(terminal: Terminal, asked: RunSettings, *, is_silent: bool, as_json: bool) -> None:
    """Play the pilot, print what the stop rule is likely to need, and end the command."""
    plan = settle(asked)
    if isinstance(plan.stop, FixedDeals):
        abort("--plan estimates what a stop rule needs: give --stop ci=20 or --stop better:0,30")
    with (
        tempfile.TemporaryDirectory(prefix="arena-plan-") as folder,
        RunLine(terminal, is_silent=is_silent or as_json) as line,
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        pilot = replace(asked, deals=min(plan.deals, PILOT_DEALS), export=(), histories=None)
        result, progress, is_stopped = runner.run(_pilot(pilot, Path(folder) / "pilot", line))
    if result.outcome is Outcome.FAILED:
        abort(result.sentence, EXIT_FAILED)
    if progress.deals_needed is None:
        few = f"{count_of(result.duplicates, 'deal')}, fewer than {MIN_UNITS}: too few for an estimate"
        if is_stopped:
            abort(f"interrupted; the pilot has {few}", EXIT_INTERRUPTED)
        abort(f"the pilot has {few}", EXIT_FAILED)
    deals = progress.deals + progress.deals_needed
    seconds = deals * result.seatings / result.hands_per_second
    corrected = ", without the luck of the cards" if result.score is Score.CORRECTED else ""
    took = f"{count_of(result.duplicates, 'deal')} took {duration(result.seconds)}"
    most = f", more than the {plan.deals:,} that would be played" if deals > plan.deals else ""
    document = Document(
        "Deals needed",
        (
            f"A pilot of {took}: {progress.rate}{corrected}, {result.hands_per_second:,.0f} hands/s.",
            f"--stop {result.stop} is likely to need about {count_of(rounded_up(deals), 'deal')} of "
            f"{short_name(result.game)}{most}: {duration(seconds)}.",
        ),
        data={"stop": result.stop, "deals": deals, "seconds": seconds, "pilot": result},
    )
    show_document(terminal, document, as_json=as_json, quiet=True)
    raise typer.Exit(EXIT_INTERRUPTED if is_stopped else 0)


async def _pilot(asked: RunSettings, folder: Path, line: RunLine) -> tuple[ContestResult, Progress, bool]:
    """The result and the last progress of a pilot, which ends after some time at the latest, and whether a signal
    ended it."""
    run = new_run(asked, folder)
    latest: list[Progress] = []
    is_stopped = False

    def stop() -> None:
        nonlocal is_stopped
        is_stopped = True
        run.interrupt()

    def give_up() -> NoReturn:
        shutil.rmtree(folder.parent, ignore_errors=True)
        line.give_up()

    def show(progress: Progress) -> None:
        latest[:] = [progress]
        line.show(progress)

    on_stop(stop)
    asyncio.get_running_loop().call_later(_PILOT_TIMEOUT_S, run.interrupt)
    with interrupting_bot_code(give_up) if run.plan.in_process else contextlib.nullcontext():
        result = await run.play(show)
    return result, latest[0], is_stopped
