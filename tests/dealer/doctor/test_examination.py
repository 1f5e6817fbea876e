"""Examinations: connections, situations and early ends."""

from __future__ import annotations

import asyncio
from xml.etree import ElementTree

import pytest

from dealer.doctor.dialogue import Dialogue
from dealer.doctor.examination import MAX_SILENCES, MAX_WITHOUT_ANSWER, Exit
from dealer.doctor.findings import Examination, SituationState, junit_of
from dealer.doctor.judge import Kind, Severity
from dealer.doctor.situations import SITUATIONS, Situation
from dealer.match.causes import StartProblem
from engine import BettingState
from tests.dealer.doctor.local_host import EmptyHost, LocalHost, examine, examine_host
from tests.dealer.doctor.peers import (
    FAULTS,
    SECRET,
    CrashesOnTheRiver,
    EndsWithError,
    KnowsNoComments,
    Lingers,
    Peer,
    Stalls,
)
from tests.dealer.helpers import game

LIMIT = game("limit")
ALONE = [situation.name for situation in SITUATIONS if situation.needs_connection]


def run(host: LocalHost, *names: str, comes_again: bool = False) -> Examination:
    return examine_host(host, LIMIT, *names, reconnect=comes_again)


def states(examination: Examination) -> dict[str, SituationState]:
    return {outcome.name: outcome.result for outcome in examination.rows}


def test_good_bot_is_started_again_only_for_situations_that_need_it() -> None:
    host = LocalHost(Peer, LIMIT)
    run(host)
    assert len(host.visits) == 1 + len(ALONE)
    assert all(visit.closed for visit in host.visits)


def test_crash_ends_its_situation_only() -> None:
    host = LocalHost(CrashesOnTheRiver, LIMIT)
    outcomes = states(run(host, "check-down", "folds", "bets", "end-of-match"))
    assert outcomes["check-down"] is SituationState.FAULTS
    assert outcomes["folds"] is SituationState.OK
    assert outcomes["bets"] is SituationState.FAULTS
    assert outcomes["end-of-match"] is SituationState.NOT_TRIED
    assert len(host.visits) == 2


def test_client_connects_once() -> None:
    host = LocalHost(Peer, LIMIT, can_start=False)
    examination = run(host)
    assert len(host.visits) == 1
    assert {name for name, state in states(examination).items() if state is SituationState.NOT_TRIED} == set(ALONE)
    assert all(
        "--reconnect" in outcome.reason for outcome in examination.rows if outcome.result is SituationState.NOT_TRIED
    )


def test_client_that_reconnects_meets_every_situation() -> None:
    host = LocalHost(Peer, LIMIT, can_start=False)
    examination = run(host, comes_again=True)
    assert len(host.visits) == 1 + len(ALONE)
    assert SituationState.NOT_TRIED not in states(examination).values()


def test_client_that_disconnects_ends_the_examination() -> None:
    host = LocalHost(CrashesOnTheRiver, LIMIT, can_start=False)
    examination = run(host, "check-down", "folds")
    assert len(host.visits) == 1
    assert states(examination) == {"check-down": SituationState.FAULTS, "folds": SituationState.NOT_TRIED}


def test_only_connection_of_a_client_serves_the_chosen_situation() -> None:
    host = LocalHost(Peer, LIMIT, can_start=False)
    assert states(run(host, "resumed-match")) == {"resumed-match": SituationState.OK}
    host = LocalHost(Peer, LIMIT, can_start=False)
    assert states(run(host, "end-of-match", "empty-match"))["end-of-match"] is SituationState.OK


def test_examination_ends_after_some_silences() -> None:
    host = LocalHost(Stalls, LIMIT)
    examination = run(host)
    (group,) = examination.findings
    assert group.count == MAX_SILENCES
    assert len(host.visits) == MAX_SILENCES
    last = examination.rows[-1]
    assert (last.result, last.reason) == (SituationState.NOT_TRIED, "the bot left 3 questions unanswered")


def test_examination_ends_after_connections_without_answers() -> None:
    host = LocalHost(FAULTS["lines without end"].make, LIMIT)
    examination = run(host)
    assert len(host.visits) == MAX_WITHOUT_ANSWER
    assert examination.rows[-1].reason == "the bot gave no answer in 3 connections"


def test_examination_ends_without_a_version() -> None:
    host = LocalHost(FAULTS["no version line"].make, LIMIT)
    examination = run(host)
    assert len(host.visits) == 1
    assert states(examination)["handshake"] is SituationState.FAULTS
    assert examination.rows[1].reason == "the bot sent no version"


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ((None, ()), "did not connect within 30 s"),
        ((3, ("boom",)), "ended with exit code 3 without connecting"),
        ((-9, ()), "ended with signal 9 (SIGKILL) without connecting"),
        ((-4000, ()), "ended with signal 4000 without connecting"),
    ],
)
def test_missing_connection_is_reported_with_its_cause(ending: Exit, words: str) -> None:
    examination = examine_host(EmptyHost(ending), LIMIT)
    (group,) = examination.findings
    assert group.kind is Kind.NO_CONNECTION
    assert words in group.wrong
    assert group.output == ending[1]
    assert examination.report(bot="x", game="limit").sentence.startswith(
        "1 error found before the first hand of limit. 16 situations not tried: the bot did not connect."
    )


