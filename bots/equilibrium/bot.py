"""The player `equilibrium`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from bots.equilibrium.table import CHECKSUMS, Table, state_of, strategy_table
from bots.kuhn.bots import policy_of_genes
from bots.kuhn.games import MOST_BLUFFS, Variant, kuhn_equilibrium
from bots.sdk.bot import Bot, draw, drawn_action, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game
from protocol import find_game, format_action

__all__ = ["GAMES", "EquilibriumBot"]

_KUHN: Final = "kuhn"
GAMES: Final = (_KUHN, *CHECKSUMS)
"""The games that it plays, by their short names."""
_WORDS: Final = {FOLD: "fold", CALL: "call", RAISE: "raise"}


class EquilibriumBot(Bot):
    """Plays an equilibrium of Kuhn's or of Leduc poker: over both seats, nobody wins from it in the long run.

    Algorithm: it draws each action by fixed probabilities. Those of Kuhn poker are known as a formula (Kuhn 1950): a
        family of equilibria for the first player and one strategy for the second. Those of the other games come from
        the linear program of the game (Koller, Megiddo & von Stengel 1996), and hold to 10 digits and more. Where no
        play of its own leads, it plays its best answer.

    Other games: none; all but two-player Kuhn poker, the same with one raise, and Leduc poker are refused.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    option_help: ClassVar[Mapping[str, str]] = {
        "bluff": "in Kuhn poker, how often the first player bets its worst card, 0 to 1/3: all are equilibria",
        "explain": "whether to send the probabilities as a comment before each action",
        "seed": "where the draws start; random by default",
    }

    def __init__(self, *, bluff: float = MOST_BLUFFS, explain: bool = False, seed: int | None = None) -> None:
        """Set the options; `option_help` says what each decides.

        Raises:
            ValueError: no equilibrium bluffs that often.
        """
        self._equilibrium = kuhn_equilibrium(bluff)
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._game: tuple[Game, Table | None] | None = None

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All games but those that have been solved are refused."""
        if _name_of(game) is not None:
            return None
        return f"equilibrium plays the small games {', '.join(GAMES[:-1])} and {GAMES[-1]}; this game is none of them"

    def prepare(self, game: Game) -> None:
        """Read the table of the game."""
        self._table(game)

    def act(self, view: View) -> Action:
        """Draw an action.

        Raises:
            GameRefused: the game is another one.
        """
        policy = self.policy(view)
        action = drawn_action(policy, uniform(draw(self._seed, view)))
        if self._explains:
            told = ", ".join(f"{_WORDS[action]} {chance:.4f}" for action, chance in policy.items())
            view.comment(f"{view.hole_text}{view.board_text}: {told} of the time -> {format_action(action)}")
        return action

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probabilities that `act` draws from.

        Raises:
            GameRefused: the game is another one.
        """
        table = self._table(view.game)
        if table is None:
            return policy_of_genes(Variant.CLASSIC, self._equilibrium[view.position], view)
        chances = zip((FOLD, CALL, RAISE), table[state_of(view)], strict=True)
        return {action: chance for action, chance in chances if chance}

    def _table(self, game: Game) -> Table | None:
        """The table of a game; None for Kuhn poker, which needs none."""
        if self._game is None or self._game[0] is not game:
            self.require_game(game)
            name = _name_of(game)
            assert name is not None
            self._game = game, None if name == _KUHN else strategy_table(name)
        return self._game[1]


def _name_of(game: Game) -> str | None:
    return next((name for name in GAMES if find_game(name)[1] == game), None)
