"""The players `mc`, `lp` and `lp-mc`.

`mc` simulates in every round and plays the action of the highest value. `lp` and `lp-mc` play the equilibrium before
the flop. After the flop `lp` calls and `lp-mc` simulates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, TypeAlias

from bots.lp_mc.simulation import OpponentModel, SimulationOptions, Values, load, simulate
from bots.lp_mc.strategy import ActionChances, PreflopStrategy, preflop_strategy
from bots.sdk.bot import Bot, DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Game
from engine.cards import starting_hand, starting_hand_name
from engine.holdem import is_holdem
from protocol import format_action

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances

_DEFAULTS: Final = SimulationOptions()


class McBot(Bot):
    """Simulates each action thousands of times against a model of the opponent, and takes the best on average.

    Algorithm: the model counts the opponent's folds, calls and raises by round, separately with and without a bet to
        call. A trial deals the opponent one of its possible hands, without the weakest ones; their share is the share
        of folds among its actions. The opponent plays by the model's frequencies with the same aggression in all
        rounds, the bot calls all bets, and the rest of the board is dealt. The average of 10,000 trials is the value of
        a call or a raise; a fold has the value 0. The bot takes the best action, and never folds where it can check.
        If call and raise have similar values, a number drawn for the hand decides.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.2.
        `research/tables/lp-mc.md` lists the points that it leaves open. The thesis simulates only after the flop, as
        `lp-mc` does. Before the flop, the hands are ordered here by their chance to win against random cards.

    Other games: limit hold'em of two players, of any stakes. All other games are refused.

    It learns about its opponent while it plays: a match that is resumed or split begins with an empty model. Its draws
    depend only on the seed and the state.
    """

    _first_round: ClassVar[int] = 0
    """First simulated round."""

    def __init__(
        self,
        options: SimulationOptions = _DEFAULTS,
        *,
        explain: Annotated[bool, "whether to send the expected values as a comment before each action"] = False,
        seed: DrawSeed = None,
    ) -> None:
        self._options = options
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._model = OpponentModel(4, first_round=self._first_round, prior=options.prior)

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if is_holdem(game) and game.is_limit and game.num_players == 2:
            return None
        return (
            "the simulation is for limit hold'em of two players only, such as the game limit; this game is not one of "
            "them"
        )

    def prepare(self, game: Game) -> None:
        load()

    def hand_finished(self, view: View) -> None:
        self._model.observe(view.betting, view.position, view.hand_number)
        self._model.end_hand()

    def act(self, view: View) -> Action:
        self.require_game(view.game)
        self._model.observe(view.betting, view.position, view.hand_number)
        values = simulate(view, self._model, self._options, draw(self._seed, view))
        is_aggressive = uniform(draw(self._seed, view, 0)) < self._options.aggression
        action = best_action(view, values, self._options.threshold, is_aggressive=is_aggressive)
        if self._explains:
            view.comment(_explain(view, values, action))
        return action


def best_action(view: View, values: Values, threshold: float, *, is_aggressive: bool) -> Action:
    """Return the action of the highest value. It is never a fold where a check is legal.

    Args:
        threshold: difference of the values of call and raise, as a share of the pot, up to which they count as equal if
            both are positive.
        is_aggressive: raise if they count as equal.
    """
    call = values.call
    raise_ = values.raise_
    if raise_ is not None and (raise_ > 0 or not view.can_fold):
        if call > 0 and raise_ > 0 and abs(raise_ - call) <= threshold * view.pot:
            return RAISE if is_aggressive else CALL
        if raise_ > max(call, 0.0):
            return RAISE
    if call < 0 and view.can_fold:
        return FOLD
    return CALL


def _explain(view: View, values: Values, action: Action) -> str:
    """Format the values in chips, as in the log of the thesis, and the action."""
    cards = view.hole_text
    if view.board:
        cards += f" on {view.board_text}"
    raise_ = "-"
    if values.raise_ is not None:
        raise_ = f"{values.raise_:.2f}"
    return (
        f"{view.round_name} {cards}: fold 0, call {values.call:.2f}, raise {raise_}; the opponent holds one of "
        f"{values.hands:,} hands of {values.all_hands:,} -> {format_action(action)}"
    )


_EQUILIBRIUM: Final = "equilibrium"
_PUBLISHED: Final = "published"
_MAX_BETS: Final = 4
_ACTIONS: Final = (FOLD, CALL, RAISE)
_LETTERS: Final = {ActionKind.CALL: "c", ActionKind.RAISE: "r"}
_PreflopOption: TypeAlias = Annotated[
    str,
    "strategy before the flop: equilibrium, or published, the mistaken one of the thesis; its folds without a bet "
    "to call are checks",
]


def preflop_refusal(game: Game) -> str | None:
    """Return the reason why the equilibrium does not hold for a game, or None if it holds."""
    if is_holdem(game) and game.is_limit and game.num_players == 2:
        small, big = sorted(game.blinds)
        is_small_first = game.blinds[game.first_players[0]] == small
        is_bet = game.raise_sizes[0] == big == 2 * small
        has_cap = game.max_raises[0] == _MAX_BETS - 1
        can_reach_cap = min(game.stacks) > _MAX_BETS * big
        if is_bet and is_small_first and has_cap and can_reach_cap:
            return None
    return (
        "the equilibrium before the flop is that of limit hold'em of two players with blinds of half a bet and a bet, "
        "the small one first to act, and four bets at most, such as the game limit; this game is not one of them"
    )


class _Preflop:
    def __init__(self, which: str) -> None:
        if which not in (_EQUILIBRIUM, _PUBLISHED):
            raise ValueError(f"preflop must be {_EQUILIBRIUM} or {_PUBLISHED}, not {which}")
        self._strategy: PreflopStrategy = preflop_strategy(as_published=which == _PUBLISHED)

    def chances(self, view: View) -> ActionChances:
        betting = "".join([_LETTERS[action.kind] for _, action in view.round_actions])
        chances = self._strategy.chances(betting, starting_hand(view.hole_cards))
        if view.can_fold:
            return chances
        # The published strategy also folds where it can check.
        return ActionChances(0.0, chances.fold + chances.call, chances.raise_)

    def policy(self, view: View) -> Mapping[Action, float]:
        policy = {}
        for action, chance in zip(_ACTIONS, self.chances(view), strict=True):
            if chance:
                policy[action] = chance
        return policy

    def act(self, view: View, number: float, *, explains: bool) -> Action:
        action = choose_action(self.policy(view), number)
        if explains:
            fold, call, raise_ = self.chances(view)
            name = starting_hand_name(view.hole_cards)
            view.comment(
                f"preflop {view.hole_text}, {name}: fold {fold:.4f}, call {call:.4f}, raise {raise_:.4f} of the time "
                f"-> {format_action(action)}"
            )
        return action


class LpBot(Bot):
    """Plays the equilibrium of the game that ends before the flop, and calls everything after it.

    Algorithm: the betting before the flop, followed by a showdown, is a game that a linear program solves exactly
        (`bots.lp_mc.preflop`). The solution has the probabilities of fold, call and raise for each of the 169 starting
        hands after each betting. An opponent that only calls after the flop cannot win against it on average over both
        seats. An opponent that bets after the flop can.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.1. The
        strategy printed there (option `preflop`) is not the equilibrium; `docs/lp-mc.md` explains the mistake.

    Other games: none; all but limit hold'em of two players with the usual blinds and cap are refused.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    def __init__(
        self,
        *,
        preflop: _PreflopOption = _EQUILIBRIUM,
        explain: Annotated[
            bool, "whether to send the probabilities as a comment before each action before the flop"
        ] = False,
        seed: DrawSeed = None,
    ) -> None:
        self._preflop = _Preflop(preflop)
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return preflop_refusal(game)

    def act(self, view: View) -> Action:
        self.require_game(view.game)
        if view.round:
            return CALL
        return self._preflop.act(view, uniform(draw(self._seed, view)), explains=self._explains)

    def policy(self, view: View) -> Mapping[Action, float]:
        self.require_game(view.game)
        if view.round:
            return {CALL: 1.0}
        return self._preflop.policy(view)

    def policy_by_holding(self, view: View) -> HoldingChances:
        """Return the policy for every holding."""
        self.require_game(view.game)
        if view.round:
            return {CALL: 1.0}
        # Imported here, because it needs numpy, which a playing bot does not load.
        from bots.sdk.holdings import policy_by_class

        return policy_by_class(view, self._preflop.policy)


