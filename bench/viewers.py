"""Cost of watching: a server deals one match, alone and followed live by many anonymous pages.

Both are measured in turn in each round, over processor time of the server, which deals and answers in one process. The
viewers come from many loopback addresses, so that no bound of one address counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.served import ANSWER_S, Caller, Served, served, spent_by, until
from bench.times import answer_time_s, percentile
from dealer.bench import Row
from protocol import find_game

_CONFIG = """
[web]
max_connections = 100000
page_requests_per_minute = 1000000
[[games]]
game = "{game}"
bots = ["random", "calling"]
"""
_HANDS = 100_000
_PER_ADDRESS = 20
_PAGES = 20
_SETTLE_S = 3.0
"""Time for the server to finish opening or closing connections."""


class _Window(NamedTuple):
    """Counts over some seconds: hands, seconds, processor time of the server, events, pages."""

    per_s: float
    per_cpu_s: float
    events_per_s: float
    pages_s: Sequence[float]


def measure(*, viewers: int = 200, seconds: float = 10.0, rounds: int = 3, game: str = "limit") -> list[Row]:
    """Hands per second of the server's processor of a watched match, compared with it unwatched.

    Args:
        viewers: that follow the match.
        seconds: over which hands are counted.
        rounds: how often both are counted.
        game: of two players.

    Raises:
        OSError: the server cannot be started or reached.
        RuntimeError: the server fails.
        ValueError: the game has other than two players.
    """
    full, rules = find_game(game)
    if rules.num_players != 2:
        raise ValueError(f"--game {game}: the game must have two players, not {rules.num_players}")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        served(Path(folder), _CONFIG.format(game=game)) as server,
        contextlib.closing(Caller(server.web_port, server.token)) as caller,
    ):
        contest = {"game": full, "players": ["random", "calling"], "deals": _HANDS, "seating": "single"}
        caller.call("POST", "/jobs", contest)
        until(lambda: bool(caller.call("GET", "/runs?state=running")["runs"]), every_s=0.1)
        run = caller.call("GET", "/runs?state=running")["runs"][0]["id"]
        (log,) = _logs(Path(folder))
        until(lambda: b"\nSTATE:" in log.read_bytes(), every_s=0.1)
        alone, watched = [], []
        for _ in range(rounds):
            alone.append(_window(server, caller, run, log, seconds, _Arrived()))
            with _watching(server.web_port, f"/runs/{run}/matches/match/events", viewers) as arrived:
                watched.append(_window(server, caller, run, log, seconds, arrived))
        if not caller.call("GET", "/runs?state=running")["runs"]:
            raise RuntimeError("the match was over before the measurement; give fewer seconds or rounds")
    return [
        _row(full, "nobody watches", alone, None),
        _row(
            full,
            f"{viewers} viewers",
            watched,
            [a.per_cpu_s / w.per_cpu_s for a, w in zip(alone, watched, strict=True)],
        ),
    ]


def _logs(folder: Path) -> list[Path]:
    found: list[Path] = []

    def is_there() -> bool:
        found[:] = folder.rglob("match.log")
        return bool(found)

    until(is_there, every_s=0.1)
    return found


class _Arrived:
    """Number of events that viewers have received."""

    def __init__(self) -> None:
        self.events = 0


def _window(server: Served, caller: Caller, run: int, log: Path, seconds: float, arrived: _Arrived) -> _Window:
    time.sleep(_SETTLE_S)
    begun_s, cpu_s, hands, events = time.perf_counter(), sum(spent_by(server.process)), _hands(log), arrived.events
    time.sleep(seconds)
    passed_s, cpu_s = time.perf_counter() - begun_s, sum(spent_by(server.process)) - cpu_s
    played, events = _hands(log) - hands, arrived.events - events
    pages_s = [answer_time_s(caller, f"/runs/{run}") for _ in range(_PAGES)]
    return _Window(played / passed_s, played / max(cpu_s, 1e-9), events / passed_s, pages_s)


def _hands(log: Path) -> int:
    return log.read_bytes().count(b"\nSTATE:")


def _row(game: str, who: str, windows: Sequence[_Window], ratios: Sequence[float] | None) -> Row:
    rates = [one.per_cpu_s for one in windows]
    pages_s = [one for window in windows for one in window.pages_s]
    note = (
        f"{statistics.median(one.per_s for one in windows):,.0f} hands/s, "
        f"{statistics.median(one.events_per_s for one in windows):,.0f} events/s, "
        f"a page {1000 * statistics.median(pages_s):.0f} ms, 99 of 100 within {1000 * percentile(pages_s, 0.99):.0f} ms"
    )
    return Row(
        group=f"a match of {game} on a server",
        who=who,
        rate_median=statistics.median(rates),
        rate_low=min(rates),
        rate_high=max(rates),
        unit="hands/s of the processor",
        ratio=None if ratios is None else statistics.median(ratios),
        note=note,
    )


@contextlib.contextmanager
def _watching(port: int, path: str, viewers: int) -> Iterator[_Arrived]:
    """Follow an address with many connections until the end of the block.

    Raises:
        RuntimeError: the server refuses one.
    """
    arrived, is_over, problems = _Arrived(), threading.Event(), list[str]()
    following = threading.Semaphore(0)

    async def follow(number: int) -> None:
        address = (f"127.0.0.{2 + number // _PER_ADDRESS}", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=address)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        try:
            line = await reader.readline()
            if b" 200 " not in line:
                problems.append(line.decode().strip())
            else:
                await reader.readuntil(b"event: state")
            following.release()
            while data := await reader.read(1 << 16):
                arrived.events += data.count(b"event: state")
        finally:
            writer.close()

    async def follow_all() -> None:
        tasks = [asyncio.create_task(follow(number)) for number in range(viewers)]
        await asyncio.to_thread(is_over.wait)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(follow_all()), daemon=True)
    thread.start()
    try:
        for _ in range(viewers):
            if not following.acquire(timeout=ANSWER_S):
                raise RuntimeError("the server does not answer its viewers")
        if problems:
            raise RuntimeError(f"GET {path}: {problems[0]}")
        yield arrived
    finally:
        is_over.set()
        thread.join()
