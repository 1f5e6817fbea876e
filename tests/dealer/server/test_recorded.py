"""Conversations recorded of the reference's server, held with ours.

What is sent is sent, and what was heard has to be heard, byte for byte and in order; left aside are our own remarks,
the two stray bytes after the reference's help, and numbers of ports. Where the reference was silent nothing is waited
for: the next answer would show what was said instead. What differs on purpose:

- `quit` is a command now, where the reference says UNKNOWN.
- Lines that came at once are all answered at once; the reference leaves some in its buffer until the next line.
- A partial line stops nobody (04, 05), a long tag is refused and stops nobody (08), a match that does not fit is
  skipped, and one that can never fit is refused (14, 15), bots that hang are ended (19), and an agent that says nothing
  (20).
- A bot whose program is missing fails the run at once, before the client is asked to start its agent (03).
- Of two seats with the same name, the second is numbered in the log: `slow`, `slow#2` (22, 25).
- Seed 0 means a random one, which is told and logged (02).
- A game is meant by its short name, too, or by its beginning, in capitals or not (02).
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
    kept,
    play_agent,
    recorded,
    reference_settings,
    running,
    tickets,
)

pytestmark = pytest.mark.usefixtures("house_folder")


def config(number: int, **replacements: str) -> str:
    """The configuration of a recording."""
    text = str(next(event["bytes"] for event in recorded(number) if event["direction"] == "config"))
    for old, new in replacements.items():
        text = re.sub(rf"{old} [0-9]+", f"{old} {new}", text)
    return text


async def replay(house: House, events: list[dict[str, Any]]) -> dict[str, Peer]:
    """Hold a recorded conversation; returns the clients."""
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


def logged(number: int, name: str) -> list[str]:
    """The lines of a log in a recording."""
    texts = [
        event["bytes"]
        for event in recorded(number)
        if event["direction"] == "file" and f"logs/{name} " in event["bytes"] and "ERROR" not in event["bytes"]
    ]
    return str(texts[0]).splitlines()


async def log_of(peer: Peer, tag: str) -> list[str]:
    """The log of a request, as LOG gives it."""
    before = len(peer.received)
    peer.send(f"LOG {tag}\n")
    await peer.until(lambda: b"# END OF LOG\n" in peer.received[before:])
    peer.skip()
    lines = bytes(peer.received[before:]).decode().splitlines()
    return [line for line in lines if not re.match("# (LOG|END)", line)]


async def test_login_and_simple_commands() -> None:
    events = recorded(1)
    index = next(index for index, event in enumerate(events) if event.get("bytes") == "quit\n")
    # A command of ours; see above.
    del events[index : index + 2]

    async with running(reference_settings(config(1))) as house:
        await replay(house, [event for event in events if event["who"] != "pipe"])
        pipe = [event for event in events if event["who"] == "pipe"]
        peer = (await replay(house, [event for event in pipe if event["direction"] != "S>C"]))["pipe"]
        await peer.expect("".join(event.get("bytes", "") for event in pipe if event["direction"] == "S>C"))


async def test_a_partial_line_stops_nobody() -> None:
    async with running(reference_settings(config(4))) as house:
        for number in (4, 5):
            recording = [event for event in recorded(number) if event["who"] != "bob"]
            bob = await house.log_in("bob", "hunter2")
            stranger = await house.connect()
            stranger.send("a")
            # Where the reference is silent for as long as the stranger likes.
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


async def test_a_long_tag_is_refused_and_stops_nobody() -> None:
    (line,) = (event["bytes"] for event in recorded(8) if event.get("bytes", "").startswith("RUNMATCHES"))

    async with running(reference_settings(config(8))) as house:
        ann = await house.log_in()
        ann.send(line)
        await ann.expect("BAD RUNMATCHES COMMAND\n")
        await ann.expect_remark("the tag is too long; .*")
        ann.send(re.sub("x{300}", "x" * 244, line).replace(" 1 alpha", " 1 LOCAL"))
        await ann.expect(f"# RUNNING ann.{'x' * 244}\nRUN 127.0.0.1 1\n")


async def test_two_sessions_and_long_lines() -> None:
    async with running(reference_settings(config(26))) as house:
        await replay(house, first_part(26, "x"))


def first_part(number: int, until: str) -> list[dict[str, Any]]:
    """The events of a recording without those of a client, and without what depends on a match that has ended."""
    return [event for event in recorded(number) if event["who"] != until]


@pytest.mark.slow
async def test_the_arguments_of_requests() -> None:
    async with running(reference_settings(config(2))) as house:
        ann = await house.connect()
        events = [*recorded(2)]
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
            line for event in recorded(2) if event["direction"] == "file" for line in event["bytes"].splitlines()
        ]
        for header in dict.fromkeys(headers):
            name, seed = header.split()[2], header.split()[-1]
            lines = await log_of(ann, name.removeprefix("logs/ann."))
            if seed == "0":
                assert any(line.startswith(header[:-1]) for line in lines)
            else:
                assert header in lines


@pytest.mark.slow
async def test_own_seats_and_failing_bots() -> None:
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
                # One that ends at once may fail the run before anybody is asked to come.
                await ann.until(lambda tag=tag: f"# RUNNING ann.{tag}\n".encode() in ann.received)  # type: ignore[misc]
                if tag != "absent":
                    await play_agent(ann.ports()[-1])
            state = "finished" if tag == "slowexit" else "failed"
            await ann.expect_remark(f"ann.{tag} run 1 of 1: {state}.*")
            await bob.ask("QSTAT\n", "Queue empty\n")
        lines = await log_of(ann, "mine")
        recorded_lines = logged(3, "ann.mine")
        assert fixed(lines) == fixed(recorded_lines)
        assert fixed(await log_of(bob, "k")) == fixed(logged(3, "bob.k"))


LIMIT = "holdem.limit.2p.reverse_blinds.game"


def fixed(lines: list[str]) -> list[object]:
    """What of a log does not depend on what players did: headers, and of each hand its number, hole cards and names."""
    summary: list[object] = []
    for line in lines:
        parts = line.split(":")
        if line.startswith("#"):
            summary.append(line)
        elif line.startswith("STATE"):
            summary.append((parts[1], parts[3].split("/")[0], parts[5]))
    return summary


@pytest.mark.slow
async def test_the_fair_order_and_the_seeds_of_runs() -> None:
    requests = [event["bytes"] for event in recorded(16) if event.get("bytes", "").startswith("RUNMATCHES")]
    (queue,) = (event["bytes"] for event in recorded(16) if "bob b1" in event.get("bytes", ""))
    (order,) = (event["bytes"] for event in recorded(16) if event["direction"] == "order")
    wanted = re.findall(r'"(\w+)\.(\w+)", "([0-9]+)"', order)

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
        tickets(len(wanted))
        await bob.ask("QSTAT\n", "Queue empty\n")
        rows = house.rows(
            "SELECT users.name, jobs.tag, runs.seed FROM runs JOIN jobs ON jobs.id = runs.job "
            "JOIN users ON users.id = jobs.user ORDER BY runs.id"
        )
        assert rows == [(user, tag, int(seed)) for user, tag, seed in wanted]
        for name in ("ann.a1", "bob.b1"):
            lines = await log_of(ann if name.startswith("ann") else bob, name[4:])
            assert [line for line in lines if "name/game" in line] == logged(16, name)


@pytest.mark.slow
async def test_an_agent_that_says_nothing_holds_no_slot() -> None:
    async with running(reference_settings(config(20, startupTimeoutSecs="1"))) as house:
        ann = await house.log_in()
        ann.send(f"RUNMATCHES {LIMIT} 1 silent 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.silent\nRUN 127.0.0.1 10822\n")
        _, writer = await asyncio.open_connection("127.0.0.1", ann.ports()[0])
        await ann.expect_remark("ann.silent run 1 of 1: failed: .*")
        await ann.ask("QSTAT\n", "Queue empty\n")
        writer.close()


@pytest.mark.slow
async def test_the_next_run_follows_a_run_that_fails() -> None:
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
            header = [line for line in logged(21, f"ann.{kind}") if "name/game" in line]
            found = [line for line in await log_of(ann, kind) if "name/game" in line]
            assert found == [line for line in header if line in found]


@pytest.mark.slow
async def test_a_client_that_leaves_loses_the_runs_with_its_own_seats() -> None:
    async with running(reference_settings(config(22, startupTimeoutSecs="3"))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        ann.send(f"RUNMATCHES {LIMIT} 3 loc 1 LOCAL slow\n")
        await ann.expect("# RUNNING ann.loc\nRUN 127.0.0.1 59766\n")
        ann.send(f"RUNMATCHES {LIMIT} 3 bots 1 slow slow\n")
        ann.send(f"RUNMATCHES {LIMIT} 2 loc2 1 LOCAL slow\n")
        await ann.settle()
        bob.send("QSTAT\n")
        queue = [event["bytes"] for event in recorded(22) if "* " in event.get("bytes", "") and event["who"] == "bob"]
        await bob.expect(queue[0])
        await ann.close()
        for line in dict.fromkeys(queue[1:]):
            await bob.ask("QSTAT\n", line)
            if "R\n" in line and "loc" not in line:
                tickets(2)
        await bob.ask("QSTAT\n", "Queue empty\n")
        again = await house.log_in()
        heads = [line.split()[2:] for line in await log_of(again, "bots") if "name/game" in line]
        assert heads == [line.split()[2:] for line in logged(22, "ann.bots") if "name/game" in line]


@pytest.mark.slow
async def test_a_match_goes_on_when_its_client_leaves() -> None:
    async with running(reference_settings(config(23))) as house:
        ann, bob = await house.log_in(), await house.log_in("bob", "hunter2")
        ann.send(f"RUNMATCHES {LIMIT} 3 gone 42 LOCAL alpha\n")
        await ann.expect("# RUNNING ann.gone\nRUN 127.0.0.1 54557\n")
        await ann.close()
        await bob.ask("QSTAT\n", f"ann gone {LIMIT} * 0 R\n")
        await play_agent(ann.ports()[0])
        await bob.ask("QSTAT\n", "Queue empty\n")
        again = await house.log_in()
        lines = await log_of(again, "gone")
        assert fixed(lines) == fixed(logged(23, "ann.gone"))
        assert lines[-1].startswith("SCORE:")


@pytest.mark.slow
async def test_the_same_tag_twice() -> None:
    async with running(reference_settings(config(25))) as house:
        ann = await house.log_in()
        for _ in range(2):
            ann.send(f"RUNMATCHES {LIMIT} 1 t 1 slow alpha\n")
        await ann.ask("QSTAT\n", f"ann t {LIMIT} * 0 R\nann t {LIMIT} * 0 R\n")
        tickets(2)
        await ann.ask("QSTAT\n", "Queue empty\n")
        assert fixed(await log_of(ann, "t")) == fixed(logged(25, "ann.t"))


@pytest.mark.slow
async def test_a_duplicate_pair() -> None:
    async with running(reference_settings(config(28))) as house:
        ann = await house.log_in()
        tickets(4)
        ann.send(f"RUNMATCHES {LIMIT} 2 fwd 99 alpha slow\nRUNMATCHES {LIMIT} 2 rev 99 slow alpha\n")
        await ann.ask("QSTAT\n", "Queue empty\n")
        for tag in ("fwd", "rev"):
            assert fixed(await log_of(ann, tag)) == fixed(logged(28, f"ann.{tag}"))


async def test_agent_continues_after_invalid_lines() -> None:
    """The dealer's lines are those recorded, as long as the other player does what it did then: it calls."""
    events = [event for event in recorded(33) if event["who"] == "agent"][:6]

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
async def test_conversation_of_the_widget() -> None:
    async with running(reference_settings(config(34))) as house:
        wire = await house.connect()
        for event in recorded(34):
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
async def test_conversation_of_the_one_line_client() -> None:
    (line,) = (event["bytes"] for event in recorded(37) if event["direction"] == "C>S")

    async with running(reference_settings(config(37))) as house:
        client = await house.connect()
        client.send(line)
        await client.expect("LOGON OKAY - type help for commands\n# RUNNING ann.tg\nRUN 127.0.0.1 1\n")
        await play_agent(client.ports()[0])
        await client.expect("Matches finished\n")
        await client.expect_close()
        assert bytes(client.received).endswith(b"\nMatches finished\n")
        again = await house.connect()
        again.send("ann secret rerun 2pl ./echo.sh 1 re 7 local alpha\n")
        await again.until(lambda: len(again.ports()) == 1)
        await play_agent(again.ports()[0])
        await again.expect_remark("ann.re run 1 of 1: finished.*")
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


def test_kept() -> None:
    assert kept(b"# QUEUED x\n# RUNNING a.b\nRUN 1.2.3.4 77\n\0\0Queue empty\n") == (
        b"# RUNNING a.b\nRUN 1.2.3.4 PORT\nQueue empty\n"
    )


def test_every_recording_is_replayed() -> None:
    """All but some that other tests cover: 14 and 15 `test_queue`, 19 and 30 `test_weaknesses`."""
    source = Path(__file__).read_text("utf-8")
    from tests.dealer.server.servers import recordings

    numbers = {int(name[:2]) for name in recordings() if name[:2].isdigit()} - {14, 15, 19, 30}
    assert {number for number in numbers if f"({number})" in source or f"({number}, " in source} | {5} == numbers
