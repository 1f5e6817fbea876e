"""What clients that bring bots say and are told, and the streams of seats over connections that break."""

from __future__ import annotations

import contextlib
import random
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import LocalProtocolError, RemoteProtocolError
from protocol.benchmark import BenchmarkSession, Login, NotUnderstood
from protocol.joining import (
    Again,
    Challenge,
    GiveUp,
    Join,
    JoiningRequest,
    Refused,
    RunOver,
    SeatClaim,
    SeatOffer,
    SeatOver,
    ServerMessage,
    ShowGame,
    format_message,
    is_claim,
    read_claim,
    read_request,
    read_server_message,
)

_LETTERS = st.characters(exclude_categories=("C", "Z"))
_WORDS = st.text(_LETTERS, min_size=1, max_size=30)
_RESTS = st.text(st.one_of(_LETTERS, st.just(" ")), max_size=60).map(str.strip)
_VALUES = {
    "str": _WORDS,
    "str | None": st.none() | _WORDS,
    "int": st.integers(1, 2**53),
    "int | None": st.none() | st.integers(1, 2**53),
    "bool": st.booleans(),
    "float | None": st.none() | st.integers(-(10**9), 10**9).map(lambda number: number / 1000),
    "tuple[str, ...]": st.lists(_WORDS, min_size=1, max_size=4).map(tuple),
    "tuple[int, ...]": st.lists(st.integers(0, 2**53), max_size=4).map(tuple),
}


def _messages(kind: type) -> st.SearchStrategy[Any]:
    """Any message of a kind."""
    strategies = {
        about.name: _RESTS if about.name in ("reason", "rate", "line") else _VALUES[str(about.type)]
        for about in fields(kind)
    }
    return st.builds(kind, **strategies)


REQUESTS = [*get_args(JoiningRequest), SeatClaim]


@given(st.one_of(*map(_messages, REQUESTS)), st.randoms(use_true_random=False))
def test_what_is_said_is_what_was_meant(message: JoiningRequest | SeatClaim, chance: random.Random) -> None:
    line = format_message(message)
    assert line.count("\n") == 1
    if isinstance(message, SeatClaim):
        assert is_claim(line)
        assert read_claim(line) == message
        return
    assert read_request(line) == message
    if isinstance(message, GiveUp):
        return
    # Fields come in any order, with any blanks, and the word in any case; only those of one name keep theirs.
    verb, *words = line.split()
    named = {word.partition("=")[0]: word for word in words}
    if len(named) == len(words):
        chance.shuffle(words)
    assert read_request(f"{verb.lower()} \t{'  '.join(words)} \r") == message


@given(st.one_of(*map(_messages, get_args(ServerMessage))))
def test_what_is_told_is_a_remark_and_is_understood(message: ServerMessage) -> None:
    line = format_message(message)
    assert line.startswith("# ")
    assert line.count("\n") == 1
    assert read_server_message(line) == message


