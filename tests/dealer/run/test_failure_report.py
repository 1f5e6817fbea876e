"""Causes of failures in JSON."""

from __future__ import annotations

import itertools

import pytest
from pydantic import ValidationError

from dealer.match.causes import BotFailed, Failure, NoAnswer, NotStarted, NotWritten, StartProblem
from dealer.run.results import FailureReport, public_sentence
from engine import Seat
from tests.dealer.match.test_causes import NAMES, SENTENCES

BOB = Seat(1)


def test_every_cause_survives_a_round_trip() -> None:
    for (cause, *_), lines in itertools.product(SENTENCES, (None, (), ("AhKs", "QdQc"))):
        failure = Failure(cause, ("Ann", "Bob"), 7, -9, lines, "Install it.")
        report = FailureReport.of(failure)
        assert FailureReport.model_validate_json(report.model_dump_json()) == report
        assert report.failure() == failure


@pytest.mark.parametrize("name", NAMES)
def test_name_that_looks_like_a_sentence_does_not_change_the_report(name: str) -> None:
    failure = Failure(NoAnswer(BOB, 1, 1, is_closed=True), ("Ann", name), 7, 3, ("AhKs",))
    report = FailureReport.model_validate_json(FailureReport.of(failure).model_dump_json())
    sentence = f"{name} closed the connection in hand 7. Its process ended with exit code 3."
    assert public_sentence(report) == report.sentence(shows_output=False) == sentence
    assert report.sentence(shows_output=True) == f"{sentence} The last it wrote:\n    AhKs"


def test_bytes_that_are_no_text_are_kept() -> None:
    failure = Failure(NotStarted(BOB, StartProblem.UNREADABLE_VERSION, line=bytes(range(256))), ("Ann", "Bob"))
    report = FailureReport.model_validate_json(FailureReport.of(failure).model_dump_json())
    cause = report.failure().cause
    assert isinstance(cause, NotStarted)
    assert cause.line == bytes(range(200))
    written = Failure(NotWritten("log\udcff", "no space"))
    assert FailureReport.of(written).model_dump_json().count("log\ufffd") == 1
    failed = Failure(BotFailed(BOB, "\udcff"), ("Ann", "B\udcff"), 0, 1, ("\udcff",))
    assert FailureReport.of(failed).model_dump_json().count("\ufffd") == 3


@pytest.mark.parametrize(
    "change", [{"cause": "Failure"}, {"cause": "Nothing"}, {"seat": None}, {"facts": {}}, {"facts": {"waited_us": "x"}}]
)
def test_report_without_a_valid_cause_is_refused(change: dict[str, object]) -> None:
    report = FailureReport.of(Failure(NoAnswer(BOB, 1, 1), ("Ann", "Bob"))).model_dump()
    with pytest.raises(ValidationError):
        FailureReport.model_validate(report | change)


def test_public_sentence_without_a_report_is_general() -> None:
    assert public_sentence(None) == "a player or an error ended it."
