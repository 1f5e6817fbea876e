"""The six models at the table: what they tell, what they draw, what they refuse."""

from __future__ import annotations

from collections import Counter

import pytest

from bots.errors import GameRefused
from bots.kuhn.bot import WIRE_NAMES, card_of, variant_of
from bots.kuhn.games import MODEL_NAMES, KuhnGame, Variant, kuhn_equilibrium, models
from bots.kuhn.runs import expected_value
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.engine_games import small_game
from bots.solving.sequence_form import best_response, expected_values, sequence_form
from engine import CALL, FOLD, RAISE, Hand, deal_hand
from logs.estimation import RunningMean
from protocol import find_game, shipped_games
from tests.bots.kuhn import naive
from tests.bots.playing import ViewOf, plan_of_bot


def test_games_that_a_dealer_can_deal() -> None:
    assert {name: variant_of(find_game(name)[1]) for name in shipped_games()} == {
        **dict.fromkeys(shipped_games()),
        "kuhn.limit.2p": Variant.CLASSIC,
        "kuhn-depth.limit.2p": Variant.DEPTH,
    }


@pytest.mark.parametrize("variant", WIRE_NAMES)
def test_dealt_game_is_that_of_the_laboratory(variant: Variant) -> None:
    """Every pair of models has the same values by the rule book as by the trees of the laboratory."""
    game = find_game(WIRE_NAMES[variant])[1]
    form = sequence_form(small_game(game))
    plans = {name: [plan_of_bot(form, game, at, make_bot(f"kuhn-{name}")) for at in (0, 1)] for name in MODEL_NAMES}
    for one in MODEL_NAMES:
        for other in MODEL_NAMES:
            outcome = expected_values(form, (plans[one][0], plans[other][1]))
            known = expected_value(KuhnGame(variant), models(variant)[one], models(variant)[other])
            assert outcome == pytest.approx((known, -known), abs=1e-12)


def test_best_responses_over_the_wire() -> None:
    """Nobody can win more from Rational than a twelfth of a chip in the first seat, and a sixth in the second."""
    game = find_game("kuhn")[1]
    form = sequence_form(small_game(game))
    bot = make_bot("kuhn-rational")
    values = [best_response(form, player, plan_of_bot(form, game, 1 - player, bot)).value for player in (0, 1)]
    assert values == pytest.approx([1 / 12, 1 / 6], abs=1e-12)


def test_policy_of_the_bluffer(view_of: ViewOf) -> None:
    bot = make_bot("kuhn-bluffer")
    assert bot.policy(view_of("kuhn", "MATCHSTATE:0:0::Qs|")) == {CALL: 0.5, RAISE: 0.5}
    assert bot.policy(view_of("kuhn", "MATCHSTATE:0:0:cr:Ks|")) == {FOLD: pytest.approx(0.3), CALL: 0.7}
    assert bot.policy(view_of("kuhn", "MATCHSTATE:1:0:c:|As")) == {RAISE: 1}
    assert bot.policy(view_of("kuhn-depth", "MATCHSTATE:1:0:r:|Qs")) == {FOLD: 0.5, RAISE: 0.5}
    assert bot.policy(view_of("kuhn-depth", "MATCHSTATE:1:0:r:|Ks")) == pytest.approx(
        {FOLD: 0.3, CALL: 0.35, RAISE: 0.35}
    )
    assert bot.policy(view_of("kuhn-depth", "MATCHSTATE:0:0:rr:Qs|")) == {FOLD: 1}
    assert card_of(view_of("kuhn", "MATCHSTATE:1:0:c:|As")) == 2


def test_other_games_are_refused() -> None:
    game = find_game("leduc")[1]
    hand = Hand(game, deal_hand(game, 1, 0))
    view = View.from_hand(hand, hand.acting_position)
    bot = make_bot("kuhn-shy")
    for ask in (bot.act, bot.policy):
        with pytest.raises(
            GameRefused, match="shy plays Kuhn poker, the games kuhn and kuhn-depth; this game is not one of them"
        ):
            ask(view)


@pytest.mark.parametrize("variant", WIRE_NAMES)
def test_actions_are_drawn_by_the_policy(view_of: ViewOf, variant: Variant) -> None:
    bot = make_bot("kuhn-bluffer", 3)
    for state in ("0::", "1:c:", "1:r:", "0:cr:"):
        position, betting = state[0], state[2:]
        cards = "Ks|" if position == "0" else "|Ks"
        drawn = Counter(
            bot.act(view_of(WIRE_NAMES[variant], f"MATCHSTATE:{position}:{hand}:{betting}{cards}"))
            for hand in range(300)
        )
        policy = bot.policy(view_of(WIRE_NAMES[variant], f"MATCHSTATE:{position}:0:{betting}{cards}"))
        assert policy is not None
        assert set(drawn) == set(policy)
        for action, chance in policy.items():
            assert abs(drawn[action] - 300 * chance) <= 5 * (300 * chance * (1 - chance)) ** 0.5 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("variant", WIRE_NAMES)
@pytest.mark.parametrize("pair", [("bluffer", "rational"), ("safe", "bluffer"), ("caller", "rational")])
def test_winnings_approach_the_exact_values(variant: Variant, pair: tuple[str, str]) -> None:
    """Hands in both seats; half of both positions' exact values."""
    one, other = (models(variant)[name] for name in pair)
    exact = (expected_value(KuhnGame(variant), one, other) - expected_value(KuhnGame(variant), other, one)) / 2
    bots = [make_bot(f"kuhn-{name}", seed) for seed, name in enumerate(pair)]
    won = RunningMean()
    for record in self_play(WIRE_NAMES[variant], bots, deals=20_000, seed=5, names=pair):
        won.add(sum(value for at, value in enumerate(record.values) if record.name_at(at) == pair[0]))
    half_width = won.half_width()
    assert half_width is not None
    assert abs(won.mean - exact) < 2.5 * half_width


@pytest.mark.parametrize("bluff", [0, 0.1, 1 / 3])
def test_formula_of_kuhn(bluff: float) -> None:
    assert naive.exploitability(KuhnGame(), *kuhn_equilibrium(bluff)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("bluff", [-0.1, 0.34, float("nan")])
def test_bluffs_beyond_a_third_are_refused(bluff: float) -> None:
    with pytest.raises(ValueError, match="bluff must be 0 to 1/3, not"):
        kuhn_equilibrium(bluff)
