"""Lost players: every kind of failure at every question, under every policy."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from dealer.errors import UnreadLinesError
from dealer.match import EarlierHands, Phase
from dealer.match.causes import Limit, NoAnswer, NotStarted, OutOfTime, StartProblem, TooManyIdleLines
from dealer.match.events import ActionPlayed
from dealer.match.faults import FaultKind, FaultPolicy
from dealer.match.setup import LostPlayer
from dealer.reference.command import format_failure
from engine import Seat
from tests.dealer.helpers import (
    VERSION,
    Board,
    Clock,
    always,
    answer,
    game,
    limits,
)
from tests.dealer.losses import (
    HANDS,
    MAX_IDLE_LINES,
    RESPONSE_S,
    forfeited_log,
    is_stuck,
    play_on,
    policies_for,
    reply_to,
    setup_for,
    undisturbed,
)

KUHN = game("kuhn")
GAMES = ("kuhn", "leduc", "kuhn.limit.3p.game", "sidepots.nolimit.3p.game")
FEW_GAMES = ("kuhn", "kuhn.limit.3p.game", *(pytest.param(name, marks=pytest.mark.slow) for name in GAMES[1::2]))
GONE = (FaultPolicy.FORFEIT, FaultPolicy.RESTART)


@pytest.fixture(
    autouse=True,
    params=[
        pytest.param(True, id="lines watched"),
        pytest.param(False, id="lines not watched", marks=pytest.mark.slow),
    ],
)
def _watch_lines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all tests with and without a watcher of lines."""
    monkeypatch.setattr(Board, "watches_lines", request.param)


Inflict: TypeAlias = Callable[[Board, int], None]


# ---- failures


def _silence(board: Board, seat: int) -> None:
    board.match.check_time(board.match.deadline_ns or 0)


def _junk(board: Board, seat: int) -> None:
    board.send(seat, b"what?\r\n" * (MAX_IDLE_LINES + 1))


def _chatter(board: Board, seat: int) -> None:
    board.send(seat, b"# so what\r\n" * (MAX_IDLE_LINES + 1))


def _stale(board: Board, seat: int) -> None:
    board.send(seat, b"MATCHSTATE:0:77::|:c\r\n" * (MAX_IDLE_LINES + 1))


def _leave(board: Board, seat: int) -> None:
    board.match.receive_eof(Seat(seat))


def _tear(board: Board, seat: int) -> None:
    """Close the connection within a line."""
    board.send(seat, b"MATCHSTA")
    board.match.receive_eof(Seat(seat))


def _die(board: Board, seat: int) -> None:
    board.match.lose(NotStarted(Seat(seat), StartProblem.ENDED))


def _break(board: Board, seat: int) -> None:
    board.broken[seat] = BrokenPipeError(errno.EPIPE, "Broken pipe")


def _clog(board: Board, seat: int) -> None:
    board.broken[seat] = UnreadLinesError()


AT_ONCE: dict[str, tuple[Inflict, FaultKind]] = {"silence": (_silence, FaultKind.TIMEOUT)}
"""Failures of the player to act only."""
ON_TURN: dict[str, tuple[Inflict, FaultKind]] = {
    "junk": (_junk, FaultKind.FLOOD),
    "chatter": (_chatter, FaultKind.FLOOD),
    "stale": (_stale, FaultKind.FLOOD),
    "leave": (_leave, FaultKind.DISCONNECT),
    "tear": (_tear, FaultKind.DISCONNECT),
    "die": (_die, FaultKind.CRASH),
}
"""Failures of any player, which count at once or at its next turn."""
ON_WRITING: dict[str, tuple[Inflict, FaultKind]] = {
    "break": (_break, FaultKind.DISCONNECT),
    "clog": (_clog, FaultKind.FLOOD),
}
"""Failures that count at the next write to the player."""
WAYS = AT_ONCE | ON_TURN | ON_WRITING


