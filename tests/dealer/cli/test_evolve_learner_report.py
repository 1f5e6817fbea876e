"""``arena evolve learner-report``: what is too small is refused before anything is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--hands", "10"], "hands must be 64 or more, not 10"),
        (["--seeds", "1"], "seeds must be 5 or more, not 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    ran = arena_here("evolve", "learner-report", str(tmp_path), *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"arena: {sentence}\n")


def test_a_page_that_is_there_is_kept(arena_here: Arena, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", "utf-8")
    ran = arena_here("evolve", "learner-report", str(tmp_path / "report"), "--out", str(page))
    assert ran.code == 2
    assert "exists already" in ran.err
    assert page.read_text("utf-8") == "mine"


def test_a_folder_of_other_settings_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "experiments.jsonl").write_text('{"hands": 5}\n', "utf-8")
    ran = arena_here("evolve", "learner-report", str(tmp_path), "--hands", "64")
    assert (ran.code, ran.out) == (2, "")
    assert "experiments.jsonl: it was made with hands 5, " in ran.err
    assert "take another folder" in ran.err
