"""A server with many bots that all play, beside `arena play` with as many matches; and its pages meanwhile.

The server's database holds many matches that have been played. Bots join it as `arena join` does; each match is between
two of them. When all matches have begun, the hands are counted that stand in the logs, over some seconds, and so are
those of one `arena play` that plays as many matches between the same bots at a time. Both are counted in each round, so
that what else the machine does slows down both.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psutil

from dealer.bench.filled import enter_ratings, fill
from dealer.bench.joiners import bot_name
from dealer.bench.rows import Row
from dealer.bench.served import Caller, Served, event_times, row_of_times, served, until
from dealer.bench.usage import Spent, machine_s, spent_by, spent_by_all
from dealer.bench.watched import page_times
from dealer.server.accounts import add_token, add_user
from dealer.server.settings import ServerGame, default_settings
from dealer.server.store import DATABASE_NAME, Store
from protocol import find_game

__all__ = ["measure"]

_START_S: Final = 900.0
_HANDS: Final = 20_000
"""Of one match: more than are played while anything is counted."""
_USER: Final = "bench"
_OTHERS: Final = 10
_PLAYED_HANDS: Final = 1000
_MOST_EVENTS: Final = 50
_CONFIG: Final = """
max_queued_per_user = 10000
max_connections = 100000
max_connections_per_address = 100000
start_timeout_s = {start_s}
[web]
requests_per_minute = 1000000
[[games]]
game = "{game}"
max_running = 0
bots = ["random", "calling"]
"""


@dataclass(frozen=True, slots=True)
class _Window:
    """What was counted over some seconds."""

    hands: int
    seconds: float
    dealer: Spent
    bots_s: float
    carriers_s: float
    others_share: float

    @property
    def rate(self) -> float:
        """Hands a second."""
        return self.hands / self.seconds

    def us(self, seconds: float) -> float:
        """Microseconds of a hand."""
        return seconds / max(1, self.hands) * 1e6


def measure(
    *,
    bots: int,
    seconds: float,
    rounds: int,
    calls: int,
    runs: int,
    game: str = "limit",
    bot: str = "random",
    show: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Hands per second beside `arena play`, memory, and milliseconds of pages, calls and events.

    Args:
        bots: that join; two of them to a match.
        seconds: over which hands are counted.
        rounds: how often both are counted.
        calls: of each page.
        runs: that have been played before, in the database.
        game: of two players.
        bot: all bots are this one.
        show: told in words what is being done.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: the server or a bot does not do what it should.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        show(f"entering {runs:,} matches")
        full = find_game(game)[0]
        token = _prepared(folder, next(one for one in default_settings().games if one.name == full), runs)
        with (
            served(folder, _CONFIG.format(game=game, start_s=_START_S)) as server,
            contextlib.closing(Caller(server.web_port, token)) as caller,
        ):
            bench = _Bench(folder, server, full, bot, bots, caller, token, show)
            rows = bench.pages_at_rest(runs, calls)
            with bench.joined() as memory:
                ours, theirs = [], []
                for number in range(1, rounds + 1):
                    show(f"round {number} of {rounds}: {bots} bots play on the server")
                    with bench.playing():
                        ours.append(bench.window(server.process, seconds, bench.logs_of_server))
                        memory.note_playing()
                        if number == rounds:
                            busy = bench.while_playing(calls)
                    show(f"round {number} of {rounds}: the same matches by arena play")
                    theirs.append(bench.arena_play(seconds, number))
                return [*_rates(bots, full, ours, theirs), *memory.rows(bots), *busy, *rows]


def _prepared(folder: Path, game: ServerGame, runs: int) -> str:
    """A database with matches that have been played; gives the token of the bench's user."""
    data = folder / "arena-server"
    data.mkdir()
    with contextlib.closing(Store(data / DATABASE_NAME)) as store:
        for number in range(_OTHERS):
            store.write_now(lambda db, number=number: add_user(db, f"user{number}"))  # type: ignore[misc]
        store.write_now(lambda db: fill(db, game, runs))
        enter_ratings(store, game)
        return store.write_now(lambda db: add_token(db, add_user(db, _USER)))


