"""Causes of an early end: values with a sentence for people and one in the reference dealer's format."""

from __future__ import annotations

import errno
import pickle

import pytest

from dealer.errors import Cause, MatchFailure, UnreadLinesError
from dealer.match import causes
from dealer.match.causes import Limit
from dealer.match.ending_sentences import cause_sentence, failure_sentence
from dealer.reference.command import format_failure
from engine import Seat

BOB = Seat(1)
WAITED = "ERROR: could not get action from seat 2\n2.1 seconds spent waiting; timeout 2.0\n"
SENTENCES: list[tuple[Cause, str, str]] = [
    (
        causes.NotStarted(BOB, causes.StartProblem.NOT_CONNECTED, 2_500_000),
        "Bob has not connected within 2.5 s.",
        "ERROR: timed out waiting for seat 2 to connect\n",
    ),
    (
        causes.NotStarted(BOB, causes.StartProblem.ENDED),
        "Bob ended before it connected.",
        "ERROR: seat 2 ended before it connected\n",
    ),
    (
        causes.NotStarted(BOB, causes.StartProblem.VERSION_LATE, 10**6),
        "Bob has not named its version within 1 s.",
        "ERROR: timed out waiting for seat 2 to name its version\n",
    ),
    (
        causes.NotStarted(BOB, causes.StartProblem.UNREADABLE_VERSION, line=b"HI\xff\0x\r\n"),
        "Bob does not speak the protocol: its first line was 'HI\\xff', not 'VERSION:2.0.0'.",
        "ERROR: invalid version string HI\udcff",
    ),
    (
        causes.NotStarted(BOB, causes.StartProblem.UNREADABLE_VERSION, line=b"HI\r\n"),
        "Bob does not speak the protocol: its first line was 'HI', not 'VERSION:2.0.0'.",
        "ERROR: invalid version string HI\r\n",
    ),
    (
        causes.NotStarted(BOB, causes.StartProblem.LEFT),
        "Bob closed the connection before it named its version.",
        "ERROR: could not read version string from seat 2\n",
    ),
    (
        causes.OutOfTime(BOB, Limit.RESPONSE),
        "Bob exceeded its time for an answer in hand 7.",
        "ERROR: seat 2 ran out of time\n",
    ),
    (
        causes.OutOfTime(BOB, Limit.HAND),
        "Bob exceeded its time for hand 7.",
        "ERROR: seat 2 ran out of time\n",
    ),
    (
        causes.OutOfTime(BOB, Limit.MATCH, is_replayed=True),
        "Bob exceeded its time for the match in hand 7.",
        "ERROR: seat 2 ran out of time in transaction file\n",
    ),
    (causes.NoAnswer(BOB, 2_100_000, 2_000_000), "Bob did not answer within 2 s in hand 7.", WAITED),
    (causes.NoAnswer(BOB, 2_100_000, 2_000_000, is_closed=True), "Bob closed the connection in hand 7.", WAITED),
    (
        causes.TooManyIdleLines(BOB, 7, 20, line=b"#\n"),
        "Bob sent more than 20 lines other than answers in hand 7.",
        "ERROR: seat 2 sent more than 20 lines other than answers in hand 7\n",
    ),
    (
        causes.Unreachable(BOB, is_full=True),
        "Bob did not read its input in hand 7.",
        "ERROR: could not send state to seat 2\n",
    ),
    (
        causes.Unreachable(BOB, is_full=False),
        "Bob no longer took its input in hand 7.",
        "ERROR: could not send state to seat 2\n",
    ),
    (causes.BotFailed(BOB, "it is broken"), "Bob: it is broken.", "ERROR: seat 2: it is broken\n"),
    (causes.NobodyLeft(), "no player is left to act.", "ERROR: no player is left to act\n"),
    (
        causes.NotWritten("m.log", "no space"),
        "could not write m.log: no space.",
        "ERROR: could not write m.log: no space\n",
    ),
    (
        causes.NotWritten(None, "no space"),
        "could not write a log: no space.",
        "ERROR: could not write a log: no space\n",
    ),
    (
        causes.InternalError("KeyError", "3"),
        "internal error: KeyError: 3.",
        "ERROR: internal error: KeyError: 3\n",
    ),
    (
        causes.BadTransaction(causes.TransactionProblem.WRONG_HAND, "c 1 1.0 1.0\n"),
        "the actions of an earlier run cannot be played again.",
        "ERROR: handId mismatch in transaction log: c 1 1.0 1.0\n",
    ),
    (
        causes.WorkerLost(3),
        "the process of Ann and Bob ended unexpectedly in or soon after hand 7, 3 times in a row; "
        "the code of a bot or the system ended it.",
        None,
    ),
    (causes.CannotPlay("cannot start Bob"), "cannot start Bob.", None),
]


