"""Time limits of a match, tested with a simulated clock."""

from __future__ import annotations

import pytest

from dealer.match import Phase
from dealer.match.causes import TooManyIdleLines
from dealer.match.events import MatchEnded
from dealer.match.faults import FaultKind
from dealer.match.seats import SeatClock
from dealer.match.setup import TimeLimits
from dealer.reference.command import format_failure
from engine import Seat
from tests.dealer.helpers import Board, Clock, game, limits, make_setup, played_actions

KUHN = game("kuhn")
HUGE = 2**63


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    return clock


def _board(clock_limits: TimeLimits, hands: int = 3) -> Board:
    return Board(make_setup(KUHN, hands, limits=clock_limits)).connect_all()


def _failure(board: Board) -> tuple[str, int | None, FaultKind | None]:
    assert board.match.phase is Phase.FAILED
    failure = board.recorder.failure
    assert failure is not None
    return format_failure(failure), failure.seat, failure.kind


def test_silent_player_ends_the_match(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    assert board.match.deadline_ns == clock.now_ns + 2 * 10**9
    clock.pass_s(1.9999)
    board.match.check_time(clock.now_ns)
    assert board.match.phase is Phase.PLAYING
    clock.pass_s(0.1001)
    board.match.check_time(clock.now_ns)
    assert _failure(board) == (
        "ERROR: could not get action from seat 1\n2.1 seconds spent waiting; timeout 2.0\n",
        0,
        FaultKind.TIMEOUT,
    )
    assert board.match.deadline_ns is None


def test_timeout_is_a_fault_of_the_player_to_act(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    clock.pass_s(1)
    board.reply("c")
    clock.pass_s(1.5)
    board.match.check_time(clock.now_ns)
    assert board.match.phase is Phase.PLAYING
    clock.pass_s(0.5)
    board.match.check_time(clock.now_ns)
    assert _failure(board)[1:] == (1, FaultKind.TIMEOUT)


def test_late_answer_is_not_played(clock: Clock) -> None:
    """An answer can arrive after the limit, but before the timer has fired."""
    board = _board(limits(response_s=2))
    clock.pass_s(2.000001)
    board.reply("c")
    assert _failure(board) == ("ERROR: seat 1 ran out of time\n", 0, FaultKind.TIMEOUT)
    assert played_actions(board) == []


def test_answer_at_the_limit_is_in_time(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    clock.pass_s(2)
    board.reply("c")
    assert played_actions(board) == ["c"]


def test_each_bad_line_is_charged_from_the_question(clock: Clock) -> None:
    """Three bad lines and the reply at 0.2 s each cost 0.2 + 0.4 + 0.6 + 0.8 s."""
    board = _board(limits(hand_s=1.9))
    for _ in range(3):
        clock.pass_s(0.2)
        board.send(0, b"junk\n")
    assert board.match.phase is Phase.PLAYING
    clock.pass_s(0.2)
    board.reply("c")
    assert _failure(board) == ("ERROR: seat 1 ran out of time\n", 0, FaultKind.TIMEOUT)


def test_time_used_is_reported_with_every_hand(clock: Clock) -> None:
    board = _board(limits(), hands=2)
    clock.pass_s(0.5)
    board.send(0, b"junk\n")
    clock.pass_s(0.5)
    board.reply("c")
    clock.pass_s(3)
    board.reply("c")
    assert board.recorder.used_us == [[1_500_000, 3_000_000]]
    clock.pass_s(1)
    board.reply("c")
    clock.pass_s(2)
    board.reply("c")
    assert board.recorder.used_us[-1] == [3_500_000, 4_000_000]


@pytest.fixture
def max_comments(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("dealer.match.match_play.MAX_COMMENTS_PER_QUESTION", 100)
    return 100


def test_comments_are_free_but_the_reply_is_charged_from_the_question(clock: Clock, max_comments: int) -> None:
    board = _board(limits(response_s=2, hand_s=2))
    for _ in range(max_comments):
        clock.pass_s(1.5)
        board.send(0, b"# hm\n")
        assert board.match.deadline_ns == clock.now_ns + 2 * 10**9
        board.match.check_time(clock.now_ns)
        assert board.match.phase is Phase.PLAYING
    board.reply("c")
    assert _failure(board)[0] == "ERROR: seat 1 ran out of time\n"


def test_comments_are_limited_for_each_question(max_comments: int) -> None:
    board = _board(limits())
    comments = b"# hm\n" * max_comments
    for _ in range(2):
        board.send(board.acting_seat, comments)
        board.reply("c")
    board.send(board.acting_seat, comments + b"; and more\n")
    assert board.recorder.failure == TooManyIdleLines(Seat(1), 1, max_comments, line=b"; and more\n")


@pytest.mark.parametrize(
    ("time_limits", "last_s"),
    [({"response_s": 2}, 2), ({"response_s": 9, "hand_s": 5}, 5), ({"response_s": 9, "per_hand_s": 1}, 3)],
)
def test_comments_do_not_extend_the_time_if_idle_lines_are_limited(
    clock: Clock, time_limits: dict[str, float], last_s: int
) -> None:
    board = Board(make_setup(KUHN, 3, limits=limits(**time_limits), max_idle_lines_per_hand=20)).connect_all()
    for _ in range(last_s):
        clock.pass_s(1)
        board.send(0, b"# hm\n")
        assert board.match.phase is Phase.PLAYING
    clock.pass_s(0.1)
    board.send(0, b"# hm\n")
    assert _failure(board) == (
        f"ERROR: could not get action from seat 1\n{last_s}.1 seconds spent waiting; timeout {last_s}.0\n",
        0,
        FaultKind.TIMEOUT,
    )


def test_partial_line_does_not_extend_the_time(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    deadline_ns = board.match.deadline_ns
    clock.pass_s(1)
    board.send(0, b"MATCHSTATE:0")
    assert board.match.deadline_ns == deadline_ns


def test_time_for_a_hand_adds_up_and_is_reset_by_the_next_hand(clock: Clock) -> None:
    board = _board(limits(hand_s=3))
    for _ in range(2):
        for _ in range(2):
            clock.pass_s(2.5)
            board.reply("c")
    assert board.match.hands_played == 2
    clock.pass_s(2)
    board.reply("c")
    clock.pass_s(1)
    board.reply("r")
    clock.pass_s(1.5)
    board.reply("c")
    # Seat 0 acted twice in hand 2, for 2 and 1.5 seconds.
    assert _failure(board) == ("ERROR: seat 1 ran out of time\n", 0, FaultKind.TIMEOUT)


def test_time_per_hand_is_a_budget_for_the_match(clock: Clock) -> None:
    board = _board(limits(per_hand_s=2), hands=3)
    clock.pass_s(5.5)
    board.reply("c")
    clock.pass_s(0.1)
    board.reply("c")
    assert board.match.phase is Phase.PLAYING
    clock.pass_s(0.1)
    board.reply("c")
    clock.pass_s(0.6)
    board.reply("c")
    assert _failure(board) == ("ERROR: seat 1 ran out of time\n", 0, FaultKind.TIMEOUT)
    assert board.match.hands_played == 1


def test_only_the_player_to_act_is_charged(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    for _ in range(6):
        clock.pass_s(1.9)
        board.reply("c")
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.used_us[-1] == [5_700_000, 5_700_000]


def test_early_lines_are_charged_from_the_question(clock: Clock) -> None:
    board = _board(limits(response_s=2))
    board.send(1, b"junk\n")
    clock.pass_s(1.9)
    board.reply("c")
    assert board.recorder.faults[0].kind is FaultKind.MALFORMED_REPLY
    clock.pass_s(1)
    board.reply("c")
    assert board.recorder.used_us[0] == [1_900_000, 1_000_000]


def test_failure_includes_the_time_waited(clock: Clock) -> None:
    board = _board(limits(response_s=1))
    clock.pass_s(1.25)
    board.match.check_time(clock.now_ns)
    assert [event.waited_us for event in board.recorder.events if isinstance(event, MatchEnded)] == [1_250_000]


def test_action_times_are_unix_times(clock: Clock) -> None:
    board = _board(limits())
    question_us = clock.time_ns() // 1000
    clock.pass_s(0.25)
    board.reply("c")
    assert board.recorder.actions[0][1:] == (0, question_us, question_us + 250_000)


def test_finished_match_has_no_deadline(clock: Clock) -> None:
    board = _board(limits(response_s=1), hands=1)
    board.reply("c")
    board.reply("c")
    assert board.match.phase is Phase.FINISHED
    assert board.match.deadline_ns is None
    board.match.check_time(HUGE)
    assert board.match.phase is Phase.FINISHED


def test_match_has_no_deadline_before_the_first_question(clock: Clock) -> None:
    board = Board(make_setup(KUHN, 1, limits=limits(response_s=1)))
    board.connect(0)
    assert board.match.deadline_ns is None
    board.match.check_time(HUGE)
    assert board.match.phase is Phase.CONNECTING


# ---- clock of a seat


def test_clock_refuses_a_charge_above_the_limit_for_a_hand() -> None:
    clock = SeatClock(make_setup(KUHN, 2, limits=TimeLimits(100, 150, 90)), Seat(0))
    assert clock.charge(100)
    assert clock.charge(50)
    assert clock.hand_us == 150
    assert clock.match_us == 150
    assert not clock.charge(1)


def test_clock_refuses_a_charge_above_the_limit_for_an_answer() -> None:
    assert not SeatClock(make_setup(KUHN, 1, limits=TimeLimits(100, 1000, 1000)), Seat(0)).charge(101)


def test_budgets_wrap_like_64_bit_numbers() -> None:
    assert TimeLimits(per_hand_us=2**63).match_us(2) == 0
    assert TimeLimits(per_hand_us=7_000_000).match_us(3000) == 21_000_000_000


def test_limits_in_seconds_and_milliseconds() -> None:
    clock_limits = TimeLimits.from_seconds(response_s=1.5, hand_s=20.0, per_hand_s=0.0305, start_s=4.0)
    assert clock_limits == TimeLimits(1_500_000, 20_000_000, 30_500, 4_000_000)
    assert clock_limits.response_ms == 1500
    assert clock_limits.hand_ms == 20_000
    assert clock_limits.per_hand_ms == 30
    assert clock_limits.start_s == 4.0
    assert TimeLimits().start_s is None


def test_single_limits_can_be_replaced() -> None:
    assert TimeLimits().with_seconds(hand_s=2.0) == TimeLimits(hand_us=2_000_000)
    replaced = TimeLimits().with_seconds(response_s=1.0, per_hand_s=3.0)
    assert replaced == TimeLimits(response_us=1_000_000, per_hand_us=3_000_000)
