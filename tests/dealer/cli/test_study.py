"""``arena study``: what cannot be is refused before anything is played; the report of Kuhn poker is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.studies.kuhn_runs import ExperimentResults, experiments
from tests.bots.studies.test_kuhn import as_expected
from tests.dealer.cli.conftest import Arena


@pytest.fixture
def found() -> ExperimentResults:
    return {one.name: [as_expected(one, seed) for seed in range(1, one.seeds(40) + 1)] for one in experiments()}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--hands", "10"], "hands must be 64 or more, not 10"),
        (["--seeds", "1"], "seeds must be 5 or more, not 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(arena_here: Arena, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    ran = arena_here("study", "learner", str(tmp_path), *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"arena: {sentence}\n")


def test_a_page_that_is_there_is_kept(arena_here: Arena, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", "utf-8")
    ran = arena_here("study", "learner", str(tmp_path / "report"), "--out", str(page))
    assert ran.code == 2
    assert "exists already" in ran.err
    assert page.read_text("utf-8") == "mine"


def test_a_folder_of_other_settings_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "experiments.jsonl").write_text('{"hands": 5}\n', "utf-8")
    ran = arena_here("study", "learner", str(tmp_path), "--hands", "64")
    assert (ran.code, ran.out) == (2, "")
    assert "experiments.jsonl: it was made with hands 5, " in ran.err
    assert "take another folder" in ran.err


def test_a_study_of_kuhn_that_cannot_be(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    ran = arena_here("study", "kuhn", str(tmp_path / "runs"), "--out", str(tmp_path / "page.html"))
    assert ran.code == 2
    assert ran.err == f"arena: {tmp_path}/page.html exists already: --force overwrites it, --out takes another name\n"
    (tmp_path / "classic-shy-1.jsonl").write_text("what?\n")
    ran = arena_here("study", "kuhn", str(tmp_path), "--seeds", "2")
    assert ran.code == 2
    assert "classic-shy-1.jsonl: it holds other things than these results, or is damaged" in ran.err


def test_a_study_of_rembrant(arena_here: Arena, tmp_path: Path) -> None:
    ran = arena_here("study", "rembrant", "--out", str(tmp_path / "rembrant.html"))
    assert ran.code == 0
    assert "refuted" in ran.out
    assert "ACPC 2011" in (tmp_path / "rembrant.html").read_text("utf-8")


def test_a_study_of_lp_mc_plays_both_seats(arena_here: Arena, tmp_path: Path) -> None:
    ran = arena_here("study", "lp-mc", str(tmp_path), "--hands", "5")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "arena: --hands 5: it must be even, as every deal is played in both seats\n"


def test_a_study_of_kuhn(
    arena_here: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: ExperimentResults
) -> None:
    """With results as the runs would leave them."""
    monkeypatch.setattr("bots.studies.kuhn_runs.run_experiments", lambda *_, **__: None)
    monkeypatch.setattr("bots.studies.kuhn_runs.read_results", lambda *_: found)
    ran = arena_here("study", "kuhn", str(tmp_path / "claims"), "--out", str(tmp_path / "kuhn.html"))
    assert ran.code == 0
    assert "Kuhn poker against the models" in ran.out
    assert "reproduced only as a lucky maximum" in ran.out
    assert "<svg" in (tmp_path / "kuhn.html").read_text("utf-8")
