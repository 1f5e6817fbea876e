"""A match under everything that can happen to its players, in any order: drawn by hypothesis, checked at every step."""

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
from tests.dealer.losses import HANDS, RESPONSE_S, forfeited_log, policies_of, reply_to, setup_for

SEATS = st.integers(0, 2)


class Disturbed(RuleBasedStateMachine):
    """A match whose players leave, die, babble, oversleep and return, and that holds and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self._patch = patch("dealer.match.match_play.time", self.clock)
        self._patch.start()
        self.silent: set[int] = set()
        """Seats whose connection has ended."""
        self.greeting: dict[int, bytes] = {}
        """What those who are coming back have still to say."""
        self.gone: list[tuple[int, int]] = []
        """Who was given up, and before which action."""

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
            self._to_the_end()
        expected = forfeited_log(self.name, tuple(self.gone))
        log = self.board.log
        if self.match.phase is Phase.FINISHED:
            assert log[:-1] == expected[: self.match.hands_played]
            assert self.match.hands_played < HANDS or log == expected
        else:
            assert log == expected[: len(log)]

    def _to_the_end(self) -> None:
        """Everybody who can comes back and plays properly."""
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
                reply_to(self.board, policies_of(self.board.setup)[self.board.acting_seat])

    def _is_stuck(self) -> bool:
        return self.match.is_awaited(Seat(self.board.acting_seat))

    def _can_speak(self, seat: int) -> bool:
        is_here = seat not in self.match.missing_seats() and seat not in dict(self.gone)
        return is_here and seat not in self.silent and seat not in self.greeting

    # ---- what happens

    @precondition(lambda self: self.match.phase is Phase.PLAYING and not self._is_stuck())
    @rule(is_late=st.sampled_from([False, False, False, True]))
    def answers(self, is_late: bool) -> None:
        seat = self.board.acting_seat
        if not self._can_speak(seat):
            return
        if is_late:
            self.clock.pass_s(RESPONSE_S + 1)
        reply_to(self.board, policies_of(self.board.setup)[seat])

    @rule(seat=SEATS, line=st.sampled_from([b"what?\r\n", b"# so\r\n", b"what?\r\n# so\r\n"]))
    def babbles(self, seat: int, line: bytes) -> None:
        if seat < self.players and self._can_speak(seat):
            self.board.send(seat, line)

    @rule(seat=SEATS)
    def answers_what_nobody_asks_any_more(self, seat: int) -> None:
        if seat < self.players and self._can_speak(seat):
            self.board.send(seat, b"MATCHSTATE:%d:99::%s:c\r\n" % (seat, b"|" * (self.players - 1)))

    @rule(seat=SEATS)
    def leaves(self, seat: int) -> None:
        if seat < self.players and self._can_speak(seat):
            self.silent.add(seat)
            self.match.receive_eof(Seat(seat))

    @rule(seat=SEATS)
    def dies(self, seat: int) -> None:
        if seat < self.players:
            self.match.lose(NotStarted(Seat(seat), StartProblem.ENDED))

    @rule(seat=SEATS)
    def does_not_hear(self, seat: int) -> None:
        if seat < self.players and self._can_speak(seat):
            self.board.broken[seat] = BrokenPipeError(32, "Broken pipe")

    @rule(seconds=st.sampled_from([1.0, RESPONSE_S, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.pass_s(seconds)
        self.match.check_time(self.clock.now_ns)

    @rule(seat=SEATS, said=st.integers(0, len(VERSION)))
    def connects_again(self, seat: int, said: int) -> None:
        if seat in self.match.missing_seats():
            self.silent.discard(seat)
            self.greeting[seat] = VERSION[said:]
            self.board.come_back(seat, VERSION[:said])
            if not self.match.is_awaited(Seat(seat)):
                self.greeting.pop(seat, None)

    @rule(seat=SEATS)
    def greets(self, seat: int) -> None:
        if seat in self.greeting:
            self.board.send(seat, self.greeting.pop(seat))

    @rule(seat=SEATS)
    def leaves_while_greeting(self, seat: int) -> None:
        if self.greeting.pop(seat, None) is not None:
            self.match.receive_eof(Seat(seat))

    @rule(seat=SEATS)
    def is_given_up(self, seat: int) -> None:
        if seat < self.players and self.match.is_awaited(Seat(seat)):
            self.gone.append((seat, len(self.board.recorder.actions)))
            self.greeting.pop(seat, None)
            self.match.forfeit(Seat(seat))

    @rule(hands=st.integers(0, HANDS + 1))
    def goes_on_or_holds(self, hands: int) -> None:
        self.match.play_until(hands)

    @precondition(lambda self: self.match.phase is Phase.HOLDING and self.match.hands_played == HANDS - 1)
    @rule()
    def is_ended(self) -> None:
        self.match.finish()

    # ---- what holds at every step

    @invariant()
    def losses_are_told_once_and_people_are_awaited(self) -> None:
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
    def only_a_table_without_players_fails(self) -> None:
        if hasattr(self, "board"):
            is_empty = len(self.gone) == self.players
            assert (self.match.phase is Phase.FAILED) is (is_empty and self.match.phase is not Phase.FINISHED)

    @invariant()
    def everybody_is_told_every_state_once_and_nobody_before_he_greets(self) -> None:
        if not hasattr(self, "board"):
            return
        for seat in range(self.players):
            data = bytes(self.board.sent[seat])
            assert not (seat in self.greeting and data)
            lines = data.splitlines(keepends=True)
            assert all(line.endswith(b"\r\n") for line in lines)
            assert all(line != other for line, other in itertools.pairwise(lines))

    @invariant()
    def time_runs_for_one_who_is_there_and_asked_and_for_nobody_else(self) -> None:
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
