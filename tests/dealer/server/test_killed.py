"""Recovery of a server that was killed: every accepted run is played once and counts once."""

from __future__ import annotations

import contextlib
import math
import random
import signal
import socket
import time
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from bots.sdk.program import SERVER_VARIABLE
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.server.db import records
from dealer.server.db.records import JobRequest
from dealer.server.db.run_changes import add_job
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User
from engine import DealKey
from protocol.joining import ContestTerms
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.dealer.server.servers import KUHN, rows
from tests.programs import Program, start

pytestmark = pytest.mark.usefixtures("house_folder")

HANDS = 40
SEED = 42
CONFIG = f"""
max_queued_per_user = 1000
[[games]]
game = "{KUHN}"
name = "kuhn3"
deals = {HANDS}
max_running = 3
bots = ["A=./bot.sh", "B=./bot.sh", "C=./bot.sh"]
[[games]]
game = "kuhn.limit.2p"
name = "two"
bots = ["A=./bot.sh", "B=./bot.sh", "C=./bot.sh"]
[ladder]
games = ["two"]
width = 0.001
deals = 100
"""
CONTESTS = {
    "duplicates": ContestTerms(seating=Seating.ROTATIONS, deals=20),
    "orders": ContestTerms(seating=Seating.PERMUTATIONS, deals=10),
    "stop": ContestTerms(seating=Seating.ROTATIONS, deals=120, stop="ci=0.001", on_fault=FaultPolicy.RESTART.value),
}
"""Terms of requests, by the beginning of their tags."""
RUNS = {"orders": 2}