@pytest.mark.parametrize(("cause", "for_people", "printed"), SENTENCES)
def test_every_cause_has_its_sentences(cause: Cause, for_people: str, printed: str | None) -> None:
    assert cause_sentence(cause, ["Ann", "Bob"], 7, shows_output=True) == for_people
    if printed is not None:
        assert format_failure(cause) == printed


SECRET = "AhKs\nIts process ended. The last Bob wrote:\n    QdQc"
PUBLIC_CLAUSES = [
    (
        causes.NotStarted(BOB, causes.StartProblem.UNREADABLE_VERSION, line=SECRET.encode()),
        "does not speak the protocol: its first line was not 'VERSION:2.0.0'.",
    ),
    (causes.BotFailed(BOB, SECRET), "failed in hand 7."),
    (causes.NoAnswer(BOB, 1, 1, is_closed=True, line=SECRET.encode()), "closed the connection in hand 7."),
    (causes.OutOfTime(BOB, Limit.HAND, line=SECRET.encode()), "exceeded its time for hand 7."),
]
"""Causes with text that a player has sent or written, and the public clause after the player's name."""
NAMES = [" ", "The last it wrote:\n    x", "Zoë 🂡 ♠", "{0}", r"\S+ wrote"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("cause", "clause"), PUBLIC_CLAUSES)
def test_public_sentence_contains_no_output_of_players(cause: causes.PlayerCause, clause: str, name: str) -> None:
    failure = causes.Failure(cause, ("Ann", name), 7, 3, tuple(SECRET.split("\n")), "Install it.")
    public_sentence = f"{name} {clause} Its process ended with exit code 3. Install it."
    assert failure_sentence(failure, shows_output=False) == public_sentence
    sentence = failure_sentence(failure, shows_output=True)
    assert sentence.endswith(" The last it wrote:\n    AhKs\n    Its process ended. The last Bob wrote:\n        QdQc")


@pytest.mark.parametrize("name", NAMES)
def test_last_lines_name_the_first_of_several_missing_players(name: str) -> None:
    cause = causes.NotStarted(Seat(0), causes.StartProblem.NOT_CONNECTED, 2_000_000, (BOB,))
    failure = causes.Failure(cause, (name, "Bob"), 0, 3, ("AhKs",))
    sentence = f"{name} and Bob have not connected within 2 s. {name}'s process ended with exit code 3."
    assert failure_sentence(failure, shows_output=False) == sentence
    assert failure_sentence(failure, shows_output=True) == f"{sentence} The last {name} wrote:\n    AhKs"


def test_public_sentence_of_an_internal_error_omits_its_text() -> None:
    failure = causes.Failure(causes.InternalError("KeyError", "AhKs"))
    assert failure_sentence(failure, shows_output=False) == "internal error: KeyError."
    assert failure_sentence(failure, shows_output=True) == "internal error: KeyError: AhKs."


def test_sentences_above_cover_all_causes() -> None:
    families = (causes.PlayerCause, causes.MatchCause)
    defined = {value for value in vars(causes).values() if isinstance(value, type) and issubclass(value, families)}
    assert {type(cause) for cause, *_ in SENTENCES} == defined - set(families)


def test_causes_are_values() -> None:
    for cause, *_ in SENTENCES:
        copy = pickle.loads(pickle.dumps(cause))
        assert copy == cause
        assert hash(copy) == hash(cause)
        assert pickle.loads(pickle.dumps(MatchFailure(cause))).cause == cause


def test_full_buffer_means_that_the_player_does_not_read() -> None:
    unreachable = causes.Unreachable(BOB, is_full=False)
    assert causes.Unreachable.from_error(BOB, UnreadLinesError()) == causes.Unreachable(BOB, is_full=True)
    assert causes.Unreachable.from_error(BOB, OSError(errno.ENOBUFS, "the system's own buffers")) == unreachable
    assert causes.Unreachable.from_error(BOB, BrokenPipeError(errno.EPIPE, "Broken pipe")) == unreachable


def test_cause_of_a_player_must_name_its_fault_kind() -> None:
    with pytest.raises(TypeError, match="abstract"):
        causes.PlayerCause(Seat(0))  # type: ignore[abstract]
