"""Small games in which suits make no difference, without them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from bots.errors import SolvingError
from bots.solving.coarse import coarse
from bots.solving.engine_games import small_game
from bots.solving.tree import PublicGame
from engine import Game

__all__ = ["has_flushes", "rank_game"]

_CARD: Final = re.compile(r"(.)[cdhs]")
_FLUSH: Final = 5


def has_flushes(game: Game) -> bool:
    """Whether suits can decide a showdown: of four cards and fewer they cannot."""
    return game.num_hole_cards + sum(game.num_board_cards) >= _FLUSH


def rank_game(game: Game) -> PublicGame:
    """`bots.solving.engine_games.small_game`, of players who do not look at suits: they lose nothing by it.

    Classes and boards are called by their ranks, as in ``crc/Qr``.

    Raises:
        SolvingError: suits matter in the game, or it is too large.
    """
    if has_flushes(game):
        raise SolvingError(f"suits matter where a player sees {_FLUSH} cards")
    return coarse(small_game(game), _ranks, _without_suits(game))


def _ranks(cards: str) -> str:
    return _CARD.sub(r"\1", cards)


def _without_suits(game: Game) -> Callable[[str], str]:
    def renamed(name: str) -> str:
        first, *rounds = name.split("/")
        dealt = zip(game.num_board_cards[1:], rounds, strict=False)
        return "/".join([first, *(_ranks(text[: 2 * cards]) + text[2 * cards :] for cards, text in dealt)])

    return renamed
