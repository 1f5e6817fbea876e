"""Judgement of single lines of a bot: roles, and problems with their bytes."""

from __future__ import annotations

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.doctor.judge import (
    Judge,
    Judgement,
    Kind,
    LineRole,
    SentState,
    Severity,
    judge_version,
    split_end,
)
from engine import CALL, FOLD, ActionKind, raise_to
from protocol import BadAction, BadState, Comment, DealerSession, Reply, StaleReply, UnknownAction
from protocol.match_state import betting_after
from protocol.session import VERSION_LINE
from tests.dealer.helpers import ROOT, game

GAME = game("nolimit")


def sent_state(text: bytes, *, asks: bool = False) -> SentState:
    return SentState(text, 0, "there", betting_after(GAME, text.split(b":")[3].decode()), asks)


FIRST = sent_state(b"MATCHSTATE:1:7::|9hQd", asks=True)
OTHERS = sent_state(b"MATCHSTATE:1:7:r300:|9hQd")
ASKED = sent_state(b"MATCHSTATE:1:7:r300c/c:|9hQd/8dAsJc", asks=True)
OVER = sent_state(b"MATCHSTATE:0:6:f:KhKd|")
SIZE = len(ASKED.text)
SENT = {state.text: state for state in (OVER, FIRST, OTHERS, ASKED)}


def judge(
    line: bytes,
    asked: SentState | None = ASKED,
    *,
    latest: SentState | None = ASKED,
    sent: dict[bytes, SentState] = SENT,
) -> Judgement:
    line_judge = Judge(GAME)
    line_judge.sent = sent
    line_judge.latest = latest
    line_judge.asked = asked
    return line_judge.judge(line)


def kinds(judgement: Judgement) -> list[tuple[Kind, int]]:
    return [(problem.kind, problem.byte) for problem in judgement.problems]


@pytest.mark.parametrize(("action", "played"), [(b"c", CALL), (b"r750", raise_to(750))])
def test_good_answer_has_no_problem(action: bytes, played: object) -> None:
    judgement = judge(ASKED.text + b":" + action + b"\r\n")
    assert judgement == (LineRole.ANSWER, (), ASKED, played)


@pytest.mark.parametrize("line", [b"# a comment\r\n", b"; one\n", b"#\r\n", b"#", b"# with a NUL \0\r\n"])
def test_comment_is_no_problem(line: bytes) -> None:
    assert judge(line)[:2] == (LineRole.OTHER, ())


@pytest.mark.parametrize(
    ("line", "role", "kind", "byte"),
    [
        # line endings
        (ASKED.text + b":c\n", LineRole.ANSWER, Kind.LINE_END, SIZE + 3),
        (ASKED.text + b":c\r", LineRole.ANSWER, Kind.LINE_UNFINISHED, SIZE + 4),
        (ASKED.text + b":c", LineRole.ANSWER, Kind.LINE_UNFINISHED, SIZE + 3),
        # after the echo
        (ASKED.text + b"\r\n", LineRole.ANSWER, Kind.ACTION_MISSING, SIZE + 1),
        (ASKED.text + b":\r\n", LineRole.ANSWER, Kind.ACTION_MISSING, SIZE + 2),
        (ASKED.text + b" :c\r\n", LineRole.ANSWER, Kind.ACTION_MISSING, SIZE + 1),
        (ASKED.text + b"\r:c\r\n", LineRole.ANSWER, Kind.ECHO_CR, SIZE + 1),
        # echo
        (ASKED.text.replace(b"9hQd", b"9HQD") + b":c\r\n", LineRole.ANSWER, Kind.ECHO_REWRITTEN, 26),
        (ASKED.text.replace(b":7:", b":07:") + b":c\r\n", LineRole.ANSWER, Kind.ECHO_REWRITTEN, 14),
        (ASKED.text.replace(b"c/c:", b"cc:") + b":c\r\n", LineRole.ANSWER, Kind.ECHO_REWRITTEN, 21),
        (ASKED.text.replace(b"9hQd", b"9hQs") + b":c\r\n", LineRole.ATTEMPT, Kind.ECHO_CHANGED, 28),
        (ASKED.text.replace(b":1:7", b":0:7") + b":c\r\n", LineRole.ATTEMPT, Kind.ECHO_CHANGED, 12),
        (ASKED.text.replace(b"c/c:", b"c/cc:") + b":c\r\n", LineRole.ATTEMPT, Kind.ECHO_CHANGED, 23),
        (ASKED.text.lower() + b":c\r\n", LineRole.ATTEMPT, Kind.ECHO_CHANGED, 1),
        (b" " + ASKED.text + b":c\r\n", LineRole.ATTEMPT, Kind.ECHO_CHANGED, 1),
        (ASKED.text[:20] + b":c\r\n", LineRole.FRAGMENT, Kind.ECHO_CUT, 21),
        (ASKED.text[5:] + b":c\r\n", LineRole.FRAGMENT, Kind.ECHO_CUT, 1),
        (ASKED.text[:19] + b"\r\n", LineRole.FRAGMENT, Kind.ECHO_CUT, 20),
        (b"M:c\r\n", LineRole.FRAGMENT, Kind.ECHO_CUT, 2),
        (b"c\r\n", LineRole.ATTEMPT, Kind.ECHO_MISSING, 1),
        (b"Raise 400\r\n", LineRole.ATTEMPT, Kind.ECHO_MISSING, 1),
        (b":c\r\n", LineRole.OTHER, Kind.ECHO_MISSING, 1),
        # other lines
        (b"\r\n", LineRole.OTHER, Kind.EMPTY_LINE, 1),
        (b"thinking\r\n", LineRole.OTHER, Kind.JUNK, 1),
        (b"\0" + ASKED.text + b":c\r\n", LineRole.ATTEMPT, Kind.NUL_BYTE, 1),
        (ASKED.text + b":\0c\r\n", LineRole.ATTEMPT, Kind.NUL_BYTE, SIZE + 2),
        (ASKED.text + b":c\0\r\n", LineRole.ANSWER, Kind.ACTION_TAIL, SIZE + 3),
        (b"x\0\n", LineRole.OTHER, Kind.NUL_BYTE, 2),
        (b"x" * 4095, LineRole.OTHER, Kind.LINE_TOO_LONG, 4095),
        # other states
        (FIRST.text + b":c\r\n", LineRole.REPEAT, None, 0),
        (FIRST.text + b"\r\n", LineRole.REPEAT, None, 0),
        (OTHERS.text + b":c\r\n", LineRole.OTHER, Kind.UNASKED, len(OTHERS.text) + 1),
        (OVER.text + b":c\r\n", LineRole.OTHER, Kind.UNASKED_FINAL, len(OVER.text) + 1),
    ],
)
def test_single_mistake_is_reported_with_its_byte(line: bytes, role: LineRole, kind: Kind | None, byte: int) -> None:
    judgement = judge(line)
    assert judgement.role is role
    assert kinds(judgement) == ([(kind, byte)] if kind is not None else [])


