"""What a player of the work sees when he is to decide: nine quantities, as one value.

Formulas take it, and so may anything that learns. The names in capitals are the work's. It counts money without saying
in what; here that is the big blind, so that a number means the same in every game. Where only the ratio of sums
matters, whole chips are used, which are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from bots.view import View
from engine import ActionKind

__all__ = ["Observation", "observe"]


@dataclass(frozen=True, slots=True)
class Observation:
    """All that a decision may rest on."""

    chance_percent: float | None
    """CHANCE: how likely the player is to win, 0 to 100 (`bots.formula.chance`); None for who did not ask, since it
    takes longer than all the rest."""
    pot_chips: int
    """POT: chips that everybody has put in during this hand, blinds included."""
    odds: float
    """ODDS: the pot as a multiple of what the player has put in himself during this hand; 0 while that is nothing."""
    raise_chips: int
    """RAISE: chips the player must add to stay in, at most what he has left; 0 where he may check."""
    raise_count: int
    """QTYRAISE: how many bets and raises there have been in this hand; blinds are none."""
    player_count: int
    """NPLAYERS: players dealt in, folded or not."""
    follower_count: int
    """FOLLOWERS: players who will act after this one in the round, if nobody raises; 0 for the last."""
    round: int
    """ROUND: the betting round, 0-based. The work tells only the first from the others."""
    in_game_count: int
    """INGAME: players who have not folded, this one among them."""
    big_blind_chips: int
    """The unit of money, in chips; not a quantity of the work."""

    @property
    def pot_money(self) -> float:
        """POT in big blinds."""
        return self.pot_chips / self.big_blind_chips

    @property
    def raise_money(self) -> float:
        """RAISE in big blinds."""
        return self.raise_chips / self.big_blind_chips

    @property
    def own_chips(self) -> int:
        """Chips the player has put in during this hand: POT / ODDS, as the work finds it, and 0 where ODDS is."""
        return round(self.pot_chips / self.odds) if self.odds else 0


def observe(view: View, chance_percent: float | None = None) -> Observation:
    """What the player sees whose turn it is.

    Args:
        view: the state.
        chance_percent: CHANCE, for who needs it.
    """
    own_chips = view.spent[view.position]
    return Observation(
        chance_percent=chance_percent,
        pot_chips=view.pot,
        odds=view.pot / own_chips if own_chips else 0.0,
        raise_chips=view.to_call,
        raise_count=sum(action.kind is ActionKind.RAISE for actions in view.rounds for _, action in actions),
        player_count=view.num_players,
        follower_count=len(view.positions_to_act),
        round=view.round,
        in_game_count=len(view.active_positions),
        big_blind_chips=view.big_blind,
    )
