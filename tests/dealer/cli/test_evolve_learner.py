"""``arena evolve learner``, against bots given as classes, which need no compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena

_SMALL = (
    "--opponents",
    "bots.baseline:CallingBot",
    "--hands",
    "4",
    "--test",
    "4",
    "--population",
    "5",
    "--generations",
    "4",
    "--trials",
    "5",
    "--seeds",
    "5",
)


@pytest.mark.slow
def test_search_writes_its_page(arena_here: Arena, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = arena_here("evolve", "learner", str(tmp_path / "runs"), *_SMALL, "--out", str(page))
    assert result.code == 0
    assert "over the default constants" in result.out
    assert "budget 21 learners" in result.out
    assert page.read_text("utf-8").count("<svg") == 1
    again = arena_here("evolve", "learner", str(tmp_path / "runs"), *_SMALL)
    assert again.out.strip() == result.out.replace(f"The page with all charts is {page}.\n", "").strip()
    other = arena_here("evolve", "learner", str(tmp_path / "runs"), *_SMALL, "--hands", "6")
    assert (other.code, other.out) == (2, "")
    assert "it was made with hands 4, not hands 6: take another folder" in other.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--opponents", "nobody"], "nobody"),
        (["--game", "leduc"], "hold'em"),
        (["--population", "1"], "a population needs at least 2 individuals, not 1"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    result = arena_here("evolve", "learner", str(tmp_path / "runs"), *_SMALL, *arguments)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err
    assert not (tmp_path / "runs").exists()
