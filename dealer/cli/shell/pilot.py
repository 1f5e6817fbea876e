"""``arena play --plan``: how many deals a stop rule is likely to need, from a pilot whose files are not kept."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.contests import RunLine
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.library import new_run
from dealer.reports.result_sentences import rounded_up
from dealer.run.ending import Outcome
from dealer.run.plan import settle
from dealer.run.results import ContestResult
from dealer.run.run_settings import RunSettings, Score
from dealer.run.tournament_run import Progress
from dealer.table.loop import new_event_loop
from engine.text import count_of, duration
from logs.document import Document
from logs.estimation import FEWEST_UNITS, FixedDeals
from protocol.game_definition import short_name

PILOT_DEALS: Final = 1000
_LONGEST_S: Final = 30.0


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
        result, progress = runner.run(
            _pilot(
                replace(asked, deals=min(plan.deals, PILOT_DEALS), export=(), histories=None),
                Path(folder) / "pilot",
                line,
            )
        )
    if result.outcome is Outcome.FAILED:
        abort(result.sentence, EXIT_FAILED)
    if progress.deals_needed is None:
        abort(
            f"the pilot has {count_of(result.duplicates, 'deal')}, fewer than {FEWEST_UNITS}: too few for an estimate",
            EXIT_FAILED,
        )
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
    raise typer.Exit


async def _pilot(asked: RunSettings, folder: Path, line: RunLine) -> tuple[ContestResult, Progress]:
    """The result and the last progress of a pilot, which ends after some time at the latest."""
    run = new_run(asked, folder)
    latest: list[Progress] = []

    def show(progress: Progress) -> None:
        latest[:] = [progress]
        line.show(progress)

    asyncio.get_running_loop().call_later(_LONGEST_S, run.interrupt)
    return await run.play(show), latest[0]
