"""Seats of players: connection, version, loss, time and idle lines."""

from __future__ import annotations

from typing import Any

import pytest

from dealer.errors import MatchFailure
from dealer.match.causes import Limit, NotStarted, OutOfTime, StartProblem, TooManyIdleLines
from dealer.match.seats import PlayerSeat, Presence
from engine import Seat
from tests.dealer.helpers import VERSION, game, limits, make_setup

BOB = Seat(1)


def _player_seat(*, used_us: int = 0, is_absent: bool = False, **options: Any) -> PlayerSeat:
    return PlayerSeat(BOB, make_setup(game("kuhn"), 3, **options), used_us=used_us, is_absent=is_absent)


def _cause(raised: pytest.ExceptionInfo[MatchFailure]) -> object:
    return raised.value.cause


def test_player_receives_nothing_before_its_version() -> None:
    sent: list[bytes] = []
    player_seat = _player_seat()
    assert player_seat.presence is Presence.AWAITED
    assert player_seat.has_unread
    player_seat.arrive(lambda data, is_asked: sent.append(data))
    player_seat.write(b"too early", False)
    assert player_seat.read_version() is None
    assert player_seat.presence is Presence.ARRIVED
    player_seat.session.receive_data(VERSION)
    version = player_seat.read_version()
    assert version is not None
    assert version.is_supported
    assert player_seat.presence is Presence.SEATED
    player_seat.write(b"now", True)
    assert sent == [b"now"]


def test_lost_player_receives_nothing_until_it_reconnects() -> None:
    player_seat = _player_seat()
    player_seat.arrive(lambda data, is_asked: pytest.fail("sent data to a lost player"))
    player_seat.session.receive_data(VERSION + b"half a li")
    player_seat.read_version()
    player_seat.begin_hand()
    player_seat.charge(5)
    player_seat.vacate(Presence.AWAITED)
    player_seat.write(b"x", True)
    assert player_seat.presence is Presence.AWAITED
    assert player_seat.session.buffered_bytes == 0
    assert player_seat.clock.hand_us == 0
    assert player_seat.clock.match_us == 5
    player_seat.arrive(lambda data, is_asked: None)
    player_seat.session.receive_data(VERSION)
    assert player_seat.read_version() is not None


def test_seat_of_an_absent_player_has_unread_input() -> None:
    player_seat = _player_seat()
    player_seat.vacate(Presence.ABSENT)
    assert player_seat.presence is Presence.ABSENT
    assert player_seat.has_unread
    assert _player_seat(is_absent=True).has_unread


def test_invalid_version_is_a_fault_of_the_player() -> None:
    player_seat = _player_seat()
    player_seat.arrive(lambda data, is_asked: None)
    player_seat.session.receive_data(b"HELLO\r\n")
    with pytest.raises(MatchFailure) as raised:
        player_seat.read_version()
    assert _cause(raised) == NotStarted(BOB, StartProblem.UNREADABLE_VERSION, line=b"HELLO\r\n")
    player_seat = _player_seat()
    player_seat.arrive(lambda data, is_asked: None)
    player_seat.session.receive_eof()
    with pytest.raises(MatchFailure) as raised:
        player_seat.read_version()
    assert _cause(raised) == NotStarted(BOB, StartProblem.LEFT)


def test_time_is_charged_until_it_is_used_up() -> None:
    player_seat = _player_seat(used_us=2_000_000, limits=limits(per_hand_s=1.0))
    player_seat.charge(1_000_000)
    with pytest.raises(MatchFailure) as raised:
        player_seat.charge(1, is_replayed=True)
    assert _cause(raised) == OutOfTime(BOB, Limit.MATCH, is_replayed=True)


def test_idle_lines_are_counted_by_hand() -> None:
    player_seat = _player_seat(max_idle_lines_per_hand=2)
    for hand in range(3):
        player_seat.begin_hand()
        player_seat.count_idle_line(hand, b"# one\n")
        player_seat.count_idle_line(hand, b"# two\n")
    with pytest.raises(MatchFailure) as raised:
        player_seat.count_idle_line(2, b"# three\n")
    assert _cause(raised) == TooManyIdleLines(BOB, 2, 2, line=b"# three\n")
    endless = _player_seat()
    for _ in range(1000):
        endless.count_idle_line(0, b"#\n")
