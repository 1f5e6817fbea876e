"""The doctor's port: clients with a version line are the bot, other connections are closed."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading

import pytest

from dealer.doctor.examination import ExaminedBot, examine
from dealer.doctor.findings import Examination
from dealer.doctor.judge import Kind
from dealer.doctor.situations import DoctorSettings
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player
from tests.dealer.helpers import PATIENCE_S, game


class Port:
    """Runs the doctor and connects from a thread whenever it waits for the bot.

    Attributes:
        notes: sentences that the doctor prints.
    """

    def __init__(self, *visits: bytes) -> None:
        self.notes: list[str] = []
        self._visits = visits

    def _on_event(self, event: object) -> None:
        if isinstance(event, str):
            self.notes.append(event)
            if match := re.match(r"waiting for the bot at ([0-9.]+):([0-9]+), ", event):
                threading.Thread(target=self._visit, args=(match[1], int(match[2]))).start()

    def _visit(self, host: str, port: int) -> None:
        """Connect once for each of the visits, send its bytes and read to the end."""
        for data in self._visits:
            with socket.create_connection((host, port), timeout=PATIENCE_S) as sock:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1 << 12):
                    pass

    def examine(self, *names: str, start_timeout_s: float = PATIENCE_S, reconnect: bool = False) -> Examination:
        settings = DoctorSettings(
            situations=list(names), start_timeout_s=start_timeout_s, timeout_s=PATIENCE_S, reconnect=reconnect
        )
        examination = Examination(settings, game("kuhn"), is_remote=True)
        with (
            asyncio.Runner(loop_factory=new_event_loop) as runner,
            contextlib.closing(ExaminedBot(parse_player("tcp"), examination, "kuhn", self._on_event)) as host,
        ):
            runner.run(examine(examination, host.play, self._on_event))
        return examination


@pytest.mark.parametrize("line", [b"VERSION:2.0.0\r\n", b"VERSION:1.0.0\n", b"version 2", b"VERSION"])
def test_client_that_sends_a_version_line_is_the_bot(line: bytes) -> None:
    """The examination then reports a wrong line as a whole."""
    port = Port(line)
    examination = port.examine("bets")
    lines = {finding.line.encode() for finding in examination.findings if finding.kind is not Kind.LEFT}
    assert lines == ({line} if line != b"VERSION:2.0.0\r\n" else set())
    assert Kind.LEFT in [finding.kind for finding in examination.findings]
    assert len(port.notes) == 1


def test_other_connections_are_closed_and_reported() -> None:
    port = Port(b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"VERSION:2.0.0\r\n")
    port.examine("bets")
    silent, http = port.notes[1:]
    assert silent.startswith("a connection from 127.0.0.1 to tcp's port was closed: ")
    assert silent.endswith(": it closed the connection without sending anything")
    assert "did not begin with a version line: 'GET / HTTP" in http


def test_client_reconnects_to_the_same_port() -> None:
    """The client may connect before the doctor waits for it again."""
    port = Port(b"VERSION:2.0.0\r\n")
    port.examine("empty-match", "cut-off", reconnect=True)
    assert len(port.notes) == 2
    assert port.notes[0] == port.notes[1]


def test_missing_connection_is_a_finding() -> None:
    (finding,) = Port().examine("bets", start_timeout_s=0.01).findings
    assert finding.kind is Kind.NO_CONNECTION
    assert finding.wrong == "the bot did not connect within 0.01 s"


def test_missing_version_of_all_clients_is_a_finding() -> None:
    (finding,) = Port(b"hello\r\n").examine("bets", start_timeout_s=1.0).findings
    assert finding.kind is Kind.NO_VERSION
    assert finding.wrong == "no client sent a version line within 1 s"