class LpMcBot(McBot):
    """Plays the equilibrium before the flop, and simulates after it.

    Algorithm: `bots.lp_mc.bot.LpBot` before the flop, `bots.lp_mc.bot.McBot` after it, with a model of the opponent's
        actions after the flop.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013; `docs/lp-mc.md`
        compares it with the tables printed there.

    Other games: none; all but limit hold'em of two players with the usual blinds and cap are refused.

    It learns about its opponent while it plays: a match that is resumed or split begins with an empty model. Its draws
    depend only on the seed and the state.
    """

    _first_round: ClassVar[int] = 1

    def __init__(
        self,
        options: SimulationOptions = _DEFAULTS,
        *,
        preflop: _PreflopOption = _EQUILIBRIUM,
        explain: Annotated[
            bool,
            "whether to send the expected values, or before the flop the probabilities, as a comment before "
            "each action",
        ] = False,
        seed: DrawSeed = None,
    ) -> None:
        super().__init__(options, explain=explain, seed=seed)
        self._preflop = _Preflop(preflop)

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return preflop_refusal(game)

    def act(self, view: View) -> Action:
        if view.round:
            return super().act(view)
        self.require_game(view.game)
        return self._preflop.act(view, uniform(draw(self._seed, view)), explains=self._explains)

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the equilibrium's probabilities before the flop, and None after it, where the model decides."""
        self.require_game(view.game)
        if view.round:
            return None
        return self._preflop.policy(view)