@given(st.binary(max_size=80))
def test_no_line_breaks_a_reader(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for verb in (
        "JOIN ",
        "CHALLENGE ",
        "AGAIN seat=",
        "GIVEUP seat=1 reason=",
        "GAME game=",
        "SEAT secret=",
        "# SEAT ",
    ):
        for read in (read_request, read_server_message, read_claim):
            with contextlib.suppress(RemoteProtocolError):
                read(verb + text)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("JOIN", "JOIN needs bot="),
        ("JOIN bot=a", "JOIN needs session="),
        ("JOIN mine", "JOIN has no mine; it has bot=, session=, version=, at-once=, ladder=, game="),
        ("JOIN bot=a bot=b session=s", "JOIN: bot=b: it is there twice"),
        ("JOIN bot= session=s", "JOIN: bot=: it is empty"),
        ("JOIN bot=a session=s at-once=0", "JOIN: at-once=0: it must be at least 1"),
        ("JOIN bot=a session=s at-once=two", "JOIN: at-once=two: it is not a whole number"),
        ("JOIN bot=a session=s at-once=9999999999999999999", "JOIN: at-once=9999999999999999999: it is not a whole"),
        ("JOIN bot=a session=s ladder=1", "JOIN: ladder=1: it is neither yes nor no"),
        ("JOIN bot=\x1b[2J session=s", "JOIN: bot=?[2J: it has a character that cannot be printed"),
        ("join bot=a\udcff session=s", "JOIN: bot=a?: it has a character that cannot be printed"),
        ("CHALLENGE tag=t game=g", "CHALLENGE needs player="),
        ("AGAIN seat=-1", "AGAIN: seat=-1: it must be at least 0"),
        ("AGAIN seat=\u0661", "AGAIN: seat=\u0661: it is not a whole number"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(line: str, problem: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_request(line)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("line", ["JOINT bot=a", " JOIN bot=a session=s", "", "HELP", "SEAT secret=x", "# JOIN bot=a"])
def test_other_lines_are_no_requests(line: str) -> None:
    assert read_request(line) is None


@pytest.mark.parametrize(
    "line", ["# RUNNING a.b", "# SEAT taken", "#SEAT seat=1 secret=s", "UNKNOWN", "# ENDED in tears"]
)
def test_other_remarks_are_left_alone(line: str) -> None:
    assert read_server_message(line) is None


def test_what_is_no_word_is_not_said() -> None:
    for name in ("", "two words", "line\nend", "\x1b[2J"):
        with pytest.raises(LocalProtocolError, match="is not a word"):
            format_message(Join(name, "s"))


def test_reasons_cannot_end_a_line() -> None:
    assert format_message(SeatOver(1, " one\ntwo\x1b ")) == "# OVER seat=1 reason=one?two?\n"


def test_terms_that_are_left_to_the_server_are_not_sent() -> None:
    words = "CHALLENGE tag=t game=g player=a"
    assert format_message(Challenge("t", "g", ("a",))) == f"{words}\n"
    assert format_message(Challenge("t", "g", ("a",), seating="single", deals=5)) == f"{words} deals=5 seating=single\n"
    assert read_request(words) == Challenge("t", "g", ("a",))


def test_the_examples_of_the_protocol() -> None:
    assert read_request("CHALLENGE tag=t game=g player=a player=b deals=5 stop=ci=30") == Challenge(
        "t", "g", ("a", "b"), deals=5, stop="ci=30"
    )
    assert read_request("again seat=7") == Again(7)
    assert read_request("GAME game=leduc") == ShowGame("leduc")
    assert read_server_message("# SEAT seat=5 secret=x game=g match=a.b player=p") == SeatOffer(5, "x", "g", "a.b", "p")
    assert format_message(RunOver("a.b", 1, 2, "finished", "p", 3, -4.0, 0.5, "all done")) == (
        "# ENDED match=a.b run=1 runs=2 state=finished player=p hands=3 mbb=-4.000 half-width=0.500 reason=all done\n"
    )


# ---- in a session


def session_after(*pieces: bytes) -> tuple[BenchmarkSession, list[object]]:
    session = BenchmarkSession()
    found: list[object] = []
    for piece in pieces:
        session.receive_data(piece)
        while (event := session.next_event()) is not None:
            found.append(event)
            if isinstance(event, Login):
                session.admit()
    return session, found


def test_a_claim_takes_the_place_of_a_login_and_hands_the_bytes_on() -> None:
    line = b"SEAT secret=x received=3\n"
    for cut in range(len(line) + 1):
        session, found = session_after(line[:cut], line[cut:] + b"VERSION:2.0.0\r\nMATCH")
        assert found == [SeatClaim("x", 3)]
        assert session.take_rest() == b"VERSION:2.0.0\r\nMATCH"
        assert session.take_rest() == b""
        session.receive_data(b"STATE\n")
        assert session.next_event() is None, "what comes later is not read as commands"
        assert session.take_rest() == b"STATE\n"


def test_a_user_may_be_called_seat() -> None:
    assert session_after(b"SEAT secret\n")[1] == [Login("SEAT", "secret")]
    assert session_after(b"SEAT secret=x received=-1\n")[1] == [Login("", "")]


def test_requests_stand_among_the_commands() -> None:
    _, found = session_after(b"ann pw\nAGAIN seat=1\nAGAIN\nagainst\n")
    assert found[1:] == [Again(1), Refused("AGAIN", None, "AGAIN needs seat="), NotUnderstood()]
