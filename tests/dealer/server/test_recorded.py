"""Conversations recorded with the reference's server, replayed with ours.

Our server must send the recorded bytes in the recorded order. Our own remarks, the two stray bytes after the
reference's help, and port numbers are not compared. A replay does not wait where the reference was silent, because the
next answer would differ if our server had sent something. Intended differences:

- `quit` is a command. The reference answers UNKNOWN.
- Several lines in one packet are all answered at once. The reference leaves some in its buffer until the next line.
- A partial line delays no other client (04, 05), nor does a long tag, which is refused (08).
- A match that does not fit now is skipped, and one that can never fit is refused (14, 15).
- Bots that hang are ended (19), and so are runs whose agent sends nothing (20).
- A run with a missing program fails before the client is asked to start its agent (03).
- Of two seats with the same name, the second is numbered in the log: `slow`, `slow#2` (22, 25).
- Seed 0 means a random seed, which is reported and logged (02).
- A game may also be named by its short name or its beginning, in any case (02).
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.dealer.server.servers import (
    House,
    Peer,
    allow_slow_bots,
    comparable_bytes,
    play_agent,
    recorded_events,
    recordings,
    reference_settings,
    running,
)

pytestmark = pytest.mark.usefixtures("house_folder")


def config(number: int, **replacements: str) -> str:
    """Configuration of a recording, with some of its numbers replaced."""
    text = str(next(event["bytes"] for event in recorded_events(number) if event["direction"] == "config"))
    for old, new in replacements.items():
        text = re.sub(rf"{old} [0-9]+", f"{old} {new}", text)
    return text


async def replay(house: House, events: list[dict[str, Any]]) -> dict[str, Peer]:
    """Replay a recorded conversation; return the clients."""
    peers: dict[str, Peer] = {}
    for event in events:
        name, text = event["who"], event.get("bytes", "")
        match event["direction"]:
            case "connect":
                peers[name] = await house.connect()
            case "C>S":
                peers[name].send(text.encode("latin-1"))
            case "S>C" if text:
                await peers[name].expect(text)
            case "S>C" if event.get("note", "").startswith("EOF"):
                await peers[name].expect_close()
            case "shutdown":
                peers[name].writer.write_eof()
            case "close":
                await peers[name].close()
    return peers


def recorded_log(number: int, name: str) -> list[str]:
    """Lines of a log in a recording."""
    texts = [
        event["bytes"]
        for event in recorded_events(number)
        if event["direction"] == "file" and f"logs/{name} " in event["bytes"] and "ERROR" not in event["bytes"]
    ]
    return str(texts[0]).splitlines()


async def log_of(peer: Peer, tag: str) -> list[str]:
    """Lines of a request's log in the answer to LOG."""
    before = len(peer.received)
    peer.send(f"LOG {tag}\n")
    await peer.until(lambda: b"# END OF LOG\n" in peer.received[before:])
    peer.skip()
    lines = bytes(peer.received[before:]).decode().splitlines()
    return [line for line in lines if not re.match("# (LOG|END)", line)]


async def test_login_and_simple_commands_are_answered_as_recorded() -> None:
    events = recorded_events(1)
    index = next(index for index, event in enumerate(events) if event.get("bytes") == "quit\n")
    # `quit` is a command here.
    del events[index : index + 2]

    async with running(reference_settings(config(1))) as house:
        await replay(house, [event for event in events if event["who"] != "pipe"])
        pipe = [event for event in events if event["who"] == "pipe"]
        peer = (await replay(house, [event for event in pipe if event["direction"] != "S>C"]))["pipe"]
        await peer.expect("".join(event.get("bytes", "") for event in pipe if event["direction"] == "S>C"))


