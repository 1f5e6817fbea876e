"""Bots for hold'em refuse other games in one sentence."""

from __future__ import annotations

import pytest

from bots.baseline import CallingBot
from bots.errors import GameRefused
from bots.formula.bot import MfsBot
from bots.rembrant import RembrantBot
from bots.sdk.bot import Bot
from bots.sdk.builtin import main
from bots.sdk.client import play
from bots.sdk.selfplay import BotGroup, self_play
from bots.sdk.view import View
from engine import Hand, deal_hand
from protocol import find_game


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize(
    ("bot", "sentence"),
    [
        (MfsBot(), "hold'em only: .* this game is not one of them"),
        (RembrantBot(), "rembrant plays hold'em only: .* this game is not one of them"),
    ],
)
def test_other_games_are_refused(bot: Bot, sentence: str, name: str) -> None:
    game = find_game(name)[1]
    hand = Hand(game, deal_hand(game, 1, 0))
    view = View.from_hand(hand, hand.acting_position)
    for ask in (bot.act, bot.policy):
        with pytest.raises(GameRefused, match=sentence) as caught:
            ask(view)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bot", [MfsBot(), RembrantBot()])
def test_game_is_refused_before_the_first_hand(bot: Bot) -> None:
    game = find_game("leduc")[1]
    assert bot.refusal(find_game("limit")[1]) is None
    for refuse in (
        lambda: play(bot, "127.0.0.1", 1, game),  # no program listens there
        lambda: BotGroup([CallingBot(), bot], game),
        lambda: self_play("leduc", [bot, CallingBot()], deals=1),
    ):
        with pytest.raises(GameRefused, match="hold'em only"):
            refuse()
    assert CallingBot().refusal(game) is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("mfs", "the chance to win is counted for hold'em only"), ("rembrant", "rembrant plays hold'em only")],
)
def test_program_refuses_in_one_sentence(capfd: pytest.CaptureFixture[str], name: str, sentence: str) -> None:
    assert main([name, "127.0.0.1", "1", "--game", "leduc"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"bot: {sentence}")
    assert err.count("\n") == 1
