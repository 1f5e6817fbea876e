"""Small games in which suits make no difference, without them; and the coarser game in which some cards are one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np

from bots.errors import SolvingError
from bots.solving.engine_games import small_game
from bots.solving.tree import Chance, Decision, Leaf, Node, PublicGame
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


def coarse(game: PublicGame, class_name: Callable[[str], str], decision_name: Callable[[str], str]) -> PublicGame:
    """The same game for players to whom what has the same name is the same.

    Where it makes no difference, as with suits in a game without flushes, the game is only smaller: an equilibrium of
    it is one of the whole game, when each player plays all that has one name alike.

    Args:
        game: the whole game.
        class_name: what a class is called.
        decision_name: what a decision is called; decisions of one player that have the same name become one.
    """
    names = [tuple(dict.fromkeys(map(class_name, classes))) for classes in game.classes]
    matrices = game.matrices
    first_axis = matrices.ndim - game.players
    for player, (whole, merged) in enumerate(zip(game.classes, names, strict=True)):
        belongs = np.array([[class_name(one) == name for one in whole] for name in merged], float)
        axis = first_axis + player
        matrices = np.moveaxis(np.tensordot(belongs, matrices, (1, axis)), 0, axis)

    def renamed(node: Node) -> Node:
        match node:
            case Leaf():
                return node
            case Chance(children):
                return Chance(tuple(map(renamed, children)))
            case Decision(name, player, actions, children):
                return Decision(decision_name(name), player, actions, tuple(map(renamed, children)))

    return PublicGame(renamed(game.root), tuple(names), np.ascontiguousarray(matrices))