class Client:
    """Process of a server, and a connection to its text port."""

    def __init__(self, token: str = "") -> None:
        Path("s.toml").write_text(CONFIG)
        command = [*ARENA, "serve", "s.toml", "--port", "0", "--web-port", "0", "--data", "data"]
        self.program: Program = start(command, cwd=Path.cwd(), env=program_env())
        assert self.program.stdout is not None
        line = self.program.stdout.readline().decode()
        assert line.startswith("Listening on 127.0.0.1 port "), line
        assert self.program.stdout.readline().startswith(b"The pages are at ")
        if not token:
            token = self.program.stdout.readline().decode().split()[-1]
        self.token = token
        self.socket = socket.create_connection(("127.0.0.1", int(line.split()[4].rstrip("."))), PATIENCE_S)
        self.lines = self.socket.makefile("rb")
        self.send(f"player {token}")
        assert self.expect() == "LOGON OKAY - type help for commands"

    def send(self, line: str) -> None:
        self.socket.sendall(f"{line}\n".encode())

    def expect(self) -> str:
        """Return the next line."""
        line = self.lines.readline()
        assert line.endswith(b"\n"), "the server has ended"
        return line.decode().rstrip("\n")

    def submit(self, tag: str) -> None:
        """Request a match, and wait until the server has accepted it."""
        self.send(f"RUNMATCHES kuhn3 1 {tag} {SEED} A B C")
        while not self.expect().startswith(f"# QUEUED player.{tag}: "):
            pass

    def wait_for_requests(self) -> None:
        """Wait until the queue contains no job but those of the ladder, which never end."""
        deadline_s = time.monotonic() + 10 * PATIENCE_S
        while True:
            assert time.monotonic() < deadline_s, "a request is never played"
            # The answer to an unknown command marks the end of the queue.
            self.send("QSTAT\nfoo")
            lines = []
            while (line := self.expect()) != "UNKNOWN":
                lines.append(line)
            if all(line.startswith("ladder ") for line in lines if line != "Queue empty"):
                return
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server by SIGKILL."""
        self.program.kill()
        self._close()

    def end(self) -> None:
        """End the server by SIGTERM."""
        self.program.send_signal(signal.SIGTERM)
        self._close()
        assert self.program.wait(PATIENCE_S) == 0

    def _close(self) -> None:
        self.lines.close()
        self.socket.close()
        self.program.communicate(timeout=PATIENCE_S)


def orphan_pids() -> list[int]:
    """Processes started by servers of this folder that still run."""
    value = str(Path("data").absolute())
    pids = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(SERVER_VARIABLE) == value and process.status() != psutil.STATUS_ZOMBIE:
                pids.append(process.pid)
    return pids


def enter_contests(number: int, names: Sequence[str]) -> list[str]:
    """Add contests to the queue of a server that does not run; return their tags."""
    tags = []
    with contextlib.closing(Store(Path("data") / DATABASE_NAME)) as store:
        ann = User(store.read("SELECT id FROM users WHERE name = 'player'")[0]["id"], "player")
        for name in names:
            request = JobRequest("kuhn3", ("A", "B", "C"), f"{name}.{number}", RUNS.get(name, 1), terms=CONTESTS[name])
            row = records.new_job(ann, request, DealKey(bytes([SEED] * 32)))
            store.write_now(lambda db, row=row: add_job(db, row))  # type: ignore[misc]
            tags.append(row.tag)
    return tags


def check(accepted: Sequence[str], possible: Sequence[str] = ()) -> None:
    """Check that every accepted run was finished once, counts once, and has the same logs as others of its kind.

    Args:
        accepted: tags of requests that the server has accepted.
        possible: tags of requests that may have been sent too late to be accepted.
    """
    data = Path("data")
    states = dict(rows(data, "SELECT tag, state FROM jobs WHERE kind = 'request'"))
    assert set(accepted) <= states.keys() <= {*accepted, *possible}
    assert set(states.values()) == {"done"}
    by_kind: dict[str, list[tuple[Any, ...]]] = {}
    for run in rows(
        data,
        "SELECT tag, job, number, runs.id, runs.state, duplicates, folder FROM runs JOIN jobs ON jobs.id = job "
        "WHERE kind = 'request'",
    ):
        name = run[0].partition(".")[0]
        by_kind.setdefault(name if name in CONTESTS else "single", []).append(run)
    for name, runs in by_kind.items():
        terms = CONTESTS.get(name, ContestTerms(deals=HANDS, seating=Seating.SINGLE))
        matches = Seating(terms.seating).order_count(3)
        runs_per_job = RUNS.get(name, 1)
        tags = {run[0] for run in runs}
        assert sorted({run[2] for run in runs}) == list(range(1, runs_per_job + 1))
        assert len({run[1:3] for run in runs}) == len(runs)
        assert len(runs) == runs_per_job * len(tags)
        assert {run[4:6] for run in runs} == {("finished", terms.deals)}
        for run in runs:
            assert rows(data, "SELECT count(*), sum(hands) FROM matches WHERE run = ?", run[3]) == [
                (matches, matches * terms.deals)
            ]
        # Runs of the same number have the same cards and players that always call, and so the same logs.
        logs_by_run = set()
        for run in runs:
            logs = tuple(path.read_bytes() for path in sorted((data / run[6]).glob("match*.log")))
            assert len(logs) == matches
            for log in logs:
                assert log.count(b"\nSTATE:") == terms.deals
                assert log.count(b"\nSCORE:") == 1
            logs_by_run.add((run[2], logs))
        assert len(logs_by_run) == runs_per_job
    check_standings(data)
    assert rows(data, "PRAGMA integrity_check") == [("ok",)]
    assert orphan_pids() == []


def check_standings(data: Path) -> None:
    """Check that the standings are the sums over the finished runs. At most one run, of the ladder, is unfinished."""
    unfinished = rows(data, "SELECT state, reason FROM runs WHERE state != 'finished'")
    assert {state for state, _ in unfinished} <= {"running"}, unfinished
    assert len(unfinished) <= 1
    scores = rows(
        data, "SELECT run, seat, length(mbb_by_duplicate) / 8, duplicates FROM scores JOIN runs ON runs.id = run"
    )
    assert all(length == duplicates for _, _, length, duplicates in scores)
    seats = rows(data, "SELECT count(*) FROM seats JOIN runs ON runs.id = run WHERE state = 'finished'")
    assert [(len(scores),)] == seats
    for lineup, runs, units, hands in rows(data, "SELECT id, runs, units, hands FROM lineups"):
        assert rows(
            data,
            "SELECT count(*), sum(duplicates), sum((SELECT sum(hands) FROM matches WHERE run = runs.id)) FROM runs "
            "WHERE runs.lineup = ?",
            lineup,
        ) == [(runs, units, hands)]
        scores_of_lineup = rows(
            data,
            "SELECT version, mbb_by_duplicate FROM scores JOIN runs ON runs.id = scores.run "
            "JOIN seats ON seats.run = scores.run AND seats.seat = scores.seat WHERE runs.lineup = ?",
            lineup,
        )
        totals: dict[int, float] = {}
        for version, blob in scores_of_lineup:
            totals[version] = totals.get(version, 0.0) + math.fsum(array("d", blob))
        stored_totals = dict(rows(data, "SELECT version, total FROM lineup_scores WHERE lineup = ?", lineup))
        assert stored_totals == pytest.approx(totals, abs=1e-6)


def kill_often(kills: int, seed: int, contests: Sequence[str]) -> None:
    """Start and kill servers, every third by SIGTERM, and finish all requests on the last one."""
    chance = random.Random(seed)
    accepted: list[str] = []
    possible: list[str] = []
    token = ""
    for number in range(kills):
        if number:
            accepted += enter_contests(number, chance.sample(contests, chance.randrange(2)))
        client = Client(token)
        token = client.token
        for match in range(chance.randrange(3)):
            tag = f"t{number}.{match}"
            if chance.random() < 0.3:
                # The server may be killed before it accepts this request.
                possible.append(tag)
                client.send(f"RUNMATCHES kuhn3 1 {tag} {SEED} A B C")
            else:
                client.submit(tag)
                accepted.append(tag)
        # The moments include the start of a run, its hands and its end.
        time.sleep(chance.choice([0, 0.02, 0.1, 0.3]) * chance.random())
        if number % 3 == 1:
            client.end()
            assert orphan_pids() == []
        else:
            client.kill()
    accepted += enter_contests(kills, contests)
    client = Client(token)
    client.submit("last")
    client.wait_for_requests()
    client.end()
    check([*accepted, "last"], possible)


def test_killed_server_loses_nothing_and_counts_once() -> None:
    kill_often(2, 1, ["duplicates"])


@pytest.mark.slow
def test_server_killed_many_times_loses_nothing_and_counts_once() -> None:
    kill_often(30, 2, sorted(CONTESTS))
