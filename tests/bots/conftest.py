"""Fixtures for bots: views from texts, a scripted dealer behind a socket, a program's environment."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bots.sdk.view import View
from protocol import find_game
from protocol.match_state import betting_after, parse_match_state
from protocol.mock_dealer import MockDealer
from tests.programs import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root() -> Path:
    """Folder that holds the packages."""
    return ROOT


@pytest.fixture
def program_env() -> dict[str, str]:
    """Environment in which a Python program imports our packages from any folder, with no game set."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for name in ("ARENA_GAME", "PYTHONSAFEPATH"):
        env.pop(name, None)
    return env


@pytest.fixture
def view_of() -> Callable[[str, str], View]:
    """Return a function from a game's name and a match state to its view."""

    def view_of(game: str, text: str) -> View:
        rules = find_game(game)[1]
        state = parse_match_state(text, rules)
        return View.from_state(state, betting_after(rules, text.split(":")[3]))

    return view_of


class ThreadDealer:
    """Thread that plays a script, or sends fixed bytes after the version line, to the first client."""

    def __init__(self, script: MockDealer | bytes, listener: socket.socket | None = None) -> None:
        self.script = script
        self.listener = listener or socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE_S)
        self.port: int = self.listener.getsockname()[1]
        self.received = b""
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def start(self) -> ThreadDealer:
        self.listener.listen()
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            with self.listener, self.listener.accept()[0] as connection:
                connection.settimeout(PATIENCE_S)
                self._talk(connection)
        except BaseException as error:
            self.error = error

    def _talk(self, connection: socket.socket) -> None:
        while data := connection.recv(1 << 16):
            self.received += data
            if isinstance(self.script, bytes):
                connection.sendall(self.script)
                return
            connection.sendall(self.script.receive(data))
            try:
                self.script.assert_done()
            except AssertionError:
                continue
            return

    def join(self) -> None:
        """Wait until the conversation is over; raise the error of the thread here."""
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error


@pytest.fixture
def thread_dealer() -> Iterator[Callable[..., ThreadDealer]]:
    """Return a function that starts a `ThreadDealer`; the test ends all of them."""
    dealers: list[ThreadDealer] = []

    def start(script: MockDealer | bytes, listener: socket.socket | None = None) -> ThreadDealer:
        dealers.append(ThreadDealer(script, listener).start())
        return dealers[-1]

    yield start
    for dealer in dealers:
        dealer.listener.close()
        dealer._thread.join(PATIENCE_S)
