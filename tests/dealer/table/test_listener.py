"""Port of a seat: accepted players and refused connections, before and during the match."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from dealer.errors import ListenError
from dealer.match import Phase
from dealer.match.ending_sentences import stray_sentence
from dealer.match.events import StrayConnection
from dealer.match.faults import FaultKind, StrayProblem
from dealer.table import listener as listener_module
from dealer.table.listener import LOOPBACK, Listener, reachable_at
from engine import Seat
from protocol import Reply
from tests.dealer.helpers import Client, Playing, always, free_ports, game, limits, make_setup, run_async
from tests.programs import PATIENCE_S

KUHN = game("kuhn")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="other systems have fewer loopback addresses")
BOTH = (Seat(0), Seat(1))


class ScreenedMatch(Playing):
    """Match whose seats are assigned by version lines.

    Attributes:
        strays: refused connections.
    """

    def __init__(self, hands: int = 2, **options: Any) -> None:
        clocks = options.pop("limits", limits())
        super().__init__(make_setup(KUHN, hands, limits=clocks), reads_versions=True, may_return=BOTH, **options)
        self.strays: list[StrayConnection] = []
        self.connections.on_stray = self.strays.append

    async def wait_for_strays(self, number: int) -> None:
        await self.connections.changes.wait_for(lambda: len(self.strays) >= number)

    async def wait_for_missing(self, *seats: int) -> None:
        await self.connections.changes.wait_for(lambda: self.match.missing_seats() == list(seats))


def _play_to_the_end(
    play: Callable[[ScreenedMatch], Coroutine[Any, Any, list[Client]]], **options: Any
) -> ScreenedMatch:
    """Connect clients by a function, finish the match by calls, and check that it has no faults."""

    async def main() -> ScreenedMatch:
        playing = ScreenedMatch(**options)
        playing.start()
        clients = await play(playing)
        await asyncio.gather(*(client.play(always("c")) for client in clients))
        await playing.finish()
        return playing

    playing = run_async(main())
    assert playing.match.phase is Phase.FINISHED
    assert playing.recorder.faults == []
    return playing


STRAYS = {
    "connect and close": (b"", StrayProblem.LEFT),
    "http": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", StrayProblem.NO_VERSION),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", StrayProblem.NO_VERSION),
    "junk": (b"\x00\xff" * 5000, StrayProblem.NO_VERSION),
    "lower case": (b"version:2.0.0\r\n", StrayProblem.NO_VERSION),
    "no numbers": (b"VERSION:two\r\n", StrayProblem.NO_VERSION),
    "no end": (b"VERSION:" + b"2" * 5000, StrayProblem.NO_VERSION),
    "a part": (b"VERSION", StrayProblem.NO_VERSION),
}


@pytest.mark.parametrize("name", STRAYS)
def test_stray_client_is_closed_and_the_port_stays_open(name: str) -> None:
    hello, problem = STRAYS[name]

    async def play(playing: ScreenedMatch) -> list[Client]:
        for seat in (0, 1, 1):
            await (await playing.client(seat, hello=hello)).close()
        await playing.wait_for_strays(3)
        first = await playing.client(0)
        await playing.wait_for_missing(1)
        await (await playing.client(1, hello=hello)).close()
        await playing.wait_for_strays(4)
        return [first, await playing.client(1)]

    playing = _play_to_the_end(play)
    assert [(stray.seat, stray.host, stray.problem) for stray in playing.strays] == [
        (seat, "127.0.0.1", problem) for seat in (0, 1, 1, 1)
    ]
    assert hello.startswith(playing.strays[0].line)


KEY = "k-0123456789abcdef"
WITHOUT_KEY = {
    "a version alone": (b"VERSION:2.0.0\r\n", StrayProblem.NO_KEY),
    "another key": (b"k-0123456789abcdeF\nVERSION:2.0.0\r\n", StrayProblem.NO_KEY),
    "more than the key": (b"k-0123456789abcdef0\nVERSION:2.0.0\r\n", StrayProblem.NO_KEY),
    "a part of the key": (b"k-0123456789", StrayProblem.NO_KEY),
    "the key, and no version": (b"k-0123456789abcdef\nGET / HTTP/1.1\r\n\r\n", StrayProblem.NO_VERSION),
    "the key twice": (b"k-0123456789abcdef\nk-0123456789abcdef\nVERSION:2.0.0\r\n", StrayProblem.NO_VERSION),
    "nothing": (b"", StrayProblem.LEFT),
}


@pytest.mark.parametrize("name", WITHOUT_KEY)
def test_seat_with_a_key_needs_the_key_before_the_version(name: str) -> None:
    hello, problem = WITHOUT_KEY[name]

    async def play(playing: ScreenedMatch) -> list[Client]:
        await (await playing.client(1, hello=hello)).close()
        await playing.wait_for_strays(1)
        first = await playing.client(0)
        await playing.wait_for_missing(1)
        second = await playing.client(1, hello=b"")
        for byte in KEY.encode() + b"\nVERSION:2.0.0\r\n":
            await second.send(bytes([byte]))
            await asyncio.sleep(0)
        return [first, second]

    playing = _play_to_the_end(play, keys={Seat(1): KEY})
    assert [stray.problem for stray in playing.strays] == [problem]


def test_stray_connections_during_the_match_change_nothing() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        clients = await playing.clients()
        question = await clients[0].question()
        assert question is not None
        await (await playing.client(0, hello=b"GET / HTTP/1.1\r\n\r\n")).close()
        await playing.wait_for_strays(1)
        await clients[0].send(clients[0].session.send(Reply(always("c")(question))))
        return clients

    _play_to_the_end(play)


def test_silent_clients_hold_no_seat_and_are_limited() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        for _ in range(listener_module.MAX_CLIENTS + 2):
            await playing.client(1, hello=b"VERSION:2")
        await playing.wait_for_strays(2)
        return await playing.clients()

    playing = _play_to_the_end(play)
    assert {(stray.problem, stray.line) for stray in playing.strays} == {(StrayProblem.SILENT, b"VERSION:2")}


async def test_silent_client_is_closed_after_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "CLIENT_TIMEOUT_S", 0.0)

    playing = ScreenedMatch()
    playing.start()
    client = await playing.client(0, hello=b"")
    await playing.wait_for_strays(1)
    assert await client.read_to_end() == b""
    assert playing.strays == [StrayConnection(Seat(0), "127.0.0.1", StrayProblem.SILENT, b"")]
    assert playing.task is not None
    playing.task.cancel()
    await asyncio.gather(playing.task, return_exceptions=True)


def test_version_may_arrive_in_pieces() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        first = await playing.client(0, hello=b"VER")
        await asyncio.sleep(0.01)
        await first.send(b"SION:2.0.0\r")
        await asyncio.sleep(0.01)
        await first.send(b"\n# ready\r\n")
        return [first, await playing.client(1)]

    assert _play_to_the_end(play).strays == []


def test_player_that_leaves_before_the_match_may_return() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        leaving = await playing.client(0)
        await playing.wait_for_missing(1)
        await leaving.close()
        await playing.wait_for_missing(0, 1)
        return await playing.clients()

    assert [stray.problem for stray in _play_to_the_end(play).strays] == [StrayProblem.LEFT_EARLY]


@pytest.mark.parametrize("seat", [0, 1])
def test_player_that_connects_again_takes_its_own_seat(seat: int) -> None:
    # The old connection of the player is half open: it is not closed, and never sends again.
    async def play(playing: ScreenedMatch) -> list[Client]:
        clients = await playing.clients()
        first = await clients[0].question()
        assert first is not None
        again = await playing.client(seat)
        if seat == 0:
            question = await again.question()
            assert question is not None
            assert question.raw == first.raw
            await again.send(again.session.send(Reply(always("c")(question))))
        else:
            assert await clients[1].read_to_end() is not None
            await clients[0].send(clients[0].session.send(Reply(always("c")(first))))
        clients[seat] = again
        return clients

    assert _play_to_the_end(play, hands=3).strays == []


@linux_only
def test_another_address_does_not_take_the_seat() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        clients = await playing.clients()
        await playing.connections.changes.wait_for(lambda: playing.match.phase is Phase.PLAYING)
        with socket.socket() as other:
            other.bind(("127.0.0.2", 0))
            other.setblocking(False)
            await asyncio.get_running_loop().sock_connect(other, ("127.0.0.1", playing.ports[0]))
            await asyncio.get_running_loop().sock_sendall(other, b"VERSION:2.0.0\r\n")
            await playing.wait_for_strays(1)
        return clients

    playing = _play_to_the_end(play, host=LOOPBACK)
    assert playing.strays == [StrayConnection(Seat(0), "127.0.0.2", StrayProblem.TAKEN, b"VERSION:2.0.0\r\n")]


@linux_only
def test_seat_may_be_for_one_address_only() -> None:
    async def play(playing: ScreenedMatch) -> list[Client]:
        with socket.socket() as other:
            other.bind(("127.0.0.2", 0))
            other.setblocking(False)
            await asyncio.get_running_loop().sock_connect(other, ("127.0.0.1", playing.ports[0]))
            await asyncio.get_running_loop().sock_sendall(other, b"VERSION:2.0.0\r\n")
            await playing.wait_for_strays(1)
        return await playing.clients()

    playing = _play_to_the_end(play, host=LOOPBACK, only_from={Seat(0): "127.0.0.1"})
    assert playing.strays == [StrayConnection(Seat(0), "127.0.0.2", StrayProblem.ELSEWHERE, b"VERSION:2.0.0\r\n")]


def test_client_missing_at_the_start_time_is_lost() -> None:
    async def main(hello: bytes | None) -> str:
        playing = ScreenedMatch(limits=limits(start_s=0.3))
        if hello is not None:
            await playing.client(0, hello=hello)
        await playing.client(1)
        await playing.start().finish()
        assert playing.fault == (0, FaultKind.TIMEOUT)
        return playing.match.failure.problem.name  # type: ignore[union-attr]

    assert run_async(main(None)) == "NOT_CONNECTED"
    assert run_async(main(b"")) == "VERSION_LATE"
    assert run_async(main(b"HELLO\r\n")) == "NOT_CONNECTED"


async def test_connections_have_keepalive() -> None:
    playing = ScreenedMatch()
    playing.start()
    await playing.client(0)
    await playing.wait_for_missing(1)
    connection = playing.connections._connections[0]
    assert connection is not None
    assert connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert playing.task is not None
    playing.task.cancel()
    await asyncio.gather(playing.task, return_exceptions=True)


def test_accept_is_retried_after_a_pause_without_free_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_module, "ACCEPT_RETRY_S", 0.0)
    tries = []

    async def play(playing: ScreenedMatch) -> list[Client]:
        port_listener = playing.connections._listeners[0]
        assert port_listener is not None
        asyncio.get_running_loop().remove_reader(port_listener.sockets[0])

        class FullSocket:
            """Socket that cannot accept at first, for lack of file descriptors."""

            def accept(self) -> tuple[socket.socket, tuple[str, int]]:
                tries.append(1)
                if len(tries) < 3:
                    raise OSError(errno.EMFILE, "Too many open files")
                return listener.accept()

            def __getattr__(self, name: str) -> Any:
                return getattr(listener, name)

        listener = port_listener.sockets[0]
        port_listener.sockets[0] = FullSocket()  # type: ignore[assignment]
        port_listener._listen_again(asyncio.get_running_loop(), port_listener.sockets[0])
        return await playing.clients()

    _play_to_the_end(play)
    assert len(tries) >= 3


@pytest.mark.parametrize(
    ("problem", "line", "reason"),
    [
        (StrayProblem.LEFT, b"", "it closed the connection without sending anything"),
        (StrayProblem.NO_VERSION, b"GET /\r\n", "it did not begin with a version line: 'GET /'"),
        (StrayProblem.NO_VERSION, b"\x16\x03", r"it did not begin with a version line: '\x16\x03'"),
    ],
)
def test_sentence_names_address_seat_and_reason(problem: StrayProblem, line: bytes, reason: str) -> None:
    event = StrayConnection(Seat(0), "10.0.0.9", problem, line)
    assert stray_sentence(event, "Ann") == f"a connection from 10.0.0.9 to Ann's port was closed: {reason}"


# ---- addresses


@linux_only
@pytest.mark.parametrize("is_bound", [True, False])
def test_loopback_listener_accepts_at_every_loopback_address(monkeypatch: pytest.MonkeyPatch, is_bound: bool) -> None:
    # On systems that cannot bind a socket to the loopback device, the listener has two addresses only.
    if not is_bound:
        monkeypatch.delattr(socket, "SO_BINDTODEVICE", raising=False)
    port_listener = Listener(LOOPBACK, 0, Seat(0))
    assert len(port_listener.sockets) == (1 if is_bound else 2)
    for address in ("127.0.0.1", "127.0.1.1", *(["127.9.9.9"] if is_bound else [])):
        socket.create_connection((address, port_listener.port), timeout=PATIENCE_S).close()
    port_listener.close()


def test_loopback_port_in_use_is_refused() -> None:
    (port,) = free_ports(1)
    port_listener = Listener(LOOPBACK, port, Seat(1))
    with pytest.raises(ListenError) as raised:
        Listener(LOOPBACK, port, Seat(0))
    assert (raised.value.seat, raised.value.port) == (0, port)
    port_listener.close()


def test_addresses_of_running_interfaces_reach_a_wildcard_listener(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = {"lo": ["127.0.0.1", "::1"], "eth0": ["192.0.2.2", "fd00::2", "fe80::1%eth0"], "eth1": ["192.0.2.9"]}

    def interface_address(address: str) -> SimpleNamespace:
        return SimpleNamespace(family=socket.AF_INET6 if ":" in address else socket.AF_INET, address=address)

    interfaces = {name: [interface_address(address) for address in listed] for name, listed in addresses.items()}
    states = {name: SimpleNamespace(isup=name != "eth1") for name in addresses}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: interfaces)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: states)
    assert reachable_at("0.0.0.0") == ("192.0.2.2",)
    assert reachable_at("::") == ("fd00::2",)
    assert reachable_at("198.51.100.7") == ("198.51.100.7",)
    del interfaces["eth0"]
    assert reachable_at("0.0.0.0") == ("127.0.0.1",), "no other machine can reach this one"
    assert reachable_at("::") == ("::1",)
