"""Action terms have mean 0 over the whole tree, with any strategies, policies and weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bots.errors import PolicyError
from bots.evaluation.hypothetical_hands import ActionTerms
from bots.evaluation.policies import policy_at
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, betting_start
from logs.variance.terms import Shares, term_values
from tests.bots.evaluation.known import Known
from tests.logs.variance.small_games import all_hands, random_strategy, small_game, uniform


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("kuhn", "A"),
        ("short leduc", "AB"),
        pytest.param("kuhn.limit.3p", "ABC", marks=pytest.mark.slow),
        pytest.param("leduc", "AB", marks=pytest.mark.slow),
        pytest.param("leduc no-limit", "AB", marks=pytest.mark.slow),
    ],
)
def test_terms_are_0_on_average(name: str, known: str) -> None:
    # The short game has one raise per round.
    game = small_game("leduc")._replace(max_raises=(1, 1)) if "short" in name else small_game(name)
    strategies = tuple([random_strategy(10 + at) for at in range(game.num_players)])
    hands = all_hands(game, strategies)
    terms = ActionTerms(game, {player: Known(strategies["ABC".index(player)]) for player in known})
    records = [hand.record for hand in hands]
    values = term_values(
        Shares(game), [r.deal for r in records], [terms.terms(r, 0) for r in records], [0] * len(hands)
    )
    assert values.shape[2] == len(known) * (1 + 4 * game.num_rounds)
    probabilities = np.array([hand.probability for hand in hands])
    means = np.einsum("h,hpc->pc", probabilities, values)
    assert np.abs(means).max() < 1e-12 * game.big_blind
    spreads = np.einsum("h,hpc->pc", probabilities, values**2)
    assert all(spreads[:, terms.columns[player].start].min() > 1e-3 for player in known)
    if len(known) == game.num_players == 2:
        first = [terms.columns[player].start for player in known]
        assert np.abs(values[:, :, first].sum(axis=1)).max() < 1e-9, "what one wins the other loses"


def test_other_policy_is_detected() -> None:
    hands = all_hands(small_game("kuhn"), (uniform, uniform))

    class Caller:
        def policy(self, view: View) -> Mapping[Action, float]:
            return {CALL: 1.0}

    terms = ActionTerms(hands[0].record.game, {"A": Caller()})
    raised = next(hand.record for hand in hands if hand.record.betting.rounds[0][0][1] == RAISE)
    sentence = (
        "A plays r in hand 0 of match, to which its policy gives no chance: these hands were played by another "
        "policy, or a fault was played for it"
    )
    with pytest.raises(PolicyError) as caught:
        terms.terms(raised, 0)
    assert str(caught.value) == sentence


def test_probabilities_are_checked() -> None:
    record = all_hands(small_game("kuhn"), (uniform, uniform))[0].record

    class StatePolicy:
        def __init__(self, policy_of_state: Mapping[Action, float] | None) -> None:
            self.found = policy_of_state

        def policy(self, view: View) -> Mapping[Action, float] | None:
            return self.found

    def ask(policy_of_state: Mapping[Action, float] | None) -> Mapping[Action, float] | None:
        return policy_at(
            StatePolicy(policy_of_state),
            View(betting_start(record.game), record.betting.rounds[0][0][0], 0, ((), ()), ()),
        )

    assert ask(None) is None
    assert ask({CALL: 0.5, RAISE: 0.5}) == {CALL: 0.5, RAISE: 0.5}
    assert ask({CALL: 0.50001, RAISE: 0.5}) == pytest.approx({CALL: 0.500005, RAISE: 0.499995})
    for wrong, problem in (
        ({CALL: 0.5}, "sum to 0.5, not to 1"),
        ({CALL: 0.5, FOLD: 0.5}, "an illegal action: f"),
        ({CALL: 1.5, RAISE: -0.5}, "an invalid probability: -0.5"),
    ):
        with pytest.raises(PolicyError, match=problem):
            ask(wrong)
