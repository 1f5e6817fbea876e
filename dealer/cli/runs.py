"""``arena runs``, and how commands take a run: by its path, ``last``, or ``last-2``."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from dealer.cli.console import Terminal, abort
from dealer.errors import ConfigError, ResultError
from dealer.library import AnyResult
from dealer.run.folder import CONFIG_NAME, RESULT_NAME, is_busy
from dealer.run.results import ContestResult, read_result
from dealer.run.settings import RunSettings, read_config, validated
from engine.text import count_of, shown
from protocol.game_definition import short_name

FOLDER: Final = Path("runs")
_SHOWN: Final = 20
_LAST: Final = re.compile(r"last(?:-(\d{1,6}))?")


def newest_runs(folder: Path = FOLDER) -> list[Path]:
    """The runs in a folder, the newest first."""
    dated = []
    for config in folder.glob(f"*/{CONFIG_NAME}"):
        with contextlib.suppress(OSError):
            dated.append((config.stat().st_mtime, config.parent))
    return [run for _, run in sorted(dated, reverse=True)]


def run_path(text: str) -> Path:
    """A path; ``last`` is the newest run in ``runs/``, ``last-2`` the second before it, unless a file has that name."""
    found = _LAST.fullmatch(text)
    if found is None or os.path.lexists(text):
        return Path(text)
    newest, back = newest_runs(), int(found[1] or 0)
    if back >= len(newest):
        abort(f"{text}: {FOLDER} holds {count_of(len(newest), 'run') if newest else 'no run'}")
    return newest[back]


def complete_run(incomplete: str) -> Iterator[str]:
    for name in ("last", *map(str, newest_runs())):
        if name.startswith(incomplete):
            yield name


run_argument = partial(typer.Argument, parser=run_path, autocompletion=complete_run)


def unfinished_runs() -> list[tuple[Path, str]]:
    """The runs in ``runs/`` that have something left to play, by name, each with the reason."""
    found = []
    for run in sorted(newest_runs()):
        if is_busy(run):
            found.append((run, "it is still running."))
        elif not (run / RESULT_NAME).exists():
            found.append((run, "it was ended before it could write a result."))
        else:
            with contextlib.suppress(ResultError):
                result = read_result(run)
                if not result.outcome.is_complete:
                    found.append((run, result.reason))
    return found


def runs(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder that holds runs.")] = FOLDER,
    every: Annotated[bool, typer.Option("--all", "-a", help=f"List every run, not only the newest {_SHOWN}.")] = False,
) -> None:
    """List the runs in a folder, the newest first: when each began, who played, and its result."""
    terminal = context.ensure_object(Terminal)
    if folder != FOLDER and not folder.is_dir():
        abort(f"{folder}: there is no such folder")
    found = newest_runs(folder)
    if not found:
        terminal.sentence(f"There is no run in {folder}.")
        return
    chosen = found if every else found[:_SHOWN]
    terminal.table(["run", "began", "game", "result"], [_row(run) for run in chosen], left=(0, 1, 2), texts=(3,))
    if len(chosen) < len(found):
        terminal.sentence(f"{len(found) - len(chosen):,} older runs are not listed: --all lists every run.")


def _row(run: Path) -> list[str]:
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime((run / CONFIG_NAME).stat().st_mtime))
    try:
        settings = validated(read_config(run / CONFIG_NAME), str(run / CONFIG_NAME))
        result = read_result(run) if (run / RESULT_NAME).exists() else None
    except (ConfigError, ResultError) as error:
        return [shown(run.name), began, "", str(error)]
    names = ", ".join(short_name(os.path.basename(game)) for game in settings.games)
    return [shown(run.name), began, shown(names), _state(run, result, settings)]


def _state(run: Path, result: AnyResult | None, settings: RunSettings) -> str:
    if is_busy(run):
        return "being played"
    if result is None:
        return f"{', '.join(shown(bot.bot) for bot in settings.bots)}: ended before it could write a result"
    if not result.outcome.is_complete:
        return f"{result.outcome.value}: {result.reason}"
    if not isinstance(result, ContestResult):
        first = [standings.total_bankroll[0].player for standings in result.standings if standings.total_bankroll]
        return f"{count_of(len(result.contests), 'contest')}, won by {', '.join(dict.fromkeys(first))}"
    return result.sentence
