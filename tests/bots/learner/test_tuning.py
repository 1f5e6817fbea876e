"""Search for constants: interruptions, and the meaning of its figures.

Opponents named by class are not compiled, which makes these tests quick.

"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bots.errors import BotFileError, EvolutionError
from bots.learner import tuning
from bots.learner.memory import RANGES, Constants
from bots.learner.tuning import TuningSettings, check, measured_mbb, search, tuning_document

_SETTINGS = TuningSettings(
    opponents=("bots.baseline:CallingBot",), hands=4, test=2, population=3, generations=2, trials=5
)


@pytest.mark.slow
def test_interrupted_search_ends_the_same(tmp_path: Path) -> None:
    whole = search(_SETTINGS, tmp_path / "whole")
    assert len(whole) == _SETTINGS.budget == 7

    def stop(part: float | None, so_far: object = "") -> None:
        if part is not None and part > 3 / 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(_SETTINGS, tmp_path / "parts", show=stop)
    path = tmp_path / "parts" / "evolution.jsonl"
    path.write_bytes(path.read_bytes() + b"[[1, 2")  # a truncated line
    assert search(_SETTINGS, tmp_path / "parts") == whole
    assert path.read_bytes() == (tmp_path / "whole" / "evolution.jsonl").read_bytes()
    for result in whole:
        assert result.mbb == measured_mbb(_SETTINGS, result.constants, _SETTINGS.seed)
        for constant, (low, high) in RANGES.items():
            assert low <= getattr(result.constants, constant) <= high


def test_folder_of_other_measurements_is_refused(tmp_path: Path) -> None:
    search(_SETTINGS, tmp_path)
    with pytest.raises(BotFileError, match="made with hands 4, not hands 6: take another folder"):
        search(replace(_SETTINGS, hands=6), tmp_path)
    (tmp_path / "evolution.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(BotFileError, match="it holds other things than these results, or is damaged"):
        search(_SETTINGS, tmp_path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"hands": 0}, "hands must be 1 or more"),
        ({"explore": -1.0}, "explore must be 0 to 1"),
        ({"population": 1}, "at least 2 individuals"),
        ({"crossover": 2.0}, "crossover must be 0 to 1"),
        ({"opponents": ()}, "the opponents are missing"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(EvolutionError, match=words):
        replace(_SETTINGS, **wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_report_judges_by_the_seeds(tmp_path: Path) -> None:
    measured = search(_SETTINGS, tmp_path)
    seeds = np.arange(6.0)
    for gain, verdict in (
        (10.0, "is significant: +10 mbb/g, with a standard error of 0 over 6 seeds"),
        (-10.0, "is a loss: -10 mbb/g"),
        (-0.4, "is not significant: +0 mbb/g"),
    ):
        report = tuning_document(_SETTINGS, measured, {"default": seeds, "evolution": seeds + gain + seeds % 2})
        assert f"over the default constants {verdict}" in report.sentences[0]


def test_constants_are_compared_on_the_same_deals(tmp_path: Path) -> None:
    done: list[float | None] = []
    sets = {"default": Constants(), "other": Constants(big_qty=2)}
    report = check(_SETTINGS, sets, (2, 3), tmp_path, show=lambda part, so_far="": done.append(part))
    assert done == [0.5, 1.0]
    for name, constants in sets.items():
        assert report[name].tolist() == [measured_mbb(_SETTINGS, constants, seed) for seed in (2, 3)]


def test_repeated_measurements_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = check(_SETTINGS, {"default": Constants()}, (2, 3), tmp_path)["default"].tolist()
    calls = []

    def record_measurement(settings: TuningSettings, constants: Constants, seed: int) -> float:
        calls.append((constants, seed))
        return 7.0

    monkeypatch.setattr(tuning, "measured_mbb", record_measurement)
    other = Constants(big_qty=2)
    report = check(_SETTINGS, {"default": Constants(), "other": other}, (2, 3, 4), tmp_path)
    assert calls == [(other, 2), (other, 3), (Constants(), 4), (other, 4)]
    assert report["default"].tolist() == [*first, 7.0]
    (tmp_path / "anew.jsonl").write_text((tmp_path / "anew.jsonl").read_text("utf-8") + "[1, 2]\n", "utf-8")
    with pytest.raises(BotFileError, match="or is damaged"):
        check(_SETTINGS, {"default": Constants()}, (2, 3), tmp_path)
