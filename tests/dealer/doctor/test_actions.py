"""Actions in replies: the action that a dealer plays, and the problems with their bytes."""

from __future__ import annotations

import pytest

from dealer.doctor.judge import Kind, describe_legal, judge_action
from engine import CALL, FOLD, RAISE, Action, BettingState, raise_to
from protocol.match_state import betting_after
from tests.dealer.helpers import game

START = 50
"""Offset of the action in its line."""


def limit(betting: str = "c") -> BettingState:
    return betting_after(game("limit"), betting)


def no_limit(betting: str = "cr300") -> BettingState:
    return betting_after(game("nolimit"), betting)


@pytest.mark.parametrize(
    ("tail", "betting", "played"),
    [
        (b"c", limit(), CALL),
        (b"r", limit(), RAISE),
        (b"f", limit(""), FOLD),
        (b"c", no_limit(), CALL),
        (b"f", no_limit(), FOLD),
        (b"r500", no_limit(), raise_to(500)),
        (b"r20000", no_limit(), raise_to(20000)),
        (b"c", no_limit("r20000"), CALL),
    ],
)
def test_legal_action_in_the_format_of_the_protocol_has_no_problem(
    tail: bytes, betting: BettingState, played: Action
) -> None:
    assert judge_action(tail, START, betting) == (played, ())


@pytest.mark.parametrize(
    ("tail", "betting", "kind", "offset", "played"),
    [
        (b"", limit(), Kind.ACTION_MISSING, 0, CALL),
        (b" c", limit(), Kind.ACTION_UNKNOWN, 0, CALL),
        (b"x", limit(), Kind.ACTION_UNKNOWN, 0, CALL),
        (b"C", limit(), Kind.ACTION_LETTER, 0, CALL),
        (b"k", limit(), Kind.ACTION_LETTER, 0, CALL),
        (b"b", limit(), Kind.ACTION_LETTER, 0, RAISE),
        (b"call", limit(), Kind.ACTION_TAIL, 1, CALL),
        (b"c ", limit(), Kind.ACTION_TAIL, 1, CALL),
        (b"r20", limit(), Kind.LIMIT_SIZE, 1, RAISE),
        (b"raise", limit(), Kind.ACTION_TAIL, 1, RAISE),
        (b"f", limit(), Kind.FOLD_REFUSED, 0, CALL),
        (b"r", limit("crrr"), Kind.RAISE_REFUSED, 0, CALL),
        (b"r", no_limit(), Kind.SIZE_MISSING, 1, CALL),
        (b"raise", no_limit(), Kind.SIZE_MISSING, 1, CALL),
        (b"r500.0", no_limit(), Kind.SIZE_UNUSUAL, 4, raise_to(500)),
        (b"r500.5", no_limit(), Kind.SIZE_UNREADABLE, 4, raise_to(500)),
        (b"r500 ", no_limit(), Kind.ACTION_TAIL, 4, raise_to(500)),
        (b"r500 chips", no_limit(), Kind.ACTION_TAIL, 4, raise_to(500)),
        (b"r500 000", no_limit(), Kind.SIZE_UNREADABLE, 4, raise_to(500)),
        (b"r500,000", no_limit(), Kind.SIZE_UNREADABLE, 4, raise_to(500)),
        (b"r0500", no_limit(), Kind.SIZE_UNUSUAL, 1, raise_to(500)),
        (b"r+500", no_limit(), Kind.SIZE_UNUSUAL, 1, raise_to(500)),
        (b"r 500", no_limit(), Kind.SIZE_UNUSUAL, 1, raise_to(500)),
        (b"r499", no_limit(), Kind.SIZE_TOO_SMALL, 1, raise_to(500)),
        (b"r20001", no_limit(), Kind.SIZE_TOO_LARGE, 1, raise_to(20000)),
        (b"r20000", no_limit("r20000"), Kind.RAISE_REFUSED, 0, CALL),
        (b"f", no_limit("cc/"), Kind.FOLD_REFUSED, 0, CALL),
    ],
)
def test_single_mistake_is_reported_with_its_byte(
    tail: bytes, betting: BettingState, kind: Kind, offset: int, played: Action
) -> None:
    action, problems = judge_action(tail, START, betting)
    assert [(problem.kind, problem.byte) for problem in problems] == [(kind, START + offset)]
    assert action == played
    assert problems[0].expected == describe_legal(betting)


@pytest.mark.parametrize(
    ("tail", "kinds", "played"),
    [
        (b"R499", [Kind.ACTION_LETTER, Kind.SIZE_TOO_SMALL], raise_to(500)),
        (b"r3e2", [Kind.SIZE_UNREADABLE, Kind.SIZE_TOO_SMALL], raise_to(500)),
        (b"r-500", [Kind.SIZE_UNREADABLE, Kind.SIZE_TOO_SMALL], raise_to(500)),
        (b"r99999999999", [Kind.SIZE_UNREADABLE, Kind.SIZE_TOO_LARGE], raise_to(20000)),
        (b"r4294967396", [Kind.SIZE_UNREADABLE, Kind.SIZE_TOO_SMALL], raise_to(500)),
        (b"r0500.00 ", [Kind.SIZE_UNUSUAL, Kind.ACTION_TAIL], raise_to(500)),
    ],
)
def test_several_mistakes_are_all_reported(tail: bytes, kinds: list[Kind], played: Action) -> None:
    action, problems = judge_action(tail, START, no_limit())
    assert [problem.kind for problem in problems] == kinds
    assert action == played


@pytest.mark.parametrize(
    ("betting", "words"),
    [
        (limit(), "c or r"),
        (limit("crrr"), "f or c"),
        (no_limit("cc/"), "c, or r with a size from 200 to 20000 (the total for the hand)"),
        (no_limit(), "f, c, or r with a size from 500 to 20000 (the total for the hand)"),
        (no_limit("r11000"), "f, c or r20000"),
    ],
)
def test_legal_actions_are_described_in_words(betting: BettingState, words: str) -> None:
    assert describe_legal(betting) == words


def test_advice_for_a_small_size_names_probable_totals() -> None:
    # On the flop, with 300 from before it and a bet of 400 to call, the minimum is 300 + 800.
    (problem,) = judge_action(b"r800", START, no_limit("r300c/r700"))[1]
    assert problem.wrong == "the size 800 is below the smallest legal one; a dealer plays r1100"
    assert problem.advice.endswith(
        "Here that is r1500 if 800 was meant on top of the bet to call, "
        "or r1100 if 800 was meant as the total for this round."
    )


def test_advice_names_no_total_if_none_is_probable() -> None:
    (problem,) = judge_action(b"r1", START, no_limit("r300c/r700"))[1]
    assert "Here that is" not in problem.advice


def test_long_action_is_quoted_in_part() -> None:
    (problem,) = judge_action(b"c" * 3000, START, limit())[1]
    assert len(problem.wrong) < 150