def _take_losses(board: Board) -> list[LostPlayer]:
    """Take the losses and check that the match reports them once."""
    has_losses = board.match.has_losses
    losses = board.match.take_losses()
    assert has_losses is bool(losses)
    assert not board.match.has_losses
    assert board.match.take_losses() == []
    return losses


def _moments(name: str, way: str) -> list[tuple[int, int]]:
    """Numbers of questions, each with a seat that can fail this way while the question is open."""
    moments = []
    for number, (acting_seat, _) in enumerate(undisturbed(name).questions):
        for seat in range(game(name).num_players):
            if seat == acting_seat or way not in AT_ONCE:
                moments.append((number, seat))
    return moments


def _fail_at(board: Board, number: int, seat: int, way: str) -> None:
    play_on(board, policies_for(board.setup), number)
    WAYS[way][0](board, seat)


def _play_to_loss(board: Board) -> int:
    """Reply until a player is lost; return the number of replies."""
    policies = policies_for(board.setup)
    replies = 0
    while board.match.phase is Phase.PLAYING and not board.match.has_losses:
        reply_to(board, policies[board.acting_seat])
        replies += 1
    return replies


def _disturbed(name: str, way: str, on_fault: FaultPolicy) -> Iterator[tuple[Board, int, int, list[LostPlayer]]]:
    """Play matches up to the loss by each failure; yield the board, the seat, the number of replies, the losses."""
    for number, seat in _moments(name, way):
        board = Board(setup_for(name, on_fault)).connect_all()
        _fail_at(board, number, seat, way)
        number += _play_to_loss(board)
        yield board, seat, number, _take_losses(board)


def _check_conserved(board: Board) -> None:
    assert [record.hand_number for record in board.recorder.records] == list(range(len(board.recorder.records)))
    for record in board.recorder.records:
        assert sum(record.values) == pytest.approx(0.0, abs=1e-9)
        assert len(record.times) == sum(map(len, record.betting.rounds))
    assert sum(board.match.totals) == pytest.approx(0.0, abs=1e-9)
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in board.log)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FEW_GAMES)
def test_under_end_every_failure_ends_the_match(name: str, way: str) -> None:
    expected = undisturbed(name)
    for number, seat in _moments(name, way):
        board = Board(setup_for(name, FaultPolicy.END), wants_lines=False).connect_all()
        _fail_at(board, number, seat, way)
        play_on(board, policies_for(board.setup))
        assert not board.match.has_losses
        if board.match.phase is Phase.FINISHED:
            # The player had no further question.
            assert all(acting_seat != seat for acting_seat, _ in expected.questions[number:])
            assert board.log == expected.board.log
            continue
        failure = board.match.failure
        assert failure is not None
        assert failure.seat == seat
        assert failure.kind is WAYS[way][1]
        assert board.log == expected.board.log[: len(board.log)]
        assert len(board.log) == board.match.hands_played
        _check_conserved(board)


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GAMES)
def test_forfeiting_player_checks_or_folds_while_others_play_on(name: str, way: str) -> None:
    expected = undisturbed(name)
    for board, seat, number, losses in _disturbed(name, way, FaultPolicy.FORFEIT):
        if not losses:
            assert board.match.phase is Phase.FINISHED
            assert board.log == expected.board.log
            continue
        (loss,) = losses
        assert loss.cause.seat == seat
        assert loss.cause.kind is WAYS[way][1]
        assert loss.is_final
        assert loss.hand_number == board.match.hands_played
        board.match.forfeit(Seat(seat))
        play_on(board, policies_for(board.setup))
        assert board.match.phase is Phase.FINISHED
        assert board.log == forfeited_log(name, ((seat, number),))
        assert not board.match.has_losses
        _check_conserved(board)


