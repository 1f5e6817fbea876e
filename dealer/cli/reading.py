"""What the commands that read hands share: their arguments, and how they report problems."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias

import typer

from dealer.cli.console import EXIT_FAILED, Terminal, abort
from engine import Game
from logs.errors import DamagedLogError, ExportError, LogProblem, LogsError, UnknownGameError
from protocol import GameDefinitionError, find_game

if TYPE_CHECKING:
    from logs.tracker.hand_counts import HandCounts

__all__ = ["GameName", "Problems", "Sources", "Strict", "Transcript", "counted", "game_named"]

Sources: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN|LOG...",
        help="Folders of runs, ACPC logs, PHH and PokerStars files.",
        show_default=False,
    ),
]
GameName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--game", metavar="GAME", help="The game of logs that do not name one.", show_default="as the log says"
    ),
]
Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Stop at the first damaged line instead of skipping it.")
]

Transcript: TypeAlias = Annotated[
    Path | None,
    typer.Option("--transcript", metavar="FILE", help="File with the dealer's standard error, for the bots' comments."),
]

_MOST_SHOWN = 10


class Problems:
    """Reports problems with what is read: the first few in full, then their number."""

    def __init__(self, terminal: Terminal) -> None:
        self.count = 0
        self._terminal = terminal

    def __call__(self, problem: LogProblem) -> None:
        """Report a problem."""
        self.count += 1
        if self.count <= _MOST_SHOWN:
            self._terminal.say(str(problem))

    def stop(self, error: Exception) -> NoReturn:
        """End the command because of an error that ended the reading."""
        self.close()
        if isinstance(error, DamagedLogError):
            abort(str(error), EXIT_FAILED)
        if isinstance(error, OSError):
            abort(f"{error.filename}: {error.strerror}")
        if isinstance(error, UnknownGameError):
            abort(f"{error}: name the game with --game")
        if isinstance(error, ExportError):
            abort(f"{error}: --force overwrites it, --out takes another folder")
        abort(str(error))

    def close(self) -> None:
        """Report how many problems were not shown."""
        more = self.count - _MOST_SHOWN
        if more > 0:
            self._terminal.say(f"and {more:,} more problem{'s' * (more > 1)} like these")


def game_named(name: str | None) -> Game | None:
    """The game that an option names, if any; ends the command if there is no such game."""
    if name is None:
        return None
    try:
        return find_game(name)[1]
    except GameDefinitionError as error:
        abort(str(error))


def counted(
    terminal: Terminal,
    sources: list[Path],
    *,
    game: Game | None,
    strict: bool,
    transcript: Path | None = None,
    times: bool = False,
) -> HandCounts:
    """All hands of runs and logs, counted; ends the command if they cannot be read or there are none."""
    from logs.tracker.many_files import count_files

    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    problems = Problems(terminal)
    try:
        counts = count_files(
            sources,
            game=game,
            strict=strict,
            on_problem=problems,
            times=times,
            transcript=transcript,
            processes=os.cpu_count() or 1,
        )
    except (LogsError, OSError) as error:
        problems.stop(error)
    problems.close()
    if not counts.hands:
        abort("there is no finished hand in " + ", ".join(map(str, sources)))
    return counts
