"""``arena benchmark``: play, output, resume and refusals."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bots.cfr import value_terms
from bots.cfr.bot import SHIPPED, VALUES_SUFFIX
from bots.sdk.registry import make_bot
from dealer.cli.shell import benchmark_estimates
from dealer.reports import benchmark_data
from dealer.reports.benchmark_data import BenchmarkData
from tests.dealer.cli.conftest import Arena
from tests.scripts import script

REFERENCE = script("docs/reference.py")


@pytest.fixture
def quick_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play against `calling`, which is fast and reports its policy, without values of a strategy."""
    monkeypatch.setattr(benchmark_data, "OPPONENT", "calling")
    monkeypatch.setattr(benchmark_estimates, "_opponent_of", lambda game: (make_bot("calling"), "none"))
    monkeypatch.setattr(value_terms, "value_terms", lambda game, policies: None)


@pytest.mark.usefixtures("quick_opponent")
def test_benchmark_is_printed_kept_and_shown_again(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here("benchmark", "Mine=folding", "-n", "20", "--in-process", "--out", "run", "--json")
    assert (completed.code, completed.err) == (0, "")
    Draft202012Validator(REFERENCE.schemas()["benchmark"]).validate(json.loads(completed.out))
    data = BenchmarkData.model_validate_json(completed.out)
    assert json.loads((tmp_path / "run" / "benchmark.json").read_text("utf-8")) == json.loads(completed.out)
    assert [player.name for player in data.result.players] == ["Mine", "calling"]
    assert (data.is_standard, data.settings["seed"], data.result.seed) == (False, 20261, 20261)
    assert data.command == "arena benchmark Mine=folding --game nolimit --deals 20 --seed 20261"
    assert data.rate is not None
    assert (data.rate.known, data.rate.hands) == (["calling"], 40)
    # Folding loses the small blind, or half the time nothing more than the big blind.
    assert [part.hands for part in data.positions] == [20, 20]
    assert data.positions[1].raw.mean == -500
    assert sum(part.raw.mean for part in data.streets) == pytest.approx(data.result.rate().mean)
    again = arena_here("benchmark", "run")
    assert (again.code, again.err) == (0, "")
    for words in ("By AIVAT, ", "Where the money goes", "duplicate", "preflop", "with other deals, seed 20261"):
        assert words in again.out
    refusal = arena_here("benchmark", "run", "-n", "30")
    assert refusal.sentence == "run holds a benchmark with its settings; leave out all options of a new one"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "MYBOT is missing; see 'arena benchmark -h'"),
        (["calling", "--game", "kuhn"], "--game: 'kuhn' is not one of 'nolimit', 'limit'"),
        (["cfr?exploit=0.3", "--game", "limit"],
         "cfr_exploit_0.3 learns while it plays, so that it has no win rate; leave out its learning"),
        (["calling", "-n", "0"], "--deals: must be at least 1, not 0"),
    ],
)  # fmt: skip
def test_refusal_is_one_sentence(arena_here: Arena, arguments: list[str], sentence: str) -> None:
    completed = arena_here("benchmark", *arguments)
    assert (completed.code, completed.sentence) == (2, sentence)


def test_player_is_refused_before_a_folder_is_made(arena_here: Arena, tmp_path: Path) -> None:
    completed = arena_here("benchmark", "kuhn", "--out", "run")
    assert completed.code == 2
    assert completed.sentence
    assert not (tmp_path / "run").exists()


def test_folder_of_another_run_is_refused(arena_here: Arena) -> None:
    arena_here("play", "kuhn", "calling", "folding", "-n", "2", "--in-process", "-q", "--out", "run")
    assert arena_here("benchmark", "run").sentence == (
        "the run in run is no benchmark; 'arena resume run' continues it"
    )


@pytest.mark.slow
def test_streets_sum_to_the_rate_against_cfr(arena_here: Arena) -> None:
    completed = arena_here("benchmark", "folding", "-n", "20", "--in-process", "--json", "--out", "run")
    data = BenchmarkData.model_validate_json(completed.out)
    assert data.rate is not None
    assert data.rate.known == ["cfr"]
    corrected = [part.corrected.mean for part in data.streets if part.corrected]
    has_values = os.path.exists(os.path.splitext(SHIPPED["nolimit"])[0] + VALUES_SUFFIX)
    assert len(corrected) == (4 if has_values else 0)
    if has_values:
        assert sum(corrected) == pytest.approx(data.rate.mbb_per_game)
    rate = data.result.rate()
    assert rate is not None
    assert sum(part.raw.mean for part in data.streets) == pytest.approx(rate.mean)