@pytest.mark.parametrize(
    ("way", "is_slow"),
    [
        *((way, False) for way in WAYS),
        # The kind of the loss makes no difference to the others' play before the return.
        *(
            pytest.param(way, True, marks=() if way in ("silence", "leave", "break") else pytest.mark.slow)
            for way in WAYS
        ),
    ],
)
@pytest.mark.parametrize("name", FEW_GAMES)
def test_restarted_player_plays_the_match_it_would_have_played(name: str, way: str, is_slow: bool) -> None:
    """The player gets the same bytes; with `is_slow` the others play as far as they can before it returns."""
    expected = undisturbed(name)
    for board, seat, number, losses in _disturbed(name, way, FaultPolicy.RESTART):
        if losses:
            (loss,) = losses
            assert loss.cause.seat == seat
            assert loss.cause.kind is WAYS[way][1]
            assert not loss.is_final
            assert loss.hand_number == board.match.hands_played
            own_lines = [line for acting_seat, line in expected.questions[:number] if acting_seat == seat]
            hand_numbers = [int(line.split(b":")[2]) for line in own_lines]
            assert loss.answers == hand_numbers.count(loss.hand_number)
            assert board.match.missing_seats() == [seat]
            if is_slow:
                number += play_on(board, policies_for(board.setup))
            if board.match.phase is Phase.PLAYING:
                has_question = is_stuck(board)
                assert has_question is (expected.questions[number][0] == seat)
                board.come_back(seat)
                assert board.sent[seat] == (expected.questions[number][1] if has_question else b"")
                assert not board.match.is_awaited(Seat(seat))
                play_on(board, policies_for(board.setup))
                assert expected.board.sent[seat].endswith(board.sent[seat])
        assert board.match.phase is Phase.FINISHED
        assert board.log == expected.board.log
        assert board.match.totals == expected.board.match.totals
        assert not board.match.has_losses
        _check_conserved(board)


# ---- a match without one of its players


def _stuck(on_fault: FaultPolicy = FaultPolicy.RESTART, **options: Any) -> Board:
    """Match of Kuhn poker that waits for seat 0, which has left at the first question."""
    board = Board(setup_for("kuhn", on_fault, **options)).connect_all()
    board.match.receive_eof(Seat(0))
    assert is_stuck(board)
    _take_losses(board)
    return board


def test_clocks_are_stopped_while_a_player_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    board = _stuck()
    assert board.match.deadline_ns is None
    clock.pass_s(1000)
    board.match.check_time(clock.now_ns)
    board.come_back(0)
    assert board.match.deadline_ns == clock.now_ns + round(RESPONSE_S * 1e9)
    play_on(board, policies_for(board.setup))
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.used_us[-1] == [0, 0]


def test_bytes_of_a_lost_player_are_ignored() -> None:
    board = _stuck()
    reply = answer(board.last_line(0), "c")
    assert board.match.receive(Seat(0), reply + VERSION) is False
    board.match.receive_eof(Seat(0))
    assert is_stuck(board)
    assert not board.match.has_losses
    assert board.recorder.faults == []


def test_reconnected_player_receives_nothing_before_its_version() -> None:
    # Seat 2 is lost during the turn of seat 0, and its own turn comes while it sends its version.
    board = Board(setup_for("kuhn.limit.3p.game", FaultPolicy.RESTART)).connect_all()
    _die(board, 2)
    _take_losses(board)
    board.come_back(2, b"VERSION:2.")
    board.reply("c")
    board.reply("c")
    assert is_stuck(board)
    assert board.sent[2] == b""
    assert board.match.deadline_ns is None
    board.send(2, b"0.0\r\n")
    assert board.sent[2].count(b"\n") == 1
    assert board.sent[2].startswith(b"MATCHSTATE:2:0:cc:")
    assert board.acting_seat == 2
    board.reply("c")
    assert board.match.hands_played == 1


def test_version_and_reply_can_arrive_in_any_two_pieces() -> None:
    line = undisturbed("kuhn").questions[0][1]
    data = VERSION + answer(line, "r")
    for cut in range(len(data) + 1):
        board = _stuck()
        board.come_back(0, b"")
        for piece in (data[:cut], data[cut:]):
            if piece:
                board.send(0, piece)
        assert board.sent[0].startswith(line)
        assert board.acting_seat == 1
        assert board.last_line(1).startswith(b"MATCHSTATE:1:0:r:")
        assert board.recorder.faults == []


