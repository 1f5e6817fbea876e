"""Where a client that connects by itself is awaited: which one is the bot, and which ones are turned away."""

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
    """The doctor, and the sentences it prints; a thread of its own visits it whenever it waits for the bot."""

    def __init__(self, *visits: bytes) -> None:
        self.notes: list[str] = []
        self._visits = visits

    def _on_event(self, event: object) -> None:
        if isinstance(event, str):
            self.notes.append(event)
            if found := re.match(r"waiting for the bot at ([0-9.]+):([0-9]+), ", event):
                threading.Thread(target=self._visit, args=(found[1], int(found[2]))).start()

    def _visit(self, host: str, port: int) -> None:
        """Connect once for each of the visits, and say nothing after its words."""
        for words in self._visits:
            with socket.create_connection((host, port), timeout=PATIENCE_S) as sock:
                sock.sendall(words)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1 << 12):
                    pass

    def examine(self, *names: str, start_timeout_s: float = PATIENCE_S, comes_again: bool = False) -> Examination:
        settings = DoctorSettings(
            situations=list(names), start_timeout_s=start_timeout_s, timeout_s=PATIENCE_S, reconnect=comes_again
        )
        examination = Examination(settings, game("kuhn"), is_remote=True)
        with (
            asyncio.Runner(loop_factory=new_event_loop) as runner,
            contextlib.closing(ExaminedBot(parse_player("tcp"), examination, "kuhn", self._on_event)) as host,
        ):
            runner.run(examine(examination, host.play, self._on_event))
        return examination


@pytest.mark.parametrize("words", [b"VERSION:2.0.0\r\n", b"VERSION:1.0.0\n", b"version 2", b"VERSION"])
def test_whoever_begins_with_a_version_is_the_bot(words: bytes) -> None:
    """What is wrong with the line is for the examination to find: nothing of it is lost."""
    port = Port(words)
    examination = port.examine("bets")
    lines = [finding.line.encode() for finding in examination.findings if finding.kind is not Kind.LEFT]
    assert set(lines) == ({words} if words != b"VERSION:2.0.0\r\n" else set())
    assert Kind.LEFT in [finding.kind for finding in examination.findings]
    assert len(port.notes) == 1


def test_strangers_are_turned_away_and_reported() -> None:
    port = Port(b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"VERSION:2.0.0\r\n")
    port.examine("bets")
    left, http = port.notes[1:]
    assert left.startswith("a connection from 127.0.0.1 to tcp's port was closed: ")
    assert left.endswith(": it closed the connection without sending anything")
    assert "did not begin with a version line: 'GET / HTTP" in http


def test_a_client_finds_the_same_port_again() -> None:
    """It may connect again before the doctor is ready for it."""
    port = Port(b"VERSION:2.0.0\r\n")
    port.examine("empty-match", "cut-off", comes_again=True)
    assert len(port.notes) == 2
    assert port.notes[0] == port.notes[1]


def test_nobody_comes() -> None:
    (finding,) = Port().examine("bets", start_timeout_s=0.01).findings
    assert (finding.kind, finding.wrong) == (Kind.NO_CONNECTION, "the bot did not connect within 0.01 s")


def test_only_strangers_come() -> None:
    (finding,) = Port(b"hello\r\n").examine("bets", start_timeout_s=1.0).findings
    assert (finding.kind, finding.wrong) == (Kind.NO_VERSION, "no client sent a version line within 1 s")
