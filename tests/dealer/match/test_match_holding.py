"""Matches that hold between hands: bytes, log and events are the same as without holds."""

from __future__ import annotations

import functools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dealer.match import EarlierHands, Phase
from dealer.match.causes import NobodyLeft
from dealer.match.events import ActionPlayed, Event, Watcher
from dealer.match.faults import FaultKind
from dealer.reference.command import format_failure
from engine import Game, Seat
from protocol import ReceivedState, parse_game_definition
from tests.dealer.helpers import (
    ALL_IN_BLINDS,
    FIRST_ROUND_BOARD,
    VERSION,
    Board,
    Clock,
    Speaker,
    always,
    answer,
    game,
    limits,
    make_setup,
    random_policy,
    speaker,
)

HANDS = 9
GAMES = ("kuhn", "leduc", "nolimit", "holdem.limit.3p", "sidepots.nolimit.3p.game", "all-in blinds", "board first")


def _game(name: str) -> Game:
    definitions = {"all-in blinds": ALL_IN_BLINDS, "board first": FIRST_ROUND_BOARD}
    return parse_game_definition(definitions[name]) if name in definitions else game(name)


def _talkative(salt: int) -> Speaker:
    """Speaker that sends comments, junk and stale replies before and after some replies."""
    plain = speaker(random_policy(salt))

    def speak(event: ReceivedState) -> bytes | None:
        reply = plain(event)
        assert reply is not None
        if len(event.raw) % 3 == 0:
            return b"# thinking\r\n" + reply + b"; done\r\n"
        if len(event.raw) % 3 == 1:
            return b"junk\r\n" + reply + answer(event.raw, "c")
        return reply

    return speak


def _speakers(rules: Game, *, is_talkative: bool) -> list[Speaker]:
    seats = range(rules.num_players)
    return [_talkative(seat) if is_talkative else speaker(random_policy(seat)) for seat in seats]


@functools.cache
def _play_without_holds(name: str, *, is_talkative: bool) -> Board:
    rules = _game(name)
    board = Board(make_setup(rules, HANDS, 5), wants_lines=False).connect_all()
    board.play_raw(_speakers(rules, is_talkative=is_talkative))
    assert board.match.phase is Phase.FINISHED
    return board


def _is_idle(board: Board) -> bool:
    seats = range(board.setup.game.num_players)
    return board.match.deadline_ns is None and not any(board.match.is_asked(Seat(seat)) for seat in seats)


def _play_with_holds(name: str, marks: list[int], *, is_talkative: bool, wants_lines: bool = False) -> Board:
    rules = _game(name)
    board = Board(make_setup(rules, HANDS, 5), wants_lines=wants_lines)
    board.match.play_until(marks[0])
    board.connect_all()
    speakers = _speakers(rules, is_talkative=is_talkative)
    for mark, next_mark in zip(marks, [*marks[1:], HANDS], strict=True):
        board.play_raw(speakers)
        assert board.match.hands_played == mark
        if mark < HANDS:
            assert board.match.phase is Phase.HOLDING
            assert _is_idle(board)
        assert len(board.recorder.records) == mark
        board.match.play_until(next_mark)
    board.play_raw(speakers)
    return board


def _check_equal(board: Board, other: Board) -> None:
    """Check that two finished matches differ only in times."""
    assert board.match.phase is Phase.FINISHED
    assert other.match.phase is Phase.FINISHED
    assert board.sent == other.sent
    assert board.log == other.log
    assert board.match.totals == other.match.totals
    assert [action[:2] for action in board.recorder.actions] == [action[:2] for action in other.recorder.actions]
    assert board.recorder.faults == other.recorder.faults


@pytest.mark.sampled
@pytest.mark.parametrize("is_talkative", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_holding_after_every_hand_changes_no_byte(name: str, is_talkative: bool) -> None:
    board = _play_with_holds(name, list(range(1, HANDS + 1)), is_talkative=is_talkative)
    _check_equal(board, _play_without_holds(name, is_talkative=is_talkative))


@settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(GAMES),
    marks=st.lists(st.integers(1, HANDS), min_size=1, unique=True).map(sorted),
    is_talkative=st.booleans(),
    wants_lines=st.booleans(),
)
def test_holding_anywhere_changes_no_byte(name: str, marks: list[int], is_talkative: bool, wants_lines: bool) -> None:
    board = _play_with_holds(name, marks, is_talkative=is_talkative, wants_lines=wants_lines)
    _check_equal(board, _play_without_holds(name, is_talkative=is_talkative))


