"""Answers learned on drawn boards, beside exact ones."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr.solver import Discounts, Solver, exploitability, tree_arrays
from bots.cfr.tree import betting_tree
from protocol import find_game
from tests.bots.cfr.drawn import DrawnLeduc


@pytest.mark.slow  # numba compiles
def test_a_learned_answer_wins_nearly_as_much_as_the_best_and_never_surely_more() -> None:
    boards = DrawnLeduc()
    tree = tree_arrays(betting_tree(find_game("leduc")[1]), boards.buckets, boards.float_type)
    learning = Solver(tree, boards, 1, Discounts())
    even = learning.average_strategy()
    found = exploitability(tree, boards, even)
    assert 2.0 < found.value < 2.373611111111 + 4 * found.error
    # What the answer of this seating wins is no matter of the seat.
    assert np.mean(found.gains) == pytest.approx(found.value)
    while learning.iteration < 4000:
        learning.iterate()
    strategy = learning.average_strategy()
    exact = exploitability(tree, boards.all, strategy).value
    assert 0.01 < exact < 0.2
    few, many = (exploitability(tree, boards, strategy, count=count) for count in (32, 1024))
    # On few boards the answer hardly leaves the strategy, so it cannot lose much either.
    assert -3 * few.error < few.value < exact + 4 * few.error
    assert exact / 3 - 2 * many.error < many.value < exact + 4 * many.error
