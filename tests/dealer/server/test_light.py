"""Imports and pauses of a server's process: no compiled code, and no long pause of its loop."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final
from urllib.request import Request, urlopen

import pytest

from engine.kernels import disk
from tests.dealer.helpers import PATIENCE_S
from tests.programs import loaded_by

MAX_PAUSE_MS: Final = 50
"""Longest pause of the loop, in processor time of its thread; wall time also depends on the machine's load."""
_HEAVY: Final = ("numba", "llvmlite", "scipy", "numpy")
_SERVER: Final = f"""
import json, sys, threading, time
from dealer.table import loop

longest_s = before_s = 0.0
note_poll = loop.TimedSelector._note_poll

def measure_pause(*arguments, **options):
    global longest_s, before_s
    now_s = time.thread_time()
    if threading.current_thread() is threading.main_thread():
        longest_s, before_s = max(longest_s, now_s - before_s), now_s
    note_poll(*arguments, **options)

def reset_measurement():
    # Time before the server has started is not a pause.
    global longest_s, before_s
    longest_s, before_s = 0.0, time.thread_time()

from dealer.cli.serve import app
from dealer.server.server import Started
init = Started.__init__

def init_and_measure(*arguments, **options):
    init(*arguments, **options)
    loop.TimedSelector._note_poll = measure_pause
    reset_measurement()

Started.__init__ = init_and_measure
from dealer.cli import main
try:
    main()
finally:
    heavy = [name for name in {_HEAVY!r} if name in sys.modules]
    with open("measured.json", "w") as file:
        json.dump({{"longest_ms": 1000 * longest_s, "heavy": heavy}}, file)
"""
_CONFIG: Final = """
[[games]]
game = "kuhn"
bots = ["random", "calling"]
[[games]]
game = "limit"
bots = ["random", "calling"]
"""


class _Server:
    """Process of a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "server.toml").write_text(_CONFIG, "ascii")
        # The program must be a file, because worker processes import it again.
        (folder / "serve.py").write_text(f"if __name__ == '__main__':\n{re.sub('(?m)^', '    ', _SERVER)}", "ascii")
        command = [sys.executable, "-P", "serve.py", "serve", "server.toml", "--port", "0", "--web-port", "0"]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.out: IO[str] = self.process.stdout
        self.page = self._line(r"The pages are at (\S+)")
        self.token = self._line(r"Log in with: \S+ (\S+)")

    def _line(self, pattern: str) -> str:
        for line in self.out:
            if match := re.match(pattern, line):
                return match[1].rstrip("/")
        raise AssertionError(f"the server has not printed {pattern}")

    def get(self, path: str, body: object = None) -> Any:
        """Return the answer of the interface as JSON, or a page as text."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.page + path, data, headers), timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
        return json.loads(text) if path.startswith("/api") else text

    def play(self, game: str, deals: int) -> dict[str, Any]:
        """Play a rated contest; return its run."""
        job = self.get("/api/v1/jobs", {"game": game, "players": ["random", "calling"], "deals": deals})
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s:
            (run,) = self.get(f"/api/v1/jobs/{job['id']}")["runs"] or [{"state": "queued"}]
            if run["state"] not in ("queued", "running"):
                return dict(run)
            time.sleep(0.1)
        raise AssertionError(f"the contest of {game} has not ended")

    def end(self) -> dict[str, Any]:
        """Stop the server; return its measurements."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE_S) == 0
        measured: dict[str, Any] = json.loads((self.folder / "measured.json").read_text("ascii"))
        return measured


@contextlib.contextmanager
def _serving(folder: Path) -> Iterator[_Server]:
    server = _Server(folder)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server.out.close()


def test_server_imports_nothing_heavy() -> None:
    assert loaded_by("import dealer.cli.serve, dealer.server.server, dealer.web.server_site", _HEAVY) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a server is stopped by a signal")
@pytest.mark.parametrize("game", ["kuhn", "limit"])
def test_server_process_stays_light(tmp_path: Path, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if game == "limit":
        # The server corrects results of hold'em only if the folder of published kernels exists.
        monkeypatch.setenv(disk.FOLDER_VARIABLE, str(tmp_path / "published"))
        disk.cache_folder.__wrapped__().mkdir(parents=True)
    with _serving(tmp_path / "server") as server:
        run = server.play(game, 200)
        assert run["state"] == "finished"
        paths = ("/", "/runs", f"/runs/{run['id']}", "/events", "/play")
        for path in (*paths, f"/standings/{run['game']}", f"/bots/{run['game']}/random"):
            assert "</html>" in server.get(path)
        if game == "limit":
            result = json.loads(next(Path(tmp_path).glob(f"server/*/runs/*{run['id']}/result.json")).read_text())
            assert result["players"][0]["won"]["corrected"] is not None
        measured = server.end()
    assert measured["heavy"] == []
    assert measured["longest_ms"] <= MAX_PAUSE_MS
