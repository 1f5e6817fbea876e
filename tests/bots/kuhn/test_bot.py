"""The six models at the table: policy, draws, refusals."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from bots.errors import BotsError, GameRefused
from bots.kuhn.bot import WIRE_NAMES, card_of, variant_of
from bots.kuhn.games import MODEL_NAMES, KuhnGame, Variant, kuhn_equilibrium, models
from bots.kuhn.runs import expected_value
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.engine_games import small_game
from bots.solving.sequence_form import best_response, expected_values, sequence_form
from engine import CALL, FOLD, RAISE, Deal, Hand, deal_hand, raise_to
from logs.estimation import RunningMean
from protocol import find_game, shipped_games
from tests.bots.kuhn import naive
from tests.bots.playing import ViewOf, plan_of_bot


def test_games_that_a_dealer_can_deal() -> None:
    assert {name: variant_of(find_game(name)[1]) for name in shipped_games()} == {
        **dict.fromkeys(shipped_games()),
        "kuhn.limit.2p": Variant.CLASSIC,
        "kuhn-depth.limit.2p": Variant.DEPTH,
        "kuhn-breadth.nolimit.2p": Variant.BREADTH,
        "kuhn-both.nolimit.2p": Variant.BOTH,
    }


@pytest.mark.parametrize("variant", [Variant.CLASSIC, Variant.DEPTH])
def test_dealt_game_is_that_of_the_laboratory(variant: Variant) -> None:
    """The rules and the laboratory's trees give every pair of models the same values."""
    game = find_game(WIRE_NAMES[variant])[1]
    form = sequence_form(small_game(game))
    plans = {name: [plan_of_bot(form, game, at, make_bot(f"kuhn-{name}")) for at in (0, 1)] for name in MODEL_NAMES}
    for one in MODEL_NAMES:
        for other in MODEL_NAMES:
            outcome = expected_values(form, (plans[one][0], plans[other][1]))
            known = expected_value(KuhnGame(variant), models(variant)[one], models(variant)[other])
            assert outcome == pytest.approx((known, -known), abs=1e-12)


def test_best_responses_over_the_wire() -> None:
    """Against Rational, nothing wins more than a twelfth of a chip in the first seat, a sixth in the second."""
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


def test_sizes_of_bets_are_totals_of_a_hand(view_of: ViewOf) -> None:
    bot = make_bot("kuhn-bluffer")
    assert bot.policy(view_of("kuhn-breadth", "MATCHSTATE:0:0::Qs|")) == pytest.approx(
        {raise_to(2): 0.5, raise_to(3): 0.35, raise_to(11): 0.15}
    )
    assert bot.policy(view_of("kuhn-breadth", "MATCHSTATE:1:0:r3:|Ks")) == {FOLD: 0.5, CALL: 0.5}
    assert bot.policy(view_of("kuhn-both", "MATCHSTATE:1:0:r11:|Qs")) == {FOLD: 0.5, raise_to(21): 0.5}
    assert bot.policy(view_of("kuhn-both", "MATCHSTATE:0:0:r3r5:Ks|")) == {FOLD: 0.5, CALL: 0.5}
    assert bot.policy(view_of("kuhn-both", "MATCHSTATE:0:0:r3r5:As|")) == {CALL: 1}


def test_other_bets_count_as_the_nearest(view_of: ViewOf) -> None:
    bot = make_bot("kuhn-rational")
    assert bot.policy(view_of("kuhn-breadth", "MATCHSTATE:1:0:r5:|Ks")) == {FOLD: 0.5, CALL: 0.5}
    assert bot.policy(view_of("kuhn-breadth", "MATCHSTATE:1:0:r6:|Ks")) == {FOLD: 1}


def expected_at_a_dealer(game_name: str, first: str, second: str) -> float:
    """Compute expected winnings of the first player over all deals and all actions of two bots with policies."""
    game = find_game(game_name)[1]
    bots = (make_bot(first), make_bot(second))

    def value(hand: Hand) -> float:
        if hand.finished:
            return hand.values()[0]
        policy = bots[hand.acting_position].policy(View.from_hand(hand, hand.acting_position))
        assert policy is not None
        total = 0.0
        for action, chance in policy.items():
            child = hand.copy()
            child.apply(action)
            total += chance * value(child)
        return total

    deals = [Deal(((one,), (other,)), ()) for one, other in permutations(sorted(game.deck), 2)]
    return sum(value(Hand(game, deal)) for deal in deals) / len(deals)


@pytest.mark.parametrize("variant", WIRE_NAMES)
def test_models_win_at_a_dealer_what_they_win_in_the_laboratory(variant: Variant) -> None:
    for first, second in (("bluffer", "rational"), ("rational", "bluffer"), ("safe", "bluffer")):
        known = expected_value(KuhnGame(variant), models(variant)[first], models(variant)[second])
        expected = expected_at_a_dealer(WIRE_NAMES[variant], f"kuhn-{first}", f"kuhn-{second}")
        assert expected == pytest.approx(known, abs=1e-12)


def test_genes_of_a_file_are_played(view_of: ViewOf, tmp_path: Path) -> None:
    path = tmp_path / "my.genes"
    path.write_text("0.1 0.2 0.3\n0.4 0.5 0.6\n")
    bot = make_bot(f"kuhn?genes={path}")
    assert bot.policy(view_of("kuhn", "MATCHSTATE:0:0::Ks|")) == {CALL: 0.8, RAISE: 0.2}
    assert bot.policy(view_of("kuhn", "MATCHSTATE:1:0:r:|As")) == {FOLD: 0.4, CALL: 0.6}
    with pytest.raises(GameRefused, match="these 6 genes play the game kuhn; this game is not that one"):
        bot.require_game(find_game("kuhn-both")[1])
    path.write_text("0.1 0.2 0.3 0.4")
    with pytest.raises(BotsError, match=r"a strategy has one of these numbers of genes: 6 \(classic\), .* not 4"):
        make_bot(f"kuhn?genes={path}")


def test_other_games_are_refused() -> None:
    game = find_game("leduc")[1]
    hand = Hand(game, deal_hand(game, 1, 0))
    view = View.from_hand(hand, hand.acting_position)
    bot = make_bot("kuhn-shy")
    for ask in (bot.act, bot.policy):
        with pytest.raises(
            GameRefused, match="this bot plays Kuhn poker, the games kuhn, kuhn-depth, kuhn-breadth and kuhn-both; this"
        ):
            ask(view)


@pytest.mark.parametrize("variant", [Variant.CLASSIC, Variant.DEPTH])
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
    """The exact value of hands in both seats is half of both positions' values."""
    first, second = (models(variant)[name] for name in pair)
    exact = (expected_value(KuhnGame(variant), first, second) - expected_value(KuhnGame(variant), second, first)) / 2
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
