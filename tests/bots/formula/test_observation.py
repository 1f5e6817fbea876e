"""Observations of players, with every quantity counted by hand from the betting."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields

import pytest

from bots.formula.formulas import Observation, observe
from bots.sdk.view import View
from engine import CALL, FOLD, Hand, deals
from protocol import find_game, shipped_games

ViewOf = Callable[[str, str], View]


@pytest.mark.parametrize(
    ("game", "state", "values"),
    [
        # pot, odds, to call, raises, players, followers, round, in game, big blind
        ("limit", "MATCHSTATE:1:0::|AhKs", (15, 3.0, 5, 0, 2, 1, 0, 2, 10)),
        ("limit", "MATCHSTATE:0:0:c:AhKs|", (20, 2.0, 0, 0, 2, 0, 0, 2, 10)),
        ("limit", "MATCHSTATE:1:0:cr:|AhKs", (30, 3.0, 10, 1, 2, 0, 0, 2, 10)),
        # two raises before the flop and two on it, all four count: 30 each, then 40 against 50
        ("limit", "MATCHSTATE:0:0:rrc/rr:AhKs|/2c3c4c", (90, 2.25, 10, 4, 2, 0, 1, 2, 10)),
        ("limit", "MATCHSTATE:0:0:cc/cc/cc/:AhKs|/2c3c4c/5d/6d", (20, 2.0, 0, 0, 2, 1, 3, 2, 10)),
        # ten players: the first to act has put in nothing
        ("limit10", "MATCHSTATE:2:0::||AhKs|||||||", (15, 0.0, 10, 0, 10, 9, 0, 10, 10)),
        # fold, fold, raise, call, fold, fold: six are left, of whom the ninth and both blinds follow
        ("limit10", "MATCHSTATE:8:0:ffrcff:||||||||AhKs|", (55, 0.0, 20, 1, 10, 3, 0, 6, 10)),
        ("limit10", "MATCHSTATE:0:0:ffcfcfcf:AhKs|||||||||", (45, 9.0, 5, 0, 10, 1, 0, 5, 10)),
        ("nolimit", "MATCHSTATE:0:0:r20000:AhKs|", (20100, 201.0, 19900, 1, 2, 0, 0, 2, 100)),
        ("nolimit3", "MATCHSTATE:1:0:r300cc/c:|AhKs|/2c3c4c", (900, 3.0, 0, 1, 3, 1, 1, 3, 100)),
        # the small blind has folded after posting 50; a bet of 200
        ("nolimit3", "MATCHSTATE:2:0:r300fc/r500:||AhKs/2c3c4c", (850, 850 / 300, 200, 2, 3, 0, 1, 2, 100)),
        # the opponent is all-in and does not act again, the big blind does
        ("nolimit3", "MATCHSTATE:0:0:r20000:AhKs||", (20150, 403.0, 19950, 1, 3, 1, 0, 3, 100)),
        ("kuhn", "MATCHSTATE:1:0:r:|Ks", (3, 3.0, 1, 1, 2, 0, 0, 2, 1)),
    ],
)
def test_every_quantity(view_of: ViewOf, game: str, state: str, values: tuple[float, ...]) -> None:
    assert observe(view_of(game, state)) == Observation(None, *values)  # type: ignore[arg-type]


def test_given_chance_is_not_computed(view_of: ViewOf) -> None:
    assert observe(view_of("limit", "MATCHSTATE:1:0::|AhKs"), 62.5).chance_percent == 62.5


def test_money_is_in_big_blinds(view_of: ViewOf) -> None:
    limit = observe(view_of("limit", "MATCHSTATE:1:0::|AhKs"))
    no_limit = observe(view_of("nolimit", "MATCHSTATE:1:0::|AhKs"))
    assert (limit.pot_money, limit.raise_money) == (no_limit.pot_money, no_limit.raise_money) == (1.5, 0.5)


def test_observation_is_frozen_and_documented(view_of: ViewOf) -> None:
    seen = observe(view_of("limit", "MATCHSTATE:1:0::|AhKs"))
    with pytest.raises(FrozenInstanceError):
        seen.pot_chips = 0  # type: ignore[misc]
    assert [field.name for field in fields(seen)][:9] == [
        "chance_percent",
        "pot_chips",
        "odds",
        "raise_chips",
        "raise_count",
        "player_count",
        "follower_count",
        "round",
        "in_game_count",
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("name", shipped_games())
def test_observation_agrees_with_the_view_in_random_games(name: str) -> None:
    game = find_game(name)[1]
    rng = random.Random(1)
    source = deals(game, 4)
    for _ in range(25):
        hand = Hand(game, next(source))
        raises = 0
        while not hand.finished:
            view = View.from_hand(hand, hand.acting_position)
            seen = observe(view)
            own = view.hand_committed[view.position]
            assert seen.own_chips == own, "found again from POT and ODDS, without an error of rounding"
            assert seen.raise_count == raises
            assert 0 <= seen.follower_count < seen.in_game_count <= seen.player_count == game.num_players
            assert 0 <= seen.raise_chips <= view.stack_left
            assert (seen.raise_chips > 0) >= view.can_fold
            legal = view.legal
            choices = [CALL, CALL, *([FOLD] if legal.can_fold and rng.random() < 0.2 else [])]
            if legal.can_raise:
                choices.append(view.raise_to(rng.randint(legal.raise_min, legal.raise_max)))
            action = rng.choice(choices)
            raises += action.kind == 2
            hand.apply(action)


def test_own_chips_come_back_exactly() -> None:
    rng = random.Random(2)
    for _ in range(3_000):
        own = rng.randint(1, 10 ** rng.randint(1, 9))
        pot = own + rng.randint(0, 10 ** rng.randint(1, 10))
        assert Observation(None, pot, pot / own, 0, 0, 2, 0, 0, 2, 100).own_chips == own
