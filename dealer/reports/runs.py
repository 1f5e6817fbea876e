"""The runs in a folder as a list: which there are, when each began, its games, its result or why there is none."""

from __future__ import annotations

import contextlib
import enum
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dealer.errors import ConfigError, ResultError
from dealer.run.folder import CONFIG_NAME, RESULT_NAME, is_busy
from dealer.run.results import AnyResult, ContestResult, read_result
from dealer.run.settings import Score, read_config, validated
from engine.text import count_of
from logs.estimation import Rate
from protocol.game_definition import short_name

FOLDER: Final = Path("runs")


class ListedState(enum.StrEnum):
    """The state of a run on disk: its outcome, or why it has none."""

    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    KILLED = "killed"
    """It ended before it could write a result."""
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list.

    Attributes:
        began_s: in seconds since 1970.
        words: the result in a sentence, or why there is none.
        games: their short names; none where the configuration cannot be read.
        players: the names, the best first; before there is a result as in the configuration.
        deals: complete ones, of all contests; None without a result.
        lead: what the first player won, in the first game; None before a deal is complete.
    """

    folder: Path
    began_s: float
    state: ListedState
    words: str
    games: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    deals: int | None = None
    lead: Rate | None = None


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
        return ListedRun(run, began_s, ListedState.UNREADABLE, str(error))
    state, words = _state(run, result)
    games = tuple(short_name(os.path.basename(game)) for game in settings.games)
    listed = ListedRun(run, began_s, state, words, games, tuple(bot.bot for bot in settings.bots))
    if result is None:
        return listed
    players, lead = _standing(result)
    return replace(listed, players=players, deals=sum(contest.duplicates for contest in result.contests), lead=lead)


def _state(run: Path, result: AnyResult | None) -> tuple[ListedState, str]:
    if is_busy(run):
        return ListedState.RUNNING, "being played"
    if result is None:
        return ListedState.KILLED, "ended before it could write a result"
    state = ListedState(result.outcome.value)
    if not result.outcome.is_complete:
        return state, f"{state}: {result.reason}"
    if isinstance(result, ContestResult):
        return state, result.sentence
    first = [standings.bots[0] for standings in result.standings if standings.total_bankroll]
    return state, f"{count_of(len(result.contests), 'contest')}, won by {', '.join(dict.fromkeys(first))}"


def _standing(result: AnyResult) -> tuple[tuple[str, ...], Rate | None]:
    """The players, the best first, and what that one won."""
    if isinstance(result, ContestResult):
        best = [player.name for player in sorted(result.players, key=lambda player: -player.chips)]
        return tuple(best), result.corrected_rate(best[0]) if result.score is Score.CORRECTED else result.rate(best[0])
    for standings in result.standings:
        if standings.total_bankroll:
            rates = {cell.player: cell.rate for cell in standings.means}
            return tuple(standings.bots), rates.get(standings.bots[0])
    return tuple(result.players), None
