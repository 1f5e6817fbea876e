"""The runs in a folder as documents: all of them, or those that have something left to play."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import PlainSerializer
from pydantic.dataclasses import dataclass

from dealer.errors import ConfigError, ResultError
from dealer.run.choices import Score
from dealer.run.ending import Outcome
from dealer.run.folder import CONFIG_NAME, RESULT_NAME, is_busy
from dealer.run.results import AnyResult, ContestResult, read_result
from dealer.run.run_settings import read_config, validated
from engine.text import count_of
from logs.document import CODE, TEXT, Column, Document, Part, Section, Table
from logs.estimation import Rate
from protocol.game_definition import short_name

FOLDER: Final = Path("runs")
_RUNNING: Final = "running"
KILLED: Final = "killed"
_UNREADABLE: Final = "unreadable"


def _lead_data(lead: Rate | None) -> dict[str, Any] | None:
    if lead is None:
        return None
    return {"player": lead.player, "mbb_per_game": lead.mean, "half_width_95": lead.half_width}


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list.

    Attributes:
        run: its name for commands.
        state: its outcome; without a result ``running``, ``killed`` (before it could write one) or ``unreadable``.
        words: the result in a sentence, or why there is none.
        games: their short names; none where the configuration cannot be read.
        players: the names, the best first; before there is a result as in the configuration.
        deals: complete ones, of all contests; None without a result.
        lead: what the first player won, in the first game; None before a deal is complete.
    """

    run: str
    folder: Path
    began: Annotated[datetime, PlainSerializer(datetime.isoformat)]
    state: str
    words: str
    games: tuple[str, ...] = ()
    players: tuple[str, ...] = ()
    deals: int | None = None
    lead: Annotated[Rate | None, PlainSerializer(_lead_data)] = None


def newest_runs(folder: Path = FOLDER) -> list[Path]:
    """The runs in a folder, the newest first."""
    dated = []
    for config in folder.glob(f"*/{CONFIG_NAME}"):
        with contextlib.suppress(OSError):
            dated.append((config.stat().st_mtime, config.parent))
    return [run for _, run in sorted(dated, reverse=True)]


def runs_document(folder: Path, most: int | None = None) -> Document:
    """The newest runs in a folder, at most so many; the data is a list of `ListedRun`."""
    found = newest_runs(folder)
    names = [run.name for run in found]
    if folder == FOLDER:
        names = ["last", *(f"last-{at}" for at in range(1, len(found)))]
    listed = list(map(listed_run, found[:most], names))
    older = len(found) - len(listed)
    note = f"Not listed: {count_of(older, 'older run')}. --all lists every run." if older else ""
    problems = [f"{run.words}." for run in listed if run.state == _UNREADABLE]
    return _list_of(f"Runs in {folder}", listed, f"There is no run in {folder}.", runs_table(listed, note), *problems)


def _list_of(title: str, listed: list[ListedRun], nothing: str, *parts: Part) -> Document:
    return Document(title, () if listed else (nothing,), (), (Section(title, parts),) if listed else (), data=listed)


def runs_table(listed: Sequence[ListedRun], note: str = "") -> Table:
    """A line per run; names are shortened where there is little room, and the last columns left out."""
    columns = (
        Column("run", CODE),
        Column("players"),
        Column("lead", "+,.0f", "mbb/g"),
        Column("deals", ","),
        Column("game"),
        Column("state", CODE),
        Column("began", CODE),
        Column("folder", CODE, rank=1),
    )
    this_year = time.localtime().tm_year
    rows = []
    for run in listed:
        local = run.began.astimezone()
        began = f"{local:%m-%d %H:%M}" if local.year == this_year else f"{local:%Y-%m-%d}"
        rows.append((run.run, run.players, run.lead, run.deals, run.games, run.state, began, run.folder.name))
    return Table.of("", columns, rows, note)


def unfinished_document() -> Document:
    """The runs in ``runs/`` that have something left to play, each with the reason."""
    ended = {Outcome.FINISHED.value, Outcome.STOPPED.value, _UNREADABLE}
    found = [run for run in map(listed_run, newest_runs()) if run.state not in ended]
    rows = [(str(run.folder), run.words) for run in found]
    note = "'arena resume RUN' continues one of them."
    table = Table.of("", (Column("run", CODE), Column("reason", TEXT)), rows, note)
    return _list_of("Unfinished runs", found, "There is no unfinished run in runs.", table)


def listed_run(folder: Path, name: str = "") -> ListedRun:
    """The run in a folder; `name` is its name for commands, by default the folder."""
    name = name or str(folder)
    config = folder / CONFIG_NAME
    began = datetime.fromtimestamp(int(config.stat().st_mtime), UTC)
    try:
        settings = validated(read_config(config), str(config))
        result = read_result(folder) if (folder / RESULT_NAME).exists() else None
    except (ConfigError, ResultError) as error:
        return ListedRun(name, folder, began, _UNREADABLE, str(error))
    if is_busy(folder):
        state, words = _RUNNING, "it is being played."
    elif result is None:
        state, words = KILLED, "it was ended before it could write a result."
    else:
        state, words = result.outcome.value, result.sentence if result.outcome.is_complete else result.reason
    players, lead = _standing(result) if result is not None else (tuple(bot.bot for bot in settings.bots), None)
    return ListedRun(
        name,
        folder,
        began,
        state,
        words,
        tuple(short_name(os.path.basename(game)) for game in settings.games),
        players=players,
        deals=None if result is None else sum(contest.duplicates for contest in result.contests),
        lead=lead,
    )


def _standing(result: AnyResult) -> tuple[tuple[str, ...], Rate | None]:
    """The players, the best first, and what that one won."""
    if isinstance(result, ContestResult):
        best = [player.name for player in sorted(result.players, key=lambda player: -player.chips)]
        return tuple(best), result.corrected_rate(best[0]) if result.score is Score.CORRECTED else result.rate(best[0])
    for standings in result.standings:
        if standings.total_bankroll:
            return tuple(standings.bots), standings.mean_rates.get(standings.bots[0])
    return tuple(result.players), None
