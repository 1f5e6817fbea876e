"""The six models as bots, in the two games that a dealer can deal.

The ACPC's game format has limit games, whose bets have one size, and no-limit games, which allow every size between two
bounds. So the classic game is ``kuhn``, and the one with a raise is ``kuhn-depth``, limit Kuhn with two raises in place
of one. Bets of 1, 2 and 10 and nothing between cannot be expressed: they would be a part of a no-limit game, and an
opponent could bet 5. These two games have no bots.

The cards of the format are queen, king and ace; they are J, Q and K here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Final

from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant, models
from bots.sdk.bot import Bot, DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game
from protocol import find_game

WIRE_NAMES: Final[Mapping[Variant, str]] = {Variant.CLASSIC: "kuhn", Variant.DEPTH: "kuhn-depth"}
"""The games that a dealer can deal."""


@cache
def variant_of(game: Game) -> Variant | None:
    for variant, name in WIRE_NAMES.items():
        if game == find_game(name)[1]:
            return variant
    return None


def card_of(view: View) -> int:
    return sorted(view.game.deck).index(view.hole_cards[0])


def policy_of_genes(variant: Variant, genes: Genes, view: View) -> Mapping[Action, float]:
    rows = KuhnGame(variant).rows
    card = card_of(view)

    def yes(row: str) -> float:
        return genes[rows.index(row) * len(CARDS) + card]

    if not view.can_fold:
        chances = {CALL: 1 - yes("B"), RAISE: yes("B")}
    elif view.can_raise:
        stays = yes("NF")
        raises = yes("R")
        chances = {FOLD: 1 - stays, CALL: stays * (1 - raises), RAISE: stays * raises}
    else:
        # The last bet of the classic game, or the raise of our bet.
        chances = {FOLD: 1 - yes("C"), CALL: yes("C")}
    return {action: chance for action, chance in chances.items() if chance}


class KuhnBot(Bot):
    """Plays one of the models; the classes derived from it say which.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    model_name: ClassVar[str]

    def __init__(self, *, seed: DrawSeed = None) -> None:
        self._seed = fresh_seed() if seed is None else seed

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if variant_of(game) is not None:
            return None
        names = " and ".join(WIRE_NAMES.values())
        return f"{cls.model_name} plays Kuhn poker, the games {names}; this game is not one of them"

    def act(self, view: View) -> Action:
        return choose_action(self.policy(view), uniform(draw(self._seed, view)))

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probabilities in the genes."""
        self.require_game(view.game)
        variant = variant_of(view.game)
        assert variant is not None
        return policy_of_genes(variant, models(variant)[self.model_name], view)


class ShyBot(KuhnBot):
    """Never bets, and calls with the best card only.

    Algorithm: check or fold; call with the best card.
    """

    model_name = "shy"


class SafeBot(KuhnBot):
    """Bets, raises and calls with the best card only.

    Algorithm: bet, raise and call with the best card; check or fold with the others.
    """

    model_name = "safe"


class RationalBot(KuhnBot):
    """Bets, raises and calls with the best card always, with the middle one half of the time.

    Algorithm: bet, stay in, raise and call: always with the best card, with probability 1/2 each with the middle one,
        never with the worst.
    """

    model_name = "rational"


class BlufferBot(KuhnBot):
    """Bets and raises often with the weaker cards, too.

    Algorithm: always with the best card; with the middle one bet, stay in and call with probability 0.7, raise with
        0.5; with the worst bet with 0.5, answer a bet by a raise with 0.5 where raises are allowed, never call.
    """

    model_name = "bluffer"


class FolderBot(KuhnBot):
    """Never bets, and folds to every bet.

    Algorithm: check or fold.
    """

    model_name = "folder"


class CallerBot(KuhnBot):
    """Bets and calls whatever it holds.

    Algorithm: bet or call.
    """

    model_name = "caller"
