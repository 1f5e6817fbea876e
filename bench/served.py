"""A server in a process of its own, a program that calls it, and the processor time of processes."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ANSWER_S = 60.0
_START_S = 120.0
_IDLE_S = 2.0
"""Idle time after which a connection is opened again, because servers close idle ones."""
API = "/api/v1"


def until(is_true: Callable[[], bool], *, within_s: float = ANSWER_S, every_s: float = 0.001) -> None:
    """Wait until a condition holds.

    Raises:
        RuntimeError: it is not so in time.
    """
    deadline_s = time.monotonic() + within_s
    while not is_true():
        if time.monotonic() > deadline_s:
            raise RuntimeError("the server did not finish in time")
        time.sleep(every_s)


@dataclass(frozen=True, slots=True)
class Served:
    """A running server.

    Attributes:
        text_port: for clients with bots.
        web_port: of the pages and of the interface for programs.
        token: of its first user; empty if users exist already.
        process: the server's, without its bots.
    """

    text_port: int
    web_port: int
    token: str
    process: psutil.Process


class Caller:
    """Client of the HTTP interface and the pages, over one connection."""

    def __init__(self, port: int, token: str) -> None:
        """Set the address and the token.

        Args:
            port: of the pages.
            token: with which it calls.
        """
        self.headers = {"Authorization": f"Bearer {token}"}
        self._port = port
        self._connection = self.connection()
        self._used_s = time.monotonic()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def connection(self) -> http.client.HTTPConnection:
        """Open another connection."""
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_S)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the HTTP interface; return the decoded answer.

        Raises:
            RuntimeError: it refuses.
            OSError: it cannot be reached.
        """
        sent = None if body is None else json.dumps(body)
        status, answer = self._asked(method, API + path, sent, self.headers)
        document = json.loads(answer)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {document.get('error')}")
        return document

    def page(self, path: str) -> bytes:
        """Load a page without a login; return its bytes.

        Raises:
            RuntimeError: there is no such page.
            OSError: it cannot be reached.
        """
        status, text = self._asked("GET", path, None, {})
        if status != 200:
            raise RuntimeError(f"GET {path}: {status}")
        return text

    def _asked(self, method: str, path: str, sent: str | None, headers: dict[str, str]) -> tuple[int, bytes]:
        if time.monotonic() - self._used_s > _IDLE_S:
            self._connection.close()
        self._connection.request(method, path, sent, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        self._used_s = time.monotonic()
        return answer.status, text


@contextlib.contextmanager
def served(folder: Path, config: str) -> Iterator[Served]:
    """Run a server until the end of the block, with its data in the folder.

    Raises:
        OSError: it cannot be started.
        RuntimeError: it does not start, or has no pages.
    """
    path = folder / "bench.toml"
    path.write_text(config, "ascii")
    start = "import sys; from dealer.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", start, "serve", str(path), "--port", "0", "--web-port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    is_first = not (folder / "arena-server").exists()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield _said(program, is_first=is_first)
        finally:
            program.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(ANSWER_S)
            program.kill()


def _said(program: subprocess.Popen[str], *, is_first: bool) -> Served:
    """Read the ports and the token that a server prints at its start."""
    assert program.stdout is not None
    watchdog = threading.Timer(_START_S, program.kill)
    watchdog.start()
    text_port = web_port = 0
    try:
        for line in program.stdout:
            token = ""
            if found := re.match(r"Listening on 127\.0\.0\.1 port ([0-9]+)", line):
                text_port = int(found[1])
            elif found := re.match(r"The pages are at http://127\.0\.0\.1:([0-9]+)/", line):
                web_port = int(found[1])
            elif found := re.match(r"Log in with: \S+ (\S+)", line):
                token = found[1]
                if not web_port:
                    raise RuntimeError(
                        "the server has no pages: pip install starlette fastapi uvicorn prometheus-client"
                    )
            if web_port and (token or not is_first):
                return Served(text_port, web_port, token, psutil.Process(program.pid))
    finally:
        watchdog.cancel()
    raise RuntimeError("the server did not start")


class Spent(NamedTuple):
    """Processor time in seconds."""

    user_s: float
    system_s: float


def spent_by(process: psutil.Process) -> Spent:
    """Processor time of a process without its children; zero if it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return Spent(0.0, 0.0)
    return Spent(times.user, times.system)


def is_dealer_process(process: psutil.Process) -> bool:
    """Return whether a child of `arena play` or `arena serve` deals, rather than plays."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return any("dealer_process" in word for word in words)


def spent_by_all(processes: Iterable[psutil.Process]) -> float:
    """Sum of the processor times of processes, in seconds."""
    return sum(sum(spent_by(process)) for process in processes)
