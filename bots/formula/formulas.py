"""Observed quantities, formulas and decisions of the players `mfs` and `rh`.

`observe` computes the quantities of a view, `mfs_decision` and `rh_decision` map them to a `Decision`, and `action_of`
to a legal action. Names in capitals are those of the thesis (see `bots.formula`). It gives no unit of money; here it is
the big blind, so that a number means the same in every game.

N. V. Findler, "Studies in machine cognition using the game of poker", Communications of the ACM 20 (1977), is the
source of both strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from typing import Final

from bots.sdk.view import View
from engine import CALL, FOLD, Action, ActionKind
from engine.errors import quoted


class Decision(IntEnum):
    """Numbered decisions of a player. The higher numbers raise by increasing amounts."""

    # The table of the thesis is missing. A caption says that 2 means to continue; the others are defined here.
    FOLD = 1
    CALL = 2
    SMALL_RAISE = 3
    MEDIUM_RAISE = 4
    LARGE_RAISE = 5

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


_ACTIONS: Final[Mapping[Decision, Callable[[View], Action]]] = {
    Decision.FOLD: lambda view: view.nearest_legal(FOLD),
    Decision.CALL: lambda view: CALL,
    Decision.SMALL_RAISE: View.raise_min,
    Decision.MEDIUM_RAISE: lambda view: view.raise_by_pot(0.5),
    Decision.LARGE_RAISE: lambda view: view.raise_by_pot(1.0),
}
"""Table 2, as defined here. The raises are the minimum, half the pot and the pot, each after calling."""


def action_of(decision: Decision, view: View) -> Action:
    """Return the legal action nearest to a decision. In a limit game all three raises have the fixed size."""
    return _ACTIONS[decision](view)


class Proportions:
    """Probabilities of the decisions: table 3, whose numbers are missing, as a parameter.

    Args:
        text: weights of the decisions 1 to 5, such as ``20/50/15/10/5``; they need not sum to 100.
    """

    def __init__(self, text: str) -> None:
        try:
            weights = [float(part) for part in text.split("/")]
        except ValueError:
            weights = []
        if len(weights) != len(Decision) or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise ValueError(
                f"decisions must be five proportions such as 20/50/15/10/5, for fold, call, small, medium and large "
                f"raise, of 0 or more and not all 0, not {quoted(text)}"
            )
        total = sum(weights)
        self.chances: dict[Decision, float] = {}
        for decision, weight in zip(Decision, weights, strict=True):
            if weight:
                self.chances[decision] = weight / total
        self._ends = tuple(accumulate(self.chances.values()))

    def draw(self, number: float) -> Decision:
        for decision, end in zip(self.chances, self._ends, strict=True):
            if number < end:
                return decision
        # Rounding can leave the last end just below 1.
        return decision

    def policy(self, view: View) -> Mapping[Action, float]:
        """Return the probability of each action."""
        # Several decisions can lead to the same action.
        chances: dict[Action, float] = {}
        for decision, chance in self.chances.items():
            action = action_of(decision, view)
            chances[action] = chances.get(action, 0.0) + chance
        return chances


@dataclass(frozen=True, slots=True)
class Observation:
    """Quantities of a state that a decision may depend on, also for the learner."""

    chance_percent: float | None
    """CHANCE: expected share of the pot (`bots.sdk.chance`), 0 to 100; None if it was not computed. The thesis does not
    define it."""
    pot_chips: int
    """POT: chips put in by all players during this hand, including the blinds."""
    odds: float
    """ODDS: pot divided by the player's own chips in it; 0 if it has none."""
    raise_chips: int
    """RAISE: chips that a call costs, at most the remaining stack; 0 if the player may check."""
    raise_count: int
    """QTYRAISE: number of bets and raises in this hand, without the blinds."""
    player_count: int
    """NPLAYERS: players dealt in, folded or not."""
    follower_count: int
    """FOLLOWERS: players that act after this one in the round unless one raises; 0 for the last."""
    round: int
    """ROUND: betting round, 0-based. The thesis only separates the first from the others."""
    in_game_count: int
    """INGAME: players that have not folded, including this one."""
    big_blind_chips: int
    """Unit of money, in chips; not a quantity of the thesis."""

    @property
    def pot_money(self) -> float:
        return self.pot_chips / self.big_blind_chips

    @property
    def raise_money(self) -> float:
        return self.raise_chips / self.big_blind_chips

    @property
    def own_chips(self) -> int:
        """Chips of the player in the pot, computed as POT / ODDS as in the thesis; 0 if ODDS is 0."""
        if not self.odds:
            return 0
        return round(self.pot_chips / self.odds)