class _Memory:
    """The server's memory: before anybody has joined, with everybody there, and while everybody plays."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._before = self._now()
        self._joined = 0
        self._playing: list[int] = []

    def _now(self) -> int:
        return int(self._process.memory_info().rss)

    def note_joined(self) -> None:
        self._joined = self._now()

    def note_playing(self) -> None:
        self._playing.append(self._now())

    def rows(self, bots: int) -> list[Row]:
        def row(who: str, bytes_of: Sequence[float], note: str) -> Row:
            kilo = [one / bots / 1000 for one in bytes_of]
            return Row("memory of the server", who, statistics.median(kilo), min(kilo), max(kilo), "kB", None, note)

        whole = f"the server's {self._before / 1e6:,.0f} MB became"
        return [
            row("a bot that waits", [self._joined - self._before], f"{whole} {self._joined / 1e6:,.0f} MB"),
            row(
                "a bot that plays, its half of the match with it",
                [one - self._before for one in self._playing],
                f"{whole} {max(self._playing) / 1e6:,.0f} MB",
            ),
        ]


class _Bench:
    """The server and everybody that plays there."""

    def __init__(
        self,
        folder: Path,
        server: Served,
        game: str,
        bot: str,
        bots: int,
        caller: Caller,
        token: str,
        show: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._server = server
        self._game = game
        self._bot = bot
        self._bots = bots
        self._token = token
        self._show = show
        self._caller = caller
        self._carriers: psutil.Process | None = None
        self.logs_of_server = folder / "arena-server" / "runs"

    # ---- pages

    def pages_at_rest(self, runs: int, calls: int) -> list[Row]:
        """Pages and calls over the whole database, while nobody plays."""
        job = {"game": self._game, "players": ["random", "calling"], "hands": _PLAYED_HANDS, "seating": "single"}
        number = self._caller.call("POST", "/jobs", job)["id"]
        until(lambda: self._caller.call("GET", f"/jobs/{number}")["job"]["state"] == "done", every_s=0.1)
        self._show(f"asking for pages over {runs:,} matches")
        group = f"{runs:,} matches played, nobody plays"
        return self._answers(group, calls, is_alone=True)

    def _answers(self, group: str, calls: int, *, is_alone: bool) -> list[Row]:
        newest = self._caller.call("GET", "/runs?state=finished&limit=1")["runs"][0]["id"]
        paths = (
            "/",
            "/standings",
            f"/standings/{self._game}",
            f"/pairs/{self._game}/7",
            "/runs",
            f"/runs?after={max(2, newest // 2)}",
            f"/runs/{newest}",
            f"/runs/{newest}/matches/match",
            f"/api/v1/games/{self._game}/standings",
            "/api/v1/runs",
            "/api/v1/jobs",
        )
        return [self._answer(group, path, calls, is_alone=is_alone) for path in paths]

    def _answer(self, group: str, path: str, calls: int, *, is_alone: bool) -> Row:
        """How long a page takes; where nothing else is done, also the server's processor time for it."""
        before = spent_by(self._server.process)
        taken = [self._caller.time_s(path) for _ in range(calls)]
        after = spent_by(self._server.process)
        row = row_of_times(group, f"GET {path}", taken, f"{calls} calls")
        if not is_alone:
            return row
        used = [(b - a) / calls * 1e6 for a, b in zip(before, after, strict=True)]
        return replace(row, user_us=used[0], system_us=used[1])

    def while_playing(self, calls: int) -> list[Row]:
        """Pages, calls and events while everybody plays."""
        group = f"{self._bots} bots play"
        self._show(f"{group}: asking for pages")
        rows = self._answers(group, calls, is_alone=False)
        events = min(calls, _MOST_EVENTS)
        self._show(f"{group}: listening to events")
        contest: dict[str, object] = {"game": self._game, "players": ["random", "calling"], "hands": 1}
        heard = event_times(self._caller, events, contest | {"seating": "single"})
        self._show(f"{group}: watching a match")
        seen = page_times(
            self._caller,
            self._server.text_port,
            _USER,
            self._token,
            game_name=self._game,
            game=find_game(self._game)[1],
            count=events,
        )
        return [
            *rows,
            row_of_times(group, "an event's way to a listener", heard, f"{events} events"),
            row_of_times(group, "an action's way to a watching page", seen, f"{events} actions; it looks every 250 ms"),
        ]

    # ---- matches

    @contextlib.contextmanager
    def joined(self) -> Iterator[_Memory]:
        """Have all bots there until the end of the block."""
        self._show(f"{self._bots} bots join")
        memory = _Memory(self._server.process)
        home = self._folder / "joined"
        home.mkdir()
        arguments = map(str, (self._server.text_port, _USER, self._bots, self._game, self._bot, home))
        command = [sys.executable, "-P", "-m", "dealer.bench.joiners", *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            try:
                program.stdin.write(f"{self._token}\n")
                program.stdin.flush()
                if program.stdout.readline() != "joined\n":
                    raise RuntimeError("the bots did not join")
                self._carriers = psutil.Process(program.pid)
                memory.note_joined()
                yield memory
            finally:
                _end(program)

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """Have all bots play each other until the end of the block."""
        before = _begun(self.logs_of_server)
        jobs = []
        for number in range(0, self._bots, 2):
            players = [bot_name(number), bot_name(number + 1)]
            wish = {"game": self._game, "players": players, "hands": _HANDS, "seating": "single", "seed": number + 1}
            jobs.append(self._caller.call("POST", "/jobs", wish)["id"])
        until(lambda: _begun(self.logs_of_server) - before >= len(jobs), within_s=_START_S, every_s=0.5)
        yield
        for job in jobs:
            self._caller.call("DELETE", f"/jobs/{job}")
        until(lambda: not self._caller.call("GET", "/runs?state=running")["runs"], within_s=_START_S, every_s=0.5)

    def arena_play(self, seconds: float, number: int) -> _Window:
        """As many matches at a time by one `arena play`."""
        folder = self._folder / f"play{number}"
        matches = self._bots // 2
        players = [f"{name}={self._bot}" for name in ("A", "B")]
        options = {
            "--hands": _HANDS * matches,
            "--workers": matches,
            "--seed": 1,
            "--out": folder,
            "--start-timeout": _START_S,
        }
        words = [word for option, value in options.items() for word in (option, str(value))]
        start = "import sys; from dealer.cli import main; sys.exit(main())"
        command = [sys.executable, "-P", "-c", start, "play", self._game, *players, *words, "--no-duplicate", "--quiet"]
        said = self._folder / f"play{number}.txt"
        with (
            said.open("wb") as output,
            subprocess.Popen(command, cwd=self._folder, stdout=output, stderr=output, text=True) as program,
        ):
            try:

                def has_begun() -> bool:
                    if program.poll() is not None:
                        last = " ".join(said.read_text("utf-8", "replace").split())[-400:]
                        raise RuntimeError(f"arena play ended with exit code {program.returncode}: {last}")
                    return _begun(folder) >= matches

                until(has_begun, within_s=_START_S, every_s=0.5)
                return self.window(psutil.Process(program.pid), seconds, folder)
            finally:
                _end(program)

    def window(self, dealer: psutil.Process, seconds: float, logs: Path) -> _Window:
        """What is played over some seconds, and what it costs."""
        carriers = [] if self._carriers is None else [self._carriers]
        bots = [child for of in (dealer, *carriers) for child in of.children(recursive=True)]
        before = self._stand(dealer, carriers, bots, logs)
        time.sleep(seconds)
        after = self._stand(dealer, carriers, bots, logs)
        dealt = Spent(after.dealer.user_s - before.dealer.user_s, after.dealer.system_s - before.dealer.system_s)
        bots_s, carriers_s = after.bots_s - before.bots_s, after.carriers_s - before.carriers_s
        busy_s, whole_s = after.machine[0] - before.machine[0], after.machine[1] - before.machine[1]
        others_s = max(0.0, busy_s - sum(dealt) - bots_s - carriers_s)
        hands, passed_s = after.hands - before.hands, after.clock_s - before.clock_s
        return _Window(hands, passed_s, dealt, bots_s, carriers_s, others_s / max(whole_s, 1e-9))

    @staticmethod
    def _stand(
        dealer: psutil.Process, carriers: Iterable[psutil.Process], bots: Iterable[psutil.Process], logs: Path
    ) -> _Stand:
        bots_s, carriers_s = spent_by_all(bots), spent_by_all(carriers)
        return _Stand(time.perf_counter(), sum(_hands(logs)), spent_by(dealer), bots_s, carriers_s, machine_s())


@dataclass(frozen=True, slots=True)
class _Stand:
    """Everything that is counted, at one moment."""

    clock_s: float
    hands: int
    dealer: Spent
    bots_s: float
    carriers_s: float
    machine: tuple[float, float]


def _hands(folder: Path) -> list[int]:
    """How many hands stand in each log of the runs in a folder."""
    return [path.read_bytes().count(b"\nSTATE:") for path in folder.rglob("match*.log")]


def _begun(folder: Path) -> int:
    """How many matches have played a hand."""
    return sum(hands > 0 for hands in _hands(folder))


def _end(program: subprocess.Popen[str]) -> None:
    """Have a program end what it has started, and end it."""
    program.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(60.0)
    program.kill()


def _rates(bots: int, game: str, ours: Sequence[_Window], theirs: Sequence[_Window]) -> list[Row]:
    """Hands per second of both, and what a hand costs."""
    group = f"{bots} bots in {bots // 2} matches of {game}"
    ratios = [a.rate / b.rate for a, b in zip(ours, theirs, strict=True)]

    def row(who: str, windows: Sequence[_Window], ratio: float | None, note: str) -> Row:
        rates = [one.rate for one in windows]
        return Row(
            group,
            who,
            statistics.median(rates),
            min(rates),
            max(rates),
            "hands/s",
            ratio,
            note,
            statistics.median(one.us(one.dealer.user_s) for one in windows),
            statistics.median(one.us(one.dealer.system_s) for one in windows),
            statistics.median(one.others_share for one in windows),
        )

    def bots_note(windows: Sequence[_Window]) -> str:
        return f"the bots use {statistics.median(one.us(one.bots_s) for one in windows):,.0f} µs a hand"

    carried = statistics.median(one.us(one.carriers_s) for one in ours)
    cores = os.cpu_count() or 1
    return [
        row("arena serve", ours, None, f"{bots_note(ours)}, those who bring them {carried:,.0f} µs; {cores} cores"),
        row("arena play", theirs, statistics.median(ratios), f"{bots_note(theirs)}"),
    ]
