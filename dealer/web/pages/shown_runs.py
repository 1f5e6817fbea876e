"""Runs that the pages show, of this machine (`LocalLibrary`) or of a server (`ServerLibrary`).

A library lists runs and opens them by key. `HandCounter` counts the hands of large runs in a thread, while the pages
show the counts so far.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from starlette.requests import Request

from dealer.errors import WebError
from dealer.reports.run_lists import listed_run
from dealer.run.folder import CONFIG_NAME
from dealer.run.results import AnyResult, TournamentResult
from dealer.run.results.result_sentences import contest_sentence
from dealer.run.tournament_run import Progress
from dealer.server.access import Access, access_to, public_hands
from dealer.server.db import records
from dealer.server.db.records import Bot, Job, Run, RunSeat, RunState
from dealer.server.resources import removal_sentence
from dealer.server.server import ServerParts
from dealer.watching import LiveMatches, WatchedContest, WatchedMatch, WatchedRun
from dealer.web.security import parse_number
from dealer.web.visitor import Visitor
from engine import Seed
from engine.text import ago
from logs.document import DURATION, Column, Link, Table, Tone, Toned, Value
from logs.document.paging import ROWS_ON_PAGE
from logs.estimation import Estimate
from logs.hand_source import HandSource, find
from protocol.game_definition import short_name

_NAMES_IN_ROW: Final = 4
_MAX_OPEN: Final = 32
_COUNTING_WAIT_S: Final = 0.03
"""Time for which a page waits for counts, enough for a small run."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as a visitor may see it.

    Attributes:
        run: the run.
        access: permissions of the visitor.
        live: matches in progress; None if only files are available.
        reason: why it failed or was cancelled, without lines that the visitor may not read; empty for all other runs.
        unrated: why it does not count in the standings of its server; empty if it does, and while it is played.
        practice_path: form that requests the contest as practice, with the same cards in every seating; empty if the
            server does not allow that, or without a server.
        seed: seed of its cards; None if all cards are visible.
    """

    run: WatchedRun
    access: Access
    live: LiveMatches | None = None
    reason: str = ""
    unrated: str = ""
    practice_path: str = ""
    seed: Seed | None = None

    @property
    def sentence(self) -> str:
        """Sentence about the end of the run; empty while it continues."""
        if self.run.result is None:
            return self.reason
        return self.sentence_of(self.run.result)

    def sentence_of(self, result: AnyResult) -> str:
        """Sentence about the result of the run, or of one of its contests."""
        # Only the sentence of a contest quotes the output of players.
        if self.access.can_read_output or isinstance(result, TournamentResult):
            return result.sentence
        return contest_sentence(result, shows_output=False)

    @property
    def sees_cards(self) -> bool:
        return self.access.sees_cards

    def public_hands(self, contest: WatchedContest, match: WatchedMatch) -> int:
        """Return the number of hands, from the first, whose cards the visitor may see."""
        if self.sees_cards:
            return match.hands.count
        seating_names = next((names for names in contest.seatings if match.name in names), (match.name,))
        started = [contest.matches[name].hands for name in seating_names if name in contest.matches]
        seeds = {hands.seed for hands in started}
        if len(seeds) == len(seating_names):
            # Each seating has cards of its own.
            return public_hands(self.seed, [match.hands.count])
        # A seating that has not begun will play the same cards.
        counts = [hands.count for hands in started] + [0] * (len(seating_names) - len(started))
        return public_hands(self.seed, counts)


class HandCounter:
    """Counts the hands of runs, one run after the other, in a thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "counting")
        self._pending: WeakKeyDictionary[WatchedRun, Future[None]] = WeakKeyDictionary()
        self._is_closed = False

    def start(self, run: WatchedRun) -> None:
        """Start to count a run, and wait a moment for the counts."""
        with run.lock:
            if not run.waiting():
                return
            pending = self._pending.get(run)
            if pending is None or pending.done():
                pending = self._pending[run] = self._thread.submit(self._count, run)
        wait_for([pending], _COUNTING_WAIT_S)

    def _count(self, run: WatchedRun) -> None:
        has_more = True
        while has_more and not self._is_closed:
            with run.lock:
                has_more = run.count()
            # Lets a page that waits for the lock read the run.
            time.sleep(0.001)

    def close(self) -> None:
        """Stop after the current step; counts so far remain."""
        self._is_closed = True
        self._thread.shutdown(cancel_futures=True)


def _cache_runs() -> Callable[..., WatchedRun]:
    """Make a function that opens runs, keeps the latest ones and adds their new hands."""
    cached = lru_cache(_MAX_OPEN)(WatchedRun)
    lock = threading.Lock()

    def open_run(*args: object) -> WatchedRun:
        # lru_cache alone would let two threads read the same new run.
        with lock:
            run = cached(*args)
        with run.lock:
            run.look()
        return run

    return open_run


