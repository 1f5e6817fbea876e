"""The players `lp` and `lp-mc`: both play the equilibrium before the flop; then `lp` calls, and `lp-mc` simulates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from bots.lp_mc.mc import McBot
from bots.lp_mc.options import SimulationOptions
from bots.lp_mc.strategy import ActionChances, PreflopStrategy, preflop_strategy
from bots.sdk.bot import Bot, draw, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Game
from engine.holdem import is_holdem
from engine.starting_hands import starting_hand, starting_hand_name
from protocol import format_action

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances

__all__ = ["EQUILIBRIUM", "PUBLISHED", "LpBot", "LpMcBot", "preflop_refusal"]

EQUILIBRIUM: Final = "equilibrium"
PUBLISHED: Final = "published"

_DEFAULTS: Final = SimulationOptions()
_BETS: Final = 4
_ACTIONS: Final = (FOLD, CALL, RAISE)
_LETTERS: Final = {ActionKind.CALL: "c", ActionKind.RAISE: "r"}
_PREFLOP_HELP: Final = (
    "how to play before the flop: equilibrium, or published, which is what the work played in its place, by mistake; "
    "its folds where nothing is owed are checks"
)


def preflop_refusal(game: Game) -> str | None:
    """Why the equilibrium does not hold for a game; None where it does."""
    if is_holdem(game) and game.is_limit and game.num_players == 2:
        small, big = sorted(game.blinds)
        is_small_first = game.blinds[game.first_players[0]] == small
        is_bet = game.raise_sizes[0] == big == 2 * small
        if is_bet and is_small_first and game.max_raises[0] == _BETS - 1 and min(game.stacks) > _BETS * big:
            return None
    return (
        "the equilibrium before the flop is that of limit hold'em of two players with blinds of half a bet and a bet, "
        "the small one first to act, and four bets at most, such as the game limit; this game is none"
    )


class _Preflop:
    """Draws actions before the flop by a strategy."""

    def __init__(self, which: str) -> None:
        if which not in (EQUILIBRIUM, PUBLISHED):
            raise ValueError(f"preflop must be {EQUILIBRIUM} or {PUBLISHED}, not {which}")
        self._strategy: PreflopStrategy = preflop_strategy(as_published=which == PUBLISHED)

    def chances(self, view: View) -> ActionChances:
        """The probabilities of fold, call and raise in a state before the flop."""
        betting = "".join([_LETTERS[action.kind] for _, action in view.round_actions])
        chances = self._strategy.chances(betting, starting_hand(view.hole_cards))
        if view.can_fold:
            return chances
        return ActionChances(0.0, chances.fold + chances.call, chances.raise_)

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probability of each action that has any."""
        return {action: chance for action, chance in zip(_ACTIONS, self.chances(view), strict=True) if chance}

    def act(self, view: View, number: float, *, explains: bool) -> Action:
        """The action of a number drawn from 0 up to 1."""
        fold, call, raise_ = self.chances(view)
        # Probabilities that sum to a little less than 1 leave no gap: the last one that is not 0 is open to the right.
        action = FOLD if number < fold else CALL if number < fold + call or not raise_ else RAISE
        if action is CALL and not call:
            action = FOLD
        if explains:
            name = starting_hand_name(view.hole_cards)
            view.comment(
                f"preflop {view.hole_text}, {name}: fold {fold:.4f}, call {call:.4f}, raise {raise_:.4f} of the time "
                f"-> {format_action(action)}"
            )
        return action


class LpBot(Bot):
    """Plays the equilibrium of the game that ends before the flop, and calls everything after it.

    Algorithm: the betting before the flop with all cards shown at its end is a game of its own, small enough to be
        solved exactly by a linear program (`bots.lp_mc.preflop`): the probabilities of fold, call and raise for each
        of the 169 starting hands after each betting. If both only called after the flop, nobody could win against it
        on average over both seats; an opponent that bets after the flop can.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.1; the
        strategy printed there is not the equilibrium (option `preflop`), `docs/lp-mc.md` says why.

    Other games: none; all but limit hold'em of two players with the usual blinds and cap are refused.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    option_help: ClassVar[Mapping[str, str]] = {
        "preflop": _PREFLOP_HELP,
        "explain": "whether to send the probabilities as a comment before each action before the flop",
        "seed": "where the draws start; random by default",
    }

    def __init__(self, *, preflop: str = EQUILIBRIUM, explain: bool = False, seed: int | None = None) -> None:
        """Set the options; `option_help` says what each decides.

        Raises:
            ValueError: there is no such strategy.
        """
        self._preflop = _Preflop(preflop)
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._game: Game | None = None

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All games but the one that has been solved are refused."""
        return preflop_refusal(game)

    def act(self, view: View) -> Action:
        """Draw by the equilibrium before the flop; call after it.

        Raises:
            GameRefused: the game is another one.
        """
        self._check(view)
        if view.round:
            return CALL
        return self._preflop.act(view, uniform(draw(self._seed, view)), explains=self._explains)

    def policy(self, view: View) -> Mapping[Action, float]:
        """The equilibrium's probabilities before the flop; a call after it.

        Raises:
            GameRefused: the game is another one.
        """
        self._check(view)
        return {CALL: 1.0} if view.round else self._preflop.policy(view)

    def policy_by_holding(self, view: View) -> HoldingChances:
        """`policy`, asked once for each class of hands."""
        self._check(view)
        if view.round:
            return {CALL: 1.0}
        from bots.sdk.holdings import by_class

        return by_class(view, self._preflop.policy)

    def _check(self, view: View) -> None:
        if view.game is not self._game:
            self.require_game(view.game)
            self._game = view.game


class LpMcBot(McBot):
    """Plays the equilibrium before the flop, and simulates after it.

    Algorithm: `bots.lp_mc.lp.LpBot` before the flop, `bots.lp_mc.mc.McBot` after it, with a model of the opponent's
        actions after the flop.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013; `docs/lp-mc.md`
        compares it with the tables printed there.

    Other games: none; all but limit hold'em of two players with the usual blinds and cap are refused.

    It learns about its opponent while it plays: a match that is resumed or split begins with an empty model. Its draws
    depend only on the seed and the state.
    """

    option_help: ClassVar[Mapping[str, str]] = {
        **McBot.option_help,
        "preflop": _PREFLOP_HELP,
        "explain": "whether to send the expected values, or before the flop the probabilities, as a comment before "
        "each action",
    }
    _first_round: ClassVar[int] = 1

    def __init__(
        self,
        options: SimulationOptions = _DEFAULTS,
        *,
        preflop: str = EQUILIBRIUM,
        explain: bool = False,
        seed: int | None = None,
    ) -> None:
        """Set the options; `SimulationOptions` says what each of the simulation's decides.

        Raises:
            ValueError: there is no such strategy.
        """
        super().__init__(options, explain=explain, seed=seed)
        self._preflop = _Preflop(preflop)

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All games but the one whose betting before the flop has been solved are refused."""
        return preflop_refusal(game)

    def act(self, view: View) -> Action:
        """Draw by the equilibrium before the flop; simulate after it.

        Raises:
            GameRefused: the game is another one.
        """
        if view.round:
            return super().act(view)
        self._check(view)
        return self._preflop.act(view, uniform(draw(self._seed, view)), explains=self._explains)

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """The equilibrium's probabilities before the flop; None after it, where the model decides.

        Raises:
            GameRefused: the game is another one.
        """
        self._check(view)
        return None if view.round else self._preflop.policy(view)
