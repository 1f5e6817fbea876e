"""Hand numbers of exports: stable and practically unique."""

from __future__ import annotations

import dataclasses

import pytest

from logs.formats.hand_numbers import exported_number, match_base
from protocol import find_game
from tests.logs.hands import as_seen, random_hands
from tests.logs.pokerstars.hand_cases import make_record


def test_hand_numbers_are_stable() -> None:
    """If these values change, hands that were imported before are imported again as duplicates."""
    hand = make_record("limit", "f", "AsAd KsKd", number=7)
    base = match_base(hand, None)
    assert exported_number(base, 7) == 504_229_369_007
    assert exported_number(match_base(hand, "seed 1"), 7) == 700_095_103_007


def test_times_and_unseen_cards_do_not_count() -> None:
    for hand in random_hands("nolimit3", 20, with_notes=True):
        assert match_base(as_seen(hand), None) == match_base(hand, None)


def test_hand_number_depends_on_everything_that_identifies_a_match() -> None:
    one = make_record("limit", "f", "AsAd KsKd")
    others = [
        one,
        dataclasses.replace(one, match_name="other"),
        dataclasses.replace(one, names_by_seat=("Bob", "Ann")),
        dataclasses.replace(one, game=find_game("limit")[1]._replace(stacks=(1000, 1000))),
        make_record("limit", "f", "AsAd KsKh"),
        make_record("limit", "rf", "AsAd KsKd"),
        make_record("limit", "f", "AsAd KsKd", number=2),
    ]
    assert len({match_base(hand, None) for hand in others}) == len(others)
    assert len({match_base(one, match_id) for match_id in ("1", "2", "", None)}) == 4
    assert match_base(others[4], "1") == match_base(one, "1")


@pytest.mark.parametrize("base", [0, 599_999_999_000])
@pytest.mark.parametrize("number", [0, 999, 10**11])
def test_numbers_have_twelve_digits(base: int, number: int) -> None:
    assert 400_000_000_000 <= exported_number(base, number) <= 999_999_999_999


def test_numbers_of_a_match_are_all_different() -> None:
    base = 599_999_000_000
    assert len({exported_number(base, number) for number in range(200_000)}) == 200_000


def test_bases_of_matches_are_spread_over_all_thousands() -> None:
    hand = make_record("limit", "f", "AsAd KsKd")
    bases = {match_base(hand, str(index)) for index in range(5000)}
    assert len(bases) >= 4999
    assert all(base % 1000 == 0 for base in bases)
    in_tenths = [sum(base // 60_000_000_000 == tenth for base in bases) for tenth in range(10)]
    assert min(in_tenths) > 400
