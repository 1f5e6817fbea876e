"""Matches resumed from the actions of an earlier run."""

from __future__ import annotations

import functools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dealer.match import Phase
from dealer.match.faults import FaultKind
from dealer.reference.command import format_failure
from logs import parse_transactions
from protocol import parse_game_definition
from tests.dealer.helpers import (
    ALL_IN_BLINDS,
    Board,
    Policy,
    game,
    limits,
    make_setup,
    played_transactions,
    random_policy,
)

GAMES = ("kuhn", "limit", "nolimit", "sidepots.nolimit.3p.game", "kuhn.limit.3p.game")
HANDS = 8


def _players(name: str) -> list[Policy]:
    return [random_policy(seat) for seat in range(game(name).num_players)]


@functools.cache
def _whole(name: str) -> Board:
    return Board(make_setup(game(name), HANDS, 11)).connect_all().play(_players(name))


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(GAMES), share=st.floats(0.0, 1.0))
def test_match_resumed_from_any_prefix_ends_the_same(name: str, share: float) -> None:
    whole = _whole(name)
    actions = played_transactions(whole)
    prefix = actions[: round(share * len(actions))]
    resumed = Board(whole.setup, transactions=prefix).connect_all().play(_players(name))
    assert resumed.match.phase is Phase.FINISHED
    # Complete hands of the prefix count, but have no events. The rest differs only in times.
    missing = len(whole.log) - len(resumed.log)
    assert resumed.log == whole.log[missing:]
    assert resumed.match.totals == whole.match.totals
    assert resumed.match.hands_played == HANDS
    resumed_actions = [action for action, *_ in resumed.recorder.actions]
    assert resumed_actions == [action for action, *_ in whole.recorder.actions[len(prefix) :]]
    for record, original in zip(resumed.recorder.records, whole.recorder.records[missing:], strict=True):
        assert record.hand_number == original.hand_number
        assert record.deal == original.deal
        assert record.values == original.values
        assert len(record.times) == len(original.times)


def test_partial_hand_resumes_with_its_current_state() -> None:
    actions = parse_transactions(["c 0 1.000000 1.500000\n", "r 0 2.000000 2.500000\n"], is_limit=True)
    board = Board(make_setup(game("kuhn"), 1), transactions=actions).connect_all()
    assert [sent.count(b"\n") for sent in board.sent] == [1, 1]
    assert board.sent[0].startswith(b"MATCHSTATE:0:0:cr:")
    assert board.acting_seat == 0
    board.reply("c")
    assert [tuple(times) for times in board.recorder.records[0].times[:2]] == [
        (1_000_000, 1_500_000),
        (2_000_000, 2_500_000),
    ]


def test_complete_transaction_log_yields_the_score_without_play() -> None:
    whole = _whole("kuhn")
    board = Board(whole.setup, transactions=played_transactions(whole)).connect_all()
    assert board.match.phase is Phase.FINISHED
    assert board.log == whole.log[-1:]
    assert board.sent == [b"", b""]


def test_surplus_hands_of_a_transaction_log_count() -> None:
    whole = _whole("kuhn")
    board = Board(make_setup(game("kuhn"), 3, 11), transactions=played_transactions(whole)).connect_all()
    assert board.match.phase is Phase.FINISHED
    assert board.match.totals == whole.match.totals


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["c 1 1.0 1.0\n"], "ERROR: handId mismatch in transaction log: c 1 1.0 1.0"),
        (["c 0 1.0 1.0\n", "c 1 1.0 1.0\n"], "ERROR: handId mismatch in transaction log: c 1 1.0 1.0"),
        (["f 0 1.0 1.0\n"], "ERROR: invalid action in transaction log: f 0 1.0 1.0"),
        (["junk\n"], "ERROR: could not parse transaction stamp junk"),
        (["c 0\n"], "ERROR: could not parse transaction stamp c 0"),
        (["c 0 1.0 1.0\n", "\n"], "ERROR: could not parse transaction stamp"),
    ],
)
def test_transaction_log_of_another_match_ends_the_match(lines: list[str], sentence: str) -> None:
    board = Board(make_setup(game("kuhn"), 2), transactions=parse_transactions(lines, is_limit=True)).connect_all()
    assert board.match.phase is Phase.FAILED
    assert format_failure(board.match.failure).rstrip() == sentence
    assert board.sent == [b"", b""]
    assert board.log == []


def test_illegal_size_in_a_transaction_log_ends_the_match() -> None:
    actions = parse_transactions(["r150 0 1.0 1.0\n"], is_limit=False)
    board = Board(make_setup(game("nolimit"), 2), transactions=actions).connect_all()
    assert format_failure(board.match.failure) == "ERROR: invalid action in transaction log: r150 0 1.0 1.0\n"


def test_action_in_a_game_without_decisions_ends_the_match() -> None:
    actions = parse_transactions(["c 0 1.0 1.0\n"], is_limit=False)
    board = Board(make_setup(parse_game_definition(ALL_IN_BLINDS), 2), transactions=actions).connect_all()
    assert format_failure(board.match.failure).startswith("ERROR: invalid action in transaction log: ")


def test_times_of_the_earlier_run_are_charged() -> None:
    actions = parse_transactions(["c 0 1.000000 4.000000\n"], is_limit=True)
    board = Board(make_setup(game("kuhn"), 2, limits=limits(response_s=2)), transactions=actions).connect_all()
    failure = board.match.failure
    assert failure is not None
    assert format_failure(failure) == "ERROR: seat 1 ran out of time in transaction file\n"
    assert failure.seat == 0
    assert failure.kind is FaultKind.TIMEOUT


def test_negative_time_in_a_transaction_log_costs_nothing() -> None:
    actions = parse_transactions(["c 0 4.000000 1.000000\n"], is_limit=True)
    board = Board(make_setup(game("kuhn"), 1, limits=limits(response_s=2)), transactions=actions).connect_all()
    assert board.match.phase is Phase.PLAYING
    assert board.acting_seat == 1


def test_recorded_actions_are_replayed_once_all_are_connected() -> None:
    """The invalid transaction has no effect before the match starts."""
    board = Board(make_setup(game("kuhn"), 2), transactions=parse_transactions(["junk\n"], is_limit=True))
    board.connect(0)
    assert board.match.phase is Phase.CONNECTING


def test_match_with_fixed_seats_resumes() -> None:
    setup = make_setup(game("kuhn"), 6, 3, fixed_seats=True)
    players = _players("kuhn")
    whole = Board(setup).connect_all().play(players)
    resumed = Board(setup, transactions=played_transactions(whole)[:7]).connect_all().play(players)
    assert resumed.match.totals == whole.match.totals
