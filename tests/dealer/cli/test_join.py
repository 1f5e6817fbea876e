"""Refusals of `arena join`; `tests/dealer/joining` tests the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["here", "calling"], "'here' is not the address of a server, such as http://127.0.0.1:8080 or 127.0.0.1:8080"),
        (["127.0.0.1:70000", "calling"], "'127.0.0.1:70000' is not the address of a server"),
        (
            ["127.0.0.1:1", "calling"],
            "a token is needed, which the server's owner issues; set --token, --token-file or",
        ),
        (["127.0.0.1:1", "calling", "--token", "a b c"], "the token is one word, or NAME:TOKEN"),
        (["127.0.0.1:1", "calling", "--token", "a\n"], "cannot connect to http://127.0.0.1:1: "),
        (["127.0.0.1:1", "calling", "--token", "t", "--token-file", "f"], "--token and --token-file contradict"),
        (["127.0.0.1:1", "calling", "--token-file", "nowhere"], "--token-file: cannot read nowhere: No such file"),
        (["127.0.0.1:1", "calling", "--token", "t", "--ca", "f"], "--ca: certificates are used only with https://"),
        (["127.0.0.1:1", "calling", "--token", "t", "-n", "5"], "--deals needs an opponent; name one with --challenge"),
        (["127.0.0.1:1", "calling", "--token", "t", "--stop", "ci=3"], "--stop needs an opponent"),
        (["127.0.0.1:1", "calling", "--token", "t", "--challenge", "mfs", "--stop", "x"], "--stop: "),
        (["127.0.0.1:1", "calling", "--token", "t", "--games", ","], "--games: name at least one game, or 'all'"),
        (["127.0.0.1:1", "tcp", "--token", "t"], "'tcp' names no bot that this command could start"),
        (["127.0.0.1:1", "calling", "--token", "t", "--out", "o"], "cannot connect to http://127.0.0.1:1: "),
    ],
)
def test_refusal_leaves_nothing_behind(
    arena_here: Arena, words: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "")
    result = arena_here("join", *words)
    assert result.code == 2
    assert problem in result.sentence
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_existing_folder_stays(arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("o", "runs"):
        Path(folder).mkdir()
    for out in (["--out", "o"], []):
        assert arena_here("join", "127.0.0.1:1", "calling", "--token", "t", *out).code == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["o", "runs"]
