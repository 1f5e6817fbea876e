"""Times of a server's answers while it plays: calls of the HTTP interface, and delays of events.

A server is started in a folder of its own; its queue is filled with contests, so that both matches are played and the
database is written all the time. Meanwhile one client asks in turn for what pages and programs ask most, and another
listens: an event's way is from the moment a request is sent until the listener has it. Percentiles are of all
calls; a server that answers slowly under load shows in the 99th, not in the median.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from pathlib import Path

import psutil

from bench.served import Caller, served, until
from bench.times import answer_time_s, event_times, row_of_times
from dealer.bench import Row

_GAME = "kuhn.limit.2p"
_CONTEST: dict[str, object] = {"game": _GAME, "players": ["random", "calling"], "runs": 10}
_CONFIG = """
max_queued_per_user = 10000
[web]
requests_per_minute = 1000000
[[games]]
game = "kuhn"
deals = {hands}
bots = ["random", "calling"]
"""
_ASKED = tuple(f"/api/v1{path}" for path in ("/games", "/jobs", "/runs", f"/games/{_GAME}/standings", "/runs/1"))


def measure(*, calls: int = 200, hands: int = 2000, jobs: int = 100) -> list[Row]:
    """Milliseconds of calls and of events, on an idle server and while matches are played.

    Args:
        calls: of each address, in each state.
        hands: of a run.
        jobs: in the queue, each of ten runs, while matches are played.

    Raises:
        OSError: the server cannot be started or reached.
        RuntimeError: it does not start, or answers otherwise than it should.
    """
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        served(Path(folder), _CONFIG.format(hands=hands)) as server,
        contextlib.closing(Caller(server.web_port, server.token)) as caller,
    ):
        caller.call("POST", "/jobs", {**_CONTEST, "runs": 1})
        until(lambda: bool(caller.call("GET", "/runs?state=finished")["runs"]))
        rows = _rows("at rest", caller, calls, server.process)
        for _ in range(jobs):
            caller.call("POST", "/jobs", _CONTEST)
        rows += _rows("while matches are played", caller, calls, server.process)
        if not caller.call("GET", "/jobs?state=queued")["jobs"] + caller.call("GET", "/jobs?state=running")["jobs"]:
            raise RuntimeError("the queue was empty before the measurement was over; give more jobs")
        return rows


def _rows(state: str, caller: Caller, calls: int, process: psutil.Process) -> list[Row]:
    before, begin_s = process.cpu_times(), time.perf_counter()
    times_s: dict[str, list[float]] = {path: [] for path in _ASKED}
    for _ in range(calls):
        for path in _ASKED:
            times_s[path].append(answer_time_s(caller, path))
    share = (sum(process.cpu_times()[:2]) - sum(before[:2])) / (time.perf_counter() - begin_s)
    note = f"{calls} calls; the server used {share:.0%} of a core"
    rows = [row_of_times(f"GET {path.removeprefix('/api/v1')}", state, taken, note) for path, taken in times_s.items()]
    events = min(calls, 50)
    times = event_times(caller, events, {**_CONTEST, "runs": 1})
    return [*rows, row_of_times("an event's way", state, times, f"{events} events")]
