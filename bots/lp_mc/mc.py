"""The player `mc`: simulates on every street, plays the action of the highest value, and gives the values if asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from bots.lp_mc.model import OpponentModel
from bots.lp_mc.options import SimulationOptions
from bots.lp_mc.simulation import Values, load, simulate
from bots.sdk.bot import Bot, draw, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game
from engine.holdem import is_holdem
from protocol import format_action

__all__ = ["McBot"]

_DEFAULTS: Final = SimulationOptions()


class McBot(Bot):
    """Plays out every action thousands of times against a model of its opponent, and takes the best on average.

    Algorithm: how often the opponent folded, called and raised, by round and by whether it owed a bet, is the model.
        In a trial of the simulation the opponent holds one of the hands that it may hold, without the weakest ones: as
        large a share of them as the share of its actions that were folds. It plays by the model's frequencies, equally
        aggressive throughout, the bot calls all bets, the rest of the board is dealt. The average of 10,000 trials is
        the value of a call and of a raise; a fold is worth 0. The best is played; where call and raise are worth about
        the same, each hand has its own preference. Nothing is ever folded for nothing.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.2.
        `docs/gap-fillings.md` lists what it leaves open. The work simulates after the flop only: that is `lp-mc`.
        Before it, hands are ordered here by their chance to win against random cards.

    Other games: limit hold'em of two players, of any stakes. All other games are refused.

    It learns about its opponent while it plays: a match that is resumed or split begins with an empty model. Its draws
    depend only on the seed and the state.
    """

    option_help: ClassVar[Mapping[str, str]] = {
        "explain": "whether to send the expected values as a comment before each action",
        "seed": "where the draws start; random by default",
    }
    _first_round: ClassVar[int] = 0
    """The first round that is simulated."""

    def __init__(
        self, options: SimulationOptions = _DEFAULTS, *, explain: bool = False, seed: int | None = None
    ) -> None:
        """Set the options; `SimulationOptions` says what each decides."""
        self._options = options
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._game: Game | None = None
        self._model = OpponentModel(4, first_round=self._first_round, prior=options.prior)

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """All but limit hold'em of two players is refused."""
        if is_holdem(game) and game.is_limit and game.num_players == 2:
            return None
        return "the simulation is for limit hold'em of two players only, such as the game limit; this game is none"

    def prepare(self, game: Game) -> None:
        """Load the kernels."""
        load()

    def hand_finished(self, view: View) -> None:
        """See what the opponent did last."""
        self._model.observe(view.betting, view.position, view.hand_number)
        self._model.end_hand()

    def act(self, view: View) -> Action:
        """Simulate, and play the best action.

        Raises:
            GameRefused: the game is not limit hold'em of two players.
        """
        self._check(view)
        self._model.observe(view.betting, view.position, view.hand_number)
        values = simulate(view, self._model, self._options, draw(self._seed, view))
        is_aggressive = uniform(draw(self._seed, view, 0)) < self._options.aggression
        action = best_action(view, values, self._options.threshold, is_aggressive=is_aggressive)
        if self._explains:
            view.comment(_explain(view, values, action))
        return action

    def _check(self, view: View) -> None:
        if view.game is not self._game:
            self.require_game(view.game)
            self._game = view.game


def best_action(view: View, values: Values, threshold: float, *, is_aggressive: bool) -> Action:
    """The action of the highest value; a check instead of a fold where a check is free.

    Args:
        view: the state.
        values: of its actions.
        threshold: how near the values of call and raise must be, as a share of the pot, to count as equal; both must
            be positive.
        is_aggressive: whether to raise where they do.
    """
    call, raise_ = values.call, values.raise_
    if raise_ is not None and (raise_ > 0 or not view.can_fold):
        if call > 0 and raise_ > 0 and abs(raise_ - call) <= threshold * view.pot:
            return RAISE if is_aggressive else CALL
        if raise_ > max(call, 0.0):
            return RAISE
    return FOLD if call < 0 and view.can_fold else CALL


def _explain(view: View, values: Values, action: Action) -> str:
    """The values of fold, call and raise in chips, as in the work's log, and what came of them."""
    cards = view.hole_text + (f" on {view.board_text}" if view.board else "")
    raise_ = "-" if values.raise_ is None else f"{values.raise_:.2f}"
    return (
        f"{view.round_name} {cards}: fold 0, call {values.call:.2f}, raise {raise_}; the opponent holds one of "
        f"{values.hands:,} hands of {values.of_hands:,} -> {format_action(action)}"
    )
