"""The runs whose pages are shown: of this machine, by the paths that a command was given, or of a server.

A visitor names a run by its key, which is looked up here. What takes long, counting the hands of a big run, is done by
one thread behind the pages; they show how far it has come.
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
from dealer.server.db.records import Bot, Job, Run, RunState
from dealer.server.resources import removal_sentence
from dealer.server.server import ServerParts
from dealer.watching import LiveMatches, WatchedContest, WatchedMatch, WatchedRun
from dealer.web.security import parse_number
from dealer.web.visitor import Visitor
from engine import Seed
from engine.text import ago
from logs.document import DURATION, Column, Link, Table, Tone, Toned, Value
from logs.estimation import Estimate
from logs.hand_source import HandSource, find
from protocol.game_definition import short_name

RUNS_ON_PAGE: Final = 50
_NAMES_OF_A_ROW: Final = 4
_MOST_OPEN: Final = 32
_PATIENCE_S: Final = 0.03
"""How long a page waits for figures that are being counted."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as one visitor is shown it.

    Attributes:
        run: the run.
        access: what the visitor may see of it.
        live: its matches as they are played; None where only its files are there.
        reason: why it failed or was cancelled, as the visitor may read it; empty for all others.
        unrated: why it does not count in the standings of its server; empty where it does, and while it is played.
        practice_path: the form that asks for it as practice, with the same cards in every seating; empty where that is
            not allowed, or the run is none of a server.
        seed: of its cards; None where nothing is kept back.
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
        """How the run ended; empty while it goes on."""
        return self.reason if self.run.result is None else self.sentence_of(self.run.result)

    def sentence_of(self, result: AnyResult) -> str:
        """The sentence of its result, or of a contest of it."""
        # What players wrote is quoted of contests alone.
        if self.access.can_read_output or isinstance(result, TournamentResult):
            return result.sentence
        return contest_sentence(result, shows_output=False)

    @property
    def sees_cards(self) -> bool:
        """Whether no card of it is kept back."""
        return self.access.sees_cards

    def public_hands(self, contest: WatchedContest, match: WatchedMatch) -> int:
        """How many hands of a match, from the first, may be seen with their cards."""
        if self.sees_cards:
            return match.hands.count
        names = next((names for names in contest.seatings if match.name in names), (match.name,))
        same = [contest.matches[name].hands for name in names if name in contest.matches]
        if len({hands.seed for hands in same}) == len(names):
            # Each seating has cards of its own.
            return public_hands(self.seed, [match.hands.count])
        return public_hands(self.seed, [*(hands.count for hands in same), *(0 for _ in names[len(same) :])])


