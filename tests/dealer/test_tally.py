"""What a match amounts to while it runs."""

from __future__ import annotations

import pytest

from dealer.faults import Fault, FaultKind, MatchFailure
from dealer.tally import Tally
from engine import Seat
from tests.dealer.helpers import Board, drawn_by_state, game, setup_of


@pytest.mark.parametrize("name", ["kuhn", "nolimit", "sidepots.nolimit.3p.game"])
def test_a_tally_agrees_with_its_match(name: str) -> None:
    rules = game(name)
    tally = Tally(rules)
    board = Board(setup_of(rules, 150), observers=[tally]).connect_all()
    board.play([drawn_by_state(seat) for seat in range(rules.num_players)])
    assert tally.hands == 150
    assert tally.chips == pytest.approx(board.match.totals)
    for seat in range(rules.num_players):
        assert tally.mbb[seat].count == 150
        assert tally.mbb[seat].mean == pytest.approx(tally.chips[seat] / 150 / rules.big_blind * 1000, abs=1e-6)
        assert tally.mbb[seat].half_width_95 is not None
    assert tally.used_us == board.seen.used_us[-1]
    assert tally.fault_count == 0
    assert tally.first_faults == [None] * rules.num_players


def test_faults_are_counted_by_kind_and_the_first_is_quoted() -> None:
    tally = Tally(game("kuhn"))
    tally.fault(Fault(Seat(1), FaultKind.MALFORMED_REPLY, 3, b"ju\x1bnk\xff\r\n", "ignored"))
    tally.fault(Fault(Seat(1), FaultKind.MALFORMED_REPLY, 4, b"more\r\n", "ignored"))
    tally.fault(Fault(Seat(1), FaultKind.ILLEGAL_ACTION, 4, b"x", "played c"))
    assert tally.faults[0] == {}
    assert tally.faults[1] == {"malformed reply": 2, "illegal action": 1}
    assert tally.first_faults == [None, "malformed reply in hand 3: 'ju\\x1bnkÿ', ignored"]
    assert tally.fault_count == 3


def test_a_long_line_is_quoted_in_part() -> None:
    tally = Tally(game("kuhn"))
    tally.fault(Fault(Seat(0), FaultKind.MALFORMED_REPLY, 0, b"x" * 4000 + b"\n", "ignored"))
    assert tally.first_faults[0] is not None
    assert len(tally.first_faults[0]) < 250


def test_what_ends_a_match_counts_as_a_fault() -> None:
    tally = Tally(game("kuhn"))
    tally.match_failed(MatchFailure("ERROR: gone", Seat(1), FaultKind.DISCONNECT), 5)
    assert tally.faults[1] == {"disconnect": 1}
    assert tally.first_faults[1] == "disconnect in hand 0"


def test_what_is_nobodys_fault_is_nobodys() -> None:
    tally = Tally(game("kuhn"))
    tally.match_failed(MatchFailure("ERROR: could not write m.log: No space left on device"), 5)
    assert tally.fault_count == 0


def test_bad_replies_of_a_match_are_counted_for_their_seat() -> None:
    tally = Tally(game("kuhn"))
    board = Board(setup_of(game("kuhn"), 2), observers=[tally]).connect_all()
    board.send(0, b"junk\n")
    board.reply("f")
    board.reply("x")
    assert tally.faults == [
        {"malformed reply": 1, "illegal action": 1},
        {"malformed reply": 1},
    ]
    assert tally.hands == 1
