"""Several observers are told what one would be told."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from dealer.match.causes import NotSent
from dealer.match.observer import MatchObserver, Observers
from dealer.record.writers import LogWriter, TransactionWriter
from engine import Seat
from logs import format_transaction
from logs.line_file import LineFile
from tests.dealer.helpers import Board, Recorder, drawn_by_state, game, setup_of

CALLS = [name for name, _ in inspect.getmembers(MatchObserver, inspect.isfunction) if not name.startswith("_")]
PLAYERS = [drawn_by_state(1), drawn_by_state(2)]


def _arguments(call: str) -> list[object]:
    """Something for each parameter; observers do not look at it here."""
    return [object() for name in inspect.signature(getattr(MatchObserver, call)).parameters if name != "self"]


@pytest.mark.parametrize("call", CALLS)
def test_every_call_is_passed_on_in_order(call: str) -> None:
    told: list[tuple[int, tuple[object, ...]]] = []
    observers = [MatchObserver(), MatchObserver()]
    for number, observer in enumerate(observers):
        setattr(observer, call, lambda *arguments, number=number: told.append((number, arguments)))
    arguments = _arguments(call)
    getattr(Observers(observers), call)(*arguments)
    assert told == [(0, tuple(arguments)), (1, tuple(arguments))]


def test_an_observer_that_wants_nothing_may_be_told_everything() -> None:
    for call in CALLS:
        assert getattr(MatchObserver(), call)(*_arguments(call)) is None


def test_lines_are_wanted_when_one_wants_them() -> None:
    assert not Observers([]).wants_lines
    assert not Observers([MatchObserver()]).wants_lines
    assert Observers([MatchObserver(), Recorder()]).wants_lines


def test_the_first_failure_keeps_the_others_from_being_told() -> None:
    """A full disk stops the round: what is not on disk has not happened."""

    class Full(MatchObserver):
        def warning(self, sentence: str) -> None:
            raise OSError(28, "No space left on device")

    last = Recorder()
    with pytest.raises(OSError, match="No space left"):
        Observers([Full(), last]).warning("x")
    assert last.warnings == []


# ---- the observers that write


def test_a_log_holds_every_hand_when_it_is_over(tmp_path: Path) -> None:
    path = tmp_path / "m.log"
    setup = setup_of(game("kuhn"), 5)
    board = Board(setup, observers=[LogWriter(LineFile(path), setup.names)]).connect_all()
    for hands in range(1, 5):
        board.play(PLAYERS, hands=hands)
        assert path.read_text() == "".join(board.log)
    board.play(PLAYERS)
    assert path.read_text() == "".join(board.log)
    assert path.read_text().splitlines()[-1].startswith("SCORE:")


def test_a_transaction_log_holds_every_action_before_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "m.tlog"
    board = (
        Board(setup_of(game("nolimit"), 5), observers=[TransactionWriter(LineFile(path))]).connect_all().play(PLAYERS)
    )
    assert path.read_text() == "".join(format_transaction(*action) for action in board.seen.actions)


def test_a_failed_match_keeps_what_is_written(tmp_path: Path) -> None:
    log, transactions = tmp_path / "m.log", tmp_path / "m.tlog"
    setup = setup_of(game("kuhn"), 50)
    writers = [LogWriter(LineFile(log), setup.names), TransactionWriter(LineFile(transactions))]
    board = Board(setup, observers=writers).connect_all().play(PLAYERS, hands=3)
    board.match.fail(NotSent(Seat(0)))
    assert log.read_text().count("STATE:") == 3
    assert "SCORE" not in log.read_text()
    assert len(transactions.read_text().splitlines()) == len(board.seen.actions)