async def test_partial_line_delays_no_other_client() -> None:
    async with running(reference_settings(config(4))) as house:
        for number in (4, 5):
            recording = [event for event in recorded_events(number) if event["who"] != "bob"]
            bob = await house.log_in("bob", "hunter2")
            stranger = await house.connect()
            stranger.send("a")
            # The reference answers nobody until the stranger has finished its line.
            bob.send("QSTAT\n")
            await bob.expect("Queue empty\n")
            if number == 4:
                stranger.send("b c\n")
                await stranger.expect(next(event["bytes"] for event in recording if event["direction"] == "S>C"))
                await stranger.expect_close()
            else:
                stranger.writer.write_eof()
                await stranger.expect("BAD LOGON\n")
                await stranger.expect_close()


async def test_long_tag_is_refused_and_delays_no_other_client() -> None:
    (line,) = (event["bytes"] for event in recorded_events(8) if event.get("bytes", "").startswith("RUNMATCHES"))

    async with running(reference_settings(config(8))) as house:
        ann = await house.log_in()
        ann.send(line)
        await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.expect_remark("the tag is too long; .*")
        ann.send(re.sub("x{300}", "x" * 244, line).replace(" 1 alpha", " 1 LOCAL"))
        await ann.expect(f"# RUNNING ann.{'x' * 244}\nRUN 127.0.0.1 1\n")


async def test_two_sessions_with_long_lines_are_answered_as_recorded() -> None:
    async with running(reference_settings(config(26))) as house:
        await replay(house, [event for event in recorded_events(26) if event["who"] != "x"])


@pytest.mark.slow
async def test_arguments_of_requests_are_read_as_recorded() -> None:
    async with running(reference_settings(config(2))) as house:
        ann = await house.connect()
        events = [*recorded_events(2)]
        in_capitals = next(index for index, event in enumerate(events) if "HOLDEM" in event.get("bytes", ""))
        del events[in_capitals : in_capitals + 2]
        for event in events:
            text = event.get("bytes", "")
            if event["direction"] == "C>S" and text == "QSTAT\n":
                continue
            if event["direction"] == "C>S":
                ann.send(text.encode("latin-1"))
            elif event["direction"] == "S>C" and text != "Queue empty\n":
                await ann.expect(text)
        await ann.ask("QSTAT\n", "Queue empty\n")
        headers = [
            line for event in recorded_events(2) if event["direction"] == "file" for line in event["bytes"].splitlines()
        ]
        for header in dict.fromkeys(headers):
            name, seed = header.split()[2], header.split()[-1]
            lines = await log_of(ann, name.removeprefix("logs/ann."))
            if seed == "0":
                assert any(line.startswith(header[:-1]) for line in lines)
            else:
                assert header in lines


