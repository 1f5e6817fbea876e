"""``arena train learner``, against opponents given as classes, which need no compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena

_FIELDS = ("--opponents", "bots.baseline:CallingBot", "--test-opponents", "bots.baseline:FoldingBot")
_SMALL = (*_FIELDS, "--block", "16", "--test", "8", "--chance-interval", "20")


def test_training_writes_its_page_and_continues(arena_here: Arena, tmp_path: Path) -> None:
    memory, page = tmp_path / "memory", tmp_path / "page.html"
    arguments = ("train", "learner", *_SMALL, "--memory", str(memory), "-n")
    result = arena_here(*arguments, "32", "--out", str(page))
    assert (result.code, result.err) == (0, "")
    assert "After 32 hands it remembers" in result.out
    assert f"It plays as learner?memory={memory},learn=false,chance_interval=20\n" in result.out
    assert page.read_text("utf-8").count("<svg") == 1
    again = arena_here(*arguments, "48")
    assert again.code == 0
    assert "After 48 hands it remembers" in again.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--opponents", " "], "the opponents are missing: name at least one player"),
        (["--test-opponents", "random nobody", "-n", "1000000000"], "there is no bot 'nobody'"),
        (["--opponents", "kuhn-shy"], "this bot plays Kuhn poker"),
        (["--opponents", "mfs?k=0"], "k must be above 0"),
        (["--game", "kuhn"], "hold'em"),
        (["--memory", "."], ". is a folder; --memory takes a file"),
    ],
)
def test_refusal_is_one_sentence(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = arena_here("train", "learner", *_SMALL, *arguments)
    assert result.code == 2
    assert sentence in result.sentence
    assert not list(tmp_path.iterdir())


def test_values_of_a_strategy_that_cannot_be_read_are_refused(arena_here: Arena) -> None:
    result = arena_here("train", "values", "values", "--game", "limit", "--strategy", "missing.strategy")
    assert result.code == 2
    assert result.err.startswith("arena: --strategy: missing.strategy: it cannot be read")
