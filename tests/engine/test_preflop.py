"""Table of chances before the flop, its file and its generator."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from engine import equity as equities
from engine import parse_cards
from engine.cards import STARTING_HANDS, cards_of
from engine.equity import Equity, compile_kernels, equity_of_counts, preflop_equity
from engine.kernels.showdowns import count_against_one
from engine.tables import MAX_OPPONENTS, PREFLOP
from tests.engine import generators

CLASSES = len(STARTING_HANDS)
SHOWDOWNS = math.comb(50, 5) * math.comb(45, 2)
"""Showdowns of one hand against one opponent."""


def entry(text, opponents=1):
    return preflop_equity(parse_cards(text), opponents)


def hands_in_class(number):
    row, column = divmod(number, 13)
    return 6 if row == column else 4 if row > column else 12


def test_exact_entries_are_counts_and_cancel_out():
    """Over all hands the opponent wins as often as the player."""
    wins = losses = 0
    for number in range(CLASSES):
        hole, size = cards_of(number), hands_in_class(number)
        chance = preflop_equity(hole)
        won, tied = chance.win * SHOWDOWNS, chance.tie * SHOWDOWNS
        assert won == pytest.approx(round(won), abs=1e-4)
        assert tied == pytest.approx(round(tied), abs=1e-4)
        assert chance.equity == pytest.approx(chance.win + chance.tie / 2, abs=1e-15)
        wins += size * round(won)
        losses += size * (SHOWDOWNS - round(won) - round(tied))
    assert wins == losses


@pytest.mark.parametrize("opponents", [1, 2, MAX_OPPONENTS])
def test_entries_are_consistent(opponents):
    chances = [preflop_equity(cards_of(number), opponents) for number in range(CLASSES)]
    mean = sum(hands_in_class(number) * chance.equity for number, chance in enumerate(chances)) / 1326
    assert mean == pytest.approx(1 / (opponents + 1), abs=1e-4), "a random hand has its share"
    assert max(chances, key=lambda chance: chance.equity) == entry("AcAd", opponents)
    for chance in chances:
        assert 0 < chance.tie < chance.win + 1e-12 < 1
        lowest, highest = chance.win + chance.tie / (opponents + 1), chance.win + chance.tie / 2
        assert lowest - 1e-12 <= chance.equity <= highest + 1e-12


def test_known_values():
    """Equities against one random hand, published in many places."""
    for text, share in (("AsAh", 0.852037), ("AsKs", 0.670446), ("7s2h", 0.345836), ("JsTs", 0.575279)):
        assert entry(text).equity == pytest.approx(share, abs=5e-7)
    assert entry("AsAh") == pytest.approx(Equity(0.849319, 0.005436, 0.852037), abs=5e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "opponents"), [(168, 2), (5, 9)])
def test_sampled_entries_are_reproduced(monkeypatch, number, opponents):
    monkeypatch.setattr(equities, "_is_compiled", False)
    compile_kernels()
    hole = cards_of(number)
    assert generators.sample_against(number, opponents) == preflop_equity(hole, opponents)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["AsAh", "7s2h"])
def test_exact_entries_are_the_mean_of_all_flops(text):
    """Count the same showdowns by flop: ten flops lead to each board."""
    hole = parse_cards(text)
    counts = np.zeros(3, np.int64)
    deck = [card for card in range(52) if card not in hole]
    own = np.array(hole, np.uint8)
    for flop in itertools.combinations(deck, 3):
        count_against_one(own, np.array(flop, np.uint8), np.array([c for c in deck if c not in flop], np.uint8), counts)
    assert counts.sum() == 10 * SHOWDOWNS
    assert equity_of_counts((counts // 10).tolist()) == entry(text)


@pytest.mark.slow
def test_generating_the_table_gives_the_packaged_file(monkeypatch, tmp_path):
    monkeypatch.setattr(equities, "_is_compiled", False)
    path = tmp_path / "preflop.bin"
    generators.main("preflop", str(path))
    assert path.read_bytes() == Path(PREFLOP.path).read_bytes()
