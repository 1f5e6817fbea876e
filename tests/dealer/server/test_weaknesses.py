"""Attacks and accidents that ended or stopped the reference's server, one test each.

They concern, in this order: connections, tags and disks, descriptors, passwords, seats, names, answers, starvation,
restarts.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import ConfigError, StoreError
from dealer.server.accounts import GuessLimit
from dealer.server.db.store import Store
from tests.dealer.server.servers import (
    KUHN,
    LIMIT,
    House,
    allow_slow_bots,
    play_agent,
    reference_settings,
    rows,
    running,
)
from tests.programs import PATIENCE_S, wait_for_exit

pytestmark = pytest.mark.usefixtures("house_folder")

CONFIG = f"""
startupTimeoutSecs 20
responseTimeoutSecs 20
game {KUHN} {{
    matchHands 3
    maxRunningJobs 2
    bot k1 ./bot.sh
    bot k2 ./bot.sh
    bot hang ./hang.sh
    bot slow ./slow.sh
    bot spy ./spy.sh
}}
user ann secret
user bob hunter2
"""


async def check_service(house: House, name: str = "bob", password: str = "hunter2") -> None:
    """Log in as another user, and have a match played."""
    bob = await house.log_in(name, password)
    tag = f"ok{len(house.peers)}"
    bob.send(f"RUNMATCHES {KUHN} 1 {tag} 7 k1 k2 k1\n")
    await bob.expect_remark(f"{name}.{tag} run 1 of 1: finished, .*")


def serving(text: str = CONFIG, **changes: Any) -> AbstractAsyncContextManager[House]:
    return running(reference_settings(text, **changes))


# ---- 1: clients that stop the service


async def test_half_lines_and_clients_that_do_not_read_delay_no_other_client() -> None:
    async with serving(write_timeout_s=10000.0) as house:
        strangers = [await house.connect() for _ in range(5)]
        for stranger in strangers:
            stranger.send("a")
        deaf = await house.connect(is_slow=True)
        deaf.send("ann secret\n")
        for _ in range(100):
            deaf.send("HELP\n" * 100)
        await check_service(house)
        assert not strangers[0].is_closed
        assert len(deaf.received) == 0
    # The end of the server waits neither for the strangers nor for the write timeout, else this test would time out.


async def test_client_that_does_not_read_is_disconnected() -> None:
    async with serving(write_timeout_s=0.2) as house:
        deaf = await house.connect(is_slow=True)
        deaf.send("ann secret\n")
        with contextlib.suppress(ConnectionError):
            # The loop ends because the server closes the connection.
            while not deaf.writer.transport.is_closing():
                deaf.send("HELP\n" * 800)
                await deaf.writer.drain()


async def test_time_and_number_of_connections_are_bounded() -> None:
    async with serving(login_timeout_s=0.3, idle_timeout_s=0.3, max_connections_per_address=3) as house:
        silent = await house.connect()
        await silent.expect_close()
        # The login timeout is for the whole login: bytes that arrive do not prolong it.
        slow = await house.connect()
        async with asyncio.timeout(PATIENCE_S):
            while not slow.is_closed:
                slow.writer.write(b"a")
                await asyncio.sleep(0.02)
        idle = await house.log_in()
        await idle.expect_remark("this connection has been idle for too long")
        await idle.expect_close()
        many = [await house.connect() for _ in range(4)]
        await many[3].expect_remark("too many connections; try again later")
        await many[3].expect_close()


async def test_logged_in_clients_take_the_place_of_strangers() -> None:
    async with serving(max_connections=3) as house:
        strangers = [await house.connect() for _ in range(3)]
        # Each login replaces the oldest connection without one.
        users = [await house.log_in() for _ in range(3)]
        for stranger in strangers:
            await stranger.expect_remark("too many connections; try again later")
            await stranger.expect_close()
        late = await house.connect()
        late.send("ann secret\n")
        await late.expect_remark("too many connections; try again later")
        await late.expect_close()
        for user in users:
            await user.ask("QSTAT\n", "Queue empty\n")


async def test_client_waiting_for_its_match_is_not_idle() -> None:
    async with serving(idle_timeout_s=0.1) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 t 7 slow k1 k2\n")
        await ann.expect_remark("QUEUED .*")
        await asyncio.sleep(0.5)
        assert not ann.is_closed
        allow_slow_bots(1)
        await ann.expect_remark("ann.t run 1 of 1: finished, .*")
        await ann.expect_close()


# ---- 2: tags, disks and games that ended the server


async def test_tags_are_never_names_of_files() -> None:
    async with serving() as house:
        ann = await house.log_in()
        for tag in ("..", "C:\\x", "NUL"):
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 k1 k2 k1\n")
        for tag in ("x" * 245, "../x", "a\x1b[2J"):
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 k1 k2 k1\n")
            await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.ask("QSTAT\n", "Queue empty\n")
        files = {str(path.relative_to(house.folder)) for path in house.folder.rglob("*")}
        assert all(Path(file).parts[0] in ("runs", "run.lock") or file.startswith("server.sqlite3") for file in files)
        assert {path.name for path in (house.folder / "runs").iterdir()} == {f"{run:08}" for run in range(1, 4)}


async def test_full_disk_refuses_requests_and_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    is_full = False
    write = Store.write

    async def write_if_possible(self: Store, change: Callable[[sqlite3.Connection], Any]) -> Any:
        if is_full:
            raise StoreError(self.path, os.strerror(errno.ENOSPC))
        return await write(self, change)

    monkeypatch.setattr(Store, "write", write_if_possible)
    monkeypatch.setattr("dealer.server.queue.job_queue.RETRY_S", 0.05)

    async with serving() as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 before 7 slow k2 k1\n")
        await ann.expect_remark("QUEUED ann.before: .*")
        is_full = True
        ann.send(f"RUNMATCHES {KUHN} 1 t 7 k1 k2 k1\n")
        await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.expect_remark("the server cannot store the request now; try again later")
        allow_slow_bots(1)
        await asyncio.sleep(0.3)
        is_full = False
        await ann.expect_remark("ann.before run 1 of 1: finished, .*")


async def test_game_without_deals_is_refused() -> None:
    async with serving(f"{CONFIG}game {LIMIT} {{\nmatchHands 0\nbot a ./bot.sh\n}}\n") as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {LIMIT} 1 t 1 a a\n")
        await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.expect_remark(f"the game {LIMIT} is set to be played for 0 deals")
        await check_service(house)


# ---- 3 and 5: descriptors that leak and are inherited


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_runs_leave_no_descriptor_open_and_bots_inherit_none() -> None:
    async with serving() as house:
        ann = await house.log_in()
        counts = []
        for tag in "abc":
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 spy k1 spy\n")
            await ann.expect_remark(f"ann.{tag} run 1 of 1: finished, .*")
            await ann.ask("QSTAT\n", "Queue empty\n")
            counts.append(len(os.listdir("/proc/self/fd")))
        assert counts[1] == counts[2]
        # Bots have no descriptor but that of their own file. As in the reference, they are called with their index.
        lines = Path("spied.txt").read_text().splitlines()
        assert {line.partition(", [")[2].count("socket:") for line in lines} == {0}
        assert {line.partition("]")[0] for line in lines} == {"(['0'", "(['2'"}


async def test_missing_descriptor_fails_one_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async with serving() as house:
        ann = await house.log_in()
        with monkeypatch.context() as patch:
            patch.setattr("dealer.table.listener.socket.socket", fail)
            ann.send(f"RUNMATCHES {KUHN} 1 t 7 k1 k2 k1\n")
            await ann.expect_remark("ann.t run 1 of 1: failed: cannot listen on .*Too many open files.*")
        await check_service(house)


# ---- 4: passwords


async def test_guessing_is_slowed_down_and_passwords_are_not_kept() -> None:
    async with running(reference_settings(CONFIG), guesses=GuessLimit(max_failures=3, within_s=1000)) as house:
        for _ in range(3):
            guesser = await house.connect()
            guesser.send("ann guess\n")
            await guesser.expect("BAD LOGON\n")
            await guesser.expect_close()
        late = await house.connect()
        late.send("ann secret\n")
        await late.expect("BAD LOGON\n")
        await late.expect_remark("too many failed logins; try again in [0-9]+ s")
        for path in house.folder.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert b"secret" not in content
                assert b"hunter2" not in content


# ---- 5: seats


async def test_port_of_a_seat_does_not_follow_from_the_seed() -> None:
    async with serving() as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 2 t 42 LOCAL k1 k2\n")
        for number in (1, 2):
            await ann.until(lambda number=number: len(ann.ports()) == number)  # type: ignore[misc]
            stranger_reader, stranger = await asyncio.open_connection("127.0.0.1", ann.ports()[-1])
            stranger.write(b"GET / HTTP/1.1\r\n\r\n")
            # The stranger is disconnected, and the seat stays open for the agent.
            assert await stranger_reader.read() == b""
            stranger.close()
            await play_agent(ann.ports()[-1])
            await ann.expect_remark(f"ann.t run {number} of 2: finished, .*")
        assert not {10822, 58468, 63537} & set(ann.ports())


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
async def test_seat_accepts_agents_from_the_address_of_its_client_only() -> None:
    async with serving() as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 t 42 LOCAL k1 k2\n")
        await ann.until(lambda: len(ann.ports()) == 1)
        assert await play_agent(ann.ports()[0], own_address="127.0.0.2") == b""
        assert (await play_agent(ann.ports()[0])).startswith(b"MATCHSTATE:")
        await ann.expect_remark("ann.t run 1 of 1: finished, .*")
    shutil.rmtree("data")

    async with serving(seats_by_address=False) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 t 42 LOCAL k1 k2\n")
        await ann.until(lambda: len(ann.ports()) == 1)
        assert (await play_agent(ann.ports()[0], own_address="127.0.0.2")).startswith(b"MATCHSTATE:")


async def test_output_of_a_bot_goes_to_a_file_of_its_run() -> None:
    async with serving() as house:
        await check_service(house)
        bob = house.peers[-1]
        await bob.settle()
        assert b"RUN 127.0.0.1 9" not in bob.received
        assert sorted(path.name for path in (house.folder / "runs" / "00000001").glob("*.out")) == [
            "match.seat1.k1.out",
            "match.seat2.k2.out",
            "match.seat3.k1-2.out",
        ]


# ---- 6: names


async def test_names_cannot_break_a_log() -> None:
    async with serving(CONFIG.replace("bot k1", "bot b|:x ./bot.sh\n bot k1") + "user a|b:c p\n") as house:
        odd = await house.log_in("a|b:c", "p")
        odd.send(f"RUNMATCHES {KUHN} 1 t|:x 7 LOCAL b|:x k1\n")
        await odd.until(lambda: len(odd.ports()) == 1)
        await play_agent(odd.ports()[0])
        await odd.expect_remark(r"a\|b:c.t\|:x run 1 of 1: finished, a_b_c .*")
        log = (house.folder / "runs" / "00000001" / "match.log").read_text()
        assert "SCORE:" in log
        assert log.splitlines()[-1].endswith(":a_b_c|b_x|k1")


def test_unprintable_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="a name cannot have unprintable characters"):
        reference_settings(CONFIG + "user a\x1b[2Jb p\n")


# ---- 7: answers


async def test_outcome_of_a_request_is_reported() -> None:
    async with serving() as house:
        ann = await house.log_in()
        for request, why in (
            (f"{KUHN} 11 t 7 k1 k1 k1", ".* is played at most 10 times .*"),
            (f"{KUHN} x t 7 k1 k1 k1", "the number of runs is not a whole number from 0"),
        ):
            ann.send(f"RUNMATCHES {request}\n")
            await ann.expect("BAD RUNMATCHES COMMAND\n")
            await ann.expect_remark(why)
        ann.send(f"RUNMATCHES {KUHN} 0 none 7 k1 k1 k1\n")
        await ann.expect_remark("QUEUED ann.none: 0 runs, seed 7")
        ann.send(f"RUNMATCHES {KUHN} 2 t 0 k1 k2 k1\n")
        seed = (await ann.expect_remark("QUEUED ann.t: 2 runs, seed ([0-9]+), .*"))[1]
        assert int(seed)
        await ann.expect_remark(r"ann.t run 2 of 2: finished, k1 [+-][0-9]+ \([+-][0-9,]+ .*mbb/g\), k2 .*, k1#2 .*")
        ann.send("RESULT t\n")
        await ann.expect_remark(f"ann.t: {KUHN}, k1, k2, k1, 2 of 2 runs")
        ann.send("RESULT\nRESULT nothing\nLOG t 1\n")
        await ann.expect_remark("none of your requests has this tag")
        await ann.expect_remark("LOG ann.t 1 of 2")
        await ann.expect_remark("END OF LOG")
        assert (await house.log_in("bob", "hunter2")).received.count(b"ann.t") == 0
        bob = house.peers[-1]
        bob.send("RESULT t\nLOG t\n")
        await bob.expect_remark("none of your requests has this tag")
        await bob.expect_remark("none of your runs has a log of this tag and number")


async def test_forecast_of_a_request_is_reported() -> None:
    async with serving() as house:
        ann = await house.log_in()
        for tag in ("a", "b"):
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 slow k1 k2\n")
            await ann.expect_remark(f"QUEUED ann.{tag}: 1 run, seed 7, starts now")
        await ann.ask("QSTAT\n", f"ann b {KUHN} * 0 R\nann a {KUHN} * 0 R\n")
        ann.send(f"RUNMATCHES {KUHN} 1 c 7 slow k1 k2\n")
        # No run has ended yet, so that the server cannot estimate a time.
        await ann.expect_remark("QUEUED ann.c: 1 run, seed 7, position 1")
        allow_slow_bots(3)
        await ann.expect_remark("ann.c run 1 of 1: finished, .*")
        await ann.ask("QSTAT\n", "Queue empty\n")
        for tag in ("d", "e"):
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 slow k1 k2\n")
        await ann.ask("QSTAT\n", f"ann e {KUHN} * 0 R\nann d {KUHN} * 0 R\n")
        ann.send(f"RUNMATCHES {KUHN} 1 f 7 k1 k1 k2\nRUNMATCHES {KUHN} 1 g 7 k1 k1 k2\n")
        await ann.expect_remark("QUEUED ann.f: 1 run, seed 7, position 1, starts in about [0-9]+ s")
        await ann.expect_remark("QUEUED ann.g: 1 run, seed 7, position 2, starts in about [0-9]+ s")


# ---- 7 and 8: cancelling, and what holds up the queue


async def test_requests_can_be_cancelled_at_every_stage() -> None:
    async with serving() as house:
        ann = await house.log_in()
        for tag in "abc":
            ann.send(f"RUNMATCHES {KUHN} 2 {tag} 7 slow k1 k2\n")
        await ann.ask("QSTAT\n", f"ann c {KUHN} * 2 Q\nann b {KUHN} * 1 R\nann a {KUHN} * 1 R\n")
        bob = await house.log_in("bob", "hunter2")
        bob.send("CANCEL a\n")
        await bob.expect_remark("cancelled: 0 requests with this tag")
        ann.send("CANCEL c\n")
        await ann.expect_remark("cancelled: 1 request with this tag")
        await ann.expect_remark("CANCELLED ann.c: it was cancelled")
        ann.send("CANCEL a\nCANCEL b\n")
        for tag in "ab":
            await ann.expect_remark(f"ann.{tag} run 1 of 2: cancelled: it was cancelled.")
            await ann.expect_remark(f"CANCELLED ann.{tag}: it was cancelled")
        await ann.ask("QSTAT\n", "Queue empty\n")
        states = house.rows("SELECT tag, state, (SELECT group_concat(state) FROM runs WHERE job = jobs.id) FROM jobs")
        assert states == [("a", "cancelled", "cancelled"), ("b", "cancelled", "cancelled"), ("c", "cancelled", None)]


async def test_hanging_bot_is_ended_with_the_processes_it_started() -> None:
    async with serving(start_timeout_s=1.0) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 h 7 k1 hang k2\n")
        await ann.expect_remark("ann.h run 1 of 1: failed: .*")
        await ann.ask("QSTAT\n", "Queue empty\n")
        pids = [int(line) for line in Path("hung.txt").read_text().splitlines()]
        assert len(pids) == 3
        assert all(wait_for_exit(pid) for pid in pids)
        await check_service(house)


async def test_requests_of_one_user_are_bounded() -> None:
    async with serving(max_queued_per_user=2) as house:
        ann = await house.log_in()
        for tag in "abc":
            ann.send(f"RUNMATCHES {KUHN} 1 {tag} 7 slow k1 k2\n")
        await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.expect_remark("the limit is 2 unfinished requests per user")
        bob = await house.log_in("bob", "hunter2")
        bob.send(f"RUNMATCHES {KUHN} 1 t 7 slow k1 k2\n")
        await bob.expect_remark("QUEUED bob.t: .*")


# ---- restarts


async def test_requests_with_own_seats_wait_for_their_client_after_a_restart() -> None:
    settings = reference_settings(CONFIG)

    async with running(settings) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 2 mine 7 LOCAL k1 k2\n")
        await ann.until(lambda: len(ann.ports()) == 1)
    shutil.copytree("data", "other")
    assert rows(Path("data"), "SELECT state FROM runs") == [("running",)]
    async with running(settings) as house:
        bob = await house.log_in("bob", "hunter2")
        await bob.ask("QSTAT\n", f"ann mine {KUHN} * 2 Q\n")
        ann = await house.log_in()
        await ann.expect_remark("the server was restarted: your agents resume 1 request")
        for number in range(2):
            await ann.until(lambda number=number: len(ann.ports()) == number + 1)  # type: ignore[misc]
            await play_agent(ann.ports()[-1])
        await ann.expect_remark("ann.mine run 2 of 2: finished, .*")
    assert rows(Path("data"), "SELECT state FROM jobs") == [("done",)]
    async with running(replace(settings, own_seat_patience_s=0.1), folder=Path("other")) as house:
        bob = await house.log_in("bob", "hunter2")
        await bob.ask("QSTAT\n", "Queue empty\n")
    assert rows(Path("other"), "SELECT state, reason FROM jobs") == [("cancelled", "its client has not reconnected")]


async def test_request_for_a_removed_bot_is_cancelled_at_the_next_start() -> None:
    async with serving() as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {KUHN} 1 gone 7 slow k1 k2\nRUNMATCHES {KUHN} 1 stays 7 spy k1 k2\n")
        await ann.expect_remark("QUEUED ann.stays: .*")
        await ann.ask("QSTAT\n", f"ann gone {KUHN} * 0 R\n")
    async with serving(CONFIG.replace("bot slow ./slow.sh", "").replace("k1 ./bot.sh", "k1 ./botk.sh")) as house:
        ann = await house.log_in()
        await ann.ask("QSTAT\n", "Queue empty\n")
    data = Path("data")
    assert rows(data, "SELECT jobs.tag, jobs.state, runs.state, runs.reason FROM jobs JOIN runs ON job = jobs.id") == [
        ("gone", "cancelled", "cancelled", "the bot slow no longer exists"),
        ("stays", "done", "finished", "all deals were played."),
    ]
    # A bot with another command is another version of it.
    versions = rows(data, "SELECT number FROM versions JOIN bots ON bots.id = bot WHERE name = 'k1' ORDER BY number")
    assert versions == [(1,), (2,)]
