"""Strategies for the four games as bots: the six models, and genes from a file.

The games with bets of 1, 2 and 10 are no-limit games at a dealer, which also allow other bets. An opponent's bet
counts as the nearest of the three by ratio, and a raise of any size as one by the size of the bet. The dealer's cards
queen, king and ace are called J, Q and K here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import sqrt
from typing import Annotated, ClassVar, Final

from bots.errors import BotFileError, GameRefused
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant, game_of_genes, models, read_genes
from bots.sdk.bot import Bot, DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.options import FilePath
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game, raise_to
from protocol import find_game

WIRE_NAMES: Final[Mapping[Variant, str]] = {
    Variant.CLASSIC: "kuhn",
    Variant.DEPTH: "kuhn-depth",
    Variant.BREADTH: "kuhn-breadth",
    Variant.BOTH: "kuhn-both",
}
"""Names of the games at a dealer."""
_ANTE: Final = 1
_SMALL_BETS: Final = sqrt(1 * 2)
_MEDIUM_BETS: Final = sqrt(2 * 10)
"""Sizes up to which a bet counts as one of 1 and of 2."""


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

    bet = _bet(view)
    about = _row_ending(variant, bet)
    chances: dict[Action, float]
    if not view.can_fold:
        chances = {CALL: 1 - yes("B")}
        if variant.has_sizes:
            large = yes("B") * yes("B>1")
            chances[raise_to(_ANTE + 1)] = yes("B") * (1 - yes("B>1"))
            chances[raise_to(_ANTE + 2)] = large * (1 - yes("B10"))
            chances[raise_to(_ANTE + 10)] = large * yes("B10")
        else:
            chances[RAISE] = yes("B")
    elif view.raises_this_round == 1 and variant.has_raise:
        stays, raises = yes("NF" + about), yes("R" + about)
        chances = {FOLD: 1 - stays, CALL: stays * (1 - raises)}
        by_size = view.nearest_legal(raise_to(_ANTE + 2 * bet)) if variant.has_sizes else RAISE
        chances[by_size] = chances.get(by_size, 0.0) + stays * raises
    else:
        # The last bet of a game without raises, or the raise of our bet.
        chances = {FOLD: 1 - yes("C" + about), CALL: yes("C" + about)}
    return {action: chance for action, chance in chances.items() if chance}


def _bet(view: View) -> int:
    """Return the chips of the first bet, or 0 before it."""
    if view.raises_this_round > 1:
        # Its player has not yet answered the raise.
        return min(view.betting.spent) - _ANTE
    return max(view.betting.spent) - _ANTE


def _row_ending(variant: Variant, bet: int) -> str:
    """Return the end of the rows' names about a bet."""
    if not variant.has_sizes:
        return ""
    if bet <= _SMALL_BETS:
        return "1"
    return "2" if bet <= _MEDIUM_BETS else "10"


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
        *names, last = WIRE_NAMES.values()
        games = f"{', '.join(names)} and {last}"
        return f"this bot plays Kuhn poker, the games {games}; this game is not one of them"

    def act(self, view: View) -> Action:
        return choose_action(self.policy(view), uniform(draw(self._seed, view)))

    def policy(self, view: View) -> Mapping[Action, float]:
        """Return the probabilities of the model's genes."""
        self.require_game(view.game)
        variant = variant_of(view.game)
        assert variant is not None
        return policy_of_genes(variant, self._genes(variant), view)

    def _genes(self, variant: Variant) -> Genes:
        return models(variant)[self.model_name]


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


class GenesBot(KuhnBot):
    """Plays a strategy from a file, such as the one that an evolution leaves.

    Algorithm: the option `genes` names a file that `arena evolve kuhn` wrote, ``fittest.genes``, or any text with the
        probabilities of yes by row and card. Their number decides the game: 6 in `kuhn`, 12 in `kuhn-depth`, 18 in
        `kuhn-breadth`, 36 in `kuhn-both`. Other games are refused. Without a file it plays the genes of
        `kuhn-rational`.
    """

    model_name = "rational"

    def __init__(
        self,
        *,
        genes: Annotated[FilePath, "a file of genes, such as fittest.genes of `arena evolve kuhn`"] = "",
        seed: DrawSeed = None,
    ) -> None:
        super().__init__(seed=seed)
        self._file_genes: Genes = ()
        if genes:
            # Loading pathlib takes longer than a bot without a file takes to start.
            from pathlib import Path

            try:
                self._file_genes = read_genes(Path(genes))
            except BotFileError as error:
                raise ValueError(str(error)) from error

    def require_game(self, game: Game) -> None:
        super().require_game(game)
        if self._file_genes and game_of_genes(self._file_genes).variant is not variant_of(game):
            name = WIRE_NAMES[game_of_genes(self._file_genes).variant]
            raise GameRefused(f"these {len(self._file_genes)} genes play the game {name}; this game is not that one")

    def _genes(self, variant: Variant) -> Genes:
        return self._file_genes or super()._genes(variant)
