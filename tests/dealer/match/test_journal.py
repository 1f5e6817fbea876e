"""Messages of a match in the log of the program."""

from __future__ import annotations

import logging

import pytest

from dealer.match.causes import NobodyLeft
from dealer.match.journal import Journal
from engine import Seat
from tests.dealer.helpers import Board, always, game, make_setup


def _messages(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    assert {record.name for record in caplog.records} == {"dealer.match"}
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_finished_match_logs_its_start_its_faults_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "dealer")
    setup = make_setup(game("kuhn"), 2)
    board = Board(setup, watchers=[Journal(setup)]).connect_all()
    board.send(0, b"what?\r\n")
    board.play([always("c")] * 2)
    assert _messages(caplog) == [
        ("INFO", "match test: started"),
        ("WARNING", "match test, seat 1 (A), hand 0: malformed reply, ignored"),
        ("INFO", "match test: finished"),
    ]


def test_failed_match_logs_the_cause(caplog: pytest.LogCaptureFixture) -> None:
    setup = make_setup(game("kuhn"), 5, first_hand=3)
    board = Board(setup, watchers=[Journal(setup)]).connect_all()
    seat = board.acting_seat
    board.match.receive_eof(Seat(seat))
    assert _messages(caplog) == [("WARNING", f"match test: {setup.names[seat]} closed the connection in hand 3.")]


def test_match_without_players_logs_its_end(caplog: pytest.LogCaptureFixture) -> None:
    setup = make_setup(game("kuhn"), 5)
    Board(setup, watchers=[Journal(setup)]).connect_all().match.fail(NobodyLeft())
    assert caplog.messages == ["match test: no player is left to act."]