def test_hands_of_these_tests_have_all_kinds_of_ends() -> None:
    boards = [_play_without_holds(name, is_talkative=False) for name in GAMES]
    bettings = [line.split(":")[2] for board in boards for line in board.log[:-1]]
    assert any(betting.endswith("f") for betting in bettings)
    assert any(betting.endswith("c") for betting in bettings)
    assert any(betting.endswith("/") for betting in bettings)
    assert any("f" in betting and not betting.endswith("f") for betting in bettings)


def test_last_state_of_a_hand_is_sent_before_a_hold() -> None:
    board = Board(make_setup(game("kuhn"), 3), wants_lines=False)
    board.match.play_until(1)
    board.connect_all()
    board.reply("r")
    board.writes.clear()
    board.reply("f")
    assert [(seat, is_question) for seat, _, is_question in board.writes] == [(0, False), (1, False)]
    assert all(data.startswith(b"MATCHSTATE:%d:0:rf:" % seat) for seat, data, _ in board.writes)


def test_lines_received_during_a_hold_are_judged_afterwards() -> None:
    board = Board(make_setup(game("kuhn"), 3), wants_lines=False)
    board.match.play_until(1)
    board.connect_all().play([always("c")] * 2)
    for seat in range(2):
        board.send(seat, b"what?\r\n")
    assert board.recorder.faults == []
    board.match.play_until(3)
    assert [fault.seat for fault in board.recorder.faults] == [1]
    board.reply("c")
    assert [(fault.seat, fault.kind) for fault in board.recorder.faults] == [
        (1, FaultKind.MALFORMED_REPLY),
        (0, FaultKind.MALFORMED_REPLY),
    ]


def test_player_that_leaves_during_a_hold_is_lost_at_its_next_turn() -> None:
    board = Board(make_setup(game("kuhn"), 3), wants_lines=False)
    board.match.play_until(1)
    board.connect_all().play([always("c")] * 2)
    board.match.receive_eof(Seat(0))
    assert board.match.phase is Phase.HOLDING
    board.match.play_until(3)
    assert board.match.phase is Phase.PLAYING
    board.reply("c")
    assert board.match.failure is not None
    assert board.match.failure.seat == 0
    assert board.match.failure.kind is FaultKind.DISCONNECT


def test_clocks_are_stopped_during_a_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    clocks = limits(response_s=2, hand_s=3, per_hand_s=1)
    board = Board(make_setup(game("kuhn"), 4, limits=clocks), wants_lines=False)
    board.match.play_until(2)
    board.connect_all().play([always("c")] * 2)
    clock.pass_s(1000)
    board.match.check_time(clock.now_ns)
    assert board.match.phase is Phase.HOLDING
    board.match.play_until(4)
    assert board.match.deadline_ns == clock.now_ns + 2 * 10**9
    board.play([always("c")] * 2)
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.used_us[-1] == [0, 0]
    assert board.match.overhead_ns == 0


def test_holding_match_can_be_finished_with_its_score() -> None:
    board = Board(make_setup(game("kuhn"), 5), wants_lines=False)
    board.match.play_until(2)
    board.connect_all().play([always("r")] * 2)
    board.match.finish()
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.totals == board.match.totals
    assert board.log[-1].startswith("SCORE:")
    assert len(board.log) == 3
    board.match.play_until(5)
    board.match.finish()
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.calls.count("MatchEnded") == 1


def test_match_cannot_be_finished_outside_a_hold() -> None:
    board = Board(make_setup(game("kuhn"), 5), wants_lines=False)
    board.match.finish()
    board.connect_all()
    board.match.finish()
    assert board.match.phase is Phase.PLAYING
    assert board.match.is_asked(Seat(0))


def test_match_holds_until_more_hands_are_requested() -> None:
    board = Board(make_setup(game("kuhn"), 5), wants_lines=False)
    board.match.play_until(3)
    board.connect_all().play([always("c")] * 2)
    for hands in (0, 1, 3):
        board.match.play_until(hands)
        assert board.match.phase is Phase.HOLDING
    board.match.play_until(10_000)
    board.play([always("c")] * 2)
    assert board.match.phase is Phase.FINISHED
    assert board.match.hands_played == 5


