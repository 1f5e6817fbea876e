"""Arguments and options of commands that read hands, and reports of problems in files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Final, NoReturn, TypeAlias

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from dealer.reports.run_lists import FOLDER, newest_runs
from engine.errors import quoted
from engine.text import closest_word, count_of
from logs.errors import DamagedLogError, ExportError, LogProblem, UnknownGameError
from logs.formats.money import MAX_DECIMALS, Scale
from protocol import find_game

if TYPE_CHECKING:
    from logs.hand_source import HandSource
    from logs.tracker.hand_counts import HandCounts

_MAX_REPORTED: Final = 10
_LAST: Final = re.compile(r"last(?:-(\d{1,6}))?")


def run_path(text: str) -> Path:
    """Convert an argument to the path of a run.

    If no file has that name, ``last`` is the newest run in ``runs/``, ``last-1`` the one before it, and so on.
    """
    if os.path.lexists(text):
        return Path(text)
    runs = newest_runs()
    last = _LAST.fullmatch(text)
    if last is None:
        if (near := closest_word(text, ["last", *map(str, runs)])) is not None:
            abort(f"there is no run {quoted(text)}; did you mean {near!r}?")
        return Path(text)
    index = int(last[1] or 0)
    if index >= len(runs):
        number = count_of(len(runs), "run") if runs else "no run"
        abort(f"{text}: {FOLDER} holds {number}")
    return runs[index]


def complete_run(incomplete: str) -> list[str]:
    return [name for name in ("last", *map(str, newest_runs())) if name.startswith(incomplete)]


run_argument = partial(typer.Argument, parser=run_path, autocompletion=complete_run)


def _chip_value(text: str) -> Decimal:
    try:
        return Scale(text).chip_value
    except (ValueError, ArithmeticError):
        abort(f"--chip-value: {text} is not an amount above 0 with at most {MAX_DECIMALS} decimals")


Sources: TypeAlias = Annotated[
    list[Path],
    run_argument(
        metavar="RUN|LOG...",
        help="Folders of runs, ACPC logs, PHH and PokerStars files; 'last' is the newest run in runs/.",
        show_default=False,
    ),
]
Transcript: TypeAlias = Annotated[Path | None, "The dealer's standard error, for the bots' comments.", Wording("FILE")]


@dataclass(frozen=True, slots=True)
class HandOptions:
    """Options of reading hands from files."""

    game: Annotated[
        str | None, "The game of logs that do not name one.", Wording("GAME", otherwise="as the log says")
    ] = None
    chip_value: Annotated[
        str | None,
        "Value of a chip in PHH and PokerStars files.",
        Wording("AMOUNT", otherwise="the smallest unit of a file's amounts"),
    ] = None

    def finder(self, *, strict: bool = False) -> Callable[..., HandSource]:
        """Return `logs.hand_source.find` with these options bound.

        Args:
            strict: stop at a damaged line instead of skipping it.

        Raises:
            GameDefinitionError: there is no such game.
        """
        from logs.hand_source import find

        game = None if self.game is None else find_game(self.game, as_reference=True)[1]
        chip_value = None if self.chip_value is None else _chip_value(self.chip_value)
        return partial(find, game=game, chip_value=chip_value, strict=strict)


@dataclass(frozen=True, slots=True)
class StrictHandOptions(HandOptions):
    """Options of reading hands for commands that can stop at damaged lines."""

    strict: Annotated[bool, "Stop at a damaged line instead of skipping it."] = False


class Problems:
    """Report problems of files while they are read: the first ten, then the number of others.

    Used as a context manager, it turns the errors of readers into errors of the command.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.count = 0
        self._terminal = terminal

    def __call__(self, problem: LogProblem) -> None:
        self.count += 1
        if self.count <= _MAX_REPORTED:
            self._terminal.note(str(problem))

    def __enter__(self) -> Problems:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report the number of further problems, and abort the command after an error of a reader."""
        more = self.count - _MAX_REPORTED
        if more > 0:
            self._terminal.note(f"and {count_of(more, 'more problem')} like these")
        if isinstance(error, DamagedLogError):
            abort(str(error), EXIT_FAILED)
        if isinstance(error, UnknownGameError):
            abort(f"{error}; name the game with --game")
        if isinstance(error, ExportError):
            abort(f"{error}; overwrite it with --force, or choose another folder with --out")
        if isinstance(error, ValueError):
            abort(str(error))


def read_counts(
    terminal: Terminal,
    sources: list[Path],
    find: Callable[..., HandSource],
    *,
    transcript: Path | None = None,
    times: bool = False,
    workers: int | None = None,
) -> HandCounts:
    """Read all hands of runs and logs for statistics; abort the command if there are no hands.

    Args:
        find: result of `HandOptions.finder`.
        transcript: standard error of the dealer, for a single log.
        times: also read the times of actions.
        workers: number of processes; None for one per processor.
    """
    from logs.tracker.many_files import count_hands

    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    with Problems(terminal) as problems, showing_progress(terminal, "reading hands") as show:
        source = find(sources, on_problem=problems, times=times, transcript=transcript)

        def show_hands(hands: int) -> None:
            show(None, count_of(hands, "hand"))

        processes = workers or os.cpu_count() or 1
        counts = count_hands(source, on_progress=show_hands, processes=processes)
    if not counts.hands:
        abort_without_hands(sources)
    return counts


def no_such_hand(number: int, count: int, lowest: int, highest: int) -> str:
    """Compose the sentence about a missing hand.

    Args:
        count: number of hands.
        lowest: lowest number of a hand.
        highest: highest number of a hand.
    """
    if not count:
        return f"there is no hand {number}, since no hand is finished"
    if count == 1:
        return f"there is no hand {number}; the only hand is number {lowest}"
    return f"there is no hand {number}; there are {count_of(count, 'hand')}, with numbers from {lowest} to {highest}"


def abort_without_hands(sources: Sequence[Path]) -> NoReturn:
    """Abort the command because the files hold no finished hand."""
    abort("there is no finished hand in " + ", ".join(map(str, sources)))
