"""The report of the experiments says what was played, and judges by the intervals."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from bots.errors import CheckpointError, EvolutionError, LearnerFileError
from bots.learner.memory import Constants, Memory
from bots.learner.training import Winnings
from bots.sdk.bot import Bot
from bots.sdk.registry import make_bot
from bots.studies import learner as experiments
from bots.studies.learner import (
    MIXED,
    BuiltInMatch,
    ExperimentResult,
    LearnerStudySettings,
    PlayedExperiments,
    learner_report,
    play_all,
)
from bots.studies.report import LineChart, format_report
from logs.whole_file import FileLock

_STAGES = (10, 20, 40)


def _outcome(game: str, opponents: str, last: float) -> ExperimentResult:
    luck = np.array([[-5.0], [0.0], [5.0], [1.0], [-1.0]])
    return ExperimentResult(game, opponents, _STAGES, luck + np.array([0.0, last / 2, last]), (7, 8, 9, 8, 8))


def _played() -> PlayedExperiments:
    outcomes = [
        _outcome(game, name, last) for game in ("limit", "nolimit") for name, last in (("random", 90), (MIXED, 0))
    ]
    outcomes += [_outcome("limit10", MIXED, -70), _outcome("nolimit10", MIXED, 70)]
    rivals = (
        BuiltInMatch("limit", "calling", Winnings(100, 20)),
        BuiltInMatch("limit10", "mfs", Winnings(-100, 20)),
        BuiltInMatch("nolimit10", "rh", Winnings(10, 20)),
    )
    return PlayedExperiments(
        tuple(outcomes), rivals, {"limit": np.array([1.0, 2.0, 3.0]), "limit10": np.array([7.0, 8.0, 9.0])}
    )


def test_what_was_played_is_judged_by_its_intervals() -> None:
    report = learner_report(LearnerStudySettings(seeds=5), _played())
    assert (
        report.sentences[1]
        == "The learner wins from 3 of 6 fields that it trained against, and loses to mixed in limit10."
    )
    assert report.sentences[2] == (
        "Trained once on the mixed field of each game, it beats calling in at least one game; it loses to mfs in "
        "limit10."
    )
    _, two, ten, rivals = report.sections
    rows = {row[0]: row[1:] for row in two.tables[0].rows}
    assert rows["random"] == ("+90 ± 4", "8", "+90 ± 4", "8")
    assert rows[MIXED][0] == "+0 ± 4"
    assert len(ten.charts) == 2
    chart = two.charts[0]
    assert isinstance(chart, LineChart)
    assert chart.lines[0].xs == _STAGES
    assert rivals.tables[0].rows[0][:2] == ("calling", "+100 ± 20")
    assert rivals.sentences == (
        "Another learner, trained for 20,000 hands with it in all other seats and then frozen, wins +2 ± 2 mbb/g in "
        "limit and +8 ± 2 mbb/g in limit10 (means over 5 seeds, 95 %), a lower bound on its exploitability.",
    )
    assert format_report(report).count("<svg") == 4


def test_what_is_too_small_is_refused() -> None:
    for name in ("hands", "test", "seeds", "matches", "trials"):
        with pytest.raises(EvolutionError, match=f"{name} must be"):
            LearnerStudySettings(**{name: 0})


@pytest.mark.slow  # numba compiles
def test_every_experiment_is_played_wherever_it_was_stopped(tmp_path: Path) -> None:
    settings = LearnerStudySettings(hands=64, test=20, seeds=5, matches=10, trials=5)
    played = play_all(settings, tmp_path / "whole")
    assert {one.game for one in played.outcomes} == {"limit", "nolimit", "limit10", "nolimit10"}
    assert len(played.outcomes) == 30
    for one in played.outcomes:
        assert one.mbb.shape == (5, 6)
        assert list(one.hands) == sorted(one.hands)
        if one.opponents == "constant 1":
            assert (one.mbb <= 750).all()
    assert {one.name for one in played.rivals} >= {"calling", "mfs", "rh", "lp-mc", "rembrant"}
    assert list(played.counters) == ["limit", "nolimit", "limit10", "nolimit10"]
    assert all(won.shape == (5,) and won.any() for won in played.counters.values())
    report = format_report(learner_report(settings, played))

    # What a run that was stopped left: in the seeds of a game, in its matches, and almost at the end.
    lines = (tmp_path / "whole" / "experiments.jsonl").read_bytes().splitlines(keepends=True)
    for number in (4, len(lines) // 2, len(lines) - 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        for memory in (tmp_path / "whole").glob("*.memory"):
            shutil.copy(memory, folder)
        (folder / "experiments.jsonl").write_bytes(b"".join(lines[:number]) + b'{"game": "li')
        again = play_all(settings, folder)
        assert format_report(learner_report(settings, again)) == report
        assert (folder / "experiments.jsonl").read_bytes() == b"".join(lines)

    # A folder to which a match has been added at the end says the same.
    (tmp_path / "whole" / "experiments.jsonl").write_bytes(b"".join([lines[0], *lines[:0:-1]]))
    assert format_report(learner_report(settings, play_all(settings, tmp_path / "whole"))) == report


@pytest.mark.slow  # numba compiles
def test_local_best_response_knows_whom_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def make(spec: str, seed: int | None = None) -> Bot:
        played.append(spec)
        return make_bot(spec, seed)

    monkeypatch.setattr("bots.learner.training.make_bot", make)
    settings = LearnerStudySettings(seeds=5, matches=10)
    earned = experiments._play_match(settings, "limit", "lbr", Memory(Constants()))
    (lbr,) = played
    assert lbr.startswith("lbr?against=learner?memory=")
    assert lbr.endswith(";learn=false;trials=200")
    assert earned.mean < 0, "it only calls, and is answered by one that knows"


def _stored(folder: Path, *rows: str) -> Path:
    folder.mkdir(exist_ok=True)
    settings = json.dumps(asdict(LearnerStudySettings(seeds=5)))
    (folder / "experiments.jsonl").write_text("".join(f"{row}\n" for row in (settings, *rows)), "utf-8")
    return folder


def test_what_a_folder_holds_is_checked(tmp_path: Path) -> None:
    settings = LearnerStudySettings(seeds=5)
    no_counter = '{"game": "limit", "seed": 1, "hands": {}, "mbb": {}, "cells": {}, "counter": null}'
    for row in ("[1]", '{"game": "limit"}', no_counter, '{"game": "limit", "rival": "calling", "won": [1]}', "{"):
        with pytest.raises(CheckpointError, match=r"experiments\.jsonl: it holds other things than these results"):
            play_all(settings, _stored(tmp_path, row))
    with pytest.raises(CheckpointError, match=r"made with seeds 5, not seeds 6: take another folder"):
        play_all(LearnerStudySettings(seeds=6), _stored(tmp_path))
    first = json.dumps({"game": "limit", "seed": 1, "hands": {}, "mbb": {}, "cells": {}, "counter": 0.5})
    with pytest.raises(LearnerFileError, match=r"limit\.memory: it cannot be read"):
        play_all(settings, _stored(tmp_path, first))


def test_two_processes_do_not_write_one_folder(tmp_path: Path) -> None:
    with (
        contextlib.closing(FileLock(tmp_path / "experiments.jsonl.lock")),
        pytest.raises(CheckpointError, match="another process is writing it"),
    ):
        play_all(LearnerStudySettings(seeds=5), tmp_path)