@pytest.mark.slow
async def test_own_seats_are_offered_and_failing_bots_fail_their_runs() -> None:
    async def agents(peer: Peer, count: int, seats: int = 1) -> None:
        await peer.until(lambda: len(peer.ports()) >= count)
        await asyncio.gather(*(play_agent(port) for port in peer.ports()[count - seats : count]))

    async with running(reference_settings(config(3, startupTimeoutSecs="3"))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        ann.send(f"RUNMATCHES {LIMIT} 2 mine 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.mine\nRUN 127.0.0.1 54557\n")
        await bob.ask("QSTAT\n", f"ann mine {LIMIT} * 1 R\n")
        await agents(ann, 1)
        await ann.expect("# RUNNING ann.mine\nRUN 127.0.0.1 24892\n")
        await bob.ask("QSTAT\n", f"ann mine {LIMIT} * 0 R\n")
        await agents(ann, 2)
        await bob.ask("QSTAT\n", "Queue empty\n")
        ann.send(f"RUNMATCHES {LIMIT} 1 both 42 LOCAL LOCAL\n")
        await ann.expect("# RUNNING ann.both\nRUN 127.0.0.1 10822\n# RUNNING ann.both\nRUN 127.0.0.1 58468\n")
        await agents(ann, 4, seats=2)
        bob.send("RUNMATCHES kuhn.limit.3p.game 1 k 42 k1 LOCAL k2\n")
        await bob.expect("# RUNNING bob.k\nRUN 127.0.0.1 58468\n")
        await agents(bob, 1)
        for count, tag in enumerate(("noexec", "missing"), 1):
            ann.send(f"RUNMATCHES {LIMIT} 1 {tag} 42 LOCAL {tag}\n")
            await ann.expect_remark(f"ann.{tag} run 1 of 1: failed: .*")
            assert len(ann.ports()) == 4, count
        for tag in ("crash", "midcrash", "slowexit", "absent"):
            bot = "alpha" if tag == "absent" else tag
            ann.send(f"RUNMATCHES {LIMIT} 1 {tag} 42 LOCAL {bot}\n")
            if tag != "crash":
                # A bot that ends at once may fail the run before the client is asked to start its agent.
                await ann.until(lambda tag=tag: f"# RUNNING ann.{tag}\n".encode() in ann.received)  # type: ignore[misc]
                if tag != "absent":
                    await play_agent(ann.ports()[-1])
            state = "finished" if tag == "slowexit" else "failed"
            await ann.expect_remark(f"ann.{tag} run 1 of 1: {state}.*")
            await bob.ask("QSTAT\n", "Queue empty\n")
        assert fixed_parts(await log_of(ann, "mine")) == fixed_parts(recorded_log(3, "ann.mine"))
        assert fixed_parts(await log_of(bob, "k")) == fixed_parts(recorded_log(3, "bob.k"))


LIMIT = "holdem.limit.2p.reverse_blinds.game"


def fixed_parts(lines: list[str]) -> list[object]:
    """Parts of a log that do not depend on actions: headers, and number, hole cards and names of each hand."""
    summary: list[object] = []
    for line in lines:
        parts = line.split(":")
        if line.startswith("#"):
            summary.append(line)
        elif line.startswith("STATE"):
            summary.append((parts[1], parts[3].split("/")[0], parts[5]))
    return summary


@pytest.mark.slow
async def test_order_and_seeds_of_runs_are_those_recorded() -> None:
    requests = [event["bytes"] for event in recorded_events(16) if event.get("bytes", "").startswith("RUNMATCHES")]
    (queue,) = (event["bytes"] for event in recorded_events(16) if "bob b1" in event.get("bytes", ""))
    (order,) = (event["bytes"] for event in recorded_events(16) if event["direction"] == "order")
    expected_runs = re.findall(r'"(\w+)\.(\w+)", "([0-9]+)"', order)

    async with running(reference_settings(config(16))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        for number, request in enumerate(requests):
            (bob if number == 3 else ann).send(request)
            if number == 0:
                await ann.ask("QSTAT\n", f"ann a1 {LIMIT} * 2 R\n")
            await ann.settle()
        await bob.settle()
        bob.send("QSTAT\n")
        await bob.expect(queue)
        allow_slow_bots(len(expected_runs))
        await bob.ask("QSTAT\n", "Queue empty\n")
        rows = house.rows(
            "SELECT users.name, jobs.tag, runs.seed FROM runs JOIN jobs ON jobs.id = runs.job "
            "JOIN users ON users.id = jobs.user ORDER BY runs.id"
        )
        assert rows == [(user, tag, int(seed)) for user, tag, seed in expected_runs]
        for name in ("ann.a1", "bob.b1"):
            lines = await log_of(ann if name.startswith("ann") else bob, name[4:])
            assert [line for line in lines if "name/game" in line] == recorded_log(16, name)


@pytest.mark.slow
async def test_silent_agent_fails_its_run() -> None:
    async with running(reference_settings(config(20, startupTimeoutSecs="1"))) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {LIMIT} 1 silent 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.silent\nRUN 127.0.0.1 10822\n")
        _, writer = await asyncio.open_connection("127.0.0.1", ann.ports()[0])
        await ann.expect_remark("ann.silent run 1 of 1: failed: .*")
        await ann.ask("QSTAT\n", "Queue empty\n")
        writer.close()


@pytest.mark.slow
async def test_next_run_follows_a_failed_run() -> None:
    async def fail(port: int, kind: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if kind != "noversion":
            writer.write(b"HELLO\r\n" if kind == "badversion" else b"VERSION:2.0.0\r\n")
        if kind == "die":
            await reader.readline()
        if kind == "mute":
            await reader.read()
        writer.close()

    text = config(21, startupTimeoutSecs="1", responseTimeoutSecs="1")
    async with running(reference_settings(text)) as house:
        ann = await house.log_in()
        for kind in ("die", "badversion", "mute", "noversion"):
            ann.send(f"RUNMATCHES {LIMIT} 2 {kind} 42 LOCAL alpha\n")
            for number in (1, 2):
                await ann.expect(f"# RUNNING ann.{kind}\nRUN 127.0.0.1 1\n")
                failing = asyncio.create_task(fail(ann.ports()[-1], kind))
                await ann.expect_remark(f"ann.{kind} run {number} of 2: failed: .*")
                await failing
            await ann.ask("QSTAT\n", "Queue empty\n")
            recorded_headers = [line for line in recorded_log(21, f"ann.{kind}") if "name/game" in line]
            headers = [line for line in await log_of(ann, kind) if "name/game" in line]
            assert headers == [line for line in recorded_headers if line in headers]


@pytest.mark.slow
async def test_departed_client_loses_the_runs_with_its_own_seats() -> None:
    async with running(reference_settings(config(22, startupTimeoutSecs="3"))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        ann.send(f"RUNMATCHES {LIMIT} 3 loc 1 LOCAL slow\n")
        await ann.expect("# RUNNING ann.loc\nRUN 127.0.0.1 59766\n")
        ann.send(f"RUNMATCHES {LIMIT} 3 bots 1 slow slow\n")
        ann.send(f"RUNMATCHES {LIMIT} 2 loc2 1 LOCAL slow\n")
        await ann.settle()
        bob.send("QSTAT\n")
        queue = [
            event["bytes"] for event in recorded_events(22) if "* " in event.get("bytes", "") and event["who"] == "bob"
        ]
        await bob.expect(queue[0])
        await ann.close()
        for line in dict.fromkeys(queue[1:]):
            await bob.ask("QSTAT\n", line)
            if "R\n" in line and "loc" not in line:
                allow_slow_bots(2)
        await bob.ask("QSTAT\n", "Queue empty\n")
        later = await house.log_in()
        heads = [line.split()[2:] for line in await log_of(later, "bots") if "name/game" in line]
        assert heads == [line.split()[2:] for line in recorded_log(22, "ann.bots") if "name/game" in line]


@pytest.mark.slow
async def test_match_continues_when_its_client_leaves() -> None:
    async with running(reference_settings(config(23))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        ann.send(f"RUNMATCHES {LIMIT} 3 gone 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.gone\nRUN 127.0.0.1 54557\n")
        await ann.close()
        await bob.ask("QSTAT\n", f"ann gone {LIMIT} * 0 R\n")
        await play_agent(ann.ports()[0])
        await bob.ask("QSTAT\n", "Queue empty\n")
        later = await house.log_in()
        lines = await log_of(later, "gone")
        assert fixed_parts(lines) == fixed_parts(recorded_log(23, "ann.gone"))
        assert lines[-1].startswith("SCORE:")


@pytest.mark.slow
async def test_same_tag_may_be_used_twice() -> None:
    async with running(reference_settings(config(25))) as house:
        ann = await house.log_in()
        for _ in range(2):
            ann.send(f"RUNMATCHES {LIMIT} 1 t 1 slow alpha\n")
        await ann.ask("QSTAT\n", f"ann t {LIMIT} * 0 R\nann t {LIMIT} * 0 R\n")
        allow_slow_bots(2)
        await ann.ask("QSTAT\n", "Queue empty\n")
        assert fixed_parts(await log_of(ann, "t")) == fixed_parts(recorded_log(25, "ann.t"))


@pytest.mark.slow
async def test_two_requests_with_one_seed_form_a_duplicate_match() -> None:
    async with running(reference_settings(config(28))) as house:
        ann = await house.log_in()
        allow_slow_bots(4)
        ann.send(f"RUNMATCHES {LIMIT} 2 fwd 99 alpha slow\nRUNMATCHES {LIMIT} 2 rev 99 slow alpha\n")
        await ann.ask("QSTAT\n", "Queue empty\n")
        for tag in ("fwd", "rev"):
            assert fixed_parts(await log_of(ann, tag)) == fixed_parts(recorded_log(28, f"ann.{tag}"))


async def test_agent_continues_after_invalid_lines() -> None:
    """While the other player calls, the dealer sends the recorded lines."""
    events = [event for event in recorded_events(33) if event["who"] == "agent"][:6]

    async with running(reference_settings(config(33))) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {LIMIT} 1 inv 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.inv\nRUN 127.0.0.1 10822\n")
        reader, writer = await asyncio.open_connection("127.0.0.1", ann.ports()[0])
        writer.write(b"VERSION:2.0.0\r\n")
        for event in events:
            if event["direction"] == "C>D":
                writer.write(event["bytes"].encode())
            else:
                assert await reader.readline() == event["bytes"].encode()
        writer.close()


@pytest.mark.slow
async def test_widget_of_the_reference_is_answered_as_recorded() -> None:
    async with running(reference_settings(config(34))) as house:
        wire = await house.connect()
        for event in recorded_events(34):
            if event["who"] != "wire":
                continue
            if event["direction"] == "C>S" and event["bytes"] == "QSTAT\n":
                await wire.ask("QSTAT\n", "Queue empty\n")
            elif event["direction"] == "C>S":
                wire.send(event["bytes"])
            elif event["direction"] == "S>C" and event["bytes"] != "Queue empty\n":
                await wire.expect(event["bytes"])
                if "RUN " in event["bytes"]:
                    await play_agent(wire.ports()[-1])


@pytest.mark.slow
async def test_one_line_client_is_answered_as_recorded() -> None:
    (line,) = (event["bytes"] for event in recorded_events(37) if event["direction"] == "C>S")

    async with running(reference_settings(config(37))) as house:
        client = await house.connect()
        client.send(line)
        await client.expect("LOGON OKAY - type help for commands\n# RUNNING ann.tg\nRUN 127.0.0.1 1\n")
        await play_agent(client.ports()[0])
        await client.expect("Matches finished\n")
        await client.expect_close()
        assert bytes(client.received).endswith(b"\nMatches finished\n")
        later = await house.connect()
        later.send("ann secret rerun 2pl ./echo.sh 1 re 7 local alpha\n")
        await later.until(lambda: len(later.ports()) == 1)
        await play_agent(later.ports()[0])
        await later.expect_remark("ann.re run 1 of 1: finished.*")
        assert house.rows("SELECT seed FROM runs ORDER BY id") == [(7,), (976413892,)]
        lister = await house.connect()
        lister.send("ann secret games\n")
        await lister.expect(f"LOGON OKAY - type help for commands\n\n{LIMIT}\n slow\n hang\n alpha\nMatches finished\n")
        await lister.expect_close()
        for wrong in ("run 2pl x 1 t 7 local nobody", "run 9pl x 1 t 7 local alpha", "run 2pl"):
            bad = await house.connect()
            bad.send(f"ann secret {wrong}\n")
            await bad.expect("LOGON OKAY - type help for commands\nBAD RUNMATCHES COMMAND\nMatches finished\n")
            await bad.expect_close()


def test_comparison_ignores_remarks_stray_bytes_and_ports() -> None:
    assert comparable_bytes(b"# QUEUED x\n# RUNNING a.b\nRUN 1.2.3.4 77\n\0\0Queue empty\n") == (
        b"# RUNNING a.b\nRUN 1.2.3.4 PORT\nQueue empty\n"
    )


def test_every_recording_is_replayed() -> None:
    source = Path(__file__).read_text("utf-8")
    numbers = {int(name[:2]) for name in recordings() if name[:2].isdigit()}
    # `test_queue` covers 14 and 15, `test_weaknesses` 19 and 30.
    expected = numbers - {14, 15, 19, 30}
    named = {number for number in expected if f"({number})" in source or f"({number}, " in source}
    # The loop over 4 and 5 names its numbers otherwise.
    assert named | {5} == expected
