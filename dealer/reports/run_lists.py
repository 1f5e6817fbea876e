"""Lists of the runs in a folder, as documents."""

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
_KILLED: Final = "killed"
_UNREADABLE: Final = "unreadable"


def _lead_data(lead: Rate | None) -> dict[str, Any] | None:
    if lead is None:
        return None
    return {"player": lead.player, "mbb_per_game": lead.mean, "half_width_95": lead.half_width}


@dataclass(frozen=True, slots=True)
class ListedRun:
    """Run in a list.

    Attributes:
        run: name of the run for commands.
        began: start of the run, that is, the time of its settings file.
        state: outcome of the run; ``running``, ``killed`` or ``unreadable`` without a result.
        words: the result in a sentence, or the reason for its absence.
        games: short names of the games; empty if the settings cannot be read.
        players: names of the players, from the best; without a result the bots of the settings.
        deals: number of complete deals of all contests; None without a result.
        lead: rate of the best player in the first game; None before a deal is complete.
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
    """Return the runs in a folder, from the newest."""
    dated = []
    for config in folder.glob(f"*/{CONFIG_NAME}"):
        with contextlib.suppress(OSError):
            dated.append((config.stat().st_mtime, config.parent))
    return [run for _, run in sorted(dated, reverse=True)]


def runs_document(folder: Path, max_runs: int | None = None) -> Document:
    """Create the list of the newest runs in a folder. Its data is a list of `ListedRun`."""
    runs = newest_runs(folder)
    names = [run.name for run in runs]
    if folder == FOLDER:
        # Commands accept these names.
        names = ["last", *(f"last-{number}" for number in range(1, len(runs)))]
    listed = list(map(listed_run, runs[:max_runs], names))
    older = len(runs) - len(listed)
    note = f"Not listed: {count_of(older, 'older run')}. --all lists every run." if older else ""
    problems = [f"{run.words}." for run in listed if run.state == _UNREADABLE]
    return _list_of(f"Runs in {folder}", listed, f"There is no run in {folder}.", runs_table(listed, note), *problems)


def _list_of(title: str, listed: list[ListedRun], empty_sentence: str, *parts: Part) -> Document:
    if not listed:
        return Document(title, (empty_sentence,), data=listed)
    return Document(title, sections=(Section(title, parts),), data=listed)


def runs_table(listed: Sequence[ListedRun], note: str = "") -> Table:
    """Create a table with a row per run."""
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
    """Create the list of the runs in ``runs`` that can be resumed, with the reasons why they ended."""
    ended = {Outcome.FINISHED.value, Outcome.STOPPED.value, _UNREADABLE}
    runs = [run for run in map(listed_run, newest_runs()) if run.state not in ended]
    rows = [(str(run.folder), run.words) for run in runs]
    note = "'arena resume RUN' continues one of them."
    table = Table.of("", (Column("run", CODE), Column("reason", TEXT)), rows, note)
    return _list_of("Unfinished runs", runs, "There is no unfinished run in runs.", table)


def listed_run(folder: Path, name: str = "") -> ListedRun:
    """Describe the run in a folder.

    Args:
        name: name of the run for commands; the folder by default.

    Raises:
        OSError: the folder holds no run.
    """
    name = name or str(folder)
    config = folder / CONFIG_NAME
    began = datetime.fromtimestamp(int(config.stat().st_mtime), UTC)
    try:
        settings = validated(read_config(config), str(config))
        result = read_result(folder) if (folder / RESULT_NAME).exists() else None
    except (ConfigError, ResultError) as error:
        return ListedRun(name, folder, began, _UNREADABLE, str(error))
    if is_busy(folder):
        state = _RUNNING
        words = "it is being played."
    elif result is None:
        state = _KILLED
        words = "it was ended before it could write a result."
    elif result.outcome.is_complete:
        state = result.outcome.value
        words = result.sentence
    else:
        state = result.outcome.value
        words = result.reason
    players = tuple(bot.bot for bot in settings.bots)
    deals = lead = None
    if result is not None:
        players, lead = _standing(result)
        deals = sum(contest.duplicates for contest in result.contests)
    games = tuple(short_name(os.path.basename(game)) for game in settings.games)
    return ListedRun(name, folder, began, state, words, games, players=players, deals=deals, lead=lead)


def _standing(result: AnyResult) -> tuple[tuple[str, ...], Rate | None]:
    """Return the players from the best, and the rate of the best one."""
    if isinstance(result, ContestResult):
        players = sorted(result.players, key=lambda player: -player.chips)
        names = tuple([player.name for player in players])
        return names, result.judged_rate(names[0])
    for standings in result.standings:
        if standings.total_bankroll:
            return tuple(standings.bots), standings.mean_rates.get(standings.bots[0])
    return tuple(result.players), None