def test_crash_at_a_comment_is_a_warning() -> None:
    (group,) = examine(KnowsNoComments, LIMIT).findings
    assert (group.kind, group.severity) == (Kind.CRASHED, Severity.WARNING)
    assert group.output == (SECRET,)


def test_endingcode_after_a_broken_match_is_a_note() -> None:
    examination = run(LocalHost(EndsWithError, LIMIT), "cut-off", "empty-match")
    (group,) = examination.findings
    assert (group.severity, group.count) == (Severity.NOTE, 2)
    assert "before the end of the match" in group.wrong
    (group,) = run(LocalHost(EndsWithError, LIMIT), "bets").findings
    assert group.severity is Severity.WARNING


def test_lingering_is_reported_for_ends_of_matches_only() -> None:
    (group,) = examine(Lingers, LIMIT).findings
    assert group.situations == ("end-of-match", "empty-match", "cut-off")
    assert group.hand is None
    assert group.state == ""


def test_finding_has_the_hand_in_which_it_occurred() -> None:
    groups = {group.kind: group for group in examine(FAULTS["counts hands itself"].make, LIMIT).findings}
    first = groups[Kind.ECHO_CHANGED]
    assert first.hand == 999_998
    assert first.state.startswith("MATCHSTATE:0:999998:")
    assert "read the hand number from the states" in first.advice


def test_interrupt_keeps_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Dialogue) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(Dialogue, "_act", interrupt)
    host = LocalHost(FAULTS["LF alone"].make, LIMIT)
    examination = run(host)
    assert examination.is_interrupted
    assert host.visits[0].closed
    assert [group.kind for group in examination.findings] == [Kind.LINE_END]
    assert states(examination)["check-down"] is SituationState.INTERRUPTED
    assert states(examination)["folds"] is SituationState.NOT_TRIED
    report = examination.report(bot="x", game="limit")
    assert report.result == "interrupted"
    assert "The examination was interrupted." in report.sentence


def test_every_situation_is_an_event() -> None:
    events: list[object] = []
    host = LocalHost(Peer, LIMIT)
    examine_host(host, LIMIT, "bets", "end-of-match", "cut-off", on_event=events.append)
    names = [event.name for event in events if isinstance(event, Situation)]
    assert names == [
        "handshake",
        "bets",
        "end-of-match",
        "handshake",
        "cut-off",
    ]


def test_cards_and_opponents_follow_from_the_seed() -> None:
    def sent(seed: int) -> bytes:
        host = LocalHost(Peer, LIMIT)
        examine_host(host, LIMIT, "mixed", seed=seed)
        return b"".join(segment for visit in host.visits for segment in visit.sent)

    assert sent(1) == sent(1)
    assert sent(1) != sent(2)


def test_advice_without_a_connection_depends_on_the_start() -> None:
    def advice(player: str) -> str:
        host = EmptyHost((None, ()))
        host.can_start = player != "tcp"
        examination = examine_host(host, LIMIT)
        (group,) = examination.findings
        return group.advice

    assert "ARENA_GAME and PYTHONUNBUFFERED=1 in its environment" in advice("./bot")
    assert advice("tcp") == "Start the client with the host and port of the doctor, while the doctor waits."


def test_clients_without_a_version_are_reported() -> None:
    host = EmptyHost((None, ()), StartProblem.UNREADABLE_VERSION)
    examination = examine_host(host, LIMIT)
    (group,) = examination.findings
    assert group.kind is Kind.NO_VERSION
    assert group.wrong == "no client sent a version line within 30 s"


def test_advice_of_an_opening_is_for_its_hand_only() -> None:
    # The second hand of `long-line` begins with a line of some 20 bytes.

    def advice_in(hand: int) -> str:
        class Fails(Peer):
            def reply(self, text: bytes, action: bytes, betting: BettingState) -> bytes:
                return b"what?\r\n" if b":%d:" % hand in text else super().reply(text, action, betting)

        examination = run(LocalHost(Fails, LIMIT), "long-line")
        return " ".join(group.advice for group in examination.findings)

    assert "make room for 4095 bytes" in advice_in(7)
    assert "make room for 4095 bytes" not in advice_in(8)


def test_junit_report_counts_failures_and_skips() -> None:
    examination = run(LocalHost(FAULTS["LF alone"].make, LIMIT), "handshake", "check-down", "side-pots", "bets")
    report = examination.report(bot="./x", game="limit")

    def counts(*, is_strict: bool) -> tuple[str | None, ...]:
        root = ElementTree.fromstring(junit_of(report, is_strict=is_strict))
        assert root[0].get("name") == "doctor: ./x, limit"
        assert [case.get("name") for case in root.iter("testcase")] == [row.name for row in report.situations]
        return tuple(root.get(key) for key in ("tests", "failures", "skipped"))

    assert counts(is_strict=False) == ("4", "0", "1")
    failures = str(sum(row.result is SituationState.FAULTS for row in report.situations))
    assert counts(is_strict=True) == ("4", failures, "1")
    assert failures != "0"
