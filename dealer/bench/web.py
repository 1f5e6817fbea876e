"""How long a server's answers take while it plays: calls of its interface for programs, and events on their way.

A server is started in a folder of its own; its queue is filled with contests, so that both matches are played and the
database is written all the time. Meanwhile one client asks in turn for what pages and programs ask most, and another
listens: an event's way is from the moment a request is sent until the listener has heard of it. Percentiles are of all
calls; a server that answers slowly under load shows in the 99th, not in the median.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from dealer.bench.rows import Row

__all__ = ["measure", "percentile"]

_START_S = 120.0
_ANSWER_S = 60.0
_GAME = "kuhn.limit.2p"
_CONTEST = {"game": _GAME, "players": ["random", "calling"], "runs": 10}
_CONFIG = """
[web]
requests_per_minute = 1000000
[[games]]
game = "kuhn"
hands = {hands}
bots = ["random", "calling"]
"""
_ASKED = ("/games", "/jobs", "/runs", f"/games/{_GAME}/standings", "/runs/1")


def percentile(times_s: Sequence[float], share: float) -> float:
    """The time that a share of all stays within: the smallest such of those measured."""
    ordered = sorted(times_s)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(*, calls: int, hands: int, jobs: int) -> list[Row]:
    """Milliseconds of calls and of events, at rest and while matches are played.

    Args:
        calls: of each address, in each state.
        hands: of a run.
        jobs: in the queue, each of ten runs, while matches are played.

    Raises:
        OSError: the server cannot be started or reached.
        RuntimeError: it does not start, or answers otherwise than it should.
    """
    with _server(hands) as (port, token, process):
        client = _Client(port, token)
        client.call("POST", "/jobs", {**_CONTEST, "runs": 1})
        _until(lambda: bool(client.call("GET", "/runs?state=finished")["runs"]))
        rows = _rows("at rest", client, calls, process)
        for _ in range(jobs):
            client.call("POST", "/jobs", _CONTEST)
        rows += _rows("while matches are played", client, calls, process)
        if not client.call("GET", "/jobs?state=queued")["jobs"]:
            raise RuntimeError("the queue was empty before the measurement was over; give more jobs")
        return rows


def _rows(state: str, client: _Client, calls: int, process: psutil.Process) -> list[Row]:
    times_s: dict[str, list[float]] = {path: [] for path in _ASKED}
    before, begin_s = process.cpu_times(), time.perf_counter()
    for _ in range(calls):
        for path in _ASKED:
            start_s = time.perf_counter()
            client.call("GET", path)
            times_s[path].append(time.perf_counter() - start_s)
    share = (sum(process.cpu_times()[:2]) - sum(before[:2])) / (time.perf_counter() - begin_s)
    note = f"{calls} calls; the server used {share:.0%} of a core"
    rows = [_row(f"GET {path}", state, taken, note) for path, taken in times_s.items()]
    return [*rows, _row("an event's way", state, _event_times(client, min(calls, 50)), f"{min(calls, 50)} events")]


def _row(group: str, who: str, times_s: Sequence[float], note: str) -> Row:
    worst_ms = 1000 * percentile(times_s, 0.99)
    note = f"99 of 100 within {worst_ms:.1f} ms; {note}"
    millis = [1000 * one for one in times_s]
    return Row(group, who, statistics.median(millis), min(millis), max(millis), "ms", None, note)


def _event_times(client: _Client, count: int) -> list[float]:
    """From sending a request until the listener has heard of its job."""
    heard: dict[int, float] = {}
    listening = threading.Event()
    is_over = threading.Event()

    def listen() -> None:
        with contextlib.closing(client.connection()) as connection:
            connection.request("GET", "/api/v1/events", headers=client.headers)
            answer = connection.getresponse()
            event = ""
            while not is_over.is_set():
                line = answer.readline().decode()
                now_s = time.perf_counter()
                if not line:
                    return
                listening.set()
                event = line[7:].strip() if line.startswith("event: ") else event
                if line.startswith("data: ") and event == "job-changed":
                    heard.setdefault(json.loads(line[6:])["job"], now_s)

    ear = threading.Thread(target=listen, daemon=True)
    ear.start()
    if not listening.wait(_ANSWER_S):
        raise RuntimeError("the server does not tell its events")
    times_s = []
    for _ in range(count):
        start_s = time.perf_counter()
        job = client.call("POST", "/jobs", {**_CONTEST, "runs": 1})["id"]
        _until(lambda job=job: job in heard)
        times_s.append(heard[job] - start_s)
    is_over.set()
    client.call("POST", "/jobs", {**_CONTEST, "runs": 1})
    ear.join(_ANSWER_S)
    return times_s


def _until(is_true: Any) -> None:
    deadline_s = time.monotonic() + _ANSWER_S
    while not is_true():
        if time.monotonic() > deadline_s:
            raise RuntimeError("the server did not do in time what it was asked for")
        time.sleep(0.001)


class _Client:
    """A program that calls, over one connection."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self.headers = {"Authorization": f"Bearer {token}"}
        self._connection = self.connection()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ANSWER_S)

    def call(self, method: str, path: str, body: object = None) -> Any:
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, f"/api/v1{path}", sent, self.headers)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {told.get('error')}")
        return told


@contextlib.contextmanager
def _server(hands: int) -> Iterator[tuple[int, str, psutil.Process]]:
    """A server of its own: the port of its pages, a token, and its process."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        config = Path(folder) / "bench.toml"
        config.write_text(f"max_queued_per_user = 10000\n{_CONFIG.format(hands=hands)}", "ascii")
        start = "import sys; from dealer.cli import main; sys.exit(main())"
        command = [sys.executable, "-P", "-c", start, "serve", str(config), "--port", "0", "--web-port", "0"]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as program:
            try:
                yield *_said(program), psutil.Process(program.pid)
            finally:
                program.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(_ANSWER_S)
                program.kill()


def _said(program: subprocess.Popen[str]) -> tuple[int, str]:
    """The port and the token that a server tells when it starts."""
    assert program.stdout is not None
    watchdog = threading.Timer(_START_S, program.kill)
    watchdog.start()
    port = 0
    try:
        for line in program.stdout:
            if found := re.match(r"The pages are at http://127\.0\.0\.1:([0-9]+)/", line):
                port = int(found[1])
            elif found := re.match(r"Log in with: \S+ (\S+)", line):
                if not port:
                    raise RuntimeError("the server has no pages: pip install 'acpc-arena[web]'")
                return port, found[1]
    finally:
        watchdog.cancel()
    raise RuntimeError("the server did not start")
