"""The runs in a folder as a list: which there are, when each began, its games, its result or why there is none."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dealer.errors import ConfigError, ResultError
from dealer.run.folder import CONFIG_NAME, RESULT_NAME, is_busy
from dealer.run.results import ContestResult, TournamentResult, read_result
from dealer.run.settings import RunSettings, read_config, validated
from engine.text import count_of, shown
from protocol.game_definition import short_name

FOLDER: Final = Path("runs")


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list.

    Attributes:
        began_s: in seconds since 1970.
        games: their short names; empty where the configuration cannot be read.
        words: the result in a sentence, or why there is none.
    """

    began_s: float
    games: str
    words: str


def newest_runs(folder: Path = FOLDER) -> list[Path]:
    """The runs in a folder, the newest first."""
    dated = []
    for config in folder.glob(f"*/{CONFIG_NAME}"):
        with contextlib.suppress(OSError):
            dated.append((config.stat().st_mtime, config.parent))
    return [run for _, run in sorted(dated, reverse=True)]


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


def listed_run(run: Path) -> ListedRun:
    """What a list shows of the run in a folder."""
    config = run / CONFIG_NAME
    began_s = config.stat().st_mtime
    try:
        settings = validated(read_config(config), str(config))
        result = read_result(run) if (run / RESULT_NAME).exists() else None
    except (ConfigError, ResultError) as error:
        return ListedRun(began_s, "", str(error))
    names = ", ".join(short_name(os.path.basename(game)) for game in settings.games)
    return ListedRun(began_s, shown(names), _state(run, result, settings))


def _state(run: Path, result: ContestResult | TournamentResult | None, settings: RunSettings) -> str:
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
