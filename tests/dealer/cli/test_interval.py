"""Option ``--interval guaranteed`` of commands that print win rates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dealer.reports.guaranteed import NOTE
from tests.dealer.cli.conftest import Arena

_PLAY = ("play", "kuhn", "random", "calling", "-n", "120", "--seed", "3", "--in-process", "--quiet", "--out", "run")


@pytest.fixture
def run(arena_here: Arena, tmp_path: Path) -> Path:
    arena_here(*_PLAY)
    return tmp_path / "run"


@pytest.mark.parametrize("command", ["show", "stats", "luck"])
def test_guaranteed_intervals_replace_the_usual_ones(arena_here: Arena, run: Path, command: str) -> None:
    usual = arena_here(command, "run")
    guaranteed = arena_here(command, "run", "--interval", "guaranteed")
    assert NOTE not in usual.out + usual.err
    assert NOTE in guaranteed.err.replace("\n", " ")
    assert guaranteed.out != usual.out
    assert (
        arena_here(command, "run", "--interval", "guaranteed", "--json").out == arena_here(command, "run", "--json").out
    )


def test_report_has_guaranteed_intervals(arena_here: Arena, run: Path) -> None:
    arena_here("report", "run", "--interval", "guaranteed", "--out", "page.html")
    assert NOTE in Path("page.html").read_text("utf-8")


def test_play_prints_guaranteed_intervals_and_stores_both(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here(*_PLAY, "--interval", "guaranteed")
    assert "(95 %, guaranteed)" in completed.out
    result = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))
    assert result["interval"] == "fixed"
    won = result["players"][0]["won"]["raw"]
    assert won["half_width_95"] < won["guaranteed_half_width"]