@pytest.mark.parametrize(
    ("hello", "kind", "line"),
    [
        (b"", FaultKind.DISCONNECT, b""),
        (b"HELLO\r\n", FaultKind.MALFORMED_REPLY, b"HELLO\r\n"),
        (b"VERS", FaultKind.MALFORMED_REPLY, b"VERS"),
        (b"\n", FaultKind.MALFORMED_REPLY, b"\n"),
    ],
)
def test_reconnected_player_without_version_is_lost_again(hello: bytes, kind: FaultKind, line: bytes) -> None:
    board = _stuck()
    for _ in range(2):
        board.come_back(0, hello)
        board.match.receive_eof(Seat(0))
        (loss,) = _take_losses(board)
        assert loss.cause.seat == 0
        assert loss.cause.kind is kind
        assert loss.cause.line == line
        assert not loss.is_final
        assert board.match.missing_seats() == [0]
        assert board.sent[0] == b""
    board.come_back(0)
    play_on(board, policies_for(board.setup))
    assert board.log == undisturbed("kuhn").board.log


def test_silent_reconnected_player_can_be_lost_again() -> None:
    board = _stuck()
    board.come_back(0, b"VERSION")
    assert board.match.missing_seats() == []
    assert board.match.is_awaited(Seat(0))
    _die(board, 0)
    (loss,) = _take_losses(board)
    assert loss.cause.kind is FaultKind.CRASH
    assert board.match.missing_seats() == [0]


def test_version_without_line_end_counts_before_the_loss() -> None:
    board = _stuck()
    board.come_back(0, b"VERSION:2.0.0")
    board.match.receive_eof(Seat(0))
    (loss,) = _take_losses(board)
    assert isinstance(loss.cause, NoAnswer)
    assert loss.cause.is_closed
    assert board.sent[0] == undisturbed("kuhn").questions[0][1]


def test_same_loss_is_reported_once() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.RESTART)).connect_all()
    _die(board, 0)
    _die(board, 0)
    _leave(board, 0)
    assert len(_take_losses(board)) == 1


def test_player_that_was_not_lost_cannot_reconnect() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.RESTART)).connect_all()
    sent = bytes(board.sent[1])
    board.match.connect(Seat(0), lambda data, is_asked: pytest.fail("sent data to the second connection"))
    assert board.match.is_asked(Seat(0))
    board.reply("c")
    assert bytes(board.sent[1]).startswith(sent)
    _die(board, 1)
    _take_losses(board)
    board.match.forfeit(Seat(1))
    board.match.connect(Seat(1), lambda data, is_asked: pytest.fail("sent data to a forfeited player"))
    play_on(board, policies_for(board.setup))
    assert board.match.phase is Phase.FINISHED


def test_events_of_a_forfeited_player_are_ignored() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.FORFEIT)).connect_all()
    _die(board, 1)
    _take_losses(board)
    board.match.forfeit(Seat(1))
    _die(board, 1)
    board.match.receive_eof(Seat(1))
    board.send(1, b"what?\r\n")
    assert not board.match.has_losses
    play_on(board, policies_for(board.setup))
    assert board.match.phase is Phase.FINISHED
    assert board.recorder.faults == []


def test_forfeit_of_a_connected_player_does_nothing() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.FORFEIT)).connect_all()
    board.match.forfeit(Seat(0))
    play_on(board, policies_for(board.setup))
    assert board.log == undisturbed("kuhn").board.log