def test_holding_match_can_fail() -> None:
    board = Board(make_setup(game("kuhn"), 5), wants_lines=False)
    board.match.play_until(1)
    board.connect_all().play([always("c")] * 2)
    board.match.fail(NobodyLeft())
    assert board.match.phase is Phase.FAILED
    board.match.play_until(5)
    board.match.finish()
    assert board.match.phase is Phase.FAILED


def test_match_holds_between_hands_without_decisions() -> None:
    board = Board(make_setup(parse_game_definition(ALL_IN_BLINDS), 4), wants_lines=False)
    board.match.play_until(1)
    board.connect_all()
    assert board.match.phase is Phase.HOLDING
    assert board.match.hands_played == 1
    board.match.play_until(3)
    assert board.match.phase is Phase.HOLDING
    assert board.match.hands_played == 3
    assert board.sent[0].count(b"\n") == 3
    board.match.play_until(4)
    assert board.match.phase is Phase.FINISHED


def test_match_resumed_at_the_hand_of_a_hold_holds_at_once() -> None:
    setup = make_setup(game("kuhn"), 5)
    board = Board(setup, wants_lines=False, progress=EarlierHands(2, (1.0, -1.0), (5, 7)))
    board.match.play_until(2)
    board.connect_all()
    assert board.match.phase is Phase.HOLDING
    assert board.sent == [b"", b""]
    board.match.play_until(5)
    assert board.sent[0].startswith(b"MATCHSTATE:0:2::")
    board.play([always("c")] * 2)
    assert [record.hand_number for record in board.recorder.records] == [2, 3, 4]


@pytest.mark.sampled
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("hands", range(HANDS))
def test_match_resumes_after_any_hand(name: str, hands: int) -> None:
    whole = _play_without_holds(name, is_talkative=False)
    rules = _game(name)
    totals = [0.0] * rules.num_players
    for record in whole.recorder.records[:hands]:
        for seat, value in zip(record.seats, record.values, strict=True):
            totals[seat] += value
    board = Board(whole.setup, wants_lines=False, progress=EarlierHands(hands, tuple(totals)))
    board.connect_all().play_raw(_speakers(rules, is_talkative=False))
    assert board.match.phase is Phase.FINISHED
    assert board.log == whole.log[hands:]
    assert board.match.totals == whole.match.totals
    assert board.match.hands_played == HANDS


def test_slice_of_a_match_resumes_with_its_own_hand_numbers() -> None:
    setup = make_setup(game("kuhn"), 6, 3, first_hand=10)
    whole = Board(setup).connect_all().play([always("c")] * 2)
    totals = tuple(Board(setup).connect_all().play([always("c")] * 2, hands=4).match.totals)
    rest = Board(setup, progress=EarlierHands(4, totals)).connect_all().play([always("c")] * 2)
    assert rest.log == whole.log[4:]


def test_time_used_before_a_restart_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    setup = make_setup(game("kuhn"), 4, limits=limits(per_hand_s=1))
    board = Board(setup, progress=EarlierHands(2, (), (3_999_999, 0))).connect_all()
    clock.pass_s(0.000002)
    board.reply("c")
    assert board.match.failure is not None
    assert format_failure(board.match.failure) == "ERROR: seat 1 ran out of time\n"


def test_overhead_is_the_time_from_reply_to_question(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)

    class Slow(Watcher):
        wants = frozenset({ActionPlayed})

        def notice(self, event: Event) -> None:
            clock.pass_s(0.25)

    board = Board(make_setup(game("kuhn"), 2), watchers=[Slow()], wants_lines=False).connect_all()
    # Writes to seat 1 do not count: seat 0 already has its question.
    assert board.match.questions == 1
    assert board.match.overhead_ns == 0
    clock.pass_s(7)
    board.reply("c")
    assert board.match.questions == 2
    assert board.match.overhead_ns == 250_000_000


def test_player_is_charged_for_time_during_the_dealers_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a shared core the system may run the player before the dealer's call returns."""
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    board = Board(make_setup(game("kuhn"), 2, limits=limits(response_s=1)), wants_lines=False)
    board.connect(0, b"")
    write = board.writer(1)

    def slow_write(data: bytes, is_asked: bool) -> None:
        write(data, is_asked)
        if is_asked:
            clock.pass_s(1.5)

    board.match.connect(Seat(1), slow_write)
    for seat in range(2):
        board.send(seat, VERSION)
    board.reply("c")
    board.reply("c")
    assert board.match.failure is not None
    assert board.match.failure.seat == Seat(1)
