"""What the tests of lost players share: matches played question by question, and what they should come to."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from dealer.match import MatchSetup, Phase
from dealer.match.faults import FaultPolicy
from engine import CALL, FOLD, Action, Game, Seat
from protocol import ReceivedState, format_action
from protocol.match_state import StateReader
from tests.dealer.helpers import Board, Policy, answer, game, limits, make_setup, random_policy

HANDS = 3
MOST_IDLE_LINES = 4
RESPONSE_S = 5.0


def question(line: bytes, rules: Game) -> ReceivedState:
    """A state line as its player reads it."""
    return ReceivedState(line, StateReader(rules).read(line.decode().rstrip("\r\n")), is_my_turn=True)


@functools.cache
def _reply(line: bytes, rules: Game, policy: Policy) -> bytes:
    """What a player answers, which follows from the line alone; the same matches are played again and again."""
    return answer(line, format_action(policy(question(line, rules))))


def reply_to(board: Board, policy: Policy) -> None:
    """Let the player who is asked answer."""
    seat = board.acting_seat
    board.send(seat, _reply(board.last_line(seat), board.setup.game, policy))


def is_stuck(board: Board) -> bool:
    """Whether the match waits for somebody who is not there."""
    return board.match.phase is Phase.PLAYING and board.match.is_awaited(Seat(board.acting_seat))


def play_on(board: Board, policies: list[Policy], questions: int | None = None) -> int:
    """Answer until the match is over, waits for somebody who is gone, or so many answers were given."""
    given = 0
    while board.match.phase is Phase.PLAYING and not is_stuck(board) and given != questions:
        reply_to(board, policies[board.acting_seat])
        given += 1
    return given


def policies_of(setup: MatchSetup) -> list[Policy]:
    return [_drawn_by_state(seat) for seat in range(setup.game.num_players)]


_drawn_by_state = functools.cache(random_policy)


def check_or_fold(event: ReceivedState) -> Action:
    return FOLD if event.betting.legal_actions().can_fold else CALL


class Undisturbed:
    """A match in which nothing goes wrong.

    Attributes:
        board: it. questions: seat and line of each, in order.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self.board = Board(replace(setup, on_fault=FaultPolicy.END), wants_lines=False).connect_all()
        self.questions: list[tuple[int, bytes]] = []
        policies = policies_of(setup)
        while self.board.match.phase is Phase.PLAYING:
            seat = self.board.acting_seat
            self.questions.append((seat, self.board.last_line(seat)))
            reply_to(self.board, policies[seat])
        assert self.board.match.phase is Phase.FINISHED


def setup_for(name: str, on_fault: FaultPolicy, **options: Any) -> MatchSetup:
    options = {"max_idle_lines_per_hand": MOST_IDLE_LINES, "limits": limits(response_s=RESPONSE_S)} | options
    return make_setup(game(name), HANDS, 5, on_fault=on_fault, **options)


@functools.cache
def undisturbed(name: str) -> Undisturbed:
    return Undisturbed(setup_for(name, FaultPolicy.END))


@functools.cache
def forfeited_log(name: str, gone: tuple[tuple[int, int], ...]) -> list[str]:
    """The log of a match in which seats check or fold from a question on.

    Args:
        name: of the game.
        gone: seats, and the number of the question from which on they are gone.
    """
    setup = setup_for(name, FaultPolicy.END)
    board = Board(setup, wants_lines=False).connect_all()
    policies, since, asked = policies_of(setup), dict(gone), 0
    while board.match.phase is Phase.PLAYING:
        seat = board.acting_seat
        reply_to(board, check_or_fold if asked >= since.get(seat, asked + 1) else policies[seat])
        asked += 1
    return board.log
