"""Bots that play hold'em only refuse other games, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bots.bot import Bot
from bots.builtin import main
from bots.errors import BotsError
from bots.formula.bot import MfsBot
from bots.rembrant import RembrantBot
from bots.testing import MockDealer
from bots.view import View
from engine import Hand, deal_hand
from protocol import find_game
from tests.bots.playing import NOT_HOLDEM


@pytest.mark.parametrize("name", NOT_HOLDEM)
@pytest.mark.parametrize(
    ("bot", "sentence"),
    [
        (MfsBot(), "hold'em only: .* this game is none"),
        (RembrantBot(), "rembrant plays hold'em only: .* this game is none"),
    ],
)
def test_games_that_are_no_holdem_are_refused(bot: Bot, sentence: str, name: str) -> None:
    game = find_game(name)[1]
    hand = Hand(game, deal_hand(game, 1, 0))
    view = View.of_hand(hand, hand.acting_position)
    for ask in (bot.act, bot.policy):
        with pytest.raises(BotsError, match=sentence) as caught:
            ask(view)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("mfs", "the chance to win is counted for hold'em only"), ("rembrant", "rembrant plays hold'em only")],
)
def test_the_program_refuses_in_one_sentence(
    thread_dealer: Callable[..., Any], capfd: pytest.CaptureFixture[str], name: str, sentence: str
) -> None:
    dealer = thread_dealer(MockDealer("leduc").ask("MATCHSTATE:0:0::Ks|"))
    assert main([name, "127.0.0.1", str(dealer.port), "--game", "leduc"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"bot: {sentence}")
    assert err.count("\n") == 1
