"""Helpers for tests of lost players: play question by question, and expected logs."""

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
MAX_IDLE_LINES = 4
RESPONSE_S = 5.0


def question(line: bytes, rules: Game) -> ReceivedState:
    """Parse a state line that asks its player to act."""
    return ReceivedState(line, StateReader(rules).read(line.decode().rstrip("\r\n")), is_my_turn=True)


@functools.cache
def _reply(line: bytes, rules: Game, policy: Policy) -> bytes:
    """Reply to a state line, cached because the tests replay the same matches many times."""
    return answer(line, format_action(policy(question(line, rules))))


def reply_to(board: Board, policy: Policy) -> None:
    """Send the reply of the acting seat."""
    seat = board.acting_seat
    board.send(seat, _reply(board.last_line(seat), board.setup.game, policy))


def is_stuck(board: Board) -> bool:
    """Return whether the player to act has been lost."""
    return board.match.phase is Phase.PLAYING and board.match.is_awaited(Seat(board.acting_seat))


def play_on(board: Board, policies: list[Policy], questions: int | None = None) -> int:
    """Reply until the match ends or waits for a lost player, at most `questions` times; return the number."""
    replies = 0
    while board.match.phase is Phase.PLAYING and not is_stuck(board) and replies != questions:
        reply_to(board, policies[board.acting_seat])
        replies += 1
    return replies


def policies_for(setup: MatchSetup) -> list[Policy]:
    return [_cached_policy(seat) for seat in range(setup.game.num_players)]


_cached_policy = functools.cache(random_policy)


def check_or_fold(event: ReceivedState) -> Action:
    return FOLD if event.betting.legal_actions().can_fold else CALL


class Undisturbed:
    """A match without faults.

    Attributes:
        board: the finished match.
        questions: seat and line of each question, in order.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self.board = Board(replace(setup, on_fault=FaultPolicy.END), wants_lines=False).connect_all()
        self.questions: list[tuple[int, bytes]] = []
        policies = policies_for(setup)
        while self.board.match.phase is Phase.PLAYING:
            seat = self.board.acting_seat
            self.questions.append((seat, self.board.last_line(seat)))
            reply_to(self.board, policies[seat])
        assert self.board.match.phase is Phase.FINISHED


def setup_for(name: str, on_fault: FaultPolicy, **options: Any) -> MatchSetup:
    options = {"max_idle_lines_per_hand": MAX_IDLE_LINES, "limits": limits(response_s=RESPONSE_S)} | options
    return make_setup(game(name), HANDS, 5, on_fault=on_fault, **options)


@functools.cache
def undisturbed(name: str) -> Undisturbed:
    return Undisturbed(setup_for(name, FaultPolicy.END))


@functools.cache
def forfeited_log(name: str, gone: tuple[tuple[int, int], ...]) -> list[str]:
    """Log of a match in which seats check or fold after a certain number of questions.

    Args:
        name: name of the game.
        gone: seats, each with the number of questions before it forfeits.
    """
    setup = setup_for(name, FaultPolicy.END)
    board = Board(setup, wants_lines=False).connect_all()
    policies = policies_for(setup)
    first_forfeits = dict(gone)
    questions = 0
    while board.match.phase is Phase.PLAYING:
        seat = board.acting_seat
        has_forfeited = seat in first_forfeits and questions >= first_forfeits[seat]
        reply_to(board, check_or_fold if has_forfeited else policies[seat])
        questions += 1
    return board.log