# ---- several lost players


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_match_continues_after_both_players_are_lost_and_return(name: str, order: tuple[int, int]) -> None:
    expected = undisturbed(name)
    for number in range(len(expected.questions)):
        board = Board(setup_for(name, FaultPolicy.RESTART)).connect_all()
        play_on(board, policies_for(board.setup), number)
        for seat in order:
            _die(board, seat)
        assert [loss.cause.seat for loss in _take_losses(board)] == list(order)
        assert board.match.missing_seats() == [0, 1]
        for seat in order:
            board.come_back(seat)
        acting_seat, line = expected.questions[number]
        assert board.sent[acting_seat] == line
        assert board.sent[1 - acting_seat] == b""
        play_on(board, policies_for(board.setup))
        assert board.log == expected.board.log


@pytest.mark.parametrize("on_fault", GONE)
def test_match_without_players_ends(on_fault: FaultPolicy) -> None:
    board = Board(setup_for("kuhn", on_fault)).connect_all()
    for seat in (1, 0):
        _die(board, seat)
        _take_losses(board)
        board.match.forfeit(Seat(seat))
    assert board.match.phase is Phase.FAILED
    assert format_failure(board.match.failure) == "ERROR: no player is left to act\n"
    assert board.match.failure is not None
    assert board.match.failure.seat is None
    assert board.match.failure.kind is None


@pytest.mark.parametrize(
    "name", ["kuhn.limit.3p.game", pytest.param("sidepots.nolimit.3p.game", marks=pytest.mark.slow)]
)
def test_last_player_of_three_finishes_the_match(name: str) -> None:
    for number in range(len(undisturbed(name).questions)):
        for lost_seats in ((0, 1), (1, 2), (2, 0)):
            board = Board(setup_for(name, FaultPolicy.FORFEIT)).connect_all()
            play_on(board, policies_for(board.setup), number)
            for seat in lost_seats:
                _die(board, seat)
            assert len(_take_losses(board)) == 2
            for seat in lost_seats:
                board.match.forfeit(Seat(seat))
            play_on(board, policies_for(board.setup))
            assert board.match.phase is Phase.FINISHED
            assert board.log == forfeited_log(name, tuple((seat, number) for seat in lost_seats))
            _check_conserved(board)


def test_connected_players_of_three_receive_every_state() -> None:
    name = "kuhn.limit.3p.game"
    expected = undisturbed(name)
    for number in range(len(expected.questions) - 1):
        acting_seat = expected.questions[number][0]
        for broken_seats in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2)):
            board = Board(setup_for(name, FaultPolicy.RESTART)).connect_all()
            play_on(board, policies_for(board.setup), number)
            for seat in broken_seats:
                _break(board, seat)
            lengths = [len(sent) for sent in board.sent]
            reply_to(board, policies_for(board.setup)[acting_seat])
            assert {loss.cause.seat for loss in _take_losses(board)} == set(broken_seats)
            for seat in set(range(3)) - set(broken_seats):
                assert len(board.sent[seat]) > lengths[seat]
                assert expected.board.sent[seat].startswith(board.sent[seat])
            for seat in broken_seats:
                board.come_back(seat)
            play_on(board, policies_for(board.setup))
            assert board.log == expected.board.log


# ---- between hands


