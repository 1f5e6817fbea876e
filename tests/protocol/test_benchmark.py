"""Text protocol of a benchmark server: bytes in, events out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.benchmark import (
    BenchmarkEvent,
    BenchmarkSession,
    ClientCommand,
    Login,
    Malformed,
    RequestRuns,
    Verb,
    games_text,
    queue_line,
    remark,
    run_text,
)
from protocol.errors import LocalProtocolError


def events(*pieces: bytes, eof: bool = False) -> list[BenchmarkEvent]:
    """Return the events of an admitted client that sends these pieces."""
    session = BenchmarkSession()
    collected = []

    def collect() -> None:
        while (event := session.next_event()) is not None:
            collected.append(event)
            if isinstance(event, Login):
                session.admit()

    for piece in pieces:
        session.receive_data(piece)
        collect()
    if eof:
        session.receive_eof()
        collect()
    return collected


def command(line: bytes) -> BenchmarkEvent:
    _, event = events(b"ann secret\n" + line + b"\n")
    return event


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"HELP", ClientCommand(Verb.HELP)),
        (b"hElPme please", ClientCommand(Verb.HELP)),
        (b"HELP\0ignored", ClientCommand(Verb.HELP)),
        (b"GAMES x y", ClientCommand(Verb.GAMES)),
        (b"QSTATUS", ClientCommand(Verb.QUEUE)),
        (b" HELP", ClientCommand(Verb.UNKNOWN)),
        (b"", ClientCommand(Verb.UNKNOWN)),
        (b"quit", ClientCommand(Verb.QUIT)),
        (b"quit now", ClientCommand(Verb.UNKNOWN)),
        (b"CANCEL mine", ClientCommand(Verb.CANCEL, "mine")),
        (b"RESULT", ClientCommand(Verb.RESULT)),
        (b"result mine", ClientCommand(Verb.RESULT, "mine")),
        (b"LOG mine", ClientCommand(Verb.LOG, "mine")),
        (b"LOG mine 2", ClientCommand(Verb.LOG, "mine", 2)),
        (b"LOG mine -2", ClientCommand(Verb.UNKNOWN)),
        (b"LOG mine \xb2", ClientCommand(Verb.UNKNOWN)),
    ],
)
def test_commands_are_parsed(line: bytes, expected: BenchmarkEvent) -> None:
    assert command(line) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (b" g 2 t 7 a b", RequestRuns("g", 2, "t", 7, ("a", "b"))),
        (b" g\t2  t 7 a b c\r", RequestRuns("g", 2, "t", 7, ("a", "b", "c"))),
        (b" g 01 t 7", RequestRuns("g", 1, "t", 7, ())),
        (b" g 4294967297 t 4294967296", RequestRuns("g", 1, "t", 0, ())),
        (b" g 1 t 99999999999999999999", RequestRuns("g", 1, "t", 4294967295, ())),
        (b" g 1 \xc3\xbc 5", RequestRuns("g", 1, "ü", 5, ())),
    ],
)
def test_requests_for_runs(arguments: bytes, expected: RequestRuns) -> None:
    assert command(b"RUNMATCHES" + arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        b"",
        b" g 1 t",
        b" g x t 1",
        b" g -1 t 1",
        b" g 2147483648 t 1",
        b" g 1 t x",
        b" g 1 a/b 1",
        b" g 1 a\x1b[2J 1",
        b" g 1 \xe2\x80\xae 1",
    ],
)
def test_malformed_requests_are_reported(arguments: bytes) -> None:
    assert isinstance(command(b"RUNMATCHES" + arguments), Malformed)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"ann secret", Login("ann", "secret")),
        (b"  ann\tsecret extra words\r", Login("ann", "secret")),
        (b"ann", Login("", "")),
        (b"", Login("", "")),
        (b"\xff p", Login("\udcff", "p")),
        (b"ann secret games", Login("ann", "secret", ClientCommand(Verb.GAMES))),
        (
            b"ann secret run 2pl ./match.pl 3 tg 7 local alpha",
            Login("ann", "secret", RequestRuns("2pl", 3, "tg", 7, ("LOCAL", "alpha"))),
        ),
        (
            b"ann secret rerun 2pl ./match.pl 4 tg 7 alpha local",
            Login("ann", "secret", RequestRuns("2pl", 1, "tg", 7, ("alpha", "LOCAL"), 4)),
        ),
        (b"ann secret run 2pl", Login("ann", "secret", Malformed("too few words after 'run'"))),
    ],
)
def test_logins_are_parsed(line: bytes, expected: Login) -> None:
    assert events(line + b"\n") == [expected]


def test_nothing_is_read_before_the_login_has_been_looked_at() -> None:
    session = BenchmarkSession()
    with pytest.raises(LocalProtocolError, match="no user has logged in"):
        session.admit()
    session.receive_data(b"ann secret\nHELP\nGAMES\n")
    assert session.next_event() == Login("ann", "secret")
    assert session.next_event() is None
    session.admit()
    assert [session.next_event(), session.next_event(), session.next_event()] == [
        ClientCommand(Verb.HELP),
        ClientCommand(Verb.GAMES),
        None,
    ]


def test_a_line_ends_at_its_bound_and_the_last_one_with_the_connection() -> None:
    long = b"Q" * 4095
    assert events(b"ann secret\n", long + b"HELP\n") == [
        Login("ann", "secret"),
        ClientCommand(Verb.UNKNOWN),
        ClientCommand(Verb.HELP),
    ]
    assert events(b"ann secret\nHELP", eof=True) == [Login("ann", "secret"), ClientCommand(Verb.HELP)]
    assert events(b"ann secret", eof=True) == [Login("ann", "secret")]


CONVERSATION = b"ann secret\nHELP\nRUNMATCHES g 2 t 7 a b\r\n\nfoo\nLOG t 1\nQSTAT\n"


@given(st.lists(st.integers(0, len(CONVERSATION)), max_size=8))
def test_cuts_of_the_stream_change_no_events(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(CONVERSATION)]
    pieces = [CONVERSATION[start:end] for start, end in pairwise(ends)]
    assert events(*pieces) == events(CONVERSATION)


@given(st.binary(max_size=300))
def test_any_bytes_are_events(data: bytes) -> None:
    events(b"ann secret\n", data, eof=True)
    events(data, eof=True)


def test_answers_are_lines() -> None:
    assert games_text([("limit", ["alpha", "beta"]), ("kuhn", ["k1"])]) == "\nkuhn\n k1\n\nlimit\n beta\n alpha\n"
    assert queue_line("ann", "mine", "limit", 1, is_running=True) == "ann mine limit * 1 R\n"
    assert queue_line("ann", "mine", "limit", 2, is_running=False) == "ann mine limit * 2 Q\n"
    assert run_text("ann.mine", "127.0.0.1", 54557) == "# RUNNING ann.mine\nRUN 127.0.0.1 54557\n"
    assert remark("two\nRUN 1 2\x1b") == "# two?RUN 1 2?\n"
