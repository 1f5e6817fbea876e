"""Sockets of a match: ports, addresses, closing, and other tasks in the same loop."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import socket
import threading
from pathlib import Path

import pytest

from dealer.errors import ListenError
from dealer.match import Match, Phase
from dealer.match.events import Event, HandFinished, Watcher
from dealer.table.connections import Connections
from protocol import Reply
from tests.dealer.helpers import (
    Client,
    Playing,
    Recorder,
    always,
    free_ports,
    game,
    make_setup,
    random_policy,
    run_async,
)
from tests.programs import PATIENCE_S

KUHN = game("kuhn")


def _open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


def _connections(hands: int = 1) -> Connections:
    return Connections(Match(make_setup(KUHN, hands), []))


# ---- ports and addresses


def test_every_seat_has_its_own_port() -> None:
    connections = _connections()
    ports = connections.listen()
    assert len(set(ports)) == 2
    assert connections.match.missing_seats() == [0, 1]
    connections.close()


def test_given_ports_are_used_and_0_means_any() -> None:
    (port,) = free_ports(1)
    connections = _connections()
    ports = connections.listen([0, port])
    assert ports[1] == port
    assert ports[0] not in (0, port)
    connections.close()
    later = _connections()
    assert later.listen([port])[0] == port
    later.close()


def test_more_ports_than_seats_are_ignored() -> None:
    connections = _connections()
    assert len(connections.listen([0, 0, 1, 2])) == 2
    connections.close()


@needs_proc
def test_port_in_use_is_refused_with_its_seat_and_nothing_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        before = _open_files()
        with pytest.raises(ListenError) as raised:
            _connections().listen([0, taken.getsockname()[1]])
        assert (raised.value.seat, raised.value.reason) == (1, os.strerror(errno.EADDRINUSE))
        assert _open_files() == before


@pytest.mark.parametrize("port", [65536, 10**9, -1])
def test_invalid_port_is_refused_with_its_seat(port: int) -> None:
    with pytest.raises(ListenError) as raised:
        _connections().listen([port])
    assert raised.value.seat == 0


def test_foreign_address_is_refused() -> None:
    connections = Connections(Match(make_setup(KUHN, 1), []), host="192.0.2.1")
    with pytest.raises(ListenError) as raised:
        connections.listen()
    assert raised.value.seat == 0


def test_socket_error_is_raised_with_its_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system can refuse a socket, without IPv6 or with too many open files."""

    def refuse(*_: object, **__: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    connections = _connections()
    monkeypatch.setattr("dealer.table.listener.socket.socket", refuse)
    with pytest.raises(ListenError) as raised:
        connections.listen()
    assert raised.value.seat == 0


@pytest.mark.skipif(not _has_ipv6(), reason="no IPv6 here")
async def test_match_is_played_over_ipv6() -> None:
    playing = Playing(make_setup(KUHN, 3), host="::1").start()
    clients = [await playing.client(seat, host="::1") for seat in (0, 1)]
    await asyncio.gather(*(client.play(always("c")) for client in clients))
    await playing.finish()
    assert playing.match.phase is Phase.FINISHED


async def test_port_of_a_taken_seat_is_closed() -> None:
    playing = Playing(make_setup(KUHN, 1)).start()
    client = await playing.client(0)
    while playing.connections.match.missing_seats() == [0, 1]:
        await asyncio.sleep(0.001)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", playing.ports[0])
    other = await playing.client(1)
    await asyncio.gather(client.play(always("c")), other.play(always("c")))
    await playing.finish()


# ---- closing


@needs_proc
def test_match_leaves_no_descriptor_open() -> None:
    async def main() -> None:
        playing = Playing(make_setup(KUHN, 2)).start()
        clients = await playing.clients()
        await asyncio.gather(*(client.play(always("c")) for client in clients))
        await playing.finish()

    run_async(main())
    before = _open_files()
    run_async(main())
    assert _open_files() == before


def test_unused_connections_can_be_closed_twice() -> None:
    connections = _connections()
    ports = connections.listen()
    connections.close()
    connections.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports[0]), timeout=PATIENCE_S)


@needs_proc
@pytest.mark.parametrize("coalesce_s", [0.0, 0.05])
@pytest.mark.parametrize("hands", [0, 1, 5])
def test_cancelled_match_leaves_no_descriptor_open(hands: int, coalesce_s: float) -> None:
    async def main() -> None:
        playing = Playing(make_setup(KUHN, 1 << 30), coalesce_s=coalesce_s).start()
        clients = await playing.clients()
        players = [asyncio.create_task(client.play(always("c"))) for client in clients[: hands * 2]]
        while playing.match.hands_played < hands:
            await asyncio.sleep(0)
        assert playing.task is not None
        playing.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing.task
        assert playing.match.phase is not Phase.FINISHED
        await asyncio.gather(*players)

    run_async(main())
    before = _open_files()
    run_async(main())
    assert _open_files() == before


