"""Where a client that connects by itself is awaited: which one is the bot, and which ones are turned away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from dealer.doctor.dialogue import Absence, BotHost, Connection, Event, Waiting
from dealer.doctor.situations import ExaminationSetup
from dealer.match.events import StrayConnection
from dealer.match.faults import StrayProblem
from dealer.table.players import parse_player
from tests.dealer.helpers import PATIENCE_S, game

Visit = Callable[[tuple[str, int]], None]


class Port:
    """A host, and who was turned away; those who connect do so in a thread once the port is known."""

    def __init__(self, start_timeout_s: float = PATIENCE_S) -> None:
        self.strays: list[StrayConnection] = []
        setup = ExaminationSetup(game("kuhn"), [], start_timeout_s=start_timeout_s)
        player = parse_player("tcp")
        self.host = BotHost(player, setup, "kuhn", ("127.0.0.1", 0), self._note)
        self.sockets: list[socket.socket] = []
        self._visit: Visit = lambda address: None

    def _note(self, event: Event) -> None:
        if isinstance(event, StrayConnection):
            self.strays.append(event)
        elif isinstance(event, Waiting):
            threading.Thread(target=self._visit, args=(tuple(event),)).start()

    def receive(self, *visits: bytes) -> Connection | Absence:
        """What comes of clients that connect one after another, each when the one before has been turned away."""

        def visit(address: tuple[str, int]) -> None:
            for number, words in enumerate(visits):
                sock = socket.create_connection(address)
                self.sockets.append(sock)
                sock.sendall(words)
                if not words:
                    sock.shutdown(socket.SHUT_WR)
                if number + 1 < len(visits):
                    sock.settimeout(PATIENCE_S)
                    assert sock.recv(1) == b""

        self._visit = visit
        return self.host.receive_bot()


@pytest.fixture
def port() -> Iterator[Port]:
    one = Port()
    with one.host:
        yield one
    for sock in one.sockets:
        sock.close()


@pytest.mark.parametrize("words", [b"VERSION:2.0.0\r\n", b"VERSION:1.0.0\n", b"version 2", b"VERSION"])
def test_whoever_begins_with_a_version_is_the_bot(port: Port, words: bytes) -> None:
    """What is wrong with the line is for the examination to find: nothing of it is lost."""
    connection = port.receive(words)
    assert isinstance(connection, Connection)
    heard = b""
    while len(heard) < len(words):
        heard += connection.receive(connection.now_s() + PATIENCE_S) or b""
    assert heard == words
    assert port.strays == []


def test_strangers_are_turned_away_and_reported(port: Port) -> None:
    connection = port.receive(b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"VERSION:2.0.0\r\n")
    assert isinstance(connection, Connection)
    assert [stray.problem for stray in port.strays] == [StrayProblem.LEFT, StrayProblem.NO_VERSION]
    assert port.strays[1].line.startswith(b"GET / HTTP")
    assert port.strays[1].host == "127.0.0.1"


def test_a_client_finds_the_same_port_again(port: Port) -> None:
    addresses = []
    for _ in range(2):
        connection = port.receive(b"VERSION:2.0.0\r\n")
        assert isinstance(connection, Connection)
        addresses.append(connection.socket.getsockname())
        connection.close()
    assert addresses[0] == addresses[1]


def test_nobody_comes() -> None:
    with Port(start_timeout_s=0.0).host as host:
        absence = host.receive_bot()
    assert isinstance(absence, Absence)
    assert (absence.exit.code, absence.strays) == (None, 0)
