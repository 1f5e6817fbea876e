"""A chair: who sits there, from the connection to the loss, and what it is charged with."""

from __future__ import annotations

from typing import Any

import pytest

from dealer.errors import MatchFailure
from dealer.match.causes import NotStarted, OutOfTime, StartProblem, TooManyIdleLines
from dealer.match.clocks import Limit
from dealer.match.seats import Chair, Presence
from engine import Seat
from tests.dealer.helpers import VERSION, game, limits, setup_of

BOB = Seat(1)


def _chair(*, used_us: int = 0, is_absent: bool = False, **options: Any) -> Chair:
    return Chair(BOB, setup_of(game("kuhn"), 3, **options), used_us=used_us, is_absent=is_absent)


def _cause(raised: pytest.ExceptionInfo[MatchFailure]) -> object:
    return raised.value.cause


def test_a_player_is_sent_nothing_before_it_has_named_its_version() -> None:
    sent: list[bytes] = []
    chair = _chair()
    assert (chair.presence, chair.has_unread) == (Presence.AWAITED, True)
    chair.arrive(lambda data, is_asked: sent.append(data))
    chair.write(b"too early", False)
    assert chair.read_version() is None
    assert chair.presence is Presence.ARRIVED
    chair.session.receive_data(VERSION)
    version = chair.read_version()
    assert version is not None
    assert version.is_supported
    assert chair.presence is Presence.SEATED
    chair.write(b"now", True)
    assert sent == [b"now"]


def test_a_player_that_is_lost_is_told_nothing_and_comes_back_with_a_new_session() -> None:
    chair = _chair()
    chair.arrive(lambda data, is_asked: pytest.fail("told"))
    chair.session.receive_data(VERSION + b"half a li")
    chair.read_version()
    chair.begin_hand()
    chair.charge(5)
    chair.vacate(Presence.AWAITED)
    chair.write(b"x", True)
    assert (chair.presence, chair.session.buffered_bytes, chair.clock.hand_us) == (Presence.AWAITED, 0, 0)
    assert chair.clock.match_us == 5
    chair.arrive(lambda data, is_asked: None)
    chair.session.receive_data(VERSION)
    assert chair.read_version() is not None


def test_an_absent_player_is_to_be_answered_for() -> None:
    chair = _chair()
    chair.vacate(Presence.ABSENT)
    assert (chair.presence, chair.has_unread) == (Presence.ABSENT, True)
    assert _chair(is_absent=True).has_unread


def test_what_is_no_version_is_the_players_fault() -> None:
    chair = _chair()
    chair.arrive(lambda data, is_asked: None)
    chair.session.receive_data(b"HELLO\r\n")
    with pytest.raises(MatchFailure) as raised:
        chair.read_version()
    assert _cause(raised) == NotStarted(BOB, StartProblem.UNREADABLE_VERSION, line=b"HELLO\r\n")
    chair = _chair()
    chair.arrive(lambda data, is_asked: None)
    chair.session.receive_eof()
    with pytest.raises(MatchFailure) as raised:
        chair.read_version()
    assert _cause(raised) == NotStarted(BOB, StartProblem.LEFT)


def test_time_is_charged_until_it_is_used_up() -> None:
    chair = _chair(used_us=2_000_000, limits=limits(per_hand_s=1.0))
    chair.charge(1_000_000)
    with pytest.raises(MatchFailure) as raised:
        chair.charge(1, is_replayed=True)
    assert _cause(raised) == OutOfTime(BOB, Limit.MATCH, is_replayed=True)


def test_idle_lines_are_counted_by_hand() -> None:
    chair = _chair(max_idle_lines_per_hand=2)
    for hand in range(3):
        chair.begin_hand()
        chair.count_idle_line(hand, b"# one\n")
        chair.count_idle_line(hand, b"# two\n")
    with pytest.raises(MatchFailure) as raised:
        chair.count_idle_line(2, b"# three\n")
    assert _cause(raised) == TooManyIdleLines(BOB, 2, 2, line=b"# three\n")
    endless = _chair()
    for _ in range(1000):
        endless.count_idle_line(0, b"#\n")
