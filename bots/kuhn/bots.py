"""The six models at the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bots.kuhn.games import Variant
from bots.kuhn.models import models
from bots.kuhn.wire import WIRE_NAMES, policy_of_genes, variant_of
from bots.sdk.bot import Bot, draw, drawn_action, fresh_seed, uniform
from bots.sdk.view import View
from engine import Action, Game

__all__ = ["BlufferBot", "CallerBot", "FolderBot", "KuhnBot", "RationalBot", "SafeBot", "ShyBot"]


class KuhnBot(Bot):
    """Plays one of the models; the classes derived from it say which.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    option_help: ClassVar[Mapping[str, str]] = {"seed": "where the draws start; random by default"}
    model_name: ClassVar[str]

    def __init__(self, *, seed: int | None = None) -> None:
        self._seed = fresh_seed() if seed is None else seed
        self._game: tuple[Game, Variant] | None = None

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All games but the two of the laboratory that a dealer can deal are refused."""
        if variant_of(game) is not None:
            return None
        return f"{cls.model_name} plays Kuhn poker, the games {' and '.join(WIRE_NAMES.values())}; this game is none"

    def act(self, view: View) -> Action:
        """Draw by the model's genes.

        Raises:
            GameRefused: the game is another one.
        """
        return drawn_action(self.policy(view), uniform(draw(self._seed, view)))

    def policy(self, view: View) -> Mapping[Action, float]:
        """What the genes say.

        Raises:
            GameRefused: the game is another one.
        """
        variant = self._variant(view.game)
        return policy_of_genes(variant, models(variant)[self.model_name], view)

    def _variant(self, game: Game) -> Variant:
        if self._game is None or self._game[0] is not game:
            self.require_game(game)
            variant = variant_of(game)
            assert variant is not None
            self._game = game, variant
        return self._game[1]


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
