"""AIVAT over ranges: exact on average over the whole tree, with published spreads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bots import View, self_play
from bots.errors import PolicyError
from bots.evaluation.hypothetical_hands import HypotheticalHands, number_of_holdings
from bots.sdk.registry import make_bot
from engine import Action
from logs.variance.terms import Shares, chance_terms, term_values
from protocol import find_game
from tests.bots.evaluation.known import Known
from tests.logs.variance.small_games import Strategy, all_hands, random_strategy, small_game, uniform


def estimate_all(
    name: str, strategies: tuple[Strategy, ...], known: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for every hand its probability and, by position, chips won, their mean over all holdings, and AIVAT."""
    game = small_game(name)
    hands = all_hands(game, strategies)
    records = [hand.record for hand in hands]
    imagined = HypotheticalHands(game, {player: Known(strategies["ABC".index(player)]) for player in known})
    columns = np.array([imagined.columns(record, 0) for record in records])
    chance = term_values(
        Shares(game), [r.deal for r in records], [chance_terms(r.betting) for r in records], [0] * 9999
    )
    raw = np.array([record.values for record in records])
    aivat = raw + chance[:, :, : game.num_rounds].sum(axis=2) + columns[:, :, 0]
    return np.array([hand.probability for hand in hands]), raw, raw + columns[:, :, 1], aivat


def variance(chances: np.ndarray, values: np.ndarray) -> float:
    return float(chances @ values**2 - (chances @ values) ** 2)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("kuhn", "AB"),
        ("kuhn.limit.3p", "B"),
        pytest.param("kuhn.limit.3p", "AC", marks=pytest.mark.slow),
        pytest.param("leduc", "A", marks=pytest.mark.slow),
        pytest.param("leduc no-limit", "B", marks=pytest.mark.slow),
    ],
)
def test_expectation_is_exact(name: str, known: str) -> None:
    game = small_game(name)
    strategies = tuple([random_strategy(20 + at) for at in range(game.num_players)])
    chances, raw, imagined, aivat = estimate_all(name, strategies, known)
    tolerance = 1e-12 * game.big_blind
    assert chances @ imagined == pytest.approx(chances @ raw, abs=tolerance)
    assert chances @ aivat == pytest.approx(chances @ raw, abs=tolerance)
    assert np.abs(aivat.sum(axis=1)).max() < 1e-9 * game.big_blind
    assert variance(chances, aivat[:, 0]) < variance(chances, raw[:, 0])


@pytest.mark.parametrize(
    ("name", "one", "both"),
    [
        ("kuhn", 1.3822525597269626, 5.8695652173913055),
        pytest.param("leduc", 1.4306525027526336, 3.2055566229873604, marks=pytest.mark.slow),
    ],
)
def test_variance_of_the_mean_over_all_holdings_is_known(name: str, one: float, both: float) -> None:
    """Known for uniform play: the ratio of the spreads of the chips won and of their mean over all holdings."""
    for known, ratio in (("A", one), ("AB", both)):
        chances, raw, imagined, _ = estimate_all(name, (uniform, uniform), known)
        assert variance(chances, raw[:, 0]) / variance(chances, imagined[:, 0]) == pytest.approx(ratio, rel=1e-9)


def test_number_of_holdings() -> None:
    assert number_of_holdings(find_game("limit")[1], 1) == 1225
    assert number_of_holdings(find_game("leduc")[1], 2) == 30
    assert number_of_holdings(find_game("kuhn.limit.3p")[1], 2) == 6


def test_bot_without_a_policy_is_refused() -> None:
    class Silent:
        def policy(self, view: object) -> None:
            return None

    record = all_hands(small_game("kuhn"), (uniform, uniform))[0].record
    with pytest.raises(PolicyError, match="A has no policy in MATCHSTATE:0:0::"):
        HypotheticalHands(record.game, {"A": Silent()}).columns(record, 0)


def test_policy_by_holding_gives_the_same_terms() -> None:
    """A bot with a policy for all holdings at once gives the same terms as one asked for each."""

    class OneByOne:
        def __init__(self) -> None:
            self._bot = make_bot("lp")

        def policy(self, view: View) -> Mapping[Action, float] | None:
            return self._bot.policy(view)

    game = find_game("limit")[1]
    bots = [make_bot("lp?seed=1"), make_bot("random?seed=2")]
    records = list(self_play(game, bots, deals=1, seed=3, names=["a", "b"]))
    both = [HypotheticalHands(game, {"a": policy}) for policy in (make_bot("lp"), OneByOne())]
    for record in records:
        at_once, one_by_one = (imagined.columns(record, 0) for imagined in both)
        assert at_once == pytest.approx(one_by_one, abs=1e-9)
        assert np.abs(at_once).max() > 0