def test_two_mistakes_are_both_reported() -> None:
    assert kinds(judge(ASKED.text + b":C\n")) == [(Kind.ACTION_LETTER, SIZE + 2), (Kind.LINE_END, SIZE + 3)]


def test_mistakes_after_a_rewritten_echo_are_reported() -> None:
    echo = ASKED.text.replace(b"9hQd", b"9HQD")
    assert kinds(judge(echo + b"c\r\n")) == [(Kind.ECHO_REWRITTEN, 26), (Kind.ACTION_MISSING, SIZE + 1)]
    assert kinds(judge(echo + b"\r:r750\r\n")) == [(Kind.ECHO_REWRITTEN, 26), (Kind.ECHO_CR, SIZE + 1)]
    assert kinds(judge(echo + b":r399\r\n")) == [(Kind.ECHO_REWRITTEN, 26), (Kind.SIZE_TOO_SMALL, SIZE + 3)]


def test_intended_action_is_played_despite_a_wrong_echo() -> None:
    wrong_echo = ASKED.text.replace(b"9hQd", b"9hQs")
    assert judge(wrong_echo + b":r750\r\n").action == raise_to(750)
    assert judge(wrong_echo + b":r5\r\n").action == CALL
    assert judge(wrong_echo + b":f\r\n").action == CALL
    assert judge(b"r750\r\n").action == raise_to(750)
    assert judge(b"fold\r\n", OTHERS, latest=OTHERS, sent={}).action == FOLD


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b"MATCHSTATX:1:7:r300c/c:|9hQd/8dAsJc:c\r\n", "differs from the state in the header, 'X' in place of 'E'"),
        (b"MATCHSTATE:1:7:r300c/c:9hQd|/8dAsJc:c\r\n", "differs from the state in the cards, '9' in place of '|'"),
        (b"MATCHSTATE:1:7:r300c/c\r\n", "only the first 22 came back"),
        (b"MATCHSTATE\r\n", "only the first 10 came back"),
        (b"MATCHSTATE:1:8:\r\n", "differs from the state in the hand number, '8' in place of '7'"),
    ],
)
def test_first_difference_is_named(line: bytes, part: str) -> None:
    assert part in judge(line).problems[0].wrong


def test_late_answer_to_an_abandoned_state_is_no_problem() -> None:
    late = sent_state(b"MATCHSTATE:1:6::|9hQd", asks=True)
    late.is_given_up = True
    judgement = judge(late.text + b":c\r\n", sent={late.text: late, ASKED.text: ASKED})
    assert judgement[:3] == (LineRole.OTHER, (), late)


def test_lines_without_a_question_are_judged() -> None:
    assert kinds(judge(b"bye\r\n", None)) == [(Kind.JUNK, 1)]
    assert kinds(judge(b"c\r\n", None)) == [(Kind.ECHO_MISSING, 1)]
    assert kinds(judge(ASKED.text[:9] + b":c\r\n", None)) == [(Kind.ECHO_CUT, 10)]
    assert kinds(judge(OTHERS.text + b":c\r\n", None)) == [(Kind.UNASKED, len(OTHERS.text) + 1)]
    assert judge(FIRST.text + b":c\r\n", None).role is LineRole.REPEAT
    assert judge(b"bye\r\n", None).problems[0].expected == "nothing, because no answer is due"
    assert judge(b"bye\r\n", None, latest=None, sent={}).about is None


