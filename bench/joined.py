"""A server with many joined bots that all play, compared with `arena play` with as many matches.

Bots join the server as `arena join` does; each match is between two of them. When all matches have begun, the hands in
the logs are counted over some seconds, and so are those of one `arena play` that plays as many matches between the same
bots at a time. Both are counted in each round, so that what else the machine does slows down both.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
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

from bench.served import ANSWER_S, Caller, Served, Spent, is_dealer_process, served, spent_by, spent_by_all, until
from dealer.bench import Row, Sample, machine_s, sample_row
from dealer.joining.connection import JoinSettings
from dealer.joining.server_client import JoinedServer, Joining, News
from dealer.server.accounts import add_token
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import add_user
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player
from protocol import find_game

_ROOT: Final = Path(__file__).resolve().parents[1]
_JOIN: Final = "import sys; from bench.joined import join; join(sys.argv[1:])"
_START_S: Final = 900.0
_HANDS: Final = 20_000
"""Deals of a match, more than are played during a measurement."""
_USER: Final = "bench"
_CONFIG: Final = """
max_queued_per_user = 10000
start_timeout_s = {start_s}
[web]
max_connections = 100000
max_connections_per_address = 100000
requests_per_minute = 1000000
page_requests_per_minute = 1000000
[[games]]
game = "{game}"
max_running = 0
bots = ["random", "calling"]
"""


@dataclass(frozen=True, slots=True)
class _Window:
    """Counts over some seconds."""

    hands: int
    seconds: float
    dealer: Spent
    bots_s: float
    carriers_s: float
    others_share: float

    @property
    def rate(self) -> float:
        """Hands per second."""
        return self.hands / self.seconds

    def us(self, seconds: float) -> float:
        """Microseconds per hand."""
        return seconds / max(1, self.hands) * 1e6


@contextlib.contextmanager
def serving(
    *, bots: int, game: str, bot: str, show: Callable[[str], None], fill: Callable[[Store], object] = lambda store: None
) -> Iterator[ServerBench]:
    """Run a server to be measured until the end of the block.

    Args:
        bots: that will join. game: of two players. bot: all bots are this one.
        show: gets each step of the measurement, in words.
        fill: enters earlier runs and the first users into the database.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        data = folder / "arena-server"
        data.mkdir()
        with contextlib.closing(Store(data / DATABASE_NAME)) as store:
            fill(store)
            token = store.write_now(lambda db: add_token(db, add_user(db, _USER)))
        with (
            served(folder, _CONFIG.format(game=game, start_s=_START_S)) as server,
            contextlib.closing(Caller(server.web_port, token)) as caller,
        ):
            yield ServerBench(
                folder, server, caller, game=find_game(game)[0], bot=bot, bots=bots, token=token, show=show
            )


class _Memory:
    """Memory of the server before bots join, with all connected, and while all play."""

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
            return Row(
                group="memory of the server",
                who=who,
                rate_median=statistics.median(kilo),
                rate_low=min(kilo),
                rate_high=max(kilo),
                unit="kB",
                ratio=None,
                note=note,
            )

        whole = f"the server's {self._before / 1e6:,.0f} MB became"
        return [
            row("a bot that waits", [self._joined - self._before], f"{whole} {self._joined / 1e6:,.0f} MB"),
            row(
                "a bot that plays, its half of the match with it",
                [one - self._before for one in self._playing],
                f"{whole} {max(self._playing) / 1e6:,.0f} MB",
            ),
        ]


