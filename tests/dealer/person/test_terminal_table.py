"""Table session in a terminal: messages while it waits, faults of bots and the end."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bots import play
from bots.baseline import CallingBot
from dealer.person import terminal_table
from dealer.person.table_session import TableSession
from dealer.person.terminal_table import Entries
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.run import Run, new_run
from dealer.run.run_settings import validated
from tests.dealer.helpers import CONNECT, enter_program_env, write_program


def play_in_terminal(console: Console, run: Run[Any], pause_s: float | None, entries: Entries) -> ContestResult:
    """Play in a terminal; return the result."""
    session = TableSession(run)
    assert not terminal_table.sit_down(console, session, entries, pause_s=pause_s)
    assert session.result is not None
    return session.result


ANN = {"bot": "Ann=tcp", "linked": True}


class Spy(io.StringIO):
    """Output that calls a function once, with the first match of a pattern."""

    def __init__(self, pattern: str, on_match: Callable[[re.Match[str]], object]) -> None:
        super().__init__()
        self._pattern = re.compile(pattern)
        self._on_match = on_match
        self._is_done = False

    def write(self, text: str) -> int:
        count = super().write(text)
        match = None if self._is_done else self._pattern.search(self.getvalue())
        if match is not None:
            self._is_done = True
            self._on_match(match)
        return count


HELLO = """
hello()
for line in f:
    position, betting = line.decode().split(":")[1], line.decode().split(":")[3]
    if (position, betting) in (("0", ""), ("0", "cr"), ("1", "c"), ("1", "r")):
        wait()
        call(line)
"""
WAIT = """
import time
def wait():
    while not os.path.exists("waited"):
        time.sleep(0.01)
"""


@pytest.mark.parametrize(("first", "words"), [("", "Waiting for slow."), ("wait()", "Waiting for slow to connect.")])
def test_slow_player_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, words: str) -> None:
    enter_program_env(tmp_path, monkeypatch)
    monkeypatch.setattr(terminal_table, "_NAME_AFTER_S", 0.0)
    slow = write_program(tmp_path, "slow.py", CONNECT + WAIT + first + HELLO)
    settings = {"games": ["kuhn"], "bots": [ANN, f"slow={slow}"], "deals": 1, "seed": 5}
    output = Spy(re.escape(words), lambda _: (tmp_path / "waited").touch())
    run = new_run(validated({"command": "table"} | settings), tmp_path / "run")
    result = play_in_terminal(Console(file=output), run, 0.0, Entries(io.StringIO("c\nc\n")))
    assert result.outcome is Outcome.FINISHED
    assert output.getvalue().count(words) == 1


def test_failed_bot_ends_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_program_env(tmp_path, monkeypatch)
    leaves = write_program(tmp_path, "leaves.py", CONNECT + "hello()\nf.readline()\nf.readline()\n")
    settings = {
        "games": ["kuhn"],
        "bots": [ANN, f"leaves={leaves}"],
        "deals": 9,
        "seed": 5,
    }
    output = io.StringIO()
    run = new_run(validated({"command": "table"} | settings), tmp_path / "run")
    result = play_in_terminal(Console(file=output), run, None, Entries(io.StringIO("c\nc\nc\n")))
    assert result.outcome is Outcome.FAILED
    assert "leaves closed the connection in hand 0" in result.sentence
    assert [player.faults for player in result.players] == [{}, {"disconnect": 1}]


def test_address_for_a_tcp_player_is_shown(tmp_path: Path) -> None:
    threads = []

    def connect(match: re.Match[str]) -> None:
        threads.append(threading.Thread(target=play, args=(CallingBot(), "127.0.0.1", int(match[1]), "kuhn")))
        threads[0].start()

    settings = {
        "games": ["kuhn"],
        "bots": [ANN, "Bob=tcp"],
        "deals": 1,
        "seed": 5,
        "host": "0.0.0.0",
    }
    output = Spy(r"Waiting for Bob to connect at 0\.0\.0\.0:(\d+)\.", connect)
    run = new_run(validated({"command": "table"} | settings), tmp_path / "run")
    result = play_in_terminal(Console(file=output), run, 0.0, Entries(io.StringIO("c\nc\n")))
    threads[0].join()
    assert result.outcome is Outcome.FINISHED


class WaitingEntries(io.StringIO):
    """Entries, one of which waits until a file contains certain words."""

    def __init__(self, entries: str, waiting_entry: str, path: Path, words: str) -> None:
        super().__init__(entries)
        self._waiting_entry = waiting_entry
        self._path = path
        self._words = words

    def readline(self, size: int | None = -1, /) -> str:
        line = super().readline()
        while line == self._waiting_entry and self._words not in self._path.read_text("ascii"):
            time.sleep(0.01)
        return line


def test_hand_whose_end_is_unseen_is_not_shown(tmp_path: Path) -> None:
    # In every other hand the bot folds its small blind, before the person has seen the end of the previous hand.
    settings = {"games": ["limit"], "bots": [ANN, "folding"], "deals": 9, "seed": 1}
    run = new_run(validated({"command": "table"} | settings), tmp_path / "run")
    entries = WaitingEntries("\nr\ns 2\ns\nq\n", "s 2\n", tmp_path / "run" / "match.log", "STATE:2:")
    output = io.StringIO()
    result = play_in_terminal(Console(file=output), run, None, Entries(entries))
    assert result.outcome is Outcome.INTERRUPTED
    assert result.hands_played == 3
    assert "There is no finished hand 2." in output.getvalue()
    assert output.getvalue().count("Hand 1 again") == 1
