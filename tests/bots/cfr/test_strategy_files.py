"""Strategies and checkpoints on disk: read back as written, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays

from bots.artifact import as_arrays, read_artifact, write_artifact
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.small_games import RankBuckets
from bots.cfr.strategy_files import _KIND, WHOLE, quantise, read_strategy, write_strategy
from bots.cfr.tree import betting_tree, read_sizes
from bots.errors import BotFileError
from protocol import find_game


@pytest.fixture
def leduc(tmp_path: Path) -> Path:
    """Return a random strategy of Leduc poker."""
    tree = betting_tree(find_game("leduc")[1])
    buckets = RankBuckets(tree.game).counts
    numbers = np.random.default_rng(3)
    parts = []
    for node in tree.decisions.tolist():
        weights = numbers.exponential(size=(len(tree.actions[node]), buckets[tree.rounds[node]]))
        parts.append((weights / weights.sum(axis=0)).ravel())
    path = tmp_path / "leduc.strategy"
    write_strategy(path, tree, buckets, None, np.concatenate(parts), {"note": "random"})
    return path


@given(weights=drawn_arrays(np.float64, (3, 5), elements=st.floats(0.0, 1.0)))
def test_quantised_probabilities_sum_to_one(weights: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    chances = (weights + 1e-9) / (weights + 1e-9).sum(axis=0)
    quantised = quantise(chances).astype(np.int64)
    assert (quantised.sum(axis=0) == WHOLE).all()
    assert np.abs(quantised / WHOLE - chances).max() <= 1 / WHOLE


def test_strategy_is_read_as_it_was_written(leduc: Path) -> None:
    strategy = read_strategy(str(leduc))
    tree = betting_tree(find_game("leduc")[1])
    assert strategy.game == tree.game
    assert strategy.record == {"note": "random"}
    assert strategy.buckets == (3, 9)
    for node in range(len(tree.kinds)):
        assert strategy.children_of(node) == tree.children[node][tree.children[node] >= 0].tolist()
    numbers = np.random.default_rng(3)
    for node in tree.decisions.tolist():
        weights = numbers.exponential(size=(len(tree.actions[node]), strategy.buckets[tree.rounds[node]]))
        chances = weights / weights.sum(axis=0)
        assert strategy.chances(node) == pytest.approx(chances, abs=1e-6)
        assert strategy.chances_of(node, 2) == pytest.approx(chances[:, 2].tolist(), abs=1e-6)


def test_shipped_strategies_are_small_and_record_their_training() -> None:
    for game in ("limit", "nolimit"):
        assert Path(SHIPPED[game]).stat().st_size < 15_000_000
        strategy = read_strategy(SHIPPED[game])
        assert strategy.game == find_game(game)[1]
        assert strategy.buckets[0] == 169
        assert strategy.cards is not None
        assert len(strategy.cards.flops.hands) == 1_286_792
        assert len(strategy.probabilities) == strategy.offsets[-1]
        assert {"settings", "iterations", "seconds", "history"} <= {*strategy.record}


@pytest.mark.parametrize("game", ["leduc-nolimit", pytest.param("nolimit", marks=pytest.mark.slow)])
def test_raises_of_a_no_limit_tree_are_read_as_they_were_written(game: str) -> None:
    strategy = read_strategy(SHIPPED[game])
    tree = betting_tree(strategy.game, read_sizes(strategy.record["settings"]["sizes"], strategy.game.num_rounds))
    assert len(tree.kinds) == len(strategy.nodes)
    for node in range(len(tree.kinds)):
        children = strategy.children_of(node)
        assert children == tree.children[node][tree.children[node] >= 0].tolist()
        assert [action.hand_total for action in tree.actions[node]] == strategy.totals[children].tolist()


def test_damaged_strategy_is_refused(leduc: Path, tmp_path: Path) -> None:
    whole = leduc.read_bytes()
    for contents, sentence in ((whole[: len(whole) // 2], "damaged"), (b"", "does not begin with a line")):
        leduc.write_bytes(contents)
        with pytest.raises(BotFileError, match=sentence):
            read_strategy(str(leduc))
        with pytest.raises(ValueError, match=sentence):
            CfrBot(strategy=str(leduc))
    with pytest.raises(BotFileError, match="cannot be read"):
        read_strategy(str(tmp_path / "nothing"))


def test_buckets_by_strength_alone_are_refused(leduc: Path) -> None:
    strategy = read_artifact(leduc, _KIND)
    described, contents = as_arrays({**strategy.arrays(), "turn_cuts": np.zeros(1, np.int64)})
    write_artifact(leduc, _KIND, {**strategy.header, **described}, contents)
    with pytest.raises(BotFileError, match="no longer played; train it again"):
        read_strategy(str(leduc))