class ServerBench:
    """A server and the clients of its bots.

    Attributes:
        server: its ports and its process.
        caller: a program that calls it.
        game: its full name.
        user: who asks for matches. token: with which.
        bots: how many join.
        show: gets each step of the measurement, in words.
    """

    def __init__(
        self,
        folder: Path,
        server: Served,
        caller: Caller,
        *,
        game: str,
        bot: str,
        bots: int,
        token: str,
        show: Callable[[str], None],
    ) -> None:
        self.server = server
        self.caller = caller
        self.game = game
        self.user = _USER
        self.token = token
        self.bots = bots
        self.show = show
        self._folder = folder
        self._bot = bot
        self._carriers: psutil.Process | None = None
        self._logs = folder / "arena-server" / "runs"

    def rows(self, seconds: float, rounds: int, meanwhile: Callable[[], list[Row]] = list) -> list[Row]:
        """Measure rates, processor time and memory of the server, and rates of `arena play`.

        Args:
            seconds: over which hands are counted.
            rounds: how often both are counted.
            meanwhile: measured once while all bots play; its rows follow.
        """
        busy: list[Row] = []
        with self._joined() as memory:
            ours, theirs = [], []
            for number in range(1, rounds + 1):
                self.show(f"round {number} of {rounds}: {self.bots} bots play on the server")
                with self._playing():
                    ours.append(self._window(self.server.process, seconds, self._logs))
                    memory.note_playing()
                    if number == rounds:
                        busy = meanwhile()
                self.show(f"round {number} of {rounds}: the same matches by arena play")
                theirs.append(self._arena_play(seconds, number))
            return [*_rates(self.bots, self.game, ours, theirs), *memory.rows(self.bots), *busy]

    @contextlib.contextmanager
    def _joined(self) -> Iterator[_Memory]:
        """Keep all bots connected until the end of the block."""
        self.show(f"{self.bots} bots join")
        memory = _Memory(self.server.process)
        home = self._folder / "joined"
        home.mkdir()
        arguments = map(str, (self.server.web_port, self.bots, self.game, self._bot, home))
        command = [sys.executable, "-c", _JOIN, *arguments]
        with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            try:
                program.stdin.write(f"{self.token}\n")
                program.stdin.flush()
                if program.stdout.readline() != "joined\n":
                    raise RuntimeError("the bots did not join")
                self._carriers = psutil.Process(program.pid)
                memory.note_joined()
                yield memory
            finally:
                _end(program)

    @contextlib.contextmanager
    def _playing(self) -> Iterator[None]:
        """Let all bots play until the end of the block."""
        before = _begun(self._logs)
        jobs = []
        for number in range(0, self.bots, 2):
            players = [bot_name(number), bot_name(number + 1)]
            job = {"game": self.game, "players": players, "deals": _HANDS, "seating": "single", "seed": number + 1}
            jobs.append(self.caller.call("POST", "/jobs", job)["id"])
        until(lambda: _begun(self._logs) - before >= len(jobs), within_s=_START_S, every_s=0.5)
        yield
        for job in jobs:
            self.caller.call("DELETE", f"/jobs/{job}")
        until(lambda: not self.caller.call("GET", "/runs?state=running")["runs"], within_s=_START_S, every_s=0.5)

    def _arena_play(self, seconds: float, number: int) -> _Window:
        """Measure one `arena play` with as many matches at a time."""
        folder = self._folder / f"play{number}"
        matches = self.bots // 2
        players = [f"{name}={self._bot}" for name in ("A", "B")]
        options = {
            "--deals": _HANDS * matches,
            "--workers": matches,
            "--seed": 1,
            "--out": folder,
            "--start-timeout": _START_S,
        }
        words = [word for option, value in options.items() for word in (option, str(value))]
        start = "import sys; from dealer.cli import main; sys.exit(main())"
        command = [sys.executable, "-P", "-c", start, "play", self.game, *players, *words, "--no-duplicate", "--quiet"]
        output_path = self._folder / f"play{number}.txt"
        with (
            output_path.open("wb") as output,
            subprocess.Popen(command, cwd=self._folder, stdout=output, stderr=output, text=True) as program,
        ):
            try:

                def has_begun() -> bool:
                    if program.poll() is not None:
                        last = " ".join(output_path.read_text("utf-8", "replace").split())[-400:]
                        raise RuntimeError(f"arena play ended with exit code {program.returncode}: {last}")
                    return _begun(folder) >= matches

                until(has_begun, within_s=_START_S, every_s=0.5)
                return self._window(psutil.Process(program.pid), seconds, folder)
            finally:
                _end(program)

    def _window(self, dealer: psutil.Process, seconds: float, logs: Path) -> _Window:
        """Count hands and processor time over some seconds."""
        carriers = [] if self._carriers is None else [self._carriers]
        dealers = [dealer]
        bots = []
        for child in itertools.chain.from_iterable(of.children(recursive=True) for of in (dealer, *carriers)):
            (dealers if is_dealer_process(child) else bots).append(child)
        before = self._stand(dealers, carriers, bots, logs)
        time.sleep(seconds)
        after = self._stand(dealers, carriers, bots, logs)
        dealt = Spent(after.dealer.user_s - before.dealer.user_s, after.dealer.system_s - before.dealer.system_s)
        bots_s, carriers_s = after.bots_s - before.bots_s, after.carriers_s - before.carriers_s
        busy_s, whole_s = after.machine[0] - before.machine[0], after.machine[1] - before.machine[1]
        others_s = max(0.0, busy_s - sum(dealt) - bots_s - carriers_s)
        hands, passed_s = after.hands - before.hands, after.clock_s - before.clock_s
        return _Window(hands, passed_s, dealt, bots_s, carriers_s, others_s / max(whole_s, 1e-9))

    @staticmethod
    def _stand(
        dealers: Iterable[psutil.Process],
        carriers: Iterable[psutil.Process],
        bots: Iterable[psutil.Process],
        logs: Path,
    ) -> _Stand:
        spent = [spent_by(dealer) for dealer in dealers]
        dealt = Spent(sum(times.user_s for times in spent), sum(times.system_s for times in spent))
        bots_s, carriers_s = spent_by_all(bots), spent_by_all(carriers)
        return _Stand(time.perf_counter(), sum(_hands(logs)), dealt, bots_s, carriers_s, machine_s())


