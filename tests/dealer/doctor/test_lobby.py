"""Where a client is awaited that somebody else starts: who is taken for the bot, and who is turned away."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

import dealer.doctor.lobby
from dealer.doctor.lobby import Arrival, Lobby
from dealer.match.events import StrayConnection
from dealer.match.faults import StrayProblem


class Port:
    """A lobby with its port, and who was turned away."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.strays: list[StrayConnection] = []
        self.lobby = Lobby(self.listener, self.strays.append)

    def visitor(self, words: bytes = b"") -> socket.socket:
        """Somebody who connects and says something."""
        sock = socket.create_connection(self.listener.getsockname())
        sock.sendall(words)
        return sock

    def wait(self) -> Arrival:
        """The bot."""
        while True:
            arrival = self.lobby.wait(0.01)
            if arrival is not None:
                return arrival

    def until_strays(self, count: int) -> list[StrayProblem]:
        """Why they were turned away, once there are so many; the bot does not come meanwhile."""
        while len(self.strays) < count:
            assert self.lobby.wait(0.01) is None
        return [stray.problem for stray in self.strays]


@pytest.fixture
def port() -> Iterator[Port]:
    one = Port()
    with one.listener, one.lobby:
        yield one


@pytest.mark.parametrize("words", [b"VERSION:2.0.0\r\n", b"VERSION:1.0.0\n", b"version 2", b"VERSION"])
def test_whoever_begins_with_a_version_is_the_bot(port: Port, words: bytes) -> None:
    """What is wrong with the line is for the examination to say: nothing of it is lost."""
    with port.visitor(words) as visitor:
        arrival = port.wait()
        with arrival.connection:
            assert arrival.connection.getpeername() == visitor.getsockname()
            assert words.startswith(arrival.said)
            rest = arrival.connection.recv(100) if arrival.said != words else b""
            assert arrival.said + rest == words
    assert port.strays == []


def test_a_version_may_come_in_pieces(port: Port) -> None:
    with port.visitor(b"VER") as visitor:
        assert port.lobby.wait(0.05) is None
        assert port.lobby.wait(0.05) is None
        visitor.sendall(b"SION:2.0.0\r\n")
        arrival = port.wait()
        arrival.connection.close()
    assert arrival.said == b"VERSION:2.0.0\r\n"


def test_strangers_are_turned_away_and_told_of(port: Port) -> None:
    port.visitor().close()
    assert port.until_strays(1) == [StrayProblem.LEFT]
    with port.visitor(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as browser:
        assert port.until_strays(2)[1] is StrayProblem.NO_VERSION
        assert port.strays[1].line.startswith(b"GET / HTTP")
        assert port.strays[1].host == "127.0.0.1"
        browser.close()
    assert port.lobby.strays == 2


def test_who_says_nothing_is_turned_away_after_a_while(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealer.doctor.lobby, "PATIENCE_S", 0.0)
    with port.visitor() as silent:
        assert port.until_strays(1) == [StrayProblem.SILENT]
        assert silent.recv(1) == b""


def test_a_crowd_does_not_keep_the_bot_out(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealer.doctor.lobby, "MOST_WAITING", 2)
    crowd = [port.visitor() for _ in range(4)]
    assert port.until_strays(2) == [StrayProblem.SILENT] * 2
    with port.visitor(b"VERSION:2.0.0\r\n"):
        port.wait().connection.close()
    for one in crowd:
        one.close()
    port.lobby.close()
    assert port.lobby.strays == 4