class LocalLibrary:
    """Runs of this machine, in which everything is visible.

    Args:
        paths: folders of runs, logs, or folders that contain runs.
        find: finds the hands of a path.
        live: matches in progress of the run at the first path.
    """

    def __init__(
        self, paths: Sequence[Path], *, find: Callable[..., HandSource] = find, live: LiveMatches | None = None
    ) -> None:
        self._paths = list(paths)
        self._find = find
        self._live = live
        self._open = _cache_runs()

    def _find_paths(self) -> dict[str, Path]:
        """Find all runs, by key; the newest of a folder first."""
        run_paths: dict[str, Path] = {}
        for path in self._paths:
            is_run = (path / CONFIG_NAME).is_file()
            configs = [] if is_run else sorted(path.glob(f"*/{CONFIG_NAME}"), reverse=True)
            for run_path in [config.parent for config in configs] or [path]:
                base = run_path.absolute().name or "run"
                key = base
                number = 1
                while key in run_paths:
                    number += 1
                    key = f"{base}-{number}"
                run_paths[key] = run_path
        return run_paths

    def keys(self) -> list[str]:
        return list(self._find_paths())

    def runs(self, filters: Mapping[str, str], after: str = "", limit: int = ROWS_ON_PAGE) -> tuple[Table, str]:
        """List runs; `filters` apply to servers only. See `Library`."""
        run_paths = self._find_paths()
        keys = list(run_paths)
        if after:
            keys = keys[keys.index(after) + 1 :] if after in run_paths else []
        rows = [_local_row(key, run_paths[key]) for key in keys[:limit]]
        return _runs_table("Runs", rows), keys[limit - 1] if len(keys) > limit else ""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        """Open a run by its key.

        Raises:
            WebError: there is no such run.
            LogsError: its files cannot be read.
            OSError: its files cannot be read.
        """
        path = self._find_paths().get(key)
        if path is None:
            raise WebError(404, _NO_RUN)
        return ShownRun(self._open(path, key, self._find), Access(), self._live)


_NO_RUN: Final = "There is no such run."
_ENDED: Final = {RunState.FAILED: "has failed", RunState.CANCELLED: "was cancelled"}


def run_path(run: str) -> str:
    return f"/runs/{quote(run, safe='')}"


def bot_path(bot: Bot) -> str:
    """Return the path of the page about a bot in a game."""
    return named_bot_path(bot.game, bot.name)


def named_bot_path(game: str, name: str) -> str:
    return f"/bots/{quote(game, safe='/')}/{quote(name, safe='')}"


def read_filters(request: Request) -> dict[str, str]:
    """Read the filters of a list of runs from the query of a request.

    Raises:
        WebError: the state does not exist.
    """
    filters = {}
    for name in ("game", "bot", "user", "state"):
        value = request.query_params.get(name)
        if value:
            filters[name] = value
    if filters.get("state", RunState.RUNNING) not in set(RunState):
        raise WebError(400, f"There is no such state; the states are {', '.join(RunState)}.")
    return filters


def _runs_table(title: str, rows: Sequence[tuple[Value, ...]]) -> Table:
    columns = (
        Column("run"),
        Column("players", meaning="the best first; green: won more than chance explains"),
        Column("game", rank=1),
        Column("result", "+,.0f", "mbb/g", meaning="winnings of the first player, with half the 95 % interval"),
        Column("deals", ",", rank=1),
        Column("began", rank=2, meaning="dates are in UTC"),
        Column("took", DURATION, rank=2),
        Column("state", rank=1),
    )
    return Table.of(title, columns, rows).without_empty()


def _player_cells(names: Sequence[str], lead: Estimate | None) -> tuple[Value, ...]:
    """Make the cell of players sorted by winnings; the first is green if it won more than chance explains."""
    # Without the last name, "1 more" would take as much room as the name.
    count = _NAMES_IN_ROW if len(names) > _NAMES_IN_ROW + 1 else len(names)
    cells: list[Value] = list(names[:count])
    half_width = None if lead is None else lead.decisive_half_width
    if lead is not None and half_width is not None and lead.mean > half_width:
        cells[0] = Toned(names[0], Tone.GOOD)
    if count < len(names):
        cells.append(f"{len(names) - count} more")
    return tuple(cells)


def runs_table(title: str, runs: Sequence[Run], progress: Mapping[int, Progress]) -> Table:
    """Make the table of runs of a server.

    Args:
        progress: progress of the running ones, by number of the run.
    """
    return _runs_table(title, [_server_row(run, progress.get(run.id)) for run in runs])


