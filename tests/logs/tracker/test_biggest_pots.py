"""The biggest pots."""

from __future__ import annotations

import pickle

import pytest

from logs import HandRecord
from logs.tracker.biggest_pots import BiggestPots
from logs.tracker.counts import HandCounts
from tests.logs.hands import random_hands, same
from tests.logs.tracker.little_hands import hand


def pot_blinds(record: HandRecord) -> float:
    """The pot without what nobody called, in big blinds."""
    spent = sorted(record.betting.spent)
    return (sum(spent) - (spent[-1] - spent[-2])) / record.game.big_blind


@pytest.mark.parametrize("game", ["limit", "nolimit3", "limit6"])
@pytest.mark.parametrize("most", [0, 1, 10])
def test_the_biggest_are_kept_and_of_equal_ones_the_first(game: str, most: int) -> None:
    records = random_hands(game, 200)
    ordered = sorted(records, key=lambda record: (-pot_blinds(record), record.hand_number))[:most]
    found = HandCounts(big_pots=most).add_all(records).big_pots()
    assert [big.record for big in found] == ordered
    assert [big.blinds for big in found] == [pot_blinds(record) for record in ordered]


def test_chips_that_nobody_called_make_no_pot_big() -> None:
    records = [hand("nolimit", "r20000f", "AhKh|9c9d"), hand("nolimit", "cr600c/r900f", "AhKh|9c9d/Qh7h2c", number=1)]
    found = HandCounts().add_all(records).big_pots()
    assert [(big.blinds, big.record.hand_number) for big in found] == [(12, 1), (2, 0)]


def test_they_survive_the_way_to_another_process() -> None:
    records = random_hands("nolimit3", 50)
    pots = BiggestPots(5)
    for number, record in enumerate(records):
        pots.add(pot_blinds(record), number, record)
    copy = pickle.loads(pickle.dumps(pots))
    assert copy.threshold == pots.threshold
    for one, other in zip(copy.in_order(), pots.in_order(), strict=True):
        assert one[:2] == other[:2]
        assert same(one.record, other.record)
        assert hash(one.record.game) == hash(other.record.game)


def test_fewer_hands_than_are_kept() -> None:
    pots = BiggestPots(5)
    pots.add(3.0, 0, hand("nolimit", "f", "AhKh|9c9d"))
    assert pots.threshold < 0
    assert len(pots.in_order()) == 1
