"""Programs of clients, one with a bot in C, that join a server which is killed and restarted."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dealer.library import play
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, free_ports, program_env
from tests.dealer.joining.test_joining import hands_of
from tests.dealer.server.servers import rows
from tests.outside import require_compiler

HANDS = 100
CONFIG = """
[[games]]
game = "limit"
max_running = 3
bots = ["raising", "mfs"]
"""


class Room(contextlib.ExitStack):
    """Programs of a server and of clients with the token of its first user, killed at the end of the block."""

    def __init__(self, folder: Path, config: str) -> None:
        super().__init__()
        self.folder = folder
        (folder / "s.toml").write_text(config)
        (self.port,) = free_ports(1)
        self._token = ""
        self._servers: list[subprocess.Popen[str]] = []

    def serve(self) -> None:
        """Start or restart the server."""
        name = f"server{len(self._servers)}"
        words = ["serve", "s.toml", "--port", "0", "--web-port", str(self.port), "--data", "data"]
        self._servers.append(self.run(words, name))
        if not self._token:
            output = self.wait_for_output(name, "cannot be shown again")
            self._token = output.partition("Log in with: ")[2].split("\n")[0].replace(" ", ":")

    def kill_server(self) -> None:
        self._servers[-1].kill()
        self._servers[-1].wait()

    def join(self, name: str, *words: str) -> subprocess.Popen[str]:
        """Start a client whose bot has this name."""
        return self.run(["join", f"127.0.0.1:{self.port}", "--name", name, *words], name)

    def run(self, words: list[str], name: str) -> subprocess.Popen[str]:
        output = self.enter_context((self.folder / f"{name}.txt").open("w"))
        env = {**program_env(), "ARENA_TOKEN": self._token}
        process = subprocess.Popen([*ARENA, *words], cwd=self.folder, env=env, stdout=output, stderr=output, text=True)
        self.callback(process.wait)
        self.callback(process.kill)
        return process

    def output(self, name: str) -> str:
        """Output of a program so far."""
        return (self.folder / f"{name}.txt").read_text()

    def wait_for_output(self, name: str, text: str) -> str:
        """Wait until a program has printed a text; return its output."""
        deadline_s = time.monotonic() + PATIENCE_S
        while text not in (output := self.output(name)):
            assert time.monotonic() < deadline_s, output
            time.sleep(0.05)
        return output


@pytest.mark.slow
def test_contests_of_three_clients_equal_local_ones(tmp_path: Path) -> None:
    compiler = require_compiler()
    subprocess.run([compiler, "-std=c99", "-o", tmp_path / "c_client", ROOT / "examples" / "client.c"], check=True)
    shutil.copy(ROOT / "examples" / "minimal_bot.py", tmp_path)
    sdk = f"{sys.executable} minimal_bot.py"
    bots = {"c": "./c_client", "sdk": sdk, "built": "calling", "raising": "raising", "mfs": "mfs"}
    with Room(tmp_path, CONFIG) as room:
        room.serve()

        def join(name: str, *options: str) -> subprocess.Popen[str]:
            client = room.join(name, "--parallel", "3", *options, "--", *bots[name].split())
            room.wait_for_output(name, f"{name} has joined")
            return client

        opponents_clients = [join("c"), join("sdk")]
        contests = ["--card-seed", "7", "-n", str(HANDS)]
        opponents = ("c", "sdk", "mfs", "raising")
        challenger = join("built", *contests, *(word for name in opponents for word in ("--challenge", name)))
        time.sleep(3.0)
        room.kill_server()
        room.serve()
        assert challenger.wait(PATIENCE_S * 5) == 0, room.output("built")
        assert room.output("built").count("all deals were played") == len(opponents)
        for client in opponents_clients:
            client.send_signal(signal.SIGINT)
            assert client.wait(PATIENCE_S) == 130
    done = rows(tmp_path / "data", "SELECT jobs.players, runs.folder, runs.state FROM runs JOIN jobs ON jobs.id = job")
    assert len(done) == len(opponents)
    with contextlib.chdir(tmp_path):
        for players, folder, state in done:
            assert state == "finished"
            (opponent,) = (name for name in opponents if f'"{name}"' in players)
            local = tmp_path / f"local-{opponent}"
            play("limit", [f"built={bots['built']}", f"{opponent}={bots[opponent]}"], deals=HANDS, seed=7, out=local)
            assert hands_of(local) == hands_of(tmp_path / "data" / folder)


LADDER = """
[ladder]
width = 1
deals = 100
share = 1.0
[[games]]
game = "kuhn"
max_running = 4
bots = ["random"]
"""


@pytest.mark.slow
def test_ladder_continues_with_joined_bots_after_a_kill_of_the_server(tmp_path: Path) -> None:
    options = ("--ladder", "--parallel", "4", "--contests", "5", "--games", "kuhn")
    bots = {f"my-{name}": name for name in ("raising", "calling", "folding")}
    with Room(tmp_path, LADDER) as room:
        room.serve()
        clients = {name: room.join(name, *options, "--out", bot, bot) for name, bot in bots.items()}
        room.wait_for_output("my-raising", "all deals were played")
        room.kill_server()
        room.serve()
        for name, client in clients.items():
            assert client.wait(PATIENCE_S * 10) == 0, room.output(name)
            assert room.output(name).count("all deals were played") >= 5
    data = tmp_path / "data"
    counted = rows(data, "SELECT runs, units FROM lineups ORDER BY id")
    assert counted == rows(data, "SELECT count(*), sum(duplicates) FROM runs WHERE lineup NOTNULL GROUP BY lineup")
    assert sum(runs for runs, _ in counted) >= 5
    assert rows(data, "SELECT id, reason FROM runs WHERE state = 'failed'") == []
