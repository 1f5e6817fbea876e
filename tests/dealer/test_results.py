"""The numbers of a result, and the sentence that says them."""

from __future__ import annotations

import json
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.results import FEWEST_HANDS, SCHEMA_VERSION, Z_95, MatchResult, PlayerResult, RunningMean, result_sentence

GAME = "some.game"


def _player(name: str, chips: float, mbb: float | None = None, half: float | None = None) -> PlayerResult:
    return PlayerResult(
        name=name,
        player="tcp",
        seat=0,
        chips=chips,
        mbb_per_game=mbb,
        half_width_95=half,
        thinking_s=0.0,
        faults={},
        first_fault=None,
        exit_code=None,
    )


def _pair(chips: float, mbb: float, half: float | None) -> list[PlayerResult]:
    return [_player("Ann", chips, mbb, half), _player("Bob", -chips, -mbb, half)]


def _sentence(players: list[PlayerResult], hands: int, outcome: str = "finished", reason: str = "") -> str:
    sentence = result_sentence(players, GAME, hands, outcome, reason)
    assert "nan" not in sentence
    assert "inf" not in sentence
    return sentence


# ---- mean and interval


@given(st.lists(st.floats(-1e6, 1e6), min_size=FEWEST_HANDS, max_size=300))
def test_a_running_mean_is_the_mean(numbers: list[float]) -> None:
    running = RunningMean()
    for number in numbers:
        running.add(number)
    assert running.count == len(numbers)
    assert running.mean == pytest.approx(statistics.fmean(numbers), rel=1e-9, abs=1e-6)
    expected = Z_95 * math.sqrt(statistics.variance(numbers) / len(numbers))
    assert running.half_width_95 == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_large_offsets_do_not_hurt() -> None:
    draw = random.Random(1)
    numbers = [1e9 + draw.random() for _ in range(1000)]
    running = RunningMean()
    for number in numbers:
        running.add(number)
    expected = Z_95 * math.sqrt(statistics.variance(numbers) / len(numbers))
    assert running.half_width_95 == pytest.approx(expected, rel=1e-4)


def test_too_few_numbers_have_no_interval() -> None:
    running = RunningMean()
    assert running.half_width_95 is None
    assert running.mean == 0.0
    for _ in range(FEWEST_HANDS - 1):
        running.add(3.0)
        assert running.half_width_95 is None
    running.add(3.0)
    assert running.half_width_95 == 0.0


# ---- the sentence


def test_no_hand() -> None:
    players = [_player("Ann", 0.0), _player("Bob", 0.0)]
    assert _sentence(players, 0, "failed", "Bob did not come.") == "No hand was finished: Bob did not come."


def test_a_clear_winner() -> None:
    assert _sentence(_pair(5000, 1234.4, 99.6), 2000) == (
        "Ann beats Bob by 1,234 ± 100 mbb/g (95 %) over 2,000 hands of some.game."
    )


def test_the_better_one_comes_first_whatever_his_seat() -> None:
    assert _sentence(_pair(-5000, -1234.4, 99.6), 2000).startswith("Bob beats Ann by 1,234 ± 100 mbb/g")


def test_a_lead_that_may_be_luck_says_how_many_hands_would_tell() -> None:
    assert _sentence(_pair(100, 50.0, 100.0), 1000) == (
        "Ann is ahead of Bob by 50 ± 100 mbb/g (95 %) after 1,000 hands of some.game: that may be luck. "
        "If the lead is real, about 4,000 hands would show it."
    )


def test_a_lead_as_wide_as_its_interval_is_not_clear() -> None:
    assert "that may be luck" in _sentence(_pair(100, 100.0, 100.0), 1000)


def test_too_few_hands_to_say_anything() -> None:
    assert _sentence(_pair(10, 500.0, None), 20) == (
        "Ann is ahead of Bob by 500 mbb/g after 20 hands of some.game, too few hands to say anything about strength "
        "(at least 100 are needed for an interval)."
    )


def test_one_hand_is_a_hand() -> None:
    assert "after 1 hand of some.game" in _sentence(_pair(1, 500.0, None), 1)


def test_a_tie() -> None:
    assert _sentence(_pair(0.0, 0.0, 100.0), 1000) == "Ann and Bob are level after 1,000 hands of some.game."


def test_three_players_are_measured_against_the_table() -> None:
    players = [_player("A", -5, -5, 1), _player("B", 10, 10, 1), _player("C", -5, -5, 1)]
    assert _sentence(players, 1000) == "B beats the table by 10 ± 1 mbb/g (95 %) over 1,000 hands of some.game."


def test_three_players_who_are_level() -> None:
    players = [_player(name, 0.0, 0.0, 1) for name in "ABC"]
    assert _sentence(players, 1000) == "A and the table are level after 1,000 hands of some.game."


def test_rests_of_split_pots_are_no_lead() -> None:
    thirds = 0.1 + 0.2 - 0.3
    players = [_player("A", thirds, thirds, 50), _player("B", 0.0, 0.0, 50), _player("C", -thirds, -thirds, 50)]
    assert _sentence(players, 1000) == "A and the table are level after 1,000 hands of some.game."


def test_no_spread_at_all() -> None:
    assert _sentence(_pair(500, 500.0, 0.0), 1000).startswith("Ann beats Bob by 500 ± 0 mbb/g (95 %)")


@pytest.mark.parametrize("outcome", ["failed", "interrupted"])
@pytest.mark.parametrize(("mbb", "half"), [(500.0, 10.0), (5.0, 10.0), (5.0, None), (0.0, 10.0)])
def test_an_early_end_is_said_with_its_reason(outcome: str, mbb: float, half: float | None) -> None:
    sentence = _sentence(_pair(mbb, mbb, half), 1000, outcome, "Bob left.")
    assert sentence.endswith(" The match ended early: Bob left.")


@given(
    chips=st.floats(-1e9, 1e9),
    mbb=st.floats(0.01, 1e9),
    half=st.none() | st.floats(0, 1e9),
    hands=st.integers(0, 2**32),
)
def test_every_sentence_is_a_sentence(chips: float, mbb: float, half: float | None, hands: int) -> None:
    sentence = _sentence(_pair(chips, math.copysign(mbb, chips), half), hands, "finished", "nothing.")
    assert sentence.endswith(".")
    assert "None" not in sentence


# ---- data


def test_a_result_is_json_with_its_schema_version() -> None:
    result = MatchResult(
        match="m",
        game=GAME,
        seed=1,
        hands_asked=10,
        hands_played=2,
        outcome="failed",
        reason="x.",
        seconds=1.5,
        hands_per_second=1.3,
        folder=None,
        players=_pair(1, 1.0, None),
        sentence="x.",
    )
    data = json.loads(result.model_dump_json())
    assert data["schema_version"] == SCHEMA_VERSION == 1
    assert data["players"][0]["half_width_95"] is None
    assert MatchResult.model_validate_json(result.model_dump_json()) == result


def test_the_fields_of_a_result_are_a_promise() -> None:
    """Taking one away or changing what it means needs a new schema version."""
    assert set(MatchResult.model_fields) >= {
        "schema_version",
        "match",
        "game",
        "seed",
        "hands_asked",
        "hands_played",
        "outcome",
        "reason",
        "seconds",
        "hands_per_second",
        "folder",
        "players",
        "sentence",
    }
    assert set(PlayerResult.model_fields) >= {
        "name",
        "player",
        "seat",
        "chips",
        "mbb_per_game",
        "half_width_95",
        "thinking_s",
        "faults",
        "first_fault",
        "exit_code",
    }
