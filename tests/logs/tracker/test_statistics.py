"""Statistics written as JSON and read back."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from logs.tracker import HandCounts, Statistics, statistics_of
from logs.tracker.statistics import SCHEMA_VERSION, Frequency
from tests.logs.hands import HOLDEM, TOYS, random_hands


@pytest.mark.sampled
@pytest.mark.parametrize("game", HOLDEM + TOYS)
@pytest.mark.parametrize("hands", [1, 105])
def test_json_comes_back(game: str, hands: int) -> None:
    statistics = statistics_of(HandCounts().add_all(random_hands(game, hands, with_notes=True)))
    text = statistics.model_dump_json()
    assert Statistics.model_validate_json(text) == statistics
    plain = json.loads(text, parse_constant=pytest.fail)
    assert (plain["schema_version"], plain["kind"], plain["hands"]) == (SCHEMA_VERSION, "statistics", hands)


def test_the_best_bot_and_the_best_hands_come_first() -> None:
    statistics = statistics_of(HandCounts().add_all(random_hands("limit6", 150)))
    winnings = [bot.mbb_per_game.mean for bot in statistics.bots]
    assert winnings == sorted(winnings, reverse=True)
    gains = [hand.net_chips for hand in statistics.bots[0].starting_hands]
    assert gains == sorted(gains, reverse=True)


def test_too_few_hands_have_no_interval_and_no_style() -> None:
    records = random_hands("limit", 100)
    few, enough = (statistics_of(HandCounts().add_all(records[:count])).bots[0] for count in (99, 100))
    assert few.mbb_per_game.half_width is None
    assert few.style is not None
    assert (few.style.name, few.style.place, few.style.explanation) == (None, None, "too few hands: 99 of 100")
    assert enough.mbb_per_game.half_width is not None
    assert enough.style is not None
    assert enough.style.name is not None
    assert enough.style.place is not None


def test_nan_is_refused() -> None:
    with pytest.raises(ValidationError):
        Frequency.model_validate({"times": float("nan"), "chances": 1})
    with pytest.raises(ValidationError):
        Frequency.model_validate({"times": 1, "chances": 1, "more": 1})