async def test_close_during_a_match_is_no_fault() -> None:
    """Bytes held for a seat are dropped when its connection is closed."""
    playing = Playing(make_setup(KUHN, 1000), coalesce_s=0.02).start()
    clients = await playing.clients()
    assert await clients[0].question() is not None
    assert playing.task is not None
    playing.task.cancel()
    await asyncio.gather(playing.task, return_exceptions=True)
    await asyncio.sleep(0.1)
    for client in clients:
        await client.close()
    assert playing.match.phase is Phase.PLAYING
    assert playing.match.failure is None


async def test_output_arrives_after_the_match_is_over() -> None:
    """A seat with unread bytes after its last action receives the last state."""
    playing = Playing(make_setup(KUHN, 1)).start()
    clients = await playing.clients()
    calling = asyncio.create_task(clients[0].play(always("c")))
    event = await clients[1].question()
    assert event is not None
    await clients[1].send(clients[1].session.send(Reply(always("c")(event))) + b"# and more\r\n" * 1000)
    received = await clients[1].read_to_end()
    assert b":0:cc:" in received
    assert received.endswith(b"\r\n")
    await clients[1].close()
    await calling
    await playing.finish()


# ---- the loop


class Bell(Watcher):
    """Watcher that sets an event after every hand."""

    wants = frozenset({HandFinished})

    def __init__(self) -> None:
        self.rang = asyncio.Event()

    def notice(self, event: Event) -> None:
        self.rang.set()


def test_watcher_can_wake_a_task_while_the_match_waits() -> None:
    # One player waits for the watcher between hands, so a loop that serves only its sockets would hang.
    async def play(client: Client, bell: Bell) -> None:
        hands = 0
        while (event := await client.question()) is not None:
            if event.state.hand_number > hands:
                hands = event.state.hand_number
                async with asyncio.timeout(PATIENCE_S):
                    await bell.rang.wait()
                bell.rang.clear()
            await client.send(client.session.send(Reply(always("c")(event))))
        await client.close()

    async def main() -> Phase:
        bell = Bell()
        setup = make_setup(KUHN, 2)
        match = Match(setup, [Recorder(setup.names), bell])
        connections = Connections(match)
        ports = connections.listen()
        running = asyncio.create_task(connections.run())
        clients = [await Client.connect(port, KUHN) for port in ports]
        results = await asyncio.gather(play(clients[0], bell), clients[1].play(always("c")), return_exceptions=True)
        await running
        for client in clients:
            await client.close()
        assert results[0] is None
        return match.phase

    assert run_async(main()) is Phase.FINISHED


class Faulty(Watcher):
    """Watcher that raises an error."""

    wants = frozenset({HandFinished})

    def notice(self, event: Event) -> None:
        raise RuntimeError("a mistake in a watcher")


def test_error_in_a_watcher_ends_its_own_match_only() -> None:
    """A match in the same loop is finished."""

    async def main() -> Phase:
        asyncio.get_running_loop().set_exception_handler(None)
        faulty = Playing(make_setup(KUHN, 50), drain_timeout_s=0.0)
        faulty.connections.match = faulty.match = Match(faulty.setup, [Faulty()])
        faulty.start()
        good = Playing(make_setup(KUHN, 100)).start()
        clients = await good.clients()
        players = [asyncio.create_task(client.play(always("c"))) for client in await faulty.clients()]
        await asyncio.gather(*(client.play(always("c")) for client in clients))
        await good.finish()
        assert faulty.task is not None
        for task in (*players, faulty.task):
            task.cancel()
        await asyncio.gather(*players, faulty.task, return_exceptions=True)
        return good.match.phase

    assert run_async(main()) is Phase.FINISHED


async def test_tasks_and_timers_run_beside_a_busy_match() -> None:
    playing = Playing(make_setup(KUHN, 50)).start()
    clients = await playing.clients()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await asyncio.gather(*(client.play(random_policy()) for client in clients))
    await playing.finish()
    assert ticks > 0
    assert await asyncio.to_thread(os.getpid) == os.getpid()
    ticking.cancel()
    await asyncio.gather(ticking, return_exceptions=True)


async def test_watcher_can_wake_a_task_in_an_idle_loop() -> None:
    """The players are in another thread, so this loop sleeps between their lines; an event must wake it."""
    bell = Bell()
    setup = make_setup(KUHN, 2)
    connections = Connections(Match(setup, [bell]))
    ports = connections.listen()
    running = asyncio.create_task(connections.run())
    peers = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for port in ports]
    woken = threading.Event()

    def first_hand() -> bool:
        for peer in peers:
            peer.sendall(b"VERSION:2.0.0\r\n")
        for seat in (0, 1):
            data = b""
            while data.count(b"\n") < 1 + seat:
                data += peers[seat].recv(4096)
            peers[seat].sendall(data.splitlines()[-1] + b":c\r\n")
        return woken.wait(PATIENCE_S)

    playing = asyncio.create_task(asyncio.to_thread(first_hand))
    await bell.rang.wait()
    woken.set()
    was_woken = await playing
    for peer in peers:
        peer.close()
    await running
    assert was_woken, "the event at the end of the hand did not wake the loop"
