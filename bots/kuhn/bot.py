"""The six models as bots for the games ``kuhn`` and ``kuhn-depth``.

The other two games have bets of 1, 2 and 10, which the ACPC's game format cannot express: a no-limit game would also
allow a bet of 5. The format's cards queen, king and ace are called J, Q and K here.
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
"""Names of the games that a dealer can deal."""


@cache
def variant_of(game: Game) -> Variant | None:
    """Return the variant of a dealer's game, or None for any other game."""
    for variant, name in WIRE_NAMES.items():
        if game == find_game(name)[1]:
            return variant
    return None


def card_of(view: View) -> int:
    """Return the index of the player's card in `CARDS`."""
    return sorted(view.game.deck).index(view.hole_cards[0])


def policy_of_genes(variant: Variant, genes: Genes, view: View) -> Mapping[Action, float]:
    """Return the probabilities of the actions in a state of the game."""
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
    """Plays one of the models, which subclasses name.

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
        """Return the probabilities of the model's genes."""
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
    """Bets, raises and calls with the best card always, and with the middle one half of the time.

    Algorithm: bet, stay in, raise and call always with the best card, with probability 1/2 each with the middle one,
        and never with the worst.
    """

    model_name = "rational"


class BlufferBot(KuhnBot):
    """Bets and raises often with the weaker cards, too.

    Algorithm: with the best card, always bet, raise and call. With the middle one, bet, stay in and call with
        probability 0.7 and raise with 0.5. With the worst, bet with 0.5, never call, and raise a bet with 0.5 where
        raises are allowed.
    """

    model_name = "bluffer"


class FolderBot(KuhnBot):
    """Never bets, and folds to every bet.

    Algorithm: check or fold.
    """

    model_name = "folder"


class CallerBot(KuhnBot):
    """Bets and calls with every card.

    Algorithm: bet or call.
    """

    model_name = "caller"