@pytest.mark.parametrize("way", ["leave", "die", "junk"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("hands", [1, HANDS - 1])
def test_player_lost_during_a_hold_reconnects(way: str, seat: int, hands: int) -> None:
    board = Board(setup_for("kuhn", FaultPolicy.RESTART))
    board.match.play_until(hands)
    board.connect_all()
    play_on(board, policies_for(board.setup))
    assert board.match.phase is Phase.HOLDING
    WAYS[way][0](board, seat)
    if way == "die":
        (loss,) = _take_losses(board)
        assert loss.hand_number == hands
        assert loss.answers == 0
        board.come_back(seat)
        assert board.sent[seat] == b""
    board.match.play_until(HANDS)
    policies = policies_for(board.setup)
    while board.match.phase is Phase.PLAYING:
        if board.match.has_losses:
            (loss,) = _take_losses(board)
            assert loss.cause.seat == seat
            board.come_back(seat)
        play_on(board, policies, 1)
    assert board.log == undisturbed("kuhn").board.log


@pytest.mark.parametrize("seat", [0, 1])
def test_player_forfeited_during_a_hold_is_absent_from_the_next_hand(seat: int) -> None:
    board = Board(setup_for("leduc", FaultPolicy.FORFEIT))
    board.match.play_until(2)
    board.connect_all()
    number = play_on(board, policies_for(board.setup))
    _die(board, seat)
    _take_losses(board)
    board.match.forfeit(Seat(seat))
    assert board.match.phase is Phase.HOLDING
    board.match.play_until(HANDS)
    play_on(board, policies_for(board.setup))
    assert board.log == forfeited_log("leduc", ((seat, number),))


def test_player_unreachable_at_the_end_of_a_held_hand_is_lost_between_hands() -> None:
    hand_numbers = [line.split(b":")[2] for _, line in undisturbed("leduc").questions]
    board = Board(setup_for("leduc", FaultPolicy.RESTART))
    board.match.play_until(1)
    board.connect_all()
    play_on(board, policies_for(board.setup), hand_numbers.count(b"0") - 1)
    _break(board, 0)
    reply_to(board, policies_for(board.setup)[board.acting_seat])
    (loss,) = _take_losses(board)
    assert board.match.phase is Phase.HOLDING
    assert loss.cause.seat == 0
    assert loss.hand_number == 1
    assert len(board.log) == 1


def test_player_unreachable_after_the_last_action_is_no_loss() -> None:
    for on_fault in GONE:
        board = Board(setup_for("kuhn", on_fault)).connect_all()
        expected = undisturbed("kuhn")
        play_on(board, policies_for(board.setup), len(expected.questions) - 1)
        acting_seat = board.acting_seat
        _break(board, 0)
        _break(board, 1)
        reply_to(board, policies_for(board.setup)[acting_seat])
        assert board.match.phase is Phase.FINISHED
        assert not board.match.has_losses
        assert board.log == expected.board.log


def test_others_receive_the_actions_of_a_forfeited_seat() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.FORFEIT)).connect_all()
    _die(board, 1)
    _take_losses(board)
    board.match.forfeit(Seat(1))
    play_on(board, [always("r"), always("r")])
    states = [line.split(b":") for line in bytes(board.sent[0]).splitlines()]
    bettings = [betting for _, _, hand_number, betting, _ in states if hand_number == b"0"]
    assert bettings[-1] == b"rf"
    assert board.recorder.totals == [3.0, -3.0]


# ---- clocks and limits


def test_timeouts_use_up_the_time_for_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three hands have 9 s. Two timeouts of 4 s leave 1 s, so that the third is final.
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    board = Board(setup_for("kuhn", FaultPolicy.RESTART, limits=limits(response_s=4, per_hand_s=3))).connect_all()
    finals = []
    for _ in range(3):
        clock.pass_s(4)
        board.match.check_time(clock.now_ns)
        (loss,) = _take_losses(board)
        assert loss.cause.kind is FaultKind.TIMEOUT
        finals.append(loss.is_final)
        board.come_back(0)
    assert finals == [False, False, True]


def test_restarted_player_has_the_full_time_for_the_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    board = Board(setup_for("leduc", FaultPolicy.RESTART, limits=limits(response_s=4, hand_s=4))).connect_all()
    first_seat = board.acting_seat
    for _ in range(2):
        clock.pass_s(5)
        reply_to(board, always("c"))
        (loss,) = _take_losses(board)
        assert loss.cause == OutOfTime(Seat(first_seat), Limit.RESPONSE)
        board.come_back(first_seat)
    clock.pass_s(3.5)
    reply_to(board, always("c"))
    assert not board.match.has_losses
    assert board.acting_seat != first_seat


def test_idle_lines_are_counted_for_each_player_and_hand() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.RESTART)).connect_all()
    for _ in range(2 * HANDS):
        seat = board.acting_seat
        line = board.last_line(seat)
        board.send(seat, b"what?\r\n" * MAX_IDLE_LINES)
        assert not board.match.has_losses
        board.send(seat, answer(line, "c"))
    assert board.match.phase is Phase.FINISHED
    assert len(board.recorder.faults) == 2 * HANDS * MAX_IDLE_LINES


