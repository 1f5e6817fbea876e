"""The players `mfs` and `rh`, which observe a state, compute one formula and take the decision for its value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from bots.formula.formulas import (
    Decision,
    Observation,
    action_of,
    in_words,
    mfs_decision,
    mfs_relation,
    observe,
    rh_decision,
    rh_relation,
)
from bots.sdk.bot import Bot
from bots.sdk.chance import EquityCounter, holdem_refusal
from bots.sdk.view import View
from engine import Action, Game
from engine.equity import DEFAULT_TRIALS, compile_kernels
from protocol import format_action

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bots.sdk.holdings import HoldingChances

_MAX_K: Final = 1e6
"""Above this bound every nonzero relation gives the largest decision."""


_Boldness: TypeAlias = Annotated[
    float, "boldness: the formula's value is multiplied by it, and the decisions grow with the product"
]
_Explains: TypeAlias = Annotated[
    bool, "whether to send a comment with the quantities, the formula's value and the decision before each action"
]


class _FormulaBot(Bot):
    def __init__(self, k: float, explains: bool) -> None:
        if not 0 < k <= _MAX_K:
            raise ValueError(f"k must be above 0 and at most {_MAX_K:g}, not {k}")
        self.k = k
        self._explains = explains

    @abstractmethod
    def _decide(self, view: View) -> tuple[Observation, str, Decision]:
        """Return the observed quantities, the value of the formula as text, and the decision."""

    def act(self, view: View) -> Action:
        seen, reason, decision = self._decide(view)
        action = action_of(decision, view)
        if self._explains:
            view.comment(
                f"{in_words(view, seen)}; {reason} -> {decision.value} {decision.words}, {format_action(action)}"
            )
        return action

    def policy(self, view: View) -> Mapping[Action, float] | None:
        _, _, decision = self._decide(view)
        return {action_of(decision, view): 1.0}


class MfsBot(_FormulaBot):
    """Plays the mathematically fair strategy: decides by expected gain over expected loss, times k.

    Algorithm: formula 1 computes a ratio from the chance to win against all active players (`bots.sdk.chance`), the
        player's own chips in the pot, the other chips in it, and the price of a call. It is 1 where a call is fair. k
        times the ratio, rounded down, is one of five decisions (formula 5 of `bots.formula.formulas`). A player that
        has put nothing into the pot calls at any price. The bot ignores how its opponents play.

    Source: V. S. Fazio, 2008, section 3.4.3; `bots.formula` lists the reconstructed parts.

    Other games: limit and no-limit hold'em of two to ten players. Games other than hold'em are refused.

    Strength: +877 ± 57 mbb/g in limit and +8,874 ± 496 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md).

    Its samples depend only on the seed and the state, so a match that is resumed or split between hands plays the
    same. With two players left nothing is sampled.
    """

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return holdem_refusal(game)

    def __init__(
        self,
        *,
        k: _Boldness = 2.0,
        trials: Annotated[
            int, "number of showdowns drawn to estimate the chance against two or more opponents"
        ] = DEFAULT_TRIALS,
        explain: _Explains = False,
        seed: Annotated[int | None, "seed of these draws; random by default"] = None,
    ) -> None:
        super().__init__(k, explain)
        self.chance = EquityCounter(trials=trials, seed=seed)

    def prepare_for_many_hands(self) -> None:
        compile_kernels()

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the action with probability 1, or None if it depends on samples of an unknown seed."""
        return super().policy(view) if self.chance.is_reproducible(view) else None

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """Return an action for each holding against one opponent; None against more, where chances are sampled."""
        if len(view.active_positions) > 2:
            return None
        from bots.sdk.holdings import pure_policy

        def action_for(decision: int) -> Action:
            return action_of(Decision(decision), view)

        return pure_policy(view, _mfs_decisions(view, self.k), action_for)

    def _decide(self, view: View) -> tuple[Observation, str, Decision]:
        seen = observe(view, self.chance.percent(view))
        reason = "nothing put in yet"
        if seen.odds:
            reason = f"MFS {mfs_relation(seen):.2f}, k {self.k:g}"
        return seen, reason, mfs_decision(seen, self.k)


class RhBot(_FormulaBot):
    """Plays the strategy of Rachlin and Higgins: decides by the pot over raises, players and price, times k.

    Algorithm: formula 2 computes a ratio of public quantities. k times the ratio, rounded down, is one of five
        decisions (formula 6 of `bots.formula.formulas`). The bot never looks at its cards. It bets where betting is
        cheap and few players can still answer, and folds where betting is expensive.

    Source: V. S. Fazio, 2008, section 3.4.4; `bots.formula` lists the reconstructed parts.

    Other games: any, since it ignores the cards.

    Strength: +470 ± 34 mbb/g in limit and -16,258 ± 539 in no-limit against the other built-in bots, two players,
        duplicates, 95 % (docs/built-in-bots.md). Below a k of 8 it folds every small blind; at a full table it does
        little else with any k.
    """

    def __init__(
        self,
        *,
        k: _Boldness = 8.0,
        explain: _Explains = False,
    ) -> None:
        super().__init__(k, explain)

    def policy_by_holding(self, view: View) -> Mapping[Action, float] | None:
        return self.policy(view)

    def _decide(self, view: View) -> tuple[Observation, str, Decision]:
        seen = observe(view)
        return seen, f"RH {rh_relation(seen):.2f}, k {self.k:g}", rh_decision(seen, self.k)


def _mfs_decisions(view: View, k: float) -> NDArray[np.int64]:
    """Return `mfs_decision` for each holding against one opponent, shape (1326,).

    Values for holdings that contain a board card are arbitrary.
    """
    # Same operations in the same order as in mfs_relation: the decisions must agree with it exactly.
    import numpy as np

    from engine.ranges import HOLDINGS, chances_of_all

    seen = observe(view)
    if not seen.odds:
        return np.full(len(HOLDINGS), int(Decision.CALL))
    percent = 100 * chances_of_all(view.board).equity
    gain = percent * (seen.pot_chips - seen.own_chips)
    loss = (100 - percent) * (seen.own_chips + seen.raise_chips)
    with np.errstate(divide="ignore", invalid="ignore"):
        relation = np.where(loss == 0, np.where(gain > 0, np.inf, 0.0), gain / loss)
    clamped = np.clip(k * relation, Decision.FOLD, Decision.LARGE_RAISE)
    return np.floor(np.nan_to_num(clamped, nan=Decision.FOLD)).astype(np.int64)