def observe(view: View, chance_percent: float | None = None) -> Observation:
    own_chips = view.hand_committed[view.position]
    odds = 0.0
    if own_chips:
        odds = view.pot / own_chips
    raise_count = 0
    for actions in view.actions_by_round:
        for _, action in actions:
            if action.kind is ActionKind.RAISE:
                raise_count += 1
    return Observation(
        chance_percent=chance_percent,
        pot_chips=view.pot,
        odds=odds,
        raise_chips=view.to_call,
        raise_count=raise_count,
        player_count=view.num_players,
        follower_count=len(view.players_behind),
        round=view.round,
        in_game_count=len(view.active_positions),
        big_blind_chips=view.big_blind,
    )


def in_words(view: View, seen: Observation) -> str:
    """Format the quantities of a state on one line."""
    cards = view.hole_text
    if view.board:
        cards += f" on {view.board_text}"
    chance = ""
    if seen.chance_percent is not None:
        chance = f"CHANCE {seen.chance_percent:.1f}, "
    return (
        f"{view.round_name} {cards}: {chance}POT {seen.pot_money:g}, ODDS {seen.odds:.4g}, RAISE {seen.raise_money:g}, "
        f"QTYRAISE {seen.raise_count}, NPLAYERS {seen.player_count}, FOLLOWERS {seen.follower_count}, "
        f"INGAME {seen.in_game_count}"
    )


def mfs_relation(seen: Observation) -> float:
    """Compute formula 1, expected gain over expected loss; infinite for a certain win.

    It is CHANCE * (POT - own) / ((100 - CHANCE) * (own + RAISE)), where own = POT / ODDS is the player's part of POT.

    Raises:
        ValueError: CHANCE is unknown, or ODDS and RAISE are both 0.
    """
    # The sentence after the missing formula names the opponents' money, POT, ODDS, RAISE, the player's money in the
    # pot, and CHANCE in per cent. The opponents' money follows from POT and ODDS by "another formula with the same
    # result".
    if seen.chance_percent is None:
        raise ValueError("the MFS relation needs CHANCE")
    own_chips = seen.own_chips
    stake_chips = own_chips + seen.raise_chips
    if not stake_chips:
        raise ValueError("the MFS relation needs a stake: ODDS and RAISE are 0")
    gain = seen.chance_percent * (seen.pot_chips - own_chips)
    loss = (100 - seen.chance_percent) * stake_chips
    if not loss:
        if gain:
            return math.inf
        return 0.0
    return gain / loss


def mfs_decision(seen: Observation, k: float) -> Decision:
    """Compute formula 5: the decision for k times the MFS relation; 2 if the player has no chips in the pot."""
    # With k = 2 the player continues from a relation of 1 up, exactly where continuing is fair.
    if not seen.odds:
        return Decision.CALL
    return decision_of(k * mfs_relation(seen))


def rh_relation(seen: Observation) -> float:
    """Compute formula 2, the pot divided by raises, players and price.

    It is POT / ((QTYRAISE + 1) * (FOLLOWERS + 1) * INGAME * (RAISE + 1)), with money in big blinds.
    """
    # The 1 added to RAISE is from the thesis, against division by zero, and the 1 added to QTYRAISE from Findler. The 1
    # added to FOLLOWERS is ours, because the last player to act has none.
    players = (seen.follower_count + 1) * seen.in_game_count
    return seen.pot_money / ((seen.raise_count + 1) * players * (seen.raise_money + 1))


def rh_decision(seen: Observation, k: float) -> Decision:
    """Compute formula 6: the decision for k times the RH relation."""
    return decision_of(k * rh_relation(seen))


def decision_of(value: float) -> Decision:
    """Return the decision for a value, rounded down and clamped to 1 to 5."""
    return Decision(math.floor(max(Decision.FOLD, min(Decision.LARGE_RAISE, value))))