def test_first_line_above_the_limit_is_quoted() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.RESTART)).connect_all()
    board.send(0, b"# one\r\n" * MAX_IDLE_LINES + b"# and more\r\n")
    (loss,) = _take_losses(board)
    assert loss.cause.line == b"# and more\r\n"
    assert format_failure(loss.cause) == "ERROR: seat 1 sent more than 4 lines other than answers in hand 0\n"


def test_lines_of_a_junk_packet_are_not_charged_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    junk = b"what?\r\n" * MAX_IDLE_LINES
    board = Board(setup_for("kuhn", FaultPolicy.RESTART, limits=limits(response_s=4, hand_s=4))).connect_all()
    clock.pass_s(1.5)
    board.send(0, junk)
    clock.pass_s(1.5)
    board.reply("c")
    assert board.acting_seat == 1
    clock.pass_s(3.9)
    board.send(1, junk + b"and more\r\n")
    (loss,) = _take_losses(board)
    assert isinstance(loss.cause, TooManyIdleLines)
    board = Board(setup_for("kuhn", FaultPolicy.RESTART, limits=limits(response_s=4, hand_s=4))).connect_all()
    board.send(0, junk)
    clock.pass_s(4.1)
    board.reply("c")
    (loss,) = _take_losses(board)
    assert loss.cause == OutOfTime(Seat(0), Limit.RESPONSE)


def test_player_that_reconnects_by_itself_gets_its_question_again_while_its_time_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr("dealer.match.match_play.time", clock)
    board = Board(setup_for("kuhn", FaultPolicy.END, limits=limits(response_s=4, hand_s=5))).connect_all()
    question = board.match.question
    assert question == (0, 0, clock.now_ns)
    line = board.last_line(0)
    clock.pass_s(3)
    board.send(0, b"half a li")
    board.match.unseat(Seat(0))
    board.come_back(0)
    assert board.last_line(0) == line
    assert board.match.question == question
    clock.pass_s(0.9)
    board.reply("c")
    # Seat 0 reconnects during the turn of seat 1 and receives the next state.
    board.match.unseat(Seat(0))
    board.come_back(0)
    assert not board.sent[0]
    board.reply("r")
    assert board.acting_seat == 0
    clock.pass_s(1.2)
    board.reply("c")
    assert board.recorder.failure == OutOfTime(Seat(0), Limit.HAND)


def test_player_that_leaves_before_the_match_is_awaited_again() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.END))
    board.connect(0)
    board.match.unseat(Seat(0))
    board.connect(1)
    assert board.match.phase is Phase.CONNECTING
    assert board.match.missing_seats() == [0]
    assert board.match.question is None
    board.connect(0)
    assert board.match.phase is Phase.PLAYING


# ---- resumed matches and missing players


@pytest.mark.parametrize("name", FEW_GAMES)
def test_resumed_match_plays_without_forfeited_players(name: str) -> None:
    rules = game(name)
    players = range(rules.num_players)
    for seat in players:
        log = forfeited_log(name, ((seat, 0),))
        board = Board(setup_for(name, FaultPolicy.FORFEIT), progress=EarlierHands(forfeited=frozenset({Seat(seat)})))
        assert board.match.missing_seats() == [other for other in players if other != seat]
        for other in board.match.missing_seats():
            board.connect(other)
        play_on(board, policies_for(board.setup))
        assert board.match.phase is Phase.FINISHED
        assert board.log == log
        assert board.sent[seat] == b""


def test_match_that_lost_all_players_does_not_resume() -> None:
    board = Board(
        setup_for("kuhn", FaultPolicy.FORFEIT), progress=EarlierHands(1, forfeited=frozenset({Seat(0), Seat(1)}))
    )
    assert board.match.missing_seats() == []
    board.match.open()
    assert format_failure(board.match.failure) == "ERROR: no player is left to act\n"
    assert board.log == []


