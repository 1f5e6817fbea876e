"""Sentences about the first places of a tournament."""

from __future__ import annotations

import numpy as np
import pytest

from dealer.run.results.summary import first_places, standings_of
from logs.estimation import RankedContest


def _first_places(won: dict[tuple[int, int], float], deals: int) -> str:
    """Sentence about contests whose deals are worth these values, plus or minus 10."""
    noise = np.where(np.arange(deals) % 2, 10.0, -10.0)
    contests = [RankedContest(pair, np.column_stack([mean + noise, -mean - noise])) for pair, mean in won.items()]
    return first_places(standings_of("kuhn", contests, ["A", "B", "C"], (-200.0, 200.0)))


@pytest.mark.parametrize(
    ("won", "deals", "sentence"),
    [
        (
            {(0, 1): 50, (0, 2): 50, (1, 2): 20},
            200,
            "A is first in kuhn by total bankroll (100% of bootstrap samples) and by instant run-off (100%).",
        ),
        (
            {(0, 1): 5, (0, 2): 100, (1, 2): 200},
            200,
            "In kuhn B is first by total bankroll (100% of bootstrap samples), A is first by instant run-off (100%).",
        ),
        (
            {(0, 1): 50, (0, 2): 50, (1, 2): 20},
            3,
            "A is first in kuhn by total bankroll and by instant run-off. This is no evidence of strength: at least "
            "100 deals per contest are needed.",
        ),
        ({(0, 1): 50}, 200, "A is first in kuhn by total bankroll and by instant run-off."),
    ],
)
def test_sentence_names_the_first_places(won: dict[tuple[int, int], float], deals: int, sentence: str) -> None:
    assert _first_places(won, deals) == sentence


def test_equal_players_share_the_first_place() -> None:
    deals = np.zeros((200, 2))
    contests = [RankedContest(pair, deals) for pair in ((0, 1), (0, 2), (1, 2))]
    assert first_places(standings_of("kuhn", contests, ["A", "B", "C"], (-200.0, 200.0))) == (
        "A, B and C share the first place in kuhn by total bankroll (100% of bootstrap samples) and by instant run-off "
        "(100%)."
    )
