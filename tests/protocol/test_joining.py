"""Messages of clients that bring bots, and streams that survive broken connections."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import RemoteProtocolError
from protocol.joining import (
    MAX_KEPT_TEXTS,
    Challenge,
    ContestTerms,
    Join,
    JoiningRequest,
    LadderWait,
    RunOver,
    SeatStream,
    SeatText,
    ServerMessage,
    encode,
    read_request,
    read_server_message,
)

_TAG = "[A-Za-z0-9_.-]{1,64}"
_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
_COUNTS = st.integers(1, 10_000)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "_Word": _TEXTS,
    "str": _TEXTS,
    "str | None": st.none() | _TEXTS,
    "_Word | None": st.none() | _TEXTS,
    "int": _COUNTS,
    "bool": st.booleans(),
    "LadderWait": st.sampled_from(LadderWait),
    "float | None": st.none() | st.integers(-(10**9), 10**9).map(lambda number: number / 1000),
    "_Words": st.lists(_TEXTS, max_size=4).map(tuple),
    "Mapping[int, _Count]": st.dictionaries(_COUNTS, _COUNTS, max_size=3),
    "Mapping[int, int]": st.dictionaries(_COUNTS, _COUNTS, max_size=3),
    "Mapping[str, str]": st.dictionaries(_TEXTS, _TEXTS, max_size=3),
    "Annotated[int, Field(ge=1, le=10000)]": _COUNTS,
    "Annotated[int, Field(ge=0)]": _COUNTS,
    "Annotated[int, Field(ge=1)] | None": st.none() | _COUNTS,
    "Annotated[str, Field(pattern='^[A-Za-z0-9_.-]{1,64}$')]": st.from_regex(_TAG, fullmatch=True),
    "Annotated[str, Field(min_length=1)]": _TEXTS.filter(bool),
}


_VALUES["ContestTerms"] = st.builds(
    ContestTerms, **{field.name: _VALUES[str(field.type)] for field in fields(ContestTerms)}
)


def _messages(kind: type) -> st.SearchStrategy[Any]:
    """Draw any message of a kind."""
    return st.builds(kind, **{field.name: _VALUES[str(field.type)] for field in fields(kind) if field.name != "type"})


def _kinds(union: Any) -> tuple[type, ...]:
    return get_args(get_args(union)[0])


@given(st.one_of(*map(_messages, _kinds(JoiningRequest))))
def test_a_request_is_read_as_it_was_written(message: JoiningRequest) -> None:
    assert read_request(encode(message)) == message
    assert read_request(encode(message).decode()) == message


@given(st.one_of(*map(_messages, _kinds(ServerMessage))))
def test_a_message_of_the_server_is_read_as_it_was_written(message: ServerMessage) -> None:
    assert read_server_message(encode(message)) == message


@given(
    st.binary(max_size=80) | st.recursive(st.none() | st.integers() | _TEXTS, st.lists, max_leaves=5).map(json.dumps)
)
def test_no_message_breaks_a_reader(text: bytes | str) -> None:
    for read in (read_request, read_server_message):
        with contextlib.suppress(RemoteProtocolError):
            read(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "Invalid JSON: EOF while parsing an object"),
        ("[]", "Input should be an object"),
        ('{"bot": "a"}', "Unable to extract tag using discriminator 'type'"),
        ('{"type": "JOIN"}', "Input tag 'JOIN' found using 'type' does not match any of the expected tags: 'join'"),
        ('{"type": "j\\u001b[2J"}', "Input tag 'j?[2J' found"),
        ('{"type": "join", "bot": "a", "session": "s", "at_once": 0}', "join.at_once: Input should be greater than or"),
        (
            '{"type": "join", "bot": "a", "session": "s", "seats": {"x": 1}}',
            "join.seats.x.[key]: Input should be a val",
        ),
        ('{"type": "challenge", "tag": "a/b", "game": "g", "players": []}', "challenge.tag: String should match patt"),
        ('{"type": "text", "seat": 1, "text": ""}', "text.text: String should have at least 1 character"),
    ],
)
def test_problem_of_a_request_is_reported(text: str, problem: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_request(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("terms", {"deals": 5}, "challenge.terms: Unexpected keyword argument"),
        ("deal", 5, "challenge.deal: Unexpected keyword argument"),
    ],
)
def test_the_problem_of_a_challenge_is_that_of_its_terms(name: str, value: object, problem: str) -> None:
    text = json.dumps({"type": "challenge", "tag": "t", "game": "g", "players": ["a"], name: value})
    with pytest.raises(RemoteProtocolError) as caught:
        read_request(text)
    assert str(caught.value) == problem


def test_examples_of_messages() -> None:
    text = '{"type": "challenge", "tag": "t", "game": "g", "players": ["a", "b"], "deals": 5, "stop": "ci=30"}'
    assert read_request(text) == Challenge("t", "g", ("a", "b"), terms=ContestTerms(deals=5, stop="ci=30"))
    joined = '{"type": "join", "bot": "mine", "session": "s", "seats": {"5": 3}}'
    assert read_request(joined) == Join("mine", "s", seats={5: 3})
    assert json.loads(encode(SeatText(5, "\xe9\r\n"))) == {"type": "text", "seat": 5, "text": "\xe9\r\n"}
    assert json.loads(encode(RunOver("a.b", 1, 2, "failed", reason="it ended"))) == {
        "type": "run_over",
        "match": "a.b",
        "run": 1,
        "runs": 2,
        "state": "failed",
        "hands": 0,
        "reason": "it ended",
    }


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=5), st.integers(0, 3)), max_size=40))
def test_stream_survives_broken_connections(steps: list[tuple[bool, str, int]]) -> None:
    sender, receiver = SeatStream(), SeatStream()
    sent: list[str] = []
    arrived: list[str] = []
    under_way: tuple[str, ...] = ()
    for is_break, text, takes in steps:
        sender.send(text)
        sent.append(text)
        under_way += (text,)
        taken, under_way = under_way[:takes], under_way[takes:]
        arrived += taken
        receiver.received += len(taken)
        if is_break:
            under_way = sender.texts_after(receiver.received)
    assert [*arrived, *sender.texts_after(receiver.received)] == sent


def test_stream_buffer_is_bounded() -> None:
    stream = SeatStream()
    sent = [str(number) for number in range(MAX_KEPT_TEXTS + 10)]
    for text in sent:
        stream.send(text)
    assert stream.texts_after(len(sent)) == ()
    assert stream.texts_after(10) == tuple(sent[10:])
    for received in (9, len(sent) + 1, -1):
        with pytest.raises(RemoteProtocolError, match=f"^{received} texts were received, but {len(sent)} were"):
            stream.texts_after(received)
