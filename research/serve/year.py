"""A year of a course in a server's database, and the response times of the pages after it.

    python research/serve/year.py FOLDER [--runs N] [--calls N]

enters 60 users, 200 bots and, by default, 50,000 runs with the server's own functions, day by day, at the times of
those days; the first year has 20,000. During the year the database is upgraded from an older version, the disk is full,
the clock jumps, and a backup is restored. After an interruption, the same command resumes. At the end everything is
counted again and compared with the plan: nothing may be lost or duplicated. Then a server is started with that
database, and each page is requested; the figures are written to `year.json` beside this script and into
`research/tables/benchmarks.md`.

"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import random
import re
import shutil
import sqlite3
import statistics
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

from dealer.errors import StoreError
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.server.accounts import Accounts, Scope, add_token
from dealer.server.db import store as store_module
from dealer.server.db.bot_registry import register_user_bot
from dealer.server.db.counted_scores import table_scores, write_ratings
from dealer.server.db.records import JobRequest, JobState, Match, RunSeat, RunState, new_job
from dealer.server.db.run_changes import RunReport, add_job, begin_run, end_job, end_run
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS, Store, back_up
from dealer.server.db.users import User, add_user
from dealer.server.ratings import fit_ratings
from engine import DealKey, Seat
from logs.estimation import Estimate
from protocol import find_game
from protocol.joining import ContestTerms

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = HERE / "year.json"
GAMES: Final = tuple(find_game(name)[0] for name in ("kuhn", "leduc", "limit", "nolimit"))
USERS: Final = 60
BOTS: Final = 200
RUNS_A_DAY: Final = 55
DEALS: Final = 100
_BEGIN_S: Final = 1_790_000_000.0
_DAY_S: Final = 86_400.0
_MOST_MS: Final = 50.0
OLD_VERSION: Final = 11
"""Version of the database before the upgrade: the first with the freed names and teams that functions query."""


class Incidents(NamedTuple):
    """Days of the incidents."""

    upgrade: int = 90
    full_disk: int = 150
    clock: int = 200
    restore: int = 250


@dataclass(frozen=True)
class PlannedRun:
    """A run that must be in the database exactly once."""

    game: int
    bots: tuple[int, int]
    user: int
    mbb: int
    is_faulty: bool


def day_of(day: int, runs: int) -> list[PlannedRun]:
    """Matches of a day; the same at each call."""
    draws = random.Random(day)
    planned = []
    for _ in range(runs):
        game = draws.randrange(len(GAMES))
        first, second = draws.sample(range(game, BOTS, len(GAMES)), 2)
        planned.append(
            PlannedRun(game, (first, second), draws.randrange(USERS), draws.randint(-300, 300), draws.random() < 0.1)
        )
    return planned


class Year:
    """The database of a server, played day by day.

    Attributes:
        data: the folder of the server.
        store: its database.
    """

    def __init__(self, data: Path, *, runs: int, runs_a_day: int = RUNS_A_DAY, incidents: Incidents | None = None):
        self.data = data
        self._runs = runs
        self._runs_a_day = runs_a_day
        self._incidents = incidents or Incidents()
        self._now_s = _BEGIN_S
        data.mkdir(parents=True, exist_ok=True)
        self._path = data / DATABASE_NAME
        is_old = self._old_version() < self._incidents.upgrade
        self.store = self._opened(MIGRATIONS[:OLD_VERSION] if is_old else MIGRATIONS)
        self.day = self._day()

    def _old_version(self) -> int:
        """Return 0 if the database has an old version or is missing, otherwise the day of the upgrade."""
        if not self._path.is_file():
            return 0
        with contextlib.closing(sqlite3.connect(self._path)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            return 0 if version <= OLD_VERSION else self._incidents.upgrade

    def _opened(self, migrations: tuple[str, ...]) -> Store:
        before, store_module.MIGRATIONS = store_module.MIGRATIONS, migrations  # type: ignore[misc]
        try:
            return Store(self._path)
        finally:
            store_module.MIGRATIONS = before  # type: ignore[misc]

    def _day(self) -> int:
        return int(self.store.read("SELECT count(*) AS n FROM runs")[0]["n"]) // self._runs_a_day

    @property
    def days(self) -> int:
        """Number of rows."""
        return -(-self._runs // self._runs_a_day)

    def close(self) -> None:
        self.store.close()

    def play(self, until_day: int, show: Callable[[int], None] = lambda day: None) -> None:
        """Play the remaining days before a day, with their incidents."""
        real_s, time.time = time.time, lambda: self._now_s
        try:
            while self.day < (end := min(until_day, self.days)):
                self._begin_day()
                # A week is one change, unless it has an incident.
                days = range(self.day, min([end, self.day + 7, *(one for one in self._incidents if one > self.day)]))
                self._change(lambda db, days=days: [self._play_day(db, day) for day in days])  # type: ignore[misc]
                self.day = days.stop
                show(self.day)
        finally:
            time.time = real_s

    def _begin_day(self) -> None:
        if self.day == 0:
            self._change(lambda db: [add_user(db, f"student{number}") for number in range(USERS)])
        if self.day == self._incidents.upgrade:
            self.store.close()
            self.store = self._opened(MIGRATIONS)
        elif self.day == self._incidents.full_disk:
            self._fill_disk()
        elif self.day == self._incidents.restore:
            self._restore()

    def _change(self, change: Callable[[sqlite3.Connection], object]) -> None:
        self.store.write_now(change)

    def _fill_disk(self) -> None:
        """Fail to write the day on a full disk, then play it once there is space."""

        def close(db: sqlite3.Connection) -> None:
            (pages,) = db.execute("PRAGMA page_count").fetchone()
            db.execute(f"PRAGMA max_page_count = {pages}")

        before = self._day()
        self._change(close)
        with contextlib.suppress(StoreError):
            self._change(lambda db: self._play_day(db, self.day))
            raise RuntimeError("the disk was not full")
        self._change(lambda db: db.execute("PRAGMA max_page_count = 4294967294"))
        assert self._day() == before

    def _restore(self) -> None:
        """Lose the server with two days that no backup has; play them again."""
        copy = self.data / "backup.sqlite3"
        copy.unlink(missing_ok=True)
        back_up(self._path, copy)
        for day in (self.day, self.day + 1):
            self._change(lambda db, day=day: self._play_day(db, day))  # type: ignore[misc]
        self.store.close()
        for path in self.data.glob(f"{DATABASE_NAME}*"):
            path.unlink()
        shutil.copy(copy, self._path)
        self.store = self._opened(MIGRATIONS)

    def _play_day(self, db: sqlite3.Connection, day: int) -> None:
        """Enter a day's runs, each as it begins and as it ends."""
        self._now_s = _BEGIN_S + day * _DAY_S
        for number, planned in enumerate(day_of(day, self._runs_a_day)):
            self._now_s += _DAY_S / (4 * self._runs_a_day)
            game, names = GAMES[planned.game], tuple(f"bot{bot}" for bot in planned.bots)
            # A bot has another version each season.
            label = str(1 + day // 120)
            versions = [
                register_user_bot(db, 1 + bot % USERS, game, name, label)
                for bot, name in zip(planned.bots, names, strict=True)
            ]
            user = User(1 + planned.user, f"student{planned.user}")
            stamp = 1 + day * self._runs_a_day + number
            key = DealKey(stamp.to_bytes(32, "big"))
            request = JobRequest(game, names, f"day{day}", terms=ContestTerms(deals=DEALS))
            job = add_job(db, new_job(user, request, key, stamp))
            run = begin_run(db, job, versions, stamp)
            self._now_s += 30.0
            if day == self._incidents.clock:
                # While a run is played, the clock jumps a day forward, and finally back an hour further.
                self._now_s += {0: _DAY_S, self._runs_a_day // 2: -_DAY_S - 3600.0}.get(number, 0.0)
            end_run(db, run.id, _report(planned, names))
            end_job(db, job.id, JobState.DONE)

    def problems(self) -> list[str]:
        """List runs that are not in the database exactly once, counted without the functions that entered them."""
        wanted: Counter[tuple[object, ...]] = Counter()
        faults = 0
        for day in range(self.days):
            for planned in day_of(day, self._runs_a_day):
                game, names = GAMES[planned.game], tuple(f"bot{bot}" for bot in planned.bots)
                wanted[game, f"day{day}", f"student{planned.user}", *names, float(planned.mbb)] += 1
                faults += planned.is_faulty
        read = self.store.read
        found = Counter(
            tuple(row)
            for row in read(
                "SELECT runs.game, jobs.tag, users.name, a.name, b.name, a.mbb_per_game FROM runs "
                "JOIN jobs ON jobs.id = runs.job JOIN users ON users.id = jobs.user "
                "JOIN seats a ON a.run = runs.id AND a.seat = 0 JOIN seats b ON b.run = runs.id AND b.seat = 1 "
                "WHERE runs.state = 'finished' AND jobs.state = 'done'"
            )
        )
        runs = self.days * self._runs_a_day
        counts = {
            "SELECT count(*) FROM runs": runs,
            "SELECT count(*) FROM jobs": runs,
            "SELECT sum(runs) FROM lineups": runs,
            "SELECT sum(units) FROM lineups": runs * DEALS,
            "SELECT count(*) FROM scores": 2 * runs,
            "SELECT count(*) FROM matches": 2 * runs,
            "SELECT count(*) FROM faults": faults,
            "SELECT count(*) FROM users WHERE name LIKE 'student%'": USERS,
            "SELECT count(*) FROM runs WHERE ended_s < started_s": 0,
        }
        counted = {query: read(query)[0][0] for query in counts}
        problems = [f"{query}: {n}, not {counts[query]}" for query, n in counted.items() if n != counts[query]]
        lost, twice = (wanted - found).total(), (found - wanted).total()
        problems += [f"runs that are lost: {lost}"] if lost else []
        problems += [f"runs that are there twice: {twice}"] if twice else []
        checked = [*read("PRAGMA integrity_check"), *read("PRAGMA foreign_key_check")]
        return problems + [str(tuple(row)) for row in checked if tuple(row) != ("ok",)]

    def rate(self) -> None:
        """Compute the ratings, as a server does at its start."""
        for game in GAMES:
            ratings = fit_ratings(table_scores(self.store, game), (-100_000.0, 100_000.0))
            self.store.write_now(lambda db, game=game, ratings=ratings: write_ratings(db, game, ratings))  # type: ignore[misc]


def _report(planned: PlannedRun, names: tuple[str, ...]) -> RunReport:
    ours = array("d", [planned.mbb + 1000.0, planned.mbb - 1000.0] * (DEALS // 2))
    theirs = array("d", [-score for score in ours])
    fault = Fault(Seat(0), FaultKind.TIMEOUT, 7, b"", Remedy.MATCH_ENDED)
    return RunReport(
        RunState.FINISHED,
        "all deals were played",
        DEALS,
        seats=tuple(
            RunSeat(
                player=seat,
                name=name,
                chips=float(planned.mbb),
                won=Estimate(float(sign * planned.mbb), 196.0),
            )
            for seat, (name, sign) in enumerate(zip(names, (1, -1), strict=True))
        ),
        scores=(ours, theirs),
        matches=tuple(
            Match(name=name, log=f"{name}.log", first_hand=0, hands=DEALS) for name in ("match.a", "match.b")
        ),
        faults=(("match.a", fault),) if planned.is_faulty else (),
    )


_CONFIG: Final = """
least_free_mb = 0
[web]
page_requests_per_minute = 1000000
requests_per_minute = 1000000
""" + "".join(f'[[games]]\ngame = "{game}"\nbots = ["random", "calling"]\n' for game in GAMES)


def pages(played: int) -> dict[str, tuple[str, ...]]:
    """Requests by kind of visitor; `played` is a run that has its files."""
    game = GAMES[3]
    return {
        "a visitor": (
            "/",
            "/runs",
            "/runs?bot=bot7",
            "/runs?user=student7",
            "/runs?after=25000",
            f"/runs/{played}",
            f"/standings/{game}",
            f"/bots/{game}/bot7",
            f"/pairs/{game}/7",
            "/events",
            "/results.atom",
            "/healthz",
            "/metrics",
        ),
        "a student": ("/play", "/account", "/account/request", "/account/faults", "/account/settings"),
        "an organiser": ("/organiser", "/organiser/changes"),
        "a program": (f"/api/v1/games/{game}/standings", "/api/v1/runs", "/api/v1/jobs"),
    }


def measure(folder: Path, calls: int) -> dict[str, Any]:
    """Processor time and duration of every page, and the memory of the server before and after all calls."""
    from bench.served import served, until
    from dealer.web.visitor import Sessions

    with contextlib.closing(Store(folder / "arena-server" / DATABASE_NAME)) as store:
        tokens = {
            name: store.write_now(lambda db, name=name, scopes=scopes: add_token(db, add_user(db, name), scopes))  # type: ignore[misc]
            for name, scopes in (("student7", (Scope.READ, Scope.PLAY)), ("organiser", tuple(Scope)))
        }
        cookies = {
            name: asyncio.run(Sessions(store, 1e9).begin(token.user, token))
            for name, token in ((name, Accounts(store).find_token(text)) for name, text in tokens.items())
            if token is not None
        }
        with served(folder, _CONFIG) as server:

            def ask(path: str, who: str) -> bytes:
                connection = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
                with contextlib.closing(connection):
                    name = {"a student": "student7", "an organiser": "organiser"}.get(who)
                    headers = {"Cookie": f"arena-{server.web_port}={cookies[name]}"} if name else {}
                    if who == "a program":
                        headers = {"Authorization": f"Bearer {tokens['student7']}"}
                    connection.request("GET", path, headers=headers)
                    answer = connection.getresponse()
                    text = answer.read()
                    if answer.status != 200:
                        raise RuntimeError(f"{path}: {answer.status}")
                    return text

            connection = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
            job = json.dumps({"game": GAMES[3], "players": ["random", "calling"], "deals": 1000})
            head = {"Authorization": f"Bearer {tokens['organiser']}"}
            connection.request("POST", "/api/v1/jobs", job, head)
            number = json.loads(connection.getresponse().read())["id"]
            query = "SELECT id FROM runs WHERE job = ? AND state = 'finished'"
            until(lambda: bool(store.read(query, number)), within_s=120, every_s=0.1)
            every = [(who, path) for who, paths in pages(store.read(query, number)[0]["id"]).items() for path in paths]

            rows, memory_mb = [], []
            for round_ in range(3):
                rows = []
                for who, path in every:
                    before, times_s = sum(server.process.cpu_times()[:2]), []
                    size = 0
                    for _ in range(calls):
                        begun_s = time.perf_counter()
                        size = len(ask(path, who))
                        times_s.append(time.perf_counter() - begun_s)
                    used_s = sum(server.process.cpu_times()[:2]) - before
                    shown = re.sub(rf"^/runs/{every[5][1].rpartition('/')[2]}$", "/runs/(with its files)", path)
                    row = {"path": shown, "who": who, "kb": size / 1e3, "cpu_ms": 1000 * used_s / calls}
                    rows.append(row | {"median_ms": 1000 * statistics.median(times_s)})
                memory_mb.append(server.process.memory_info().rss / 1e6)
                print(f"round {round_ + 1}: {memory_mb[-1]:.0f} MB", file=sys.stderr)
    return {"calls": calls, "memory_mb": memory_mb, "rows": rows}


def table(found: dict[str, Any]) -> str:
    """Format the figures as a table of the page."""
    lines = ["| page | asked for by | kB | processor ms |", "| --- | --- | ---: | ---: |"]
    lines += [f"| `{row['path']}` | {row['who']} | {row['kb']:.0f} | {row['cpu_ms']:.0f} |" for row in found["rows"]]
    served, entering = (", ".join(f"{mb:.0f}" for mb in found[name]) for name in ("memory_mb", "entering_mb"))
    lines += ["", f"Memory of the server after each of three rounds of all pages: {served} MB; of the script while it"]
    lines += [f"entered the runs: {entering} MB. The database has {found['database_mb']:.0f} MB."]
    return "\n".join(lines)


def with_table(page: str, found: dict[str, Any]) -> str:
    """Return the page with these figures."""
    return with_blocks(page, {"year": f"{table(found)}\n"})


def main() -> None:
    """Play the rest of the year, check it, and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=50_000)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()
    process, memory_mb = psutil.Process(), []
    begun_s = time.perf_counter()

    def show(day: int) -> None:
        if len(memory_mb) <= day // 100 or day == year.days:
            memory_mb.append(process.memory_info().rss / 1e6)
            taken_s = time.perf_counter() - begun_s
            print(f"day {day} of {year.days}: {memory_mb[-1]:.0f} MB, {taken_s:.0f} s", file=sys.stderr, flush=True)

    year, served = Year(options.folder / "year", runs=options.runs), options.folder / "served"
    with contextlib.closing(year):
        year.play(year.days, show)
        if problems := year.problems():
            sys.exit("\n".join(problems))
        year.rate()
        # Runs played for the measurement do not belong to the year.
        shutil.rmtree(served, ignore_errors=True)
        (served / "arena-server").mkdir(parents=True)
        back_up(year.store.path, served / "arena-server" / DATABASE_NAME)
    entered_s = time.perf_counter() - begun_s
    size_mb = (served / "arena-server" / DATABASE_NAME).stat().st_size / 1e6
    figures = measure(served, options.calls)
    figures |= {
        "runs": year.days * RUNS_A_DAY,
        "database_mb": size_mb,
        "entered_s": entered_s,
        "entering_mb": memory_mb,
    }
    MEASURED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), figures), "utf-8")
    print(table(figures))
    slow = [row["path"] for row in figures["rows"] if row["cpu_ms"] > _MOST_MS]
    print(f"Nothing is lost, nothing is there twice. Slower than {_MOST_MS:.0f} ms: {', '.join(slow) or 'nothing'}.")


if __name__ == "__main__":
    main()