def test_match_that_awaits_players_does_not_open() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.FORFEIT))
    board.match.open()
    assert board.match.phase is Phase.CONNECTING


@pytest.mark.parametrize("name", FEW_GAMES)
def test_missing_player_forfeits(name: str) -> None:
    players = range(game(name).num_players)
    for seat in players:
        board = Board(setup_for(name, FaultPolicy.FORFEIT))
        for other in players:
            if other != seat:
                board.connect(other)
        cause = NotStarted(Seat(seat), StartProblem.ENDED)
        board.match.miss(cause)
        assert _take_losses(board) == [LostPlayer(cause, 0, 0, is_final=True)]
        assert board.match.phase is Phase.CONNECTING
        board.match.forfeit(Seat(seat))
        play_on(board, policies_for(board.setup))
        assert board.match.phase is Phase.FINISHED
        assert board.log == forfeited_log(name, ((seat, 0),))


def test_missing_player_is_awaited_under_restart_and_ends_the_match_under_end() -> None:
    cause = NotStarted(Seat(1), StartProblem.NOT_CONNECTED)
    board = Board(setup_for("kuhn", FaultPolicy.RESTART), progress=EarlierHands(hands=2))
    board.match.miss(cause)
    assert _take_losses(board) == [LostPlayer(cause, 2, 0, is_final=False)]
    board.connect_all()
    play_on(board, policies_for(board.setup))
    assert board.match.phase is Phase.FINISHED
    board.match.miss(cause)
    assert _take_losses(board) == []
    board = Board(setup_for("kuhn", FaultPolicy.END))
    board.match.miss(cause)
    assert board.match.failure == cause


def test_match_without_any_player_ends() -> None:
    board = Board(setup_for("kuhn", FaultPolicy.FORFEIT))
    for seat in (Seat(0), Seat(1)):
        board.match.miss(NotStarted(seat, StartProblem.ENDED))
        board.match.forfeit(seat)
    assert format_failure(board.match.failure) == "ERROR: no player is left to act\n"


@pytest.mark.parametrize("on_fault", GONE)
def test_unreadable_version_ends_the_match_under_every_policy(on_fault: FaultPolicy) -> None:
    for hello in (b"HELLO\r\n", b""):
        board = Board(setup_for("kuhn", on_fault))
        board.connect(0)
        board.connect(1, hello)
        board.match.receive_eof(Seat(1))
        assert board.match.phase is Phase.FAILED
        assert board.match.failure is not None
        assert board.match.failure.seat == 1


@pytest.mark.parametrize("on_fault", FaultPolicy)
def test_full_disk_ends_the_match_under_every_policy(on_fault: FaultPolicy) -> None:
    board = Board(setup_for("kuhn", on_fault), wants_lines=False)
    board.recorder.refuses = ActionPlayed
    board.connect_all()
    board.reply("c")
    assert format_failure(board.match.failure) == "ERROR: could not write m.log: No space left on device\n"


def test_full_disk_at_a_forfeit_ends_the_match() -> None:
    board = _stuck(FaultPolicy.FORFEIT)
    board.recorder.refuses = ActionPlayed
    board.match.forfeit(Seat(0))
    assert format_failure(board.match.failure) == "ERROR: could not write m.log: No space left on device\n"


def test_nine_of_ten_players_finish_the_match() -> None:
    setup = setup_for("holdem.limit.10p", FaultPolicy.FORFEIT)
    for seat in (0, 4, 9):
        board = Board(setup).connect_all()
        play_on(board, policies_for(setup), 4)
        _die(board, seat)
        _take_losses(board)
        board.match.forfeit(Seat(seat))
        play_on(board, policies_for(setup))
        assert board.match.phase is Phase.FINISHED
        assert board.log == forfeited_log("holdem.limit.10p", ((seat, 4),))
