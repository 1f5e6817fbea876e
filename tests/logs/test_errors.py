"""Texts of problems and errors."""

from __future__ import annotations

import pickle

import pytest

from logs import errors
from logs.errors import (
    DamagedLogError,
    ExportError,
    LogError,
    LogProblem,
    LogsError,
    NoSuchHandError,
    ProblemKind,
    UnknownGameError,
    UnsupportedGameError,
)


@pytest.mark.parametrize(
    ("column", "kind", "sentence"),
    [
        (12, ProblemKind.SKIPPED, "x.log, line 7, byte 12: 'Xx' is not a card (skipped)"),
        (None, ProblemKind.NOTED, "x.log, line 7: 'Xx' is not a card (read all the same)"),
        (
            None,
            ProblemKind.HALF_WRITTEN,
            "x.log, line 7: 'Xx' is not a card (left out, as is normal when a match was stopped while writing)",
        ),
        (
            None,
            ProblemKind.UNFINISHED,
            "x.log, line 7: 'Xx' is not a card (left out, because the file ends within the hand)",
        ),
    ],
)
def test_a_problem_says_where_what_and_what_was_done(column: int | None, kind: ProblemKind, sentence: str) -> None:
    assert str(LogProblem("x.log", 7, column, "'Xx' is not a card", kind)) == sentence


PROBLEM = LogProblem("x.log", 7, 12, "bad", ProblemKind.SKIPPED)


@pytest.mark.parametrize(
    "error",
    [
        LogError("x.log", "not a log"),
        UnknownGameError("x.log", "no game"),
        DamagedLogError(PROBLEM),
        NoSuchHandError("m1", 7),
        UnsupportedGameError("PHH", "PHH does not have it"),
        ExportError("x.txt"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_problems_and_errors_travel_between_processes(error: LogsError) -> None:
    assert pickle.loads(pickle.dumps(PROBLEM)) == PROBLEM
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_the_docstring_draws_the_tree() -> None:
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, LogsError):
            assert error.__name__ in (errors.__doc__ or "")
