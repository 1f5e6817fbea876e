"""Errors of all packages: listed in the tree of their module, one sentence each, equal after pickling."""

from __future__ import annotations

import importlib
import inspect
import pickle
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bots.sdk.registry import make_bot
from dealer.doctor.situations import find_situation
from dealer.errors import Cause, ConfigError, MatchFailure, SettingProblem
from dealer.match.causes import NotStarted, StartProblem
from dealer.match.ending_sentences import cause_sentence, stray_sentence
from dealer.match.events import StrayConnection
from dealer.match.faults import StrayProblem
from dealer.run.run_settings import validated
from dealer.table.players import parse_player
from engine import Rule, Seat, parse_cards
from engine.errors import PortableError
from logs.errors import LogProblem, ProblemKind
from logs.estimation import parse_stop_rule
from logs.export import parse_currency, parse_formats
from protocol import DealerSession, find_game

TREES = [importlib.import_module(f"{package}.errors") for package in ("engine", "protocol", "logs", "bots", "dealer")]
CLASSES = [
    value
    for tree in TREES
    for value in vars(tree).values()
    if inspect.isclass(value) and issubclass(value, Exception) and value.__module__ == tree.__name__
]

SAMPLES: dict[Any, object] = {
    str: "what is wrong",
    int: 7,
    float: 2.5,
    bool: True,
    bytes: b"MATCHSTATE",
    Path: Path("runs") / "one",
    Rule: Rule.RAISE_CAP,
    Cause: Cause(),
    LogProblem: LogProblem("x.log", 7, 12, "bad", ProblemKind.SKIPPED),
    object: "reasons",
}
"""An argument of each type that constructors of errors take."""


def sample(hint: Any) -> object:
    """Argument of this type, or of the first type of a union."""
    hint = getattr(hint, "__supertype__", hint)
    if hint in SAMPLES:
        return SAMPLES[hint]
    first = sample(typing.get_args(hint)[0])
    is_union = typing.get_origin(hint) in (typing.Union, type(int | str))
    return first if is_union else [first] * 2


def make_error(kind: type[Exception]) -> Exception:
    """Error with an argument for every parameter of its constructor."""
    own_bases = [base for base in kind.__mro__ if issubclass(base, PortableError)]
    if not any("__init__" in vars(base) for base in own_bases):
        return kind("what is wrong")
    if kind.__init__ is ConfigError.__init__:
        return kind("what is wrong", SettingProblem("hands", "too few"), source="run.toml")  # type: ignore[call-arg]
    hints = typing.get_type_hints(kind.__init__, vars(sys.modules[kind.__module__]) | {"Path": Path})
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for name, parameter in list(inspect.signature(kind.__init__).parameters.items())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY:
            kwargs[name] = sample(hints[name])
        else:
            args.append(sample(hints[name]))
    return kind(*args, **kwargs)


def test_pickled_error_equals_the_error() -> None:
    for kind in CLASSES:
        error = make_error(kind)
        error.add_note("in hand 7")
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert copy == error
        assert hash(copy) == hash(error)
        assert str(copy) == str(error)
        assert vars(copy) == vars(error)
        assert copy.args == error.args


def test_every_error_is_one_line() -> None:
    for kind in CLASSES:
        if issubclass(kind, MatchFailure):
            continue
        text = str(make_error(kind))
        assert text
        assert "\n" not in text


def test_errors_of_other_kinds_and_texts_are_unequal() -> None:
    for kind in CLASSES:
        error = make_error(kind)
        assert error != make_error(next(other for other in CLASSES if other is not kind))
        assert error != ValueError(*error.args)
        if kind.__init__ is Exception.__init__:
            assert error != kind("something else")


def test_every_error_is_in_the_tree_of_its_module() -> None:
    trees = {tree.__name__: f" {tree.__doc__} ".replace("\n", " ") for tree in TREES}
    for kind in CLASSES:
        assert f" {kind.__name__} " in trees[kind.__module__]


LONG = "x" * 4095


def _greet(line: str) -> None:
    session = DealerSession(find_game("limit")[1])
    session.receive_data(f"{line}\n".encode())
    session.next_event()


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: parse_cards(LONG),
        lambda: parse_stop_rule(LONG),
        lambda: parse_formats(LONG),
        lambda: parse_currency(LONG),
        lambda: make_bot(LONG),
        lambda: make_bot(f"random?{LONG}=1"),
        lambda: make_bot(f"random?fold={LONG}"),
        lambda: parse_player(LONG),
        lambda: parse_player(f"{LONG}=random"),
        lambda: validated({"deals": LONG}),
        lambda: validated({"deals": [LONG]}),
        lambda: validated({"on_fault": LONG}),
        lambda: validated({"ports": LONG}),
        lambda: validated({LONG: 1}),
        lambda: find_situation(LONG),
        lambda: _greet(LONG),
    ],
)
def test_long_input_is_quoted_in_part(refuse: Callable[[], object]) -> None:
    with pytest.raises(Exception, match="xxx") as refused:
        refuse()
    assert LONG[:401] not in str(refused.value)


def test_long_line_of_a_player_is_quoted_in_part() -> None:
    cause = NotStarted(Seat(0), StartProblem.UNREADABLE_VERSION, line=LONG.encode())
    stray = StrayConnection(Seat(0), "10.0.0.1", StrayProblem.NO_VERSION, LONG.encode())
    for sentence in (cause_sentence(cause, ["a", "b"], 0, shows_output=True), stray_sentence(stray, "a")):
        assert "xxx..." in sentence
        assert LONG[:121] not in sentence