# ---- any bytes

MUTATIONS = st.one_of(
    st.binary(max_size=60),
    st.tuples(st.integers(0, 40), st.integers(0, 3), st.binary(max_size=3)).map(
        lambda cut: (ASKED.text + b":r750")[: cut[0]] + cut[2] + (ASKED.text + b":r750")[cut[0] + cut[1] :]
    ),
    st.sampled_from(list(SENT)).flatmap(lambda text: st.binary(max_size=8).map(lambda tail: text + b":" + tail)),
)


@given(MUTATIONS, st.sampled_from([b"\r\n", b"\n"]))
def test_judgement_equals_the_dealers(body: bytes, end: bytes) -> None:
    """The doctor accepts the same lines as answers as the dealer, and plays the same actions for them."""
    line = body.replace(b"\n", b"") + end
    session = DealerSession(GAME)
    session.receive_data(VERSION_LINE)
    session.next_event()
    session.send(ASKED.text + b"\r\n", is_question=True)
    session.receive_data(line)
    event = session.next_event()
    judgement = judge(line)
    if b"\0" in line and judgement.role is not LineRole.ANSWER:
        assert isinstance(event, Comment) or judgement.problems[0].kind is Kind.NUL_BYTE
    elif judgement.role is LineRole.ANSWER:
        assert isinstance(event, Reply | BadAction | UnknownAction)
        if all(problem.kind.severity is not Severity.ERROR for problem in judgement.problems):
            assert isinstance(event, Reply)
            assert event.action == judgement.action
        if isinstance(event, Reply):
            legal = ASKED.betting.legal_actions()
            if event.action.kind is ActionKind.RAISE:
                size = min(max(event.action.hand_total, legal.raise_min), legal.raise_max)
                assert judgement.action == raise_to(size)
            else:
                assert judgement.action == (CALL if event.action == FOLD else event.action)
        else:
            assert judgement.action == CALL
            assert judgement.problems
    else:
        assert isinstance(event, Comment | StaleReply | BadState)
    for problem in judgement.problems:
        assert 1 <= problem.byte <= len(line) + 1
        assert problem.kind in (Kind.LINE_END,) or problem.byte <= len(split_end(line)[0]) + 1


@given(st.binary(max_size=80), st.sampled_from([None, FIRST, ASKED]))
def test_any_bytes_are_judged(line: bytes, asked: SentState | None) -> None:
    judge(line, asked)
    judge_version(line, GAME)


# ---- version lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"VERSION:2.0.0\r\n", []),
        (b"VERSION:2.0.0\n", [(Kind.LINE_END, 14)]),
        (b"VERSION:2.0.0", [(Kind.LINE_UNFINISHED, 14)]),
        (b"VERSION:2.0.0\r", [(Kind.LINE_UNFINISHED, 15)]),
        (b"VERSION: 2.0.0\r\n", [(Kind.VERSION_TEXT, 9)]),
        (b"VERSION:2.0.0 x\n", [(Kind.LINE_END, 16), (Kind.VERSION_TEXT, 14)]),
        (b"VERSION:3.0.0\r\n", [(Kind.VERSION_NUMBER, 9)]),
        (b"VERSION:2.1.0\r\n", [(Kind.VERSION_NUMBER, 11)]),
        (b"VERSION:2\r\n", [(Kind.NO_VERSION, 10)]),
        (b"version:2.0.0\r\n", [(Kind.NO_VERSION, 1)]),
        (b"\r\n", [(Kind.NO_VERSION, 1)]),
        (b"# hi\r\n", [(Kind.NO_VERSION, 1)]),
        (b"VERSION 2.0.0\r\n", [(Kind.NO_VERSION, 8)]),
    ],
)
def test_problems_of_a_version_line_are_reported_with_their_bytes(
    line: bytes, expected: list[tuple[Kind, int]]
) -> None:
    assert [(problem.kind, problem.byte) for problem in judge_version(line, GAME)] == expected


# ---- page of findings

DATA = tomllib.loads((ROOT / "docs" / "findings.toml").read_text("utf-8"))


def test_page_has_every_finding() -> None:
    assert list(DATA["findings"]) == [kind.value for kind in Kind]
    assert DATA["state"].encode() == ASKED.text


@pytest.mark.parametrize("name", [name for name, finding in DATA["findings"].items() if "wrong" in finding])
def test_examples_of_the_page_have_their_finding_or_none(name: str) -> None:
    finding = DATA["findings"][name]
    wrong, right = (
        re.sub("(?<!MATCH)STATE", DATA["state"], text).encode().decode("unicode_escape").encode()
        for text in (finding["wrong"], finding.get("right", r"STATE:c\r\n"))
    )
    if right.startswith(b"VERSION"):
        assert name in [problem.kind.value for problem in judge_version(wrong, GAME)]
        assert judge_version(right, GAME) == ()
    else:
        assert name in [kind.value for kind, _ in kinds(judge(wrong))]
        assert kinds(judge(right)) == []
