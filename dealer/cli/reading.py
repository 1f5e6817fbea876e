"""What the commands that read hands share: their arguments, and how they speak of what they find."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from dealer.cli.console import abort, say
from engine import Game
from logs.errors import LogProblem
from protocol import GameDefinitionError, find_game

__all__ = ["GameName", "Problems", "Sources", "Strict", "game_named"]

Sources: TypeAlias = Annotated[
    list[Path],
    typer.Argument(metavar="RUN|LOG...", help="Folders of runs, ACPC logs, PHH files.", show_default=False),
]
GameName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--game", metavar="GAME", help="The game of logs that do not name one.", show_default="as the log says"
    ),
]
Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Stop at the first line that is damaged, instead of leaving it out.")
]

_MOST_SHOWN = 10


class Problems:
    """Says what is wrong with what is read: the first few in full, then how many there were."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, problem: LogProblem) -> None:
        """A problem was met."""
        self.count += 1
        if self.count <= _MOST_SHOWN:
            say(str(problem))

    def close(self) -> None:
        """Say how many were not shown."""
        more = self.count - _MOST_SHOWN
        if more > 0:
            say(f"and {more:,} more problem{'s' * (more > 1)} like these")


def game_named(name: str | None) -> Game | None:
    """The game of an option, or none; ends the command where there is no such game."""
    if name is None:
        return None
    try:
        return find_game(name)[1]
    except GameDefinitionError as error:
        abort(str(error))
