"""A game whose players do not tell some classes, or some boards, apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bots.solving.tree import Chance, Decision, Leaf, Node, PublicGame

__all__ = ["coarse"]


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
