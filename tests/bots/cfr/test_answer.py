"""Answers to fixed strategies: beside best responses of Leduc poker, and the folder of a learning."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.artifact import read_artifact
from bots.cfr import answer as module
from bots.cfr.abstraction import NO_BUCKET, CardTables
from bots.cfr.answer import (
    Answer,
    AnswerSettings,
    Learning,
    answer_document,
    answer_settings,
    learn_answer,
    shared_buckets,
)
from bots.cfr.expectation import PlayedTree, allocate_values, by_node, compare_strategies
from bots.cfr.sampling import as_strategy
from bots.cfr.strategy_files import read_strategy
from bots.errors import BotFileError, SolvingError
from bots.solving.sequence_form import best_response, expected_value
from tests.bots.cfr.drawn import BUCKETS, plans_of, random_hands, random_tables
from tests.bots.cfr.test_expectation import SHORT_HOLDEM, random_strategy
from tests.bots.cfr.test_sampling import LEDUC, LEDUC_GAME, draw_leduc

pytestmark = pytest.mark.slow  # numba compiles

FEW = (169, 3, 2, 3)
COUNTS = LEDUC_GAME.buckets.counts
BLIND = (1, 1)
"""Buckets of a strategy that does not look at its cards."""


def draw_blind(seed: np.uint64, first: int, buckets: NDArray[np.uint16], ranks: NDArray[np.uint16]) -> None:
    draw_leduc(seed, first, buckets, ranks)
    buckets[:] = 0


def blind_strategy() -> PlayedTree:
    arrays, chances = allocate_values(LEDUC, BLIND)
    chance = np.random.default_rng(2)
    for _, of_node in by_node(LEDUC, arrays, BLIND, chances):
        weights = chance.exponential(size=of_node.shape)
        of_node[:] = weights / weights.sum(axis=1, keepdims=True)
    return PlayedTree(arrays, chances)


def leduc_answer() -> Answer:
    return Answer(LEDUC, blind_strategy(), COUNTS, (draw_leduc, draw_blind), seed=5, deals=512)


def test_an_answer_wins_nearly_what_the_best_response_wins() -> None:
    """The strategy does not look at its cards; the answer sees all of its own."""
    answer, blind = leduc_answer(), blind_strategy()
    for _ in range(30):
        answer.iterate()
    ours, (theirs, chances) = answer.played(), allocate_values(LEDUC, COUNTS)
    of_blind = by_node(LEDUC, blind.arrays, BLIND, blind.chances)
    for (_, seen), (_, played) in zip(by_node(LEDUC, theirs, COUNTS, chances), of_blind, strict=True):
        seen[:] = played
    answered, fixed = (plans_of(LEDUC_GAME, as_strategy(LEDUC, COUNTS, numbers)) for numbers in (ours.chances, chances))
    form = LEDUC_GAME.form
    for player in range(2):
        plans = (answered[0], fixed[1]) if player == 0 else (fixed[0], answered[1])
        won, even = (expected_value(form, played, player) for played in (plans, fixed))
        best = best_response(form, player, fixed[1 - player]).value
        assert even + 0.9 * (best - even) < won <= best + 1e-9


def test_an_answer_begins_as_the_strategy() -> None:
    answer, blind = leduc_answer(), blind_strategy()
    answer.begin([np.zeros(count, np.int64) for count in COUNTS], BLIND)
    ours = answer.played()
    of_blind = by_node(LEDUC, blind.arrays, BLIND, blind.chances)
    for (_, played), (_, chances) in zip(by_node(LEDUC, ours.arrays, COUNTS, ours.chances), of_blind, strict=True):
        assert (played.argmax(axis=1) == chances[0].argmax()).all()
        assert (played.sum(axis=1) == 1).all()


def test_the_shared_bucket_has_most_of_the_hands() -> None:
    finer, others = random_tables(), random_tables(FEW)
    for table in (finer.flops, finer.turns, finer.rivers):
        table[:, ::7] = NO_BUCKET
    for ours, theirs in ((finer.flops, others.flops), (finer.turns, others.turns), (finer.rivers, others.rivers)):
        theirs[ours == 2] = 1
    result = shared_buckets(finer, others, list(zip(BUCKETS[1:], FEW[1:], strict=True)))
    assert [len(buckets) for buckets in result] == [*BUCKETS[1:]]
    assert [int(buckets[2]) for buckets in result] == [1, 1, 1]
    live = finer.flops == 4
    assert result[0][4] == np.bincount(others.flops[live]).argmax()


def test_threads_and_interruptions_make_no_difference() -> None:
    whole, part, rest = leduc_answer(), leduc_answer(), leduc_answer()
    for _ in range(70):
        whole.iterate()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(33):
            part.iterate(pool)
    rest.iteration = part.iteration
    rest.regrets[:] = part.regrets
    for _ in range(37):
        rest.iterate()
    assert np.array_equal(rest.regrets, whole.regrets)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AnswerSettings:
    """Buckets that cost nothing to compute."""

    def tables(hands: Any, *_: Any) -> CardTables:
        return random_tables(hands.buckets)

    monkeypatch.setattr(module, "tabulate_hands", tables)
    monkeypatch.setattr("bots.cfr.abstraction.cluster_hands", lambda *_: (random_hands(), random_tables()))
    strategy = random_strategy(tmp_path, SHORT_HOLDEM, "", 1, random_hands(1, FEW))
    return answer_settings("limit", "cfr", strategy, (7, 5, 6), 20, 3)


def test_a_learning_is_kept_and_resumed(settings: AnswerSettings, tmp_path: Path) -> None:
    run, saved = tmp_path / "run", tmp_path / "saved.strategy"
    first = learn_answer(settings, 0.02, run)
    second = learn_answer(settings, first.marks[-1].cpu_seconds + 0.02, run, threads=2)
    assert len(first.marks) == 1
    assert [*second.marks[:1]] == [*first.marks]
    assert second.answer.iteration > first.answer.iteration
    assert second.marks[-1].deals == second.answer.iteration * second.answer.deals
    again = learn_answer(settings, 0.0, run)
    assert again.marks == second.marks
    assert np.array_equal(again.answer.regrets, second.answer.regrets)
    again.write(saved)
    written = read_strategy(str(saved))
    assert written.buckets == BUCKETS
    won = compare_strategies(written, settings.strategy, 20, seed=3)
    assert won.mean == pytest.approx(again.marks[-1].mean)
    _check_document(again)
    (header,) = (read_artifact(run / "answer.checkpoint", module._KIND).header,)
    assert header["settings"]["buckets"] == [7, 5, 6]
    with pytest.raises(BotFileError, match="made with seed 3, not seed 4"):
        learn_answer(settings._replace(seed=4), 0.0, run)


def _check_document(learned: Learning) -> None:
    document, last = answer_document(learned), learned.marks[-1]
    assert f"An answer with 7/5/6 buckets wins {last.mean:+,.1f} mbb/g from cfr" in document.sentences[0]
    assert document.data.mbb_per_game == last.mean
    assert len(document.data.marks) == len(learned.marks)


def test_an_answer_has_at_least_twice_the_buckets(settings: AnswerSettings, tmp_path: Path) -> None:
    strategy = settings.strategy
    assert answer_settings("limit", "cfr", strategy, None, 20, 3).buckets == (6, 4, 6)
    with pytest.raises(SolvingError, match="at least twice the buckets of the strategy, 6/4/6: with fewer"):
        answer_settings("limit", "cfr", strategy, (6, 3, 6), 20, 3)
    many = random_strategy(tmp_path, SHORT_HOLDEM, "", 2, random_hands(2, (169, 3, 2, 5_001)))
    with pytest.raises(SolvingError, match="10,000 buckets on a street, and 10,002 are needed"):
        answer_settings("limit", "cfr", many, None, 20, 3)
