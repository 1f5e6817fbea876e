"""Table of all duels before the flop: correct, complete, reproducible."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from engine.cards import holdings_of, starting_hand
from engine.duels import BOARDS, DUELS, duel, duel_counts, duel_row
from engine.matchups import counts
from tests.engine.generators import count_pair, form_of, main, pairs_by_row

HOLDINGS = list(itertools.combinations(range(52), 2))


# ---- the numbers


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_duels_of_a_class_add_up_to_its_matchups(step):
    """The matchups come from another program. By symmetry, one holding of a class against all others suffices."""
    assert math.comb(48, 5) == BOARDS == 1_712_304
    for number in range(0, 169, step):
        first, *_ = alike = holdings_of(number)
        sums = np.zeros((169, 3), np.int64)
        for other in HOLDINGS:
            if not {*first} & {*other}:
                sums[starting_hand(other)] += duel(first, other)
        assert (sums * len(alike) == counts()[number]).all(), number


def test_cards_and_players_may_come_in_any_order():
    chance = random.Random(3)
    for _ in range(200):
        one, two, three, four = chance.sample(range(52), 4)
        won, tied, lost = duel((one, two), (three, four))
        assert won + tied + lost == BOARDS
        assert duel((three, four), (one, two)) == (lost, tied, won)
        assert duel((two, one), (four, three)) == (won, tied, lost)


def test_names_of_suits_do_not_matter():
    chance = random.Random(4)
    for _ in range(200):
        cards = chance.sample(range(52), 4)
        names = chance.sample(range(4), 4)
        renamed = [card - card % 4 + names[card % 4] for card in cards]
        assert duel(renamed[:2], renamed[2:]) == duel(cards[:2], cards[2:])


def test_some_duels_are_counted_again():
    chance = random.Random(5)
    for _ in range(10):
        cards = chance.sample(range(52), 4)
        assert duel(cards[:2], cards[2:])[:2] == count_pair((cards[:2], cards[2:]))


# ---- the rows


@pytest.mark.slow
def test_each_row_stands_for_one_form():
    pairs = pairs_by_row()
    assert len({min(form_of(pair), form_of(pair[::-1])) for pair in pairs.values()}) == 47_008
    whole = duel_counts().sum(axis=1)
    assert sorted(pairs) == np.flatnonzero(whole).tolist()
    chance = random.Random(6)
    for _ in range(2_000):
        cards = chance.sample(range(52), 4)
        row = duel_row(*cards)
        first, second = pairs[max(row, -1 - row)]
        holdings = (tuple(sorted(cards[:2])), tuple(sorted(cards[2:])))
        assert form_of(holdings if row >= 0 else holdings[::-1]) == form_of((first, second))


def test_numbers_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        duel_counts()[0, 0] = 0


@pytest.mark.slow
def test_generating_the_table_gives_the_packaged_file(tmp_path, capsys):
    path = tmp_path / "duels.bin"
    main("duels", str(path))
    assert path.read_bytes() == Path(DUELS.path).read_bytes()
    assert DUELS.sha256 in capsys.readouterr().out
