"""What a formula player observes, the formulas, and the decision that follows.

Decisions. Every player of the thesis chooses one of a few numbered decisions. The table that lists them is missing; a
caption says that 2 means to continue. Here 1 folds, and the higher numbers raise by increasing amounts. An illegal
decision becomes the nearest legal action: a fold with nothing to call is a check, a raise where none is allowed is a
call, and a size is clamped to its bounds. In a limit game all three raises have the fixed size.

Quantities. They are the terms of the formulas and of learners. The names in capitals are those of the thesis, which
gives no unit of money; here it is the big blind, so that a number means the same in every game. Where only a ratio
matters, whole chips are used, which are exact.

Formulas. The formulas are missing from the text, but the sentences after each of them name their terms. They are
reconstructed from those:

- formula 1, MFS, the mathematically fair strategy: expected gain over expected loss. Named are the opponents' money,
  POT, ODDS, RAISE, the player's money in the pot and CHANCE in per cent; the first follows from POT and ODDS by
  "another formula with the same result".
- formula 2, RH, of Jean Rachlin and Gary Higgins: named are POT, the number of raises, the players still to act,
  those that have not folded, and RAISE, to which 1 was added against division by zero.
- formulas 5 and 6, the decision: the relation and a constant k, "of which several values were tested". Here the
  decision is their product, rounded down and clamped to 1 to 5. With k = 2 an MFS player continues from a relation of
  1 up: exactly where continuing is fair.

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
    """The decisions of a player: 2 is that of the thesis, the others are defined here."""

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
"""Table 2, as defined here: the raises are the minimum, half the pot and the pot, as it is after calling."""


def action_of(decision: Decision, view: View) -> Action:
    return _ACTIONS[decision](view)


class Proportions:
    """Frequencies of the decisions: table 3, as a parameter, since its numbers are missing."""

    def __init__(self, text: str) -> None:
        """Read five numbers, for the decisions 1 to 5, such as ``20/50/15/10/5``; they need not sum to 100."""
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
        return decision  # rounding may leave the last end just below 1

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probability of each action in a state; several decisions may lead to one action."""
        chances: dict[Action, float] = {}
        for decision, chance in self.chances.items():
            action = action_of(decision, view)
            chances[action] = chances.get(action, 0.0) + chance
        return chances


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything a decision may depend on."""

    chance_percent: float | None
    """CHANCE: the player's chance to win, 0 to 100; None if not asked for, since it costs more than all the rest. The
    thesis does not define it; here it is the expected share of the pot (`bots.sdk.chance`)."""
    pot_chips: int
    """POT: chips that all players have put in during this hand, with the blinds."""
    odds: float
    """ODDS: the pot as a multiple of what the player has put in during this hand; 0 while that is nothing."""
    raise_chips: int
    """RAISE: chips the player must add to stay in, at most its remaining stack; 0 if it may check."""
    raise_count: int
    """QTYRAISE: the number of bets and raises in this hand; blinds do not count."""
    player_count: int
    """NPLAYERS: players dealt in, folded or not."""
    follower_count: int
    """FOLLOWERS: players that will act after this one in the round if there is no raise; 0 for the last."""
    round: int
    """ROUND: the betting round, 0-based. The thesis only separates the first from the others."""
    in_game_count: int
    """INGAME: players that have not folded, with this one."""
    big_blind_chips: int
    """The unit of money, in chips; not a quantity of the thesis."""

    @property
    def pot_money(self) -> float:
        return self.pot_chips / self.big_blind_chips

    @property
    def raise_money(self) -> float:
        return self.raise_chips / self.big_blind_chips

    @property
    def own_chips(self) -> int:
        """Chips the player has put in during this hand: POT / ODDS, as in the thesis; 0 if ODDS is 0."""
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
    """Formula 1: expected gain over expected loss, infinite for a certain win.

    CHANCE * others / ((100 - CHANCE) * (own + RAISE)), with own = POT / ODDS the player's chips in the pot and
    others = POT - own. CHANCE must be known, and ODDS or RAISE above 0.
    """
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
    """Formula 5: k times the MFS relation as a decision; 2, to enter the game, while the player has put nothing in."""
    if not seen.odds:
        return Decision.CALL
    return decision_of(k * mfs_relation(seen))


def rh_relation(seen: Observation) -> float:
    """Formula 2: the pot, discounted by raises, players and the price.

    POT / ((QTYRAISE + 1) * (FOLLOWERS + 1) * INGAME * (RAISE + 1)), money in big blinds. The 1 added to
    RAISE is the thesis's, the one added to QTYRAISE is Findler's; the one added to FOLLOWERS is ours, since the last
    player to act has none.
    """
    players = (seen.follower_count + 1) * seen.in_game_count
    return seen.pot_money / ((seen.raise_count + 1) * players * (seen.raise_money + 1))


def rh_decision(seen: Observation, k: float) -> Decision:
    """Formula 6: k times the RH relation as a decision."""
    return decision_of(k * rh_relation(seen))


def decision_of(value: float) -> Decision:
    """The decision for a value: rounded down and clamped to 1 to 5."""
    return Decision(math.floor(max(Decision.FOLD, min(Decision.LARGE_RAISE, value))))
