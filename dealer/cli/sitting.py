"""A person at a table, from a run to the exit code: for `arena table`, and for `arena resume` of such a run."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any, NoReturn

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE
from dealer.library import Run, reopen
from dealer.person.terminal import Face, Leaving, sit_down
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.sentences import contest_sentence


def reopen_table(folder: Path) -> Run[ContestResult]:
    """The run in a folder, which has to be one of this command."""
    run: Run[Any] = reopen(folder)
    if not run.is_table:
        abort(f"{folder} is no match at a table; 'arena resume {folder}' goes on with it")
    return run


def play_seat(terminal: Terminal, run: Run[ContestResult], face: Face) -> NoReturn:
    """Let the person play a run, say what became of it, and end the command."""
    _end_if_finished(terminal, run)
    sitting = sit_down(terminal.out, run, face)
    terminal.print()
    _end(
        terminal,
        run,
        sitting.result,
        is_over=sitting.leaving is Leaving.OVER,
        is_cut=sitting.leaving is Leaving.INTERRUPTED,
    )


def play_page(terminal: Terminal, run: Run[ContestResult], port: int) -> NoReturn:
    """Let the person play a run in a browser, say what became of it, and end the command."""
    _end_if_finished(terminal, run)
    from dealer.web.local import play_in_browser

    def tell(address: str) -> None:
        terminal.sentence(
            "Play in your browser, at this address; it is for you alone. Ctrl-C here ends the table, too:"
        )
        terminal.print(address)
        terminal.out.file.flush()
        if terminal.out.is_terminal:
            webbrowser.open(address)

    sitting = play_in_browser(run, port, tell)
    if sitting.result is None:
        abort(sitting.problem.rstrip(".") or "nothing could be played", EXIT_FAILED)
    _end(terminal, sitting.run, sitting.result, is_over=sitting.result.outcome is not Outcome.INTERRUPTED, is_cut=False)


def _end_if_finished(terminal: Terminal, run: Run[ContestResult]) -> None:
    if run.finished is not None:
        terminal.sentence(run.finished.sentence)
        terminal.sentence(f"{run.folder} has finished; 'arena resume {run.folder} -n HANDS' asks for more hands.")
        raise typer.Exit


def _end(
    terminal: Terminal, run: Run[ContestResult], result: ContestResult, *, is_over: bool, is_cut: bool
) -> NoReturn:
    """Say what became of a run, and end the command."""
    terminal.sentence(_closing(result))
    if len(result.players) > 2 and result.hands_played:
        chips = ", ".join(f"{player.name} {player.chips:+z,.10g}" for player in result.players)
        terminal.sentence(f"Chips: {chips}.")
    for sentence in (*run.warnings, *run.unwritten):
        terminal.say(sentence)
    terminal.sentence(f"Seed {result.seed}. Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Resume with: {result.resume}")
    if run.unwritten:
        raise typer.Exit(EXIT_USAGE)
    if is_over:
        raise typer.Exit(0 if result.outcome.is_complete else EXIT_FAILED)
    raise typer.Exit(EXIT_INTERRUPTED if is_cut else 0)


def _closing(result: ContestResult) -> str:
    """The result in a sentence; that a person has left needs no saying."""
    if result.outcome is Outcome.INTERRUPTED:
        result = result.model_copy(update={"outcome": Outcome.FINISHED, "reason": "you have left the table."})
    return contest_sentence(result)
