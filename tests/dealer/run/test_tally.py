"""Counts of a match while it runs."""

from __future__ import annotations

import pytest

from dealer.match.events import HandFinished
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.run.tally import Tally
from engine import CALL, Seat
from tests.dealer.helpers import Board, always, game, make_setup, random_policy


@pytest.mark.parametrize("name", ["kuhn", "nolimit", "sidepots.nolimit.3p.game"])
def test_tally_agrees_with_its_match(name: str) -> None:
    rules = game(name)
    tally = Tally(rules.num_players)
    board = Board(make_setup(rules, 50), watchers=[tally]).connect_all()
    board.play([random_policy(seat) for seat in range(rules.num_players)])
    assert tally.hands == 50
    assert tally.chips == pytest.approx(board.match.totals)
    assert tally.chips == [sum(tally.values[seat :: rules.num_players]) for seat in range(rules.num_players)]
    answers = [0] * rules.num_players
    for record in board.recorder.records:
        for actions in record.betting.rounds:
            for position, _ in actions:
                answers[record.seats[position]] += 1
    assert [times.count for times in tally.times] == answers
    assert tally.fault_count == 0
    assert tally.first_faults == {}


def test_faults_are_counted_by_kind_and_the_first_is_kept() -> None:
    tally = Tally(2)
    first = Fault(Seat(1), FaultKind.MALFORMED_REPLY, 3, b"ju\x1bnk\xff\r\n", Remedy.IGNORED)
    tally.count_fault(first)
    tally.count_fault(Fault(Seat(1), FaultKind.MALFORMED_REPLY, 4, b"more\r\n", Remedy.IGNORED))
    tally.count_fault(Fault(Seat(1), FaultKind.ILLEGAL_ACTION, 4, b"x", Remedy.PLAYED, CALL))
    assert tally.faults[0] == {}
    assert tally.faults[1] == {"malformed reply": 2, "illegal action": 1}
    assert tally.first_faults == {1: first}
    assert tally.fault_count == 3


def test_restarts_are_counted() -> None:
    tally = Tally(2)
    tally.count_fault(Fault(Seat(1), FaultKind.CRASH, 2, b"", Remedy.RESTARTED))
    tally.count_fault(Fault(Seat(1), FaultKind.TIMEOUT, 2, b"", Remedy.RESTARTED))
    assert tally.restarts == [0, 2]
    assert tally.faults[1] == {"crash": 1, "timeout": 1}


def test_folds_of_a_forfeited_player_are_not_timed() -> None:
    tally = Tally(2)
    board = Board(make_setup(game("kuhn"), 2), wants_lines=False).connect_all().play([always("c")] * 2)
    first, second = board.recorder.records
    tally.notice(HandFinished(first))
    tally.count_fault(Fault(Seat(1), FaultKind.TIMEOUT, 1, b"", Remedy.FORFEITED))
    tally.notice(HandFinished(second))
    assert [times.count for times in tally.times] == [2, 1]


def test_bad_replies_of_a_match_are_counted_for_their_seat() -> None:
    tally = Tally(2)
    board = Board(make_setup(game("kuhn"), 2), watchers=[tally]).connect_all()
    board.send(0, b"junk\n")
    board.reply("f")
    board.reply("x")
    assert tally.faults == [
        {"malformed reply": 1, "illegal action": 1},
        {"malformed reply": 1},
    ]
    assert tally.hands == 1
