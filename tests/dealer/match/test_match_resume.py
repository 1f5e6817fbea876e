"""A match goes on from the actions of an earlier run: any beginning of a recorded match leads to the same end."""

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
def test_any_beginning_leads_to_the_same_end(name: str, share: float) -> None:
    whole = _whole(name)
    actions = played_transactions(whole)
    beginning = actions[: round(share * len(actions))]
    resumed = Board(whole.setup, transactions=beginning).connect_all().play(_players(name))
    assert resumed.match.phase is Phase.FINISHED
    # Hands of the beginning count and are not told again; the rest is the same, times apart.
    missing = len(whole.log) - len(resumed.log)
    assert resumed.log == whole.log[missing:]
    assert resumed.match.totals == whole.match.totals
    assert resumed.match.hands_played == HANDS
    assert [a[0] for a in resumed.recorder.actions] == [a[0] for a in whole.recorder.actions[len(beginning) :]]
    for record, original in zip(resumed.recorder.records, whole.recorder.records[missing:], strict=True):
        assert (record.hand_number, record.deal, record.values) == (
            original.hand_number,
            original.deal,
            original.values,
        )
        assert len(record.times) == len(original.times)


def test_a_half_played_hand_goes_on_with_its_present_state() -> None:
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


def test_a_complete_record_plays_nothing_and_gives_the_score() -> None:
    whole = _whole("kuhn")
    board = Board(whole.setup, transactions=played_transactions(whole)).connect_all()
    assert board.match.phase is Phase.FINISHED
    assert board.log == whole.log[-1:]
    assert board.sent == [b"", b""]


def test_more_hands_than_asked_for_all_count() -> None:
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
def test_a_record_that_does_not_fit_ends_the_match(lines: list[str], sentence: str) -> None:
    board = Board(make_setup(game("kuhn"), 2), transactions=parse_transactions(lines, is_limit=True)).connect_all()
    assert board.match.phase is Phase.FAILED
    assert format_failure(board.match.failure).rstrip() == sentence
    assert board.sent == [b"", b""]
    assert board.log == []


def test_a_size_that_would_be_fixed_does_not_fit() -> None:
    actions = parse_transactions(["r150 0 1.0 1.0\n"], is_limit=False)
    board = Board(make_setup(game("nolimit"), 2), transactions=actions).connect_all()
    assert format_failure(board.match.failure) == "ERROR: invalid action in transaction log: r150 0 1.0 1.0\n"


def test_an_action_of_a_game_without_actions_does_not_fit() -> None:
    actions = parse_transactions(["c 0 1.0 1.0\n"], is_limit=False)
    board = Board(make_setup(parse_game_definition(ALL_IN_BLINDS), 2), transactions=actions).connect_all()
    assert format_failure(board.match.failure).startswith("ERROR: invalid action in transaction log: ")


def test_times_of_the_earlier_run_are_charged() -> None:
    actions = parse_transactions(["c 0 1.000000 4.000000\n"], is_limit=True)
    board = Board(make_setup(game("kuhn"), 2, limits=limits(response_s=2)), transactions=actions).connect_all()
    failure = board.match.failure
    assert failure is not None
    assert format_failure(failure) == "ERROR: seat 1 ran out of time in transaction file\n"
    assert (failure.seat, failure.kind) == (0, FaultKind.TIMEOUT)


def test_a_clock_that_went_back_costs_nothing() -> None:
    actions = parse_transactions(["c 0 4.000000 1.000000\n"], is_limit=True)
    board = Board(make_setup(game("kuhn"), 1, limits=limits(response_s=2)), transactions=actions).connect_all()
    assert board.match.phase is Phase.PLAYING
    assert board.acting_seat == 1


def test_recorded_actions_are_replayed_once_all_are_connected() -> None:
    """A match that never starts leaves the record alone."""
    board = Board(make_setup(game("kuhn"), 2), transactions=parse_transactions(["junk\n"], is_limit=True))
    board.connect(0)
    assert board.match.phase is Phase.CONNECTING


def test_fixed_seats_are_fixed_in_the_record_too() -> None:
    setup = make_setup(game("kuhn"), 6, 3, fixed_seats=True)
    players = _players("kuhn")
    whole = Board(setup).connect_all().play(players)
    resumed = Board(setup, transactions=played_transactions(whole)[:7]).connect_all().play(players)
    assert resumed.match.totals == whole.match.totals
