"""The players `mc`, `lp` and `lp-mc`.

`mc` simulates on every street and plays the action of the highest value. `lp` and `lp-mc` play the equilibrium before
the flop; after it `lp` calls, and `lp-mc` simulates.
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
    """Plays out every action thousands of times against a model of its opponent, and takes the best on average.

    Algorithm: how often the opponent folded, called and raised, by round and by whether it owed a bet, is the model.
        In a trial of the simulation the opponent holds one of the hands that it may hold, without the weakest ones: as
        large a share of them as the share of its actions that were folds. It plays by the model's frequencies, equally
        aggressive throughout, the bot calls all bets, the rest of the board is dealt. The average of 10,000 trials is
        the value of a call and of a raise; a fold is worth 0. The best is played; where call and raise are worth about
        the same, each hand has its own preference. Nothing is ever folded for nothing.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.2.
        `docs/gap-fillings.md` lists what it leaves open. The thesis simulates after the flop only: that is `lp-mc`.
        Before it, hands are ordered here by their chance to win against random cards.

    Other games: limit hold'em of two players, of any stakes. All other games are refused.

    It learns about its opponent while it plays: a match that is resumed or split begins with an empty model. Its draws
    depend only on the seed and the state.
    """

    _first_round: ClassVar[int] = 0
    """The first round that is simulated."""

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
    """The action of the highest value; a check instead of a fold where a check is free.

    Call and raise count as equal if both are positive and differ by at most the threshold, as a share of the pot.
    """
    call = values.call
    raise_ = values.raise_
    if raise_ is not None and (raise_ > 0 or not view.can_fold):
        if call > 0 and raise_ > 0 and abs(raise_ - call) <= threshold * view.pot:
            return RAISE if is_aggressive else CALL
        if raise_ > max(call, 0.0):
            return RAISE
    return FOLD if call < 0 and view.can_fold else CALL


def _explain(view: View, values: Values, action: Action) -> str:
    """The values of fold, call and raise in chips, as in the log of the thesis, and the action."""
    cards = view.hole_text + (f" on {view.board_text}" if view.board else "")
    raise_ = "-" if values.raise_ is None else f"{values.raise_:.2f}"
    return (
        f"{view.round_name} {cards}: fold 0, call {values.call:.2f}, raise {raise_}; the opponent holds one of "
        f"{values.hands:,} hands of {values.of_hands:,} -> {format_action(action)}"
    )


_EQUILIBRIUM: Final = "equilibrium"
_PUBLISHED: Final = "published"
_BETS: Final = 4
_ACTIONS: Final = (FOLD, CALL, RAISE)
_LETTERS: Final = {ActionKind.CALL: "c", ActionKind.RAISE: "r"}
_PreflopOption: TypeAlias = Annotated[
    str,
    "how to play before the flop: equilibrium, or published, which is what the thesis played in its place, by mistake; "
    "its folds where nothing is owed are checks",
]


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
        return ActionChances(0.0, chances.fold + chances.call, chances.raise_)

    def policy(self, view: View) -> Mapping[Action, float]:
        return {action: chance for action, chance in zip(_ACTIONS, self.chances(view), strict=True) if chance}

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

    Algorithm: the betting before the flop with all cards shown at its end is a game of its own, small enough to be
        solved exactly by a linear program (`bots.lp_mc.preflop`): the probabilities of fold, call and raise for each of
        the 169 starting hands after each betting. If both only called after the flop, no opponent could win against it
        on average over both seats; an opponent that bets after the flop can.

    Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013, section 4.1; the
        strategy printed there is not the equilibrium (option `preflop`), `docs/lp-mc.md` says why.

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
        return {CALL: 1.0} if view.round else self._preflop.policy(view)

    def policy_by_holding(self, view: View) -> HoldingChances:
        """`policy`, asked once for each class of hands."""
        self.require_game(view.game)
        if view.round:
            return {CALL: 1.0}
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
        """The equilibrium's probabilities before the flop; None after it, where the model decides."""
        self.require_game(view.game)
        return None if view.round else self._preflop.policy(view)
