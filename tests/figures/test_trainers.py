"""Printed tables of the trainers of a thesis, compared with ours."""

from __future__ import annotations

import pytest

from bots.studies.claims import Verdict
from bots.studies.study import read_study
from tests.scripts import script

pytestmark = pytest.mark.slow

TRAINERS = script("research/studies/trainers.py")


def test_printed_tables_sum_to_the_printed_winnings() -> None:
    trainers = TRAINERS.printed_trainers()
    sums = [round(sum(row.dollars for row in trainer.final.values()), 1) for trainer in trainers]
    assert sums == read_study("evolved").data["constants"]["TRAINERS"]
    # One table has 21 hands.
    assert sorted(len(trainer.best) for trainer in trainers) == [20] * 8 + [21]


def test_figures_like_the_printed_ones_are_not_refuted_and_others_are() -> None:
    trainers = TRAINERS.printed_trainers()
    same = TRAINERS.compared(trainers)
    assert Verdict.REFUTED not in [verdict for *_, verdict in same.rows]
    twice = [
        trainer._replace(final={hand: row._replace(times=2 * row.times) for hand, row in trainer.final.items()})
        for trainer in trainers
    ]
    verdicts = {(hand, field): verdict for hand, field, *_, verdict in TRAINERS.compared(twice).rows}
    assert verdicts["pair", "times"] is Verdict.REFUTED
    assert verdicts["pair", "won per cent"] is Verdict.REPRODUCED


def test_best_hands_are_shared_between_pairs() -> None:
    trainers = TRAINERS.printed_trainers()[:2]
    both = trainers[0].best & trainers[1].best
    among, across, ours = TRAINERS.shared_best(trainers, trainers)
    assert (among, ours) == (len(both), len(both))
    assert across == (len(trainers[0].best) + len(trainers[1].best) + 2 * len(both)) / 4
