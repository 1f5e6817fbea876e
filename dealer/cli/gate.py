"""``arena gate``: check a player's win rate, with an exit code for build servers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import JsonOutput, Junit
from dealer.cli.shell.console import Terminal, abort, check_writable, write_file
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import run_argument
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_UNDECIDED
from dealer.reports.gate_report import GateScore, gate_case, judge, junit_report, rate_by
from dealer.run.results import read_contest
from engine.errors import quoted

_EXIT_CODES = {"passed": 0, "failed": EXIT_FAILED, "undecided": EXIT_UNDECIDED}


def gate(
    terminal: Terminal,
    run: Annotated[
        Path,
        run_argument(metavar="RUN", help="Folder of a run, or its result.json."),
    ],
    min_mbb: Annotated[float, "Lowest win rate, in mbb/g."],
    player: Annotated[str | None, "Name of the player.", Wording(otherwise="the first")] = None,
    score: Annotated[
        GateScore,
        "Win rate to check: 'raw' is that of the chips, 'corrected' without the luck of the cards, 'aivat' also "
        "without that of the choices of a known player. The run's result must have it.",
    ] = GateScore.RAW,
    as_json: JsonOutput = False,
    junit: Junit = None,
) -> None:
    """Check whether a player wins at least --min-mbb: exit code 0 if so, 1 if not, 3 if more deals are needed.

    The whole guaranteed interval must lie on one side of the bound. A run that ended early is judged by its finished
    hands.
    """
    if not math.isfinite(min_mbb):
        abort(f"--min-mbb must be a finite number of mbb/g, not {min_mbb}")
    check_writable(junit)
    result = read_contest(run)
    name = result.players[0].name if player is None else player
    try:
        rate = rate_by(result, name, score)
        judgement = judge(result, name, min_mbb, score)
    except KeyError:
        names = ", ".join(player.name for player in result.players)
        abort(f"there is no player {quoted(name)}; there are: {names}")
    if rate is None and result.duplicates:
        abort(f"the result of {run} has no win rate for --score {score}; play with --score {score}")
    if junit is not None:
        write_file(junit, junit_report(result, [gate_case(judgement)]))
    show_document(terminal, judgement, as_json=as_json, quiet=True)
    raise typer.Exit(_EXIT_CODES[judgement.data.verdict])
