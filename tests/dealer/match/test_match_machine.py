"""Stateful property test of a match: random sequences of replies, losses, returns and holds."""

from __future__ import annotations

import itertools
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dealer.match import Phase
from dealer.match.causes import NotStarted, StartProblem
from dealer.match.faults import FaultPolicy
from engine import Seat
from protocol import ReceivedState
from tests.dealer.helpers import VERSION, Board, Clock, game, player_session
from tests.dealer.losses import HANDS, RESPONSE_S, forfeited_log, policies_for, reply_to, setup_for

SEATS = st.integers(0, 2)


class Disturbed(RuleBasedStateMachine):
    """A match with players who send junk, are late, leave, crash and return, and with holds between hands."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self._patch = patch("dealer.match.match_play.time", self.clock)
        self._patch.start()
        self.silent: set[int] = set()
        """Seats with a closed connection."""
        self.greeting: dict[int, bytes] = {}
        """Rest of the version that returning players have yet to send, by seat."""
        self.gone: list[tuple[int, int]] = []
        """Forfeited seats, with the number of actions before each forfeit."""

    @initialize(
        name=st.sampled_from(["kuhn", "leduc", "kuhn.limit.3p.game", "sidepots.nolimit.3p.game"]),
        on_fault=st.sampled_from([FaultPolicy.FORFEIT, FaultPolicy.RESTART]),
        watches_lines=st.booleans(),
        until=st.integers(1, HANDS),
    )
    def begin(self, name: str, on_fault: FaultPolicy, watches_lines: bool, until: int) -> None:
        self.name = name
        self.players = game(name).num_players
        self.board = Board(setup_for(name, on_fault), wants_lines=watches_lines)
        self.match = self.board.match
        self.match.play_until(until)
        self.board.connect_all()

    def teardown(self) -> None:
        try:
            if hasattr(self, "board"):
                self._check_end()
        finally:
            self._patch.stop()

    def _check_end(self) -> None:
        if self.match.phase is not Phase.FAILED:
            self._play_to_the_end()
        expected = forfeited_log(self.name, tuple(self.gone))
        log = self.board.log
        if self.match.phase is Phase.FINISHED:
            assert log[:-1] == expected[: self.match.hands_played]
            assert self.match.hands_played < HANDS or log == expected
        else:
            assert log == expected[: len(log)]

    def _play_to_the_end(self) -> None:
        """Reconnect all players that are not forfeited and play without faults."""
        while self.match.phase in (Phase.PLAYING, Phase.HOLDING):
            self.match.take_losses()
            for seat in range(self.players):
                if self.match.is_awaited(Seat(seat)):
                    self.match.lose(NotStarted(Seat(seat), StartProblem.ENDED))
                    self.match.take_losses()
                    self.board.come_back(seat)
                    self.silent.discard(seat)
            self.match.play_until(HANDS)
            if self.match.phase is Phase.PLAYING and not self._is_stuck():
                reply_to(self.board, policies_for(self.board.setup)[self.board.acting_seat])

    def _is_stuck(self) -> bool:
        return self.match.is_awaited(Seat(self.board.acting_seat))

    def _can_send(self, seat: int) -> bool:
        is_connected = seat not in self.match.missing_seats() and seat not in dict(self.gone)
        return is_connected and seat not in self.silent and seat not in self.greeting

    # ---- steps

    @precondition(lambda self: self.match.phase is Phase.PLAYING and not self._is_stuck())
    @rule(is_late=st.sampled_from([False, False, False, True]))
    def reply(self, is_late: bool) -> None:
        seat = self.board.acting_seat
        if not self._can_send(seat):
            return
        if is_late:
            self.clock.pass_s(RESPONSE_S + 1)
        reply_to(self.board, policies_for(self.board.setup)[seat])

    @rule(seat=SEATS, line=st.sampled_from([b"what?\r\n", b"# so\r\n", b"what?\r\n# so\r\n"]))
    def send_junk(self, seat: int, line: bytes) -> None:
        if seat < self.players and self._can_send(seat):
            self.board.send(seat, line)

    @rule(seat=SEATS)
    def send_stale_reply(self, seat: int) -> None:
        if seat < self.players and self._can_send(seat):
            self.board.send(seat, b"MATCHSTATE:%d:99::%s:c\r\n" % (seat, b"|" * (self.players - 1)))

    @rule(seat=SEATS)
    def leave(self, seat: int) -> None:
        if seat < self.players and self._can_send(seat):
            self.silent.add(seat)
            self.match.receive_eof(Seat(seat))

    @rule(seat=SEATS)
    def crash(self, seat: int) -> None:
        if seat < self.players:
            self.match.lose(NotStarted(Seat(seat), StartProblem.ENDED))

    @rule(seat=SEATS)
    def break_connection(self, seat: int) -> None:
        if seat < self.players and self._can_send(seat):
            self.board.broken[seat] = BrokenPipeError(32, "Broken pipe")

    @rule(seconds=st.sampled_from([1.0, RESPONSE_S, 100.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.pass_s(seconds)
        self.match.check_time(self.clock.now_ns)

    @rule(seat=SEATS, num_bytes=st.integers(0, len(VERSION)))
    def reconnect(self, seat: int, num_bytes: int) -> None:
        if seat in self.match.missing_seats():
            self.silent.discard(seat)
            self.greeting[seat] = VERSION[num_bytes:]
            self.board.come_back(seat, VERSION[:num_bytes])
            if not self.match.is_awaited(Seat(seat)):
                self.greeting.pop(seat, None)

    @rule(seat=SEATS)
    def send_rest_of_version(self, seat: int) -> None:
        if seat in self.greeting:
            self.board.send(seat, self.greeting.pop(seat))

    @rule(seat=SEATS)
    def leave_before_version(self, seat: int) -> None:
        if self.greeting.pop(seat, None) is not None:
            self.match.receive_eof(Seat(seat))

    @rule(seat=SEATS)
    def forfeit(self, seat: int) -> None:
        if seat < self.players and self.match.is_awaited(Seat(seat)):
            self.gone.append((seat, len(self.board.recorder.actions)))
            self.greeting.pop(seat, None)
            self.match.forfeit(Seat(seat))

    @rule(hands=st.integers(0, HANDS + 1))
    def set_hold(self, hands: int) -> None:
        self.match.play_until(hands)

    @precondition(lambda self: self.match.phase is Phase.HOLDING and self.match.hands_played == HANDS - 1)
    @rule()
    def finish_early(self) -> None:
        self.match.finish()

    # ---- invariants

    @invariant()
    def each_loss_is_reported_once_and_its_seat_is_awaited(self) -> None:
        if hasattr(self, "board"):
            for loss in self.match.take_losses():
                seat = loss.cause.seat
                assert seat is not None
                assert self.match.is_awaited(seat)
                assert seat not in dict(self.gone)
                assert 0 <= loss.hand_number <= HANDS
                self.greeting.pop(seat, None)

    @invariant()
    def chips_are_conserved(self) -> None:
        if hasattr(self, "board"):
            records = self.board.recorder.records
            assert [record.hand_number for record in records] == list(range(self.match.hands_played))
            assert all(abs(sum(record.values)) < 1e-9 for record in records)
            assert abs(sum(self.match.totals)) < 1e-9

    @invariant()
    def only_a_match_without_players_fails(self) -> None:
        if hasattr(self, "board"):
            is_empty = len(self.gone) == self.players
            assert (self.match.phase is Phase.FAILED) is (is_empty and self.match.phase is not Phase.FINISHED)

    @invariant()
    def each_state_is_sent_once_and_none_before_the_version(self) -> None:
        if not hasattr(self, "board"):
            return
        for seat in range(self.players):
            data = bytes(self.board.sent[seat])
            assert not (seat in self.greeting and data)
            lines = data.splitlines(keepends=True)
            assert all(line.endswith(b"\r\n") for line in lines)
            assert all(line != other for line, other in itertools.pairwise(lines))

    @invariant()
    def deadline_exists_only_while_a_connected_player_is_to_act(self) -> None:
        if hasattr(self, "board"):
            is_running = self.match.phase is Phase.PLAYING and not self._is_stuck()
            assert (self.match.deadline_ns is not None) is is_running
            if is_running:
                session = player_session(self.board.setup.game)
                session.receive_data(self.board.last_line(self.board.acting_seat))
                event = session.next_event()
                assert isinstance(event, ReceivedState)
                assert event.is_my_turn


@pytest.mark.parametrize(
    ("examples", "steps"), [(30, 40), pytest.param(1000, 80, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_any_sequence_of_events_yields_the_match_of_its_players(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Disturbed,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
