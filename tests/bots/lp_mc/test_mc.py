"""The player `mc`: use of values, options, comments, refused games."""

from __future__ import annotations

from dataclasses import fields

import pytest

from bots.errors import GameRefused, SpecError
from bots.lp_mc import bot as module
from bots.lp_mc.bot import McBot, best_action
from bots.lp_mc.simulation import SimulationOptions, Values
from bots.sdk.bot import draw
from bots.sdk.registry import describe, make_bot
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Hand, deal_hand
from protocol import find_game
from tests.bots.playing import ViewOf

FREE = "MATCHSTATE:1:0:cc/c:|AhKs/2c7dTh"
PAID = "MATCHSTATE:1:0:cc/r:|AhKs/2c7dTh"
CAPPED = "MATCHSTATE:1:0:cc/crrrr:|AhKs/2c7dTh"


@pytest.mark.parametrize(
    ("state", "call", "raise_", "passive", "aggressive"),
    [
        (PAID, 5.0, 12.0, RAISE, RAISE),
        (PAID, 12.0, 5.0, CALL, CALL),
        (PAID, -1.0, -2.0, FOLD, FOLD),
        (PAID, 0.0, -1.0, CALL, CALL),
        # the pot is 30, and 5 % of it 1.5 chips
        (PAID, 5.0, 6.5, CALL, RAISE),
        (PAID, 6.5, 5.0, CALL, RAISE),
        (PAID, 5.0, 6.6, RAISE, RAISE),
        # a check is free, so folding is no option
        (FREE, -2.0, -1.0, CALL, CALL),
        (FREE, -2.0, 1.0, RAISE, RAISE),
        (CAPPED, 3.0, None, CALL, CALL),
        (CAPPED, -3.0, None, FOLD, FOLD),
    ],
)
def test_best_action(
    view_of: ViewOf, state: str, call: float, raise_: float | None, passive: Action, aggressive: Action
) -> None:
    view, values = view_of("limit", state), Values(call, raise_, 1, 1)
    assert best_action(view, values, 0.05, is_aggressive=False) == passive
    assert best_action(view, values, 0.05, is_aggressive=True) == aggressive


@pytest.mark.parametrize("name", ["nolimit", "limit3", "leduc"])
def test_other_games_are_refused(name: str) -> None:
    game = find_game(name)[1]
    assert "limit hold'em of two players only" in str(McBot.refusal(game))
    hand = Hand(game, deal_hand(game, 1, 0))
    with pytest.raises(GameRefused, match="two players only"):
        McBot().act(View.from_hand(hand, hand.acting_position))


def test_its_game_is_played() -> None:
    limit = find_game("limit")[1]
    assert McBot.refusal(limit) is None
    assert McBot.refusal(limit._replace(blinds=(4, 3))) is None


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("trials=0", "trials must be 1 to 10,000,000, not 0"),
        ("trials=10,batches=11", "batches must be 1 to the number of trials, 10, not 11"),
        ("threshold=1.5", "threshold must be 0 to 1, not 1.5"),
        ("aggression=-1", "aggression must be 0 to 1, not -1"),
        ("prior=-1", "prior must be 0 to"),
        ("weakest=some", "weakest must be all, round or none, not some"),
        ("sunk=cost", "sunk must be lost or whole, not cost"),
    ],
)
def test_invalid_options_are_refused(option: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        make_bot(f"mc?{option}")


def test_every_option_has_a_meaning() -> None:
    options = {option.name: option for option in describe("mc").options}
    assert [*options] == [*(field.name for field in fields(SimulationOptions)), "explain", "seed"]
    assert all(option.meaning for option in options.values())
    assert options["trials"].default == 10_000


def test_draws_go_by_seed_hand_position_and_state(view_of: ViewOf) -> None:
    states = [FREE, CAPPED, FREE.replace(":1:0:", ":1:1:"), "MATCHSTATE:0:0:cc/:AhKs|/2c7dTh"]
    draws = [draw(seed, view_of("limit", state)) for seed in (0, 1, 1 << 64) for state in states]
    assert len(set(draws)) == 2 * len(states)
    assert draws[: len(states)] == draws[2 * len(states) :]


def test_the_hand_prefers_one_action_throughout(view_of: ViewOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "simulate", lambda *_: Values(5.0, 5.5, 1, 1))
    bot, chosen = McBot(seed=3), []
    for hand in range(40):
        of_hand = {bot.act(view_of("limit", state.replace(":1:0:", f":1:{hand}:"))) for state in (FREE, PAID)}
        assert len(of_hand) == 1
        chosen += of_hand
    assert set(chosen) == {CALL, RAISE}
    for aggression, action in ((0.0, CALL), (1.0, RAISE)):
        bot = McBot(SimulationOptions(aggression=aggression), seed=3)
        assert bot.act(view_of("limit", PAID)) == action


def test_the_comment(view_of: ViewOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "simulate", lambda *_: Values(5.004, -12.5, 757, 1081))
    view = view_of("limit", PAID)
    assert McBot(explain=True).act(view) == CALL
    assert view.comments == [
        b"# flop AhKs on 2c7dTh: fold 0, call 5.00, raise -12.50; the opponent holds one of 757 hands of 1,081 -> c\r\n"
    ]
    monkeypatch.setattr(module, "simulate", lambda *_: Values(-5.0, None, 1, 1225))
    view = view_of("limit", "MATCHSTATE:1:0:crrr:|AhKs")
    McBot(explain=True).act(view)
    (comment,) = view.comments
    assert comment == (
        b"# preflop AhKs: fold 0, call -5.00, raise -; the opponent holds one of 1 hands of 1,225 -> f\r\n"
    )
