"""Contests with a learning player: reproducible memories, and no intervals."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bots.learner.bot import LearnerBot
from bots.learner.memory import Constants, Memory, Results, read_memory, write_memory
from bots.sdk.learning import LearningJournal, cut_journal, read_journal
from dealer import play, resume, tournament
from dealer.errors import ConfigError
from dealer.match.events import HandFinished
from dealer.reports.gate_report import judge
from dealer.run.contest import MatchEvent
from dealer.run.results import ContestResult
from dealer.run.run import new_run, reopen
from dealer.run.run_settings import validated
from dealer.table.loop import new_event_loop
from dealer.table.players import parse_player
from logs.whole_file import FileLock
from tests.dealer.helpers import enter_program_env
from tests.dealer.results_of import won_by

HANDS = 8
LEARNER = "learner=learner?empty=true"
SETTINGS: dict[str, Any] = {"deals": HANDS, "seed": 5, "export": "none", "score": "raw"}


def train(out: Path, *bots: str, **settings: Any) -> ContestResult:
    """Play limit hold'em in this process."""
    settings = {"in_process": True, **SETTINGS, **settings}
    return play("limit", bots or (LEARNER, "calling"), out=out, **settings)


def files(folder: Path) -> dict[str, bytes]:
    """Logs, journals and memories of a training."""
    kinds = (".log", ".journal", ".memory")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name.endswith(kinds)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("training") / "whole"
    train(out)
    return out


# ---- measurements


def test_learner_is_trained_and_not_measured(whole: Path) -> None:
    result = ContestResult.model_validate_json((whole / "result.json").read_bytes())
    assert result.interval == "none"
    assert [won_by(player).raw.half_width for player in result.players] == [None, None]
    (training,) = result.training
    assert training.player == "learner"
    assert training.hands == 2 * HANDS
    assert training.own_file is None
    assert training.problem is None
    assert training.memory == str(whole / "learner.memory")
    assert "in training (no interval, because the learning player changes from hand to hand)." in result.sentence
    assert f"What learner learnt from 16 hands is in {whole / 'learner.memory'}." in result.sentence
    judgement = judge(result, "learner", 0)
    assert judgement.sentences[0] == "undecided: learner over calling: not judged, because a player learnt during play."


def test_training_of_a_hundred_deals_gives_no_interval(tmp_path: Path) -> None:
    result = train(tmp_path / "run", "folding", LEARNER, deals=100)
    assert [won_by(player).raw.half_width for player in result.players] == [None, None]


def test_frozen_learner_is_measured(whole: Path, tmp_path: Path) -> None:
    memory = tmp_path / "x.memory"
    shutil.copy(whole / "learner.memory", memory)
    result = train(tmp_path / "run", f"learner?memory={memory},learn=false", "folding", deals=100)
    assert result.interval == "fixed"
    assert won_by(result.players[0]).raw.half_width is not None
    assert result.training == []
    assert not [name for name in files(tmp_path / "run") if name.endswith((".journal", ".memory"))]
    assert memory.read_bytes() == (whole / "learner.memory").read_bytes()