class HandCounter:
    """Counts the hands of runs, one run after the other, in a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "counting")
        self._pending: WeakKeyDictionary[WatchedRun, Future[None]] = WeakKeyDictionary()
        self._is_closed = False

    def ask(self, run: WatchedRun) -> None:
        """Have a run counted; wait for a moment, which is enough for small ones."""
        with run.lock:
            if not run.waiting():
                return
            pending = self._pending.get(run)
            if pending is None or pending.done():
                pending = self._pending[run] = self._thread.submit(self._count, run)
        wait_for([pending], _PATIENCE_S)

    def _count(self, run: WatchedRun) -> None:
        has_more = True
        while has_more and not self._is_closed:
            with run.lock:
                has_more = run.count()
            # Others have their turn with the run.
            time.sleep(0.001)

    def close(self) -> None:
        """End; what was counted stays."""
        self._is_closed = True
        self._thread.shutdown(cancel_futures=True)


def _open_runs() -> Callable[..., WatchedRun]:
    """`WatchedRun`, with new hands taken in; of the runs that were asked for last, each is read once."""
    kept, lock = lru_cache(_MOST_OPEN)(WatchedRun), threading.Lock()

    def open_run(*about: object) -> WatchedRun:
        # The cache alone would have two visitors read a run that is new to both.
        with lock:
            run = kept(*about)
        with run.lock:
            run.look()
        return run

    return open_run


class LocalLibrary:
    """Runs of this machine: everything may be seen."""

    def __init__(
        self, paths: Sequence[Path], *, find: Callable[..., HandSource] = find, live: LiveMatches | None = None
    ) -> None:
        """Find the runs.

        Args:
            paths: folders of runs, logs, or folders that hold runs.
            find: makes sources of hands of the paths.
            live: the run at the first path, as it goes on.
        """
        self._paths = list(paths)
        self._find = find
        self._live = live
        self._open = _open_runs()

    def _found(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for path in self._paths:
            inner = [] if (path / CONFIG_NAME).is_file() else sorted(path.glob(f"*/{CONFIG_NAME}"), reverse=True)
            for one in [inside.parent for inside in inner] or [path]:
                key = base = one.absolute().name or "run"
                number = 1
                while key in found:
                    number += 1
                    key = f"{base}-{number}"
                found[key] = one
        return found

    def keys(self) -> list[str]:
        """The keys of all runs."""
        return list(self._found())

    def runs(self, chosen: Mapping[str, str], after: str = "", most: int = RUNS_ON_PAGE) -> tuple[Table, str]:
        """So many of the runs, from the first on or after that of a key; and the key of the last if more follow."""
        found = self._found()
        keys = list(found)
        if after:
            keys = keys[keys.index(after) + 1 :] if after in found else []
        rows = [_local_row(key, found[key]) for key in keys[:most]]
        return _table("Runs", rows), keys[most - 1] if len(keys) > most else ""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        """A run by its key.

        Raises:
            WebError: there is none.
            LogsError: it cannot be read.
            OSError: it cannot be read.
        """
        path = self._found().get(key)
        if path is None:
            raise WebError(404, _NO_RUN)
        return ShownRun(self._open(path, key, self._find), Access(), self._live)


_NO_RUN: Final = "There is no such run."
_ENDED: Final = {RunState.FAILED: "has failed", RunState.CANCELLED: "was cancelled"}


def run_path(run: str) -> str:
    """The address of a run."""
    return f"/runs/{quote(run, safe='')}"


def bot_path(bot: Bot) -> str:
    """The address of a bot in a game."""
    return f"/bots/{quote(bot.game, safe='/')}/{quote(bot.name, safe='')}"


def read_filters(request: Request) -> dict[str, str]:
    """What a list of runs is chosen by, as the query of a request has it.

    Raises:
        WebError: there is no such state.
    """
    chosen = {name: word for name in ("game", "bot", "user", "state") if (word := request.query_params.get(name))}
    if chosen.get("state", RunState.RUNNING) not in set(RunState):
        raise WebError(400, f"A run is {', '.join(RunState)}.")
    return chosen


def _table(title: str, rows: Sequence[tuple[Value, ...]]) -> Table:
    columns = (
        Column("run"),
        Column("players", meaning="the best first; green: won more than chance explains"),
        Column("game", rank=1),
        Column("result", "+,.0f", "mbb/g", meaning="what the first player won, with half the 95 % interval"),
        Column("deals", ",", rank=1),
        Column("began", rank=2, meaning="dates are those of UTC"),
        Column("took", DURATION, rank=2),
        Column("state", rank=1),
    )
    return Table.of(title, columns, rows).without_empty()


def _players(names: Sequence[str], lead: Estimate | None) -> tuple[Value, ...]:
    """Players in the order of their winnings, the first marked if it won more than chance explains."""
    most = _NAMES_OF_A_ROW if len(names) > _NAMES_OF_A_ROW + 1 else len(names)
    is_won = lead is not None and lead.half_width is not None and lead.mean > lead.half_width
    first: tuple[Value, ...] = (Toned(names[0], Tone.GOOD), *names[1:most]) if is_won else tuple(names[:most])
    return (*first, f"{len(names) - most} more") if most < len(names) else first


def runs_table(title: str, runs: Sequence[Run], progress: Mapping[int, Progress]) -> Table:
    """Runs of a server.

    Args:
        progress: of those that are being played, by their numbers.
    """
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        seats = sorted(run.results, key=lambda seat: 0.0 if seat.won is None else -seat.won.mean) or run.seats
        names, lead, deals = [seat.name for seat in seats], seats[0].won if seats else None, run.duplicates
        words: Value = deals
        if run.state is RunState.RUNNING and (now := progress.get(run.id)) is not None:
            lead, words = now.rate, f"{now.deals:,} of {now.deals_planned:,}"
            if now.rate is not None and now.rate.mean < 0 and len(names) == 2:
                names, lead = names[::-1], -now.rate
        ended_s = max(time.time(), run.started_s) if run.ended_s is None else run.ended_s
        state = "" if run.state is RunState.FINISHED else run.state.value
        rows.append(
            (
                Link(str(run.id), run_path(str(run.id))),
                _players(names, lead),
                short_name(run.game),
                lead or (None if run.state is RunState.RUNNING else state or None),
                words,
                ago(run.started_s, time.time()),
                ended_s - run.started_s,
                state,
            )
        )
    return _table(title, rows)


def _local_row(key: str, path: Path) -> tuple[Value, ...]:
    link = Link(key, run_path(key))
    if not (path / CONFIG_NAME).is_file():
        return link, "", "", None, None, "", None, str(path)
    run = listed_run(path)
    state = run.words if not run.games else run.state.replace("finished", "")
    began = ago(run.began.timestamp(), time.time())
    return link, _players(run.players, run.lead), run.games, run.lead, run.deals, began, None, state


class ServerLibrary:
    """The runs of a server, whose parts are `parts`."""

    def __init__(self, parts: ServerParts) -> None:
        self.parts = parts
        self._open = _open_runs()

    def runs(self, chosen: Mapping[str, str], after: str = "", most: int = RUNS_ON_PAGE) -> tuple[Table, str]:
        """Those being played and the newest of the others, or those older than the one of a key.

        And the key of the last if more follow.
        """
        before = parse_number(after)
        if after and before is None:
            return runs_table("Runs", (), {}), ""
        state = None if "state" not in chosen else RunState(chosen["state"])
        choose = partial(
            records.runs,
            self.parts.store,
            game=self.parts.settings.full_name(chosen.get("game")),
            bot=chosen.get("bot"),
            user=chosen.get("user"),
        )
        going = () if after or state is not None else choose(state=RunState.RUNNING, limit=most)
        seen = {run.id for run in going}
        found = choose(state=state, is_over=state is None, before=before, limit=most + 1)
        over = [run for run in found[:most] if run.id not in seen]
        table = runs_table("Runs", (*going, *over), self.parts.service.queue.progress())
        return table, str(found[most - 1].id) if len(found) > most else ""

    def open(self, key: str, visitor: Visitor) -> ShownRun:
        """A run by its number.

        Raises:
            LogsError: it cannot be read.
            OSError: it cannot be read.
            WebError: there is none, its files were removed, or there never were any; the sentence gives the reason.
        """
        number, store = parse_number(key), self.parts.store
        if (
            number is None
            or (row := records.run(store, number)) is None
            or (job := records.job_of_run(store, number)) is None
        ):
            raise WebError(404, _NO_RUN)
        access = access_to(store, row, job, visitor.person)
        path = self.parts.folder / row.folder
        reason = f"The run {_ENDED[row.state]}: {access.reason(row)}" if row.state in _ENDED else ""
        if removed := removal_sentence(path):
            raise WebError(410, removed)
        if not path.is_dir():
            raise WebError(404, reason or "The files of this run have been removed.")
        run, live = self._open(path, key), None
        if row.state is RunState.RUNNING:
            live = self.parts.service.player.watchers.live(row.id) or LiveMatches()
        practice_path = self._practice_path(job)
        return ShownRun(run, access, live, reason, unrated=row.unrated, practice_path=practice_path, seed=row.seed)

    def _practice_path(self, job: Job) -> str:
        if not self.parts.settings.practice_duplicates:
            return ""
        players = {f"player{seat}": player for seat, player in enumerate(job.players, 1)}
        return f"/account/request?{urlencode({'game': job.game, **players, 'practice': 1})}"


Library: TypeAlias = LocalLibrary | ServerLibrary
"""Where pages find runs: `runs` gives so many of those to choose from, by a game, a bot, a user and a state, from the
first on or after that of a key, and the key of the last if more follow."""
