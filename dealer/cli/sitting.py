"""A person at a table, from a run to the exit code: for `arena table`, and for `arena resume` of such a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE
from dealer.contest.ending import Outcome
from dealer.results.schema import ContestResult
from dealer.results.sentences import contest_sentence
from dealer.runs import Run, reopen
from dealer.terminal_seat.sitting import Face, Leaving, sit_down

__all__ = ["play_seat", "reopen_table"]


def reopen_table(folder: Path) -> Run[ContestResult]:
    """The run in a folder, which has to be one of this command."""
    run: Run[Any] = reopen(folder)
    if not run.is_table:
        abort(f"{folder} is no match at a table; 'arena resume {folder}' goes on with it")
    return run


def play_seat(terminal: Terminal, run: Run[ContestResult], face: Face) -> NoReturn:
    """Let the person play a run, say what became of it, and end the command."""
    if run.finished is not None:
        terminal.sentence(run.finished.sentence)
        terminal.sentence(f"{run.folder} has finished; 'arena resume {run.folder} -n HANDS' asks for more hands.")
        raise typer.Exit
    sat = sit_down(terminal.out, run, face)
    result = sat.result
    terminal.print()
    terminal.sentence(_closing(result))
    if len(result.players) > 2 and result.hands_played:
        chips = ", ".join(f"{player.name} {player.chips:+z,.10g}" for player in result.players)
        terminal.sentence(f"Chips: {chips}.")
    for sentence in (*run.warnings, *run.unwritten):
        terminal.say(sentence)
    terminal.sentence(f"Seed {result.seed}. Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Go on with: {result.resume}")
    if run.unwritten:
        raise typer.Exit(EXIT_USAGE)
    if sat.leaving is Leaving.OVER:
        raise typer.Exit(0 if result.outcome.is_complete else EXIT_FAILED)
    raise typer.Exit(EXIT_INTERRUPTED if sat.leaving is Leaving.INTERRUPTED else 0)


def _closing(result: ContestResult) -> str:
    """The result in a sentence; that a person has left needs no saying."""
    if result.outcome is Outcome.INTERRUPTED:
        result = result.model_copy(update={"outcome": Outcome.FINISHED, "reason": "you have left the table."})
    return contest_sentence(result)