def test_only_the_learner_without_frozen_memory_learns(tmp_path: Path) -> None:
    assert parse_player("learner").learns
    for text in ("learner?learn=false,memory=x.memory", "mfs"):
        write_memory(tmp_path / "x.memory", Memory(Constants()))
        assert not parse_player(text.replace("x.memory", str(tmp_path / "x.memory"))).learns


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (lambda: tournament(["limit"], ["learner", "calling"], deals=4), "cannot be ranked; add learn=false"),
        (lambda: play("limit", ["learner", "calling"], stop="ci=50"), "has no interval for 'ci=50'"),
        (lambda: play("limit", ["mfs", "learner"], stop="better:0,30"), "has no interval for 'better:0,30'"),
    ],
)
def test_measuring_a_learner_is_refused(run: Callable[[], object], problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        run()
    assert "learner learns while it plays, so it is another player in every hand" in str(raised.value)
    assert problem in str(raised.value)


# ---- reproducible trainings


def merge(memories: list[Memory]) -> Memory:
    """Sum of the results of some memories."""
    cells: dict[Any, tuple[Results, ...]] = {}
    for memory in memories:
        for cell, decisions in dict(memory.cells).items():
            if cell in cells:
                pairs = zip(cells[cell], decisions, strict=True)
                decisions = tuple(Results(*(a + b for a, b in zip(*pair, strict=True))) for pair in pairs)
            cells[cell] = tuple(decisions)
    num_hands = sum(memory.hands for memory in memories)
    return Memory(memories[0].constants, num_hands, {cell: cells[cell] for cell in sorted(cells)})


def test_memory_merges_the_seatings_which_start_from_the_same_memory(whole: Path) -> None:
    start = read_memory(whole / "learner.start.memory")
    assert start == Memory(Constants())
    memories = []
    for name in ("match.a.seat1.learner.journal", "match.b.seat2.learner.journal"):
        journal = str(whole / name)
        assert [hand for hand, _ in read_journal(journal)] == list(range(HANDS))
        bot = LearnerBot(empty=True)
        bot.train(str(whole / "learner.start.memory"), journal)
        bot.match_finished()
        memories.append(bot.memory)
    assert read_memory(whole / "learner.memory") == merge(memories)


def test_training_is_not_cut_into_slices(tmp_path: Path) -> None:
    config = validated(
        {"games": ["limit"], "bots": [{"bot": "learner"}, {"bot": "calling"}], "workers": 8} | {"deals": 9}
    )
    assert [contest.slices for contest in new_run(config, tmp_path / "run").planned] == [1]
    frozen = replace(config, bots=validated({"bots": [{"bot": "mfs"}, {"bot": "calling"}]}).bots)
    assert [contest.slices for contest in new_run(frozen, tmp_path / "other").planned] == [4]


def train_and_interrupt(out: Path, hands: int, **settings: Any) -> None:
    """Interrupt a training after some hands."""
    bots = [{"bot": LEARNER}, {"bot": "calling"}]
    run = new_run(validated({"games": ["limit"], "bots": bots, **SETTINGS} | settings), out)
    finished_hands = 0

    def watch(event: MatchEvent) -> None:
        nonlocal finished_hands
        finished_hands += isinstance(event.event, HandFinished)
        if finished_hands == hands:
            run.interrupt()

    loop = new_event_loop()
    try:
        result = loop.run_until_complete(run.play(watch=watch))
    finally:
        loop.close()
    assert result.outcome.value == "interrupted"
    assert result.training == []
    assert not (out / "learner.memory").exists()


@pytest.mark.parametrize("hands", [1, HANDS + 3])
def test_resumed_training_has_the_same_files(whole: Path, tmp_path: Path, hands: int) -> None:
    out = tmp_path / "run"
    train_and_interrupt(out, hands, in_process=True)
    assert resume(out).outcome.is_complete
    assert files(out) == files(whole)


def test_resumed_training_in_processes_has_the_same_files(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_program_env(tmp_path, monkeypatch)
    train_and_interrupt(tmp_path / "run", 6, workers=2)
    assert resume(tmp_path / "run").outcome.is_complete
    assert files(tmp_path / "run") == files(whole)


@pytest.mark.parametrize(
    "damage",
    [
        lambda journal: os.truncate(journal, 0),
        lambda journal: cut_journal(str(journal), 3),
        lambda journal: os.truncate(journal, journal.stat().st_size - 4),
        lambda journal: journal.unlink(),
        lambda journal: journal.write_bytes(journal.read_bytes()[:-20] + b"\0" * 20),
    ],
)
def test_hands_missing_from_a_journal_are_played_again(
    whole: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    """A power cut can damage a journal whose log is complete."""
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "result.json").unlink()
    (out / "learner.memory").unlink()
    damage(out / "match.b.seat2.learner.journal")
    assert resume(out).outcome.is_complete
    assert files(out) == files(whole)


def test_journal_that_is_ahead_of_the_log_is_cut(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "result.json").unlink()
    log = out / "match.a.log"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:7]))
    assert resume(out).outcome.is_complete
    assert files(out) == files(whole)


