"""Expectation of all-in hands: card symmetry, side pots, caching, imports."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine import Deal
from engine.equity import showdown_odds
from logs.tracker import all_in
from logs.tracker.all_in import AllInExpectations
from logs.tracker.hand_counts import HandCounts
from protocol import find_game
from tests.logs.hands import random_hands
from tests.logs.tracker import naive
from tests.logs.tracker.little_hands import hand

ROOT = Path(__file__).resolve().parents[3]


def test_the_names_of_the_suits_and_the_order_of_the_players_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def record_count(*args: object, **options: object) -> object:
        calls.append(args)
        return all_in_odds(*args, **options)  # type: ignore[arg-type]

    all_in_odds = all_in.odds_by_pot
    monkeypatch.setattr(all_in, "odds_by_pot", record_count)
    expectations = AllInExpectations(find_game("nolimit")[1])
    chance = random.Random(1)
    record = hand("nolimit", "cc/r20000c//", "AcQd|KcKh/2c3dKd/9s/Ks")
    values = expectations.values(record.betting, record.deal, 3)
    assert values == pytest.approx([naive.expectation((record, p)) for p in (0, 1)])  # type: ignore[arg-type]
    for _ in range(20):
        suits = chance.sample(range(4), 4)
        holes = [tuple(card & ~3 | suits[card & 3] for card in cards) for cards in record.deal.hole_cards]
        board = tuple(card & ~3 | suits[card & 3] for card in record.deal.board)
        assert expectations.values(record.betting, Deal(tuple(holes), board), 3) == values
        turned = expectations.values(record.betting, Deal((holes[1], holes[0]), board), 3)
        assert turned is not None
        assert turned[::-1] == values
    assert len(calls) == 1


def test_a_side_pot_before_the_flop() -> None:
    """Dan has 500 chips and the aces; Ann and Cat compete for the rest; Bob's folded cards are dead."""
    game = find_game("nolimit6")[1]
    short = game._replace(stacks=(20000, 20000, 20000, 500, 20000, 20000))
    record = hand(short, "cr500ffr20000fc///", "JsJh|KcKd|QhQd|AhAd|5c5d|2c7d/3c4h9s/9d/Th")
    assert record.betting.spent == (20000, 100, 20000, 500, 0, 0)
    values = AllInExpectations(short).values(record.betting, record.deal, 0)
    assert values is not None
    holes = record.deal.hole_cards
    dead = [card for position in (1, 4, 5) for card in holes[position]]
    main = showdown_odds([holes[0], holes[2], holes[3]], dead=dead).equities
    side = showdown_odds([holes[0], holes[2]], dead=[*dead, *holes[3]]).equities
    assert values[0] == pytest.approx(1600 * main[0] + 39000 * side[0] - 20000)
    assert values[2] == pytest.approx(1600 * main[1] + 39000 * side[1] - 20000)
    assert values[3] == pytest.approx(1600 * main[2] - 500)
    assert [values[1], values[4], values[5]] == [-100, 0, 0]
    assert sum(values) == pytest.approx(0, abs=1e-9)


def test_unknown_folded_cards_stay_in_the_deck() -> None:
    record = hand("nolimit3", "r20000cf///", "AcAd|5h5s|KcKh/2c3d4h/9s/Ks")
    game = record.game
    holes = record.deal.hole_cards
    unknown = Deal((holes[0], (), holes[2]), record.deal.board)
    known = AllInExpectations(game).values(record.betting, record.deal, 0)
    values = AllInExpectations(game).values(record.betting, unknown, 0)
    assert values is not None
    assert known is not None
    equity = showdown_odds([holes[0], holes[2]]).equities[0]
    assert values[0] == pytest.approx(40100 * equity - 20000)
    assert values[0] != pytest.approx(known[0])
    assert AllInExpectations(game).values(record.betting, Deal(((), *holes[1:]), record.deal.board), 0) is None


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_in, "_MAX_CACHED", 3)
    records = random_hands("leduc-nolimit", 200, fold=0.0)
    expected = HandCounts().add_all(records)
    monkeypatch.setattr(all_in, "_MAX_CACHED", 1000)
    assert HandCounts().add_all(records).players["Ann"].sums == pytest.approx(expected.players["Ann"].sums)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "nolimit10"])
def test_games_with_expectations(game: str) -> None:
    assert AllInExpectations.exist_for(find_game(game)[1])


def test_a_game_with_too_many_boards_has_none() -> None:
    omaha = find_game("nolimit")[1]._replace(num_hole_cards=3)
    assert not AllInExpectations.exist_for(omaha)


@pytest.mark.slow
def test_numba_is_not_imported_before_cards_are_to_come() -> None:
    """A showdown after all bets and an all-in on the turn are counted without numba."""
    code = """
import sys
from logs.tracker.hand_counts import HandCounts, Sum
from tests.logs.tracker.little_hands import hand
counts = HandCounts().add_all([
    hand("nolimit", "cc/cc/cc/r20000c", "AcAd|KcKh/2c3d4h/9s/Ks"),
    hand("nolimit", "cc/cc/r20000c/", "AcAd|KcKh/2c3d4h/9s/Ks"),
    hand("nolimit", "r20000f", "AcAd|KcKh"),
])
assert counts.players["Ann"].sums[Sum.EXPECTED] != counts.players["Ann"].sums[Sum.NET]
print("numba" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("False\n", "")
