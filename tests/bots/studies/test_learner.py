"""The report of the experiments says what was played, and judges by the intervals."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from bots.errors import CheckpointError, EvolutionError, LearnerFileError
from bots.learner.memory import Constants, Memory
from bots.sdk.bot import Bot
from bots.sdk.registry import make_bot
from bots.studies import learner as experiments
from bots.studies.learner import (
    MIXED,
    LearnerStudySettings,
    PlayedExperiments,
    SeedResults,
    learner_report,
    play_all,
)
from bots.studies.report import LineChart, format_report
from logs.estimation import Estimate
from logs.whole_file import FileLock

_STAGES = (10, 20, 40)


_LUCK = (-5.0, 0.0, 5.0, 1.0, -1.0)


def _played() -> PlayedExperiments:
    """Five seeds; the counters are 1 to 5 in limit and 7 to 11 in limit10."""
    last = {game: {"random": 90.0, MIXED: 0.0} for game in ("limit", "nolimit")}
    last |= {"limit10": {MIXED: -70.0}, "nolimit10": {MIXED: 70.0}}
    first = {"limit": 1.0, "nolimit": 0.0, "limit10": 7.0, "nolimit10": 0.0}
    seeds = {
        (game, seed): SeedResults(
            hands=dict.fromkeys(won, _STAGES),
            mbb={name: [luck, luck + final / 2, luck + final] for name, final in won.items()},
            cells=dict.fromkeys(won, 7 + seed % 3),
            counter=first[game] + seed,
        )
        for game, won in last.items()
        for seed, luck in enumerate(_LUCK)
    }
    matches = {
        ("limit", "calling"): Estimate(100, 20),
        ("limit10", "mfs"): Estimate(-100, 20),
        ("nolimit10", "rh"): Estimate(10, 20),
    }
    return PlayedExperiments(seeds, matches)


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
        "Another learner, trained for 20,000 hands with it in all other seats and then frozen, wins +3 ± 2 mbb/g in "
        "limit, +2 ± 2 mbb/g in nolimit, +9 ± 2 mbb/g in limit10 and +2 ± 2 mbb/g in nolimit10 (means over 5 seeds, "
        "95 %), a lower bound on its exploitability.",
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
    assert {game for game, _ in played.seeds} == {"limit", "nolimit", "limit10", "nolimit10"}
    won = played.winnings()
    assert len(won) == 30
    assert all(mbb.shape == (5, 6) for mbb in won.values())
    assert all((won[game, "constant 1"] <= 750).all() for game in ("limit", "nolimit"))
    assert {name for _, name in played.matches} >= {"calling", "mfs", "rh", "lp-mc", "rembrant"}
    assert len(played.seeds) == 20
    assert all(any(one.counter for one in played.of_game(game)) for game, _ in played.seeds)
    assert all(list(hands) == sorted(hands) for one in played.seeds.values() for hands in one.hands.values())
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
