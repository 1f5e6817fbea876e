"""Which of the four games a dealer can deal, and what their states are in rows and actions.

The ACPC's game format has limit games, whose bets have one size, and no-limit games, which allow every size between two
bounds. So the classic game is ``kuhn``, and the one with a raise is ``kuhn-depth``, limit Kuhn with two raises in place
of one. Bets of 1, 2 and 10 and nothing between cannot be said: of a no-limit game they would be a part, and an opponent
could bet 5. These two games stay in the laboratory.

The cards of the format are queen, king and ace; they are J, Q and K here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game
from protocol import find_game

__all__ = ["WIRE_NAMES", "card_of", "policy_of_genes", "variant_of"]

WIRE_NAMES: Final[Mapping[Variant, str]] = {Variant.CLASSIC: "kuhn", Variant.DEPTH: "kuhn-depth"}
"""The games that a dealer can deal."""


def variant_of(game: Game) -> Variant | None:
    """Which of the four games a game is; None for any other."""
    for variant, name in WIRE_NAMES.items():
        if game == find_game(name)[1]:
            return variant
    return None


def card_of(view: View) -> int:
    """The place of our card among the three."""
    return sorted(view.game.deck).index(view.hole_cards[0])


def policy_of_genes(variant: Variant, genes: Genes, view: View) -> Mapping[Action, float]:
    """The probability of each action that has any, in a state of a game that a dealer deals."""
    rows, card = KuhnGame(variant).rows, card_of(view)

    def yes(row: str) -> float:
        return genes[rows.index(row) * len(CARDS) + card]

    if not view.can_fold:
        chances = {CALL: 1 - yes("B"), RAISE: yes("B")}
    elif view.can_raise:
        stays, raises = yes("NF"), yes("R")
        chances = {FOLD: 1 - stays, CALL: stays * (1 - raises), RAISE: stays * raises}
    else:
        # The last bet of the classic game, or the raise of our bet.
        chances = {FOLD: 1 - yes("C"), CALL: yes("C")}
    return {action: chance for action, chance in chances.items() if chance}
