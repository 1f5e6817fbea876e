"""Three clients with a bot each, one of them a C program, against a server that is killed meanwhile."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from dealer.library import play
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, free_ports, program_env
from tests.dealer.joining.test_joining import hands_of
from tests.dealer.server.servers import rows

HANDS = 100
CONFIG = """
[[games]]
game = "limit"
max_running = 3
bots = ["raising", "mfs"]
"""


def started(words: list[str], folder: Path, output: IO[str], token: str = "") -> subprocess.Popen[str]:
    env = {**program_env(), "ARENA_TOKEN": token}
    return subprocess.Popen([*ARENA, *words], cwd=folder, env=env, stdout=output, stderr=output, text=True)


def until_written(path: Path, text: str) -> str:
    until_s = time.monotonic() + PATIENCE_S
    while text not in (found := path.read_text()):
        assert time.monotonic() < until_s, found
        time.sleep(0.05)
    return found


@pytest.mark.slow
def test_three_bots_play_on_a_server_what_they_play_here(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    subprocess.run([compiler, "-std=c99", "-o", tmp_path / "c_client", ROOT / "examples" / "client.c"], check=True)
    shutil.copy(ROOT / "examples" / "minimal_bot.py", tmp_path)
    (tmp_path / "s.toml").write_text(CONFIG)
    (port,) = free_ports(1)
    sdk = f"{sys.executable} minimal_bot.py"
    bots = {"c": "./c_client", "sdk": sdk, "built": "calling", "raising": "raising", "mfs": "mfs"}
    serve = ["serve", "s.toml", "--port", "0", "--web-port", str(port), "--data", "data"]
    with contextlib.ExitStack() as stack:

        def run(words: list[str], name: str, token: str = "") -> subprocess.Popen[str]:
            output = stack.enter_context((tmp_path / f"{name}.txt").open("w"))
            process = started(words, tmp_path, output, token)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        server = run(serve, "server1")
        said = until_written(tmp_path / "server1.txt", "cannot be shown again")
        token = said.partition("Log in with: ")[2].split("\n")[0].replace(" ", ":")

        def join(name: str, *options: str) -> subprocess.Popen[str]:
            given = [
                "join",
                f"127.0.0.1:{port}",
                "--name",
                name,
                "--parallel",
                "3",
                *options,
                "--",
                *bots[name].split(),
            ]
            client = run(given, name, token)
            until_written(tmp_path / f"{name}.txt", f"{name} has joined")
            return client

        staying = [join("c"), join("sdk")]
        contests = ["--card-seed", "7", "-n", str(HANDS)]
        opponents = ("c", "sdk", "mfs", "raising")
        asking = join("built", *contests, *(word for name in opponents for word in ("--challenge", name)))
        time.sleep(3.0)
        server.kill()
        server.wait()
        run(serve, "server2")
        assert asking.wait(PATIENCE_S * 5) == 0, (tmp_path / "built.txt").read_text()
        assert (tmp_path / "built.txt").read_text().count("all deals were played") == len(opponents)
        for client in staying:
            client.send_signal(signal.SIGINT)
            assert client.wait(PATIENCE_S) == 130
    done = rows(tmp_path / "data", "SELECT jobs.players, runs.folder, runs.state FROM runs JOIN jobs ON jobs.id = job")
    assert len(done) == len(opponents)
    with contextlib.chdir(tmp_path):
        for players, folder, state in done:
            assert state == "finished"
            (opponent,) = (name for name in opponents if f'"{name}"' in players)
            here = tmp_path / f"here-{opponent}"
            play("limit", [f"built={bots['built']}", f"{opponent}={bots[opponent]}"], deals=HANDS, seed=7, out=here)
            assert hands_of(here) == hands_of(tmp_path / "data" / folder)


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
def test_the_ladder_has_joined_bots_play_over_the_death_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(LADDER)
    (port,) = free_ports(1)
    serve = ["serve", "s.toml", "--port", "0", "--web-port", str(port), "--data", "data"]
    with contextlib.ExitStack() as stack:

        def run(words: list[str], name: str, token: str = "") -> subprocess.Popen[str]:
            output = stack.enter_context((tmp_path / f"{name}.txt").open("w"))
            process = started(words, tmp_path, output, token)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        server = run(serve, "server1")
        said = until_written(tmp_path / "server1.txt", "cannot be shown again")
        token = said.partition("Log in with: ")[2].split("\n")[0].replace(" ", ":")
        join = ["join", f"127.0.0.1:{port}", "--ladder", "--parallel", "4", "--contests", "5", "--games", "kuhn"]
        names = ("raising", "calling", "folding")
        clients = [run([*join, "--name", f"my-{name}", "--out", name, name], name, token) for name in names]
        until_written(tmp_path / "raising.txt", "all deals were played")
        server.kill()
        server.wait()
        run(serve, "server2")
        for name, client in zip(names, clients, strict=True):
            assert client.wait(PATIENCE_S * 10) == 0, (tmp_path / f"{name}.txt").read_text()
            assert (tmp_path / f"{name}.txt").read_text().count("all deals were played") >= 5
    data = tmp_path / "data"
    counted = rows(data, "SELECT runs, units FROM lineups ORDER BY id")
    assert counted == rows(data, "SELECT count(*), sum(duplicates) FROM runs WHERE lineup NOTNULL GROUP BY lineup")
    assert sum(runs for runs, _ in counted) >= 5
    assert rows(data, "SELECT id, reason FROM runs WHERE state = 'failed'") == []
