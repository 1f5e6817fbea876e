"""Errors of the dealer: the tree in the docstring, sentences and attributes."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from dealer import errors
from engine import Seat

SENTENCES = [
    (errors.ConfigError("hands: too many"), "hands: too many"),
    (errors.PlayerError("nobody"), "nobody"),
    (errors.CommandError("cannot write x", 2), "cannot write x"),
    (errors.UsageError("usage\n", to_stdout=True), "usage\n"),
    (errors.ResultError(Path("result.json"), "not valid JSON"), "result.json: not valid JSON"),
    (errors.FolderTakenError(Path("runs"), True), "runs is not empty"),
    (errors.FolderTakenError(folder=Path("runs"), holds_run=True), "runs is not empty"),
    (errors.FolderBusyError(Path("runs")), "the run in runs is still running in another process"),
    (errors.LaunchError("start 'bot'", "no such file"), "cannot start 'bot': no such file"),
    (
        errors.ListenError("::1", 0, Seat(1), "in use"),
        "cannot listen on ::1 port any: in use; choose another address or port",
    ),
    (errors.RecoveryError(Path("m.log"), 3, "what is this"), "m.log, line 3: what is this"),
    (errors.RemoteError("node7", "there is no folder"), "node7: there is no folder"),
]


@pytest.mark.parametrize(("error", "sentence"), SENTENCES)
def test_errors_keep_their_facts_as_attributes(error: errors.DealerError, sentence: str) -> None:
    assert str(error) == sentence
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == sentence
    assert vars(copy) == vars(error)


def test_docstring_has_the_tree_of_errors() -> None:
    tree: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ([│├└─ ]*)(\w+)", line)
        if match and match[2].endswith(("Error", "Failure")):
            tree.append((len(match[1]) // 4, match[2]))
    classes = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
    assert sorted(name for _, name in tree) == sorted(set(classes) - {"PortableError"})
    parents: dict[int, str] = {}
    for depth, name in tree:
        parents[depth] = name
        if depth:
            assert getattr(errors, name).__bases__[0] is getattr(errors, parents[depth - 1]), name