def _server_row(run: Run, progress: Progress | None) -> tuple[Value, ...]:
    seats = sorted(run.results, key=_sort_key) or run.seats
    names = [seat.name for seat in seats]
    lead = seats[0].won if seats else None
    deals: Value = run.duplicates
    is_running = run.state is RunState.RUNNING
    if is_running and progress is not None:
        lead = progress.rate
        deals = f"{progress.deals:,} of {progress.deals_planned:,}"
        if lead is not None and lead.mean < 0 and len(names) == 2:
            names = names[::-1]
            lead = -lead
    state = "" if run.state is RunState.FINISHED else run.state.value
    result: Value = lead
    if lead is None and not is_running:
        result = state or None
    ended_s = max(time.time(), run.started_s) if run.ended_s is None else run.ended_s
    return (
        Link(str(run.id), run_path(str(run.id))),
        _player_cells(names, lead),
        short_name(run.game),
        result,
        deals,
        ago(run.started_s, time.time()),
        ended_s - run.started_s,
        state,
    )


def _sort_key(seat: RunSeat) -> float:
    return 0.0 if seat.won is None else -seat.won.mean


def _local_row(key: str, path: Path) -> tuple[Value, ...]:
    link = Link(key, run_path(key))
    if not (path / CONFIG_NAME).is_file():
        return link, "", "", None, None, "", None, str(path)
    run = listed_run(path)
    state = run.words if not run.games else run.state.replace("finished", "")
    began = ago(run.began.timestamp(), time.time())
    return link, _player_cells(run.players, run.lead), run.games, run.lead, run.deals, began, None, state


class ServerLibrary:
    """Runs of a server."""

    def __init__(self, parts: ServerParts) -> None:
        self.parts = parts
        self._open = _cache_runs()

    def runs(self, filters: Mapping[str, str], after: str = "", limit: int = ROWS_ON_PAGE) -> tuple[Table, str]:
        """List all running runs, on the first page, and the newest of the others. See `Library`."""
        before = parse_number(after)
        if after and before is None:
            return runs_table("Runs", (), {}), ""
        state = None if "state" not in filters else RunState(filters["state"])
        read_runs = partial(
            records.runs,
            self.parts.store,
            game=self.parts.settings.full_name(filters.get("game")),
            bot=filters.get("bot"),
            user=filters.get("user"),
        )
        running: Sequence[Run] = ()
        if not after and state is None:
            running = read_runs(state=RunState.RUNNING, limit=limit)
        page = read_runs(state=state, is_over=state is None, before=before, limit=limit + 1)
        # A run can end between the two queries.
        running_ids = {run.id for run in running}
        ended = [run for run in page[:limit] if run.id not in running_ids]
        table = runs_table("Runs", (*running, *ended), self.parts.service.queue.progress())
        return table, str(page[limit - 1].id) if len(page) > limit else ""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        """Open a run by its number.

        Raises:
            LogsError: its files cannot be read.
            OSError: its files cannot be read.
            WebError: there is no such run, its files were removed, or it failed before it had any.
        """
        store = self.parts.store
        number = parse_number(key)
        row = None if number is None else records.run(store, number)
        job = None if number is None else records.job_of_run(store, number)
        if row is None or job is None:
            raise WebError(404, _NO_RUN)
        access = access_to(store, row, job, visitor.person)
        path = self.parts.folder / row.folder
        reason = ""
        if row.state in _ENDED:
            reason = f"The run {_ENDED[row.state]}: {access.reason(row)}"
        if removed := removal_sentence(path):
            raise WebError(410, removed)
        if not path.is_dir():
            raise WebError(404, reason or "The files of this run have been removed.")
        live = None
        if row.state is RunState.RUNNING:
            live = self.parts.service.player.watchers.live(row.id) or LiveMatches()
        return ShownRun(
            self._open(path, key),
            access,
            live,
            reason,
            unrated=row.unrated,
            practice_path=self._practice_path(job),
            seed=row.seed,
        )

    def _practice_path(self, job: Job) -> str:
        if not self.parts.settings.practice_duplicates:
            return ""
        players = {f"player{seat}": player for seat, player in enumerate(job.players, 1)}
        query = {"game": job.game, **players, "practice": 1}
        return f"/account/request?{urlencode(query)}"


Library: TypeAlias = LocalLibrary | ServerLibrary
"""Source of runs. `runs(filters, after, limit)` returns the table of a page, which begins after the run with the key
`after`, and the key of its last run if more follow. The filters are game, bot, user and state."""
