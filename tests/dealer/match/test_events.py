"""Events of a match as values, their delivery to watchers, and the watchers that write logs."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dealer.match.causes import Unreachable
from dealer.match.events import (
    Audience,
    BotWrote,
    Event,
    HandClosed,
    LineSent,
    SeatOpened,
    Settled,
    StrayConnection,
    VersionDiffers,
    Watcher,
)
from dealer.match.faults import StrayProblem
from dealer.match.writers import LogWriter, TransactionWriter
from engine import Seat
from logs import format_transaction
from logs.whole_file import LineFile
from tests.dealer.helpers import Board, FullDisk, Recorder, game, make_setup, random_policy

PLAYERS = [random_policy(1), random_policy(2)]


def test_events_of_a_match_are_values() -> None:
    board = Board(make_setup(game("nolimit"), 3)).connect_all()
    board.send(board.acting_seat, b"# well\r\nwhat?\r\n")
    board.play(PLAYERS, hands=2)
    board.match.fail(Unreachable(Seat(0), is_full=False))
    stray = StrayConnection(Seat(1), "192.0.2.7", StrayProblem.NO_VERSION, b"GET / HTTP/1.1\r\n")
    events: list[Event] = [*board.recorder.events, VersionDiffers(Seat(1)), SeatOpened(Seat(0), 54000), stray]
    events.append(BotWrote(Seat(0), "stdout", "thinking"))
    assert {type(event) for event in events} == set(Event.__args__)
    for event in events:
        copy = pickle.loads(pickle.dumps(event))
        assert copy == event
        assert hash(copy) == hash(event)


def test_watchers_receive_the_events_they_want_in_order() -> None:
    notices: list[tuple[int, Event]] = []

    class Listener(Watcher):
        def __init__(self, number: int, *kinds: type) -> None:
            self.number = number
            self.wants = frozenset(kinds)

        def notice(self, event: Event) -> None:
            notices.append((self.number, event))

    closed = HandClosed(3, (1, 2))
    settled = Settled()
    audience = Audience([Listener(0, HandClosed), Listener(1, Settled), Listener(2, Settled, HandClosed)])
    for event in (closed, settled, VersionDiffers(Seat(0))):
        audience.publish(event)
    assert notices == [(0, closed), (2, closed), (1, settled), (2, settled)]
    assert audience.wants(Settled)
    assert not audience.wants(VersionDiffers)


def test_frequent_events_reach_only_watchers_that_name_them() -> None:
    audience = Audience([Watcher()])
    assert {kind.__name__ for kind in Event.__args__ if not audience.wants(kind)} == {
        "ActionPlayed",
        "BotWrote",
        "HandPlayed",
        "LineReceived",
        "LineSent",
        "LogLine",
        "Settled",
        "VersionDiffers",
    }
    Watcher().notice(Settled())
    assert Audience([Watcher(), Recorder()]).wants(LineSent)


def test_first_failing_watcher_stops_the_event() -> None:
    """Later watchers must not receive an event that a log on a full disk lacks."""
    last = Recorder()
    with pytest.raises(OSError, match="No space left"):
        Audience([FullDisk(Settled), last]).publish(Settled())
    assert last.calls == []


# ---- writers of logs


def test_log_contains_every_finished_hand(tmp_path: Path) -> None:
    path = tmp_path / "m.log"
    setup = make_setup(game("kuhn"), 5)
    board = Board(setup, watchers=[LogWriter(LineFile(path), setup.names)]).connect_all()
    for hands in range(1, 5):
        board.play(PLAYERS, hands=hands)
        assert path.read_text() == "".join(board.log)
    board.play(PLAYERS)
    assert path.read_text() == "".join(board.log)
    assert path.read_text().splitlines()[-1].startswith("SCORE:")


def test_transaction_log_contains_every_action(tmp_path: Path) -> None:
    path = tmp_path / "m.tlog"
    board = Board(make_setup(game("nolimit"), 5), watchers=[TransactionWriter(LineFile(path))])
    board.connect_all().play(PLAYERS)
    assert path.read_text() == "".join(format_transaction(*action) for action in board.recorder.actions)


def test_failed_match_keeps_its_logs(tmp_path: Path) -> None:
    log = tmp_path / "m.log"
    transactions = tmp_path / "m.tlog"
    setup = make_setup(game("kuhn"), 50)
    writers = [LogWriter(LineFile(log), setup.names), TransactionWriter(LineFile(transactions))]
    board = Board(setup, watchers=writers).connect_all().play(PLAYERS, hands=3)
    board.match.fail(Unreachable(Seat(0), is_full=False))
    assert log.read_text().count("STATE:") == 3
    assert "SCORE" not in log.read_text()
    assert len(transactions.read_text().splitlines()) == len(board.recorder.actions)
