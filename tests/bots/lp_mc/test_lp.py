"""The players `lp` and `lp-mc`: the equilibrium before the flop, as probabilities and draws."""

from __future__ import annotations

from collections import Counter

import pytest

from bots.errors import GameRefused, SpecError
from bots.lp_mc import bot as module
from bots.lp_mc.bot import LpBot, LpMcBot, preflop_refusal
from bots.lp_mc.simulation import Values
from bots.lp_mc.strategy import preflop_strategy
from bots.sdk.bot import Bot
from bots.sdk.registry import describe, make_bot
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Game, Hand, Position, deal_hand
from engine.cards import STARTING_HANDS
from protocol import find_game
from tests.bots.playing import ViewOf

LIMIT = find_game("limit")[1]
HANDS = {"AA": "AhAs", "K3o": "Kh3s", "72o": "7h2s", "T9s": "Th9h"}
BETTINGS = {"": 1, "c": 0, "r": 0, "cr": 1, "rr": 1, "crr": 0, "rrr": 0, "crrr": 1}
"""Each betting, and the position to act."""


def views(view_of: ViewOf, name: str, number: int = 0) -> list[View]:
    """Yield the states in which a starting hand has a decision before the flop."""
    cards = HANDS[name]
    return [
        view_of("limit", f"MATCHSTATE:{us}:{number}:{betting}:" + (f"{cards}|" if us == 0 else f"|{cards}"))
        for betting, us in BETTINGS.items()
    ]


@pytest.mark.parametrize("name", HANDS)
@pytest.mark.parametrize("which", ["equilibrium", "published"])
@pytest.mark.parametrize("kind", [LpBot, LpMcBot])
def test_policy_equals_the_table(view_of: ViewOf, kind: type[LpBot | LpMcBot], which: str, name: str) -> None:
    bot = kind(preflop=which, seed=1)
    strategy = preflop_strategy(as_published=which == "published")
    for view, betting in zip(views(view_of, name), BETTINGS, strict=True):
        fold, call, raise_ = strategy.chances(betting, STARTING_HANDS.index(name))
        if not view.can_fold:
            fold, call = 0.0, fold + call
        outcome = bot.policy(view)
        assert outcome is not None
        assert outcome == {a: p for a, p in ((FOLD, fold), (CALL, call), (RAISE, raise_)) if p}
        assert sum(outcome.values()) == pytest.approx(1)
        assert RAISE not in outcome or view.can_raise
        assert view.comments == []


@pytest.mark.sampled
@pytest.mark.parametrize("which", ["equilibrium", "published"])
@pytest.mark.parametrize("name", HANDS)
def test_actions_are_drawn_by_the_policy(view_of: ViewOf, which: str, name: str) -> None:
    bots: list[Bot] = [LpBot(preflop=which, seed=5), LpMcBot(preflop=which, seed=5)]
    drawn: dict[str, Counter[object]] = {betting: Counter() for betting in BETTINGS}
    hands = 150
    for number in range(hands):
        for view, betting in zip(views(view_of, name, number), BETTINGS, strict=True):
            first, second = (bot.act(view) for bot in bots)
            assert first == second
            drawn[betting][first] += 1
    for view, betting in zip(views(view_of, name), BETTINGS, strict=True):
        policy = bots[0].policy(view)
        assert policy is not None
        assert set(drawn[betting]) <= set(policy)
        for action, chance in policy.items():
            spread = (hands * chance * (1 - chance)) ** 0.5
            assert abs(drawn[betting][action] - hands * chance) <= 5 * spread + 1e-6


def test_after_the_flop(view_of: ViewOf, monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of("limit", "MATCHSTATE:1:0:cc/r:|AhKs/2c7dTh")
    assert LpBot().act(view) == CALL
    assert LpBot().policy(view) == {CALL: 1.0}
    monkeypatch.setattr(module, "simulate", lambda *_: Values(-5.0, -2.0, 1, 1))
    assert LpMcBot().act(view) == FOLD
    assert LpMcBot().policy(view) is None


def test_comment(view_of: ViewOf) -> None:
    for bot in (LpBot(explain=True, preflop="published", seed=1), LpMcBot(explain=True, preflop="published", seed=1)):
        view = view_of("limit", "MATCHSTATE:1:0::|7h2s")
        assert bot.act(view) == FOLD
        assert view.comments == [b"# preflop 7h2s, 72o: fold 1.0000, call 0.0000, raise 0.0000 of the time -> f\r\n"]


@pytest.mark.parametrize("name", ["nolimit", "limit3", "leduc"])
@pytest.mark.parametrize("kind", [LpBot, LpMcBot])
def test_other_games_are_refused(kind: type[LpBot | LpMcBot], name: str) -> None:
    game = find_game(name)[1]
    assert "the equilibrium before the flop is that of limit hold'em" in str(kind.refusal(game))
    hand = Hand(game, deal_hand(game, 1, 0))
    for ask in (kind().act, kind().policy):
        with pytest.raises(GameRefused, match="this game is not one of them"):
            ask(View.from_hand(hand, hand.acting_position))


@pytest.mark.parametrize(
    ("game", "is_played"),
    [
        (LIMIT, True),
        (LIMIT._replace(blinds=(2, 1), raise_sizes=(2, 2, 4, 4)), True),
        (LIMIT._replace(blinds=(10, 4)), False),
        (LIMIT._replace(raise_sizes=(20, 20, 40, 40)), False),
        (LIMIT._replace(max_raises=(2, 4, 4, 4)), False),
        (LIMIT._replace(blinds=(5, 10)), False),
        (LIMIT._replace(blinds=(5, 10), first_players=(Position(0), Position(1), Position(1), Position(1))), True),
        (LIMIT._replace(stacks=(40, 1000)), False),
    ],
)
def test_only_the_solved_game_is_played(game: Game, is_played: bool) -> None:
    assert (preflop_refusal(game) is None) == is_played


@pytest.mark.parametrize("name", ["lp", "lp-mc"])
def test_options(name: str) -> None:
    with pytest.raises(SpecError, match="preflop must be equilibrium or published, not both"):
        make_bot(f"{name}?preflop=both")
    assert all(option.meaning for option in describe(name).options)