def test_learner_that_ends_before_it_writes_fails_the_run_until_it_is_resumed(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = LearningJournal.write
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(LearningJournal, "write", lambda self, hand, text: write(self, hand, text) if hand < 6 else None)
        result = train(out)
    assert result.outcome.value == "failed"
    assert result.reason == (
        "learner ended before its journal of match.a reached hand 6; resume the run to continue from there."
    )
    assert resume(out).outcome.is_complete
    assert files(out) == files(whole)


def test_additional_hands_continue_from_the_memory(whole: Path, tmp_path: Path) -> None:
    longer = train(tmp_path / "longer", deals=HANDS + 4)
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    assert resume(out, deals=HANDS + 4).players[0].chips == longer.players[0].chips
    assert files(out)["learner.memory"] == files(tmp_path / "longer")["learner.memory"]


def test_missing_memory_cannot_be_learnt_again(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "result.json").unlink()
    (out / "learner.start.memory").unlink()
    loop = new_event_loop()
    with pytest.raises(Exception, match=r"learner\.start\.memory is missing; restore it to continue the training"):
        loop.run_until_complete(reopen(out).play())
    loop.close()


def test_foreign_journal_is_refused(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "result.json").unlink()
    journal = out / "match.a.seat1.learner.journal"
    journal.write_bytes(b"something else\n" + journal.read_bytes())
    with pytest.raises(Exception, match=r"journal: line 1 does not begin with a hand number above -1"):
        resume(out)
    assert files(out)["match.a.log"] == files(whole)["match.a.log"]


def test_learner_of_an_interrupted_run_that_still_plays_is_awaited(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    (out / "result.json").unlink()
    lock = FileLock(out / "match.a.seat1.learner.journal.lock")
    with monkeypatch.context() as patch:
        patch.setattr("bots.sdk.learning.LOCK_TIMEOUT_S", 0.05)
        with pytest.raises(Exception, match=r"the learner that writes it is still playing"):
            resume(out)
    waits = []

    def unlock(seconds: float) -> None:
        waits.append(seconds)
        lock.close()

    monkeypatch.setattr("logs.whole_file.time.sleep", unlock)
    assert resume(out).outcome.is_complete
    assert waits


# ---- the learner's own file


def test_learner_saves_its_memory_in_its_own_file(whole: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.memory"
    first = train(tmp_path / "first", f"L=learner?memory={own}", "calling")
    assert own.read_bytes() == (whole / "learner.memory").read_bytes()
    assert first.training[0].own_file == str(own)
    assert f"is in {tmp_path / 'first' / 'L.memory'} and {own}." in first.sentence
    train(tmp_path / "second", f"L=learner?memory={own}", "calling", seed=6)
    assert (tmp_path / "second" / "L.start.memory").read_bytes() == (whole / "learner.memory").read_bytes()
    assert read_memory(own).hands == 4 * HANDS
    assert not list(tmp_path.glob("*.lock"))


def test_file_changed_during_the_run_is_kept(tmp_path: Path) -> None:
    own = tmp_path / "own.memory"
    other = Memory(Constants(), 7)
    out = tmp_path / "run"
    train(out, f"L=learner?memory={own}", "calling")
    memory = own.read_bytes()
    # Removed, and unchanged: the run writes its memory.
    for is_removed in (True, False):
        (out / "result.json").unlink()
        if is_removed:
            own.unlink()
        result = resume(out)
        assert isinstance(result, ContestResult)
        assert result.training[0].problem is None
        assert own.read_bytes() == memory
    (out / "result.json").unlink()
    write_memory(own, other)
    result = resume(out)
    assert isinstance(result, ContestResult)
    assert result.training[0].problem == f"{own} was left as it is: it has been changed since the run began."
    assert read_memory(own) == other
    assert json.loads((out / "result.json").read_text())["training"][0]["problem"]


def test_first_of_two_learners_keeps_the_shared_file(tmp_path: Path) -> None:
    own = tmp_path / "own.memory"
    result = train(tmp_path / "run", f"learner?memory={own}", f"learner?memory={own}")
    first, second = result.training
    assert first.hands == second.hands == 2 * HANDS
    assert first.problem is None
    assert second.problem == f"{own} was left as it is: it has been changed since the run began."
    assert read_memory(own).hands == 2 * HANDS


# ---- failures

FAILING = """
from bots.learner.bot import LearnerBot

class Failing(LearnerBot):
    def act(self, view):
        if view.hand_number == 5:
            raise RuntimeError("enough")
        return super().act(view)
"""


def test_forfeiting_learner_keeps_the_hands_before_the_forfeit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.chdir(tmp_path)
    result = train(tmp_path / "run", "failing.py:Failing", "calling", on_fault="forfeit")
    assert result.outcome.is_complete
    assert result.training[0].hands == 2 * 5


def test_run_resumed_from_another_folder_keeps_its_own_file(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(tmp_path / "run", "learner?memory=own.memory", "calling")
    for path in ("run/result.json", "here/own.memory"):
        (tmp_path / path).unlink()
    monkeypatch.chdir(tmp_path / "there")
    assert resume(tmp_path / "run").outcome.is_complete
    assert (tmp_path / "here" / "own.memory").read_bytes() == (whole / "learner.memory").read_bytes()
    assert os.listdir(tmp_path / "there") == []