@dataclass(frozen=True, slots=True)
class _Stand:
    """All counters at one moment."""

    clock_s: float
    hands: int
    dealer: Spent
    bots_s: float
    carriers_s: float
    machine: tuple[float, float]


def _hands(folder: Path) -> list[int]:
    """Number of hands in each log of a folder."""
    return [path.read_bytes().count(b"\nSTATE:") for path in folder.rglob("match*.log")]


def _begun(folder: Path) -> int:
    """Number of matches with a finished hand."""
    return sum(hands > 0 for hands in _hands(folder))


def _end(program: subprocess.Popen[str]) -> None:
    """Terminate a program, and kill it after a minute."""
    program.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(60.0)
    program.kill()


def _rates(bots: int, game: str, ours: Sequence[_Window], theirs: Sequence[_Window]) -> list[Row]:
    """Rows of hands per second and of processor time per hand."""
    group = f"{bots} bots in {bots // 2} matches of {game}"
    ratios = [a.rate / b.rate for a, b in zip(ours, theirs, strict=True)]

    def row(who: str, windows: Sequence[_Window], ratio: float | None, note: str) -> Row:
        samples = []
        for window in windows:
            user_us = window.us(window.dealer.user_s)
            system_us = window.us(window.dealer.system_s)
            samples.append(Sample(window.rate, user_us, system_us, window.others_share))
        return replace(sample_row(group, who, samples), ratio=ratio, note=note)

    def bots_note(windows: Sequence[_Window]) -> str:
        return f"the bots use {statistics.median(one.us(one.bots_s) for one in windows):,.0f} µs a hand"

    carried = statistics.median(one.us(one.carriers_s) for one in ours)
    cores = os.cpu_count() or 1
    return [
        row("arena serve", ours, None, f"{bots_note(ours)}, those who bring them {carried:,.0f} µs; {cores} cores"),
        row("arena play", theirs, statistics.median(ratios), f"{bots_note(theirs)}"),
    ]


# ---- many clients that bring bots, in a process of their own


def bot_name(number: int) -> str:
    """Name of a bot by its number, from 0."""
    return f"joined{number}"


def join(arguments: Sequence[str]) -> None:
    """Join bots as `arena join` does: PORT BOTS GAME BOT FOLDER, the token on the standard input.

    When all have joined a line is printed; they stay until the process is ended, and their bots with them.
    """
    port, bots, game, bot, folder = arguments
    token = sys.stdin.readline().strip()
    settings = []
    for number in range(int(bots)):
        name = bot_name(number)
        own = Path(folder) / name
        own.mkdir()
        one = JoinSettings(
            address=f"http://127.0.0.1:{port}",
            token=token,
            player=parse_player(f"{name}={bot}"),
            folder=own,
            games=(game,),
            seed=number,
            answer_timeout_s=ANSWER_S,
        )
        settings.append(one)
    with contextlib.suppress(asyncio.CancelledError), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_join(settings))


async def _join(settings: Sequence[JoinSettings]) -> None:
    joined: set[str] = set()

    def note(news: News) -> None:
        if isinstance(news, JoinedServer):
            joined.add(news.bot)
            if len(joined) == len(settings) and not news.is_reconnect:
                print("joined", flush=True)

    clients = [asyncio.create_task(Joining(one, note).run()) for one in settings]

    def leave() -> None:
        for client in clients:
            client.cancel()

    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leave)
    await asyncio.gather(*clients)
