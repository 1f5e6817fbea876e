"""What a player of the work sees before a decision: nine quantities, as one value.

The formulas take it, and so may a learner. The names in capitals are the work's. The work gives no unit of money; here
it is the big blind, so that a number means the same in every game. Where only a ratio matters, whole chips are used,
which are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from bots.sdk.view import View
from engine import ActionKind

__all__ = ["Observation", "in_words", "observe"]


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything a decision may depend on."""

    chance_percent: float | None
    """CHANCE: the player's chance to win, 0 to 100; None if not asked for, since it costs more than all the rest. The
    work does not say how it was computed; here it is the expected share of the pot (`bots.sdk.chance`)."""
    pot_chips: int
    """POT: chips that all players have put in during this hand, blinds included."""
    odds: float
    """ODDS: the pot as a multiple of what the player has put in during this hand; 0 while that is nothing."""
    raise_chips: int
    """RAISE: chips the player must add to stay in, at most its remaining stack; 0 if it may check."""
    raise_count: int
    """QTYRAISE: the number of bets and raises in this hand; blinds do not count."""
    player_count: int
    """NPLAYERS: players dealt in, folded or not."""
    follower_count: int
    """FOLLOWERS: players that will act after this one in the round if nobody raises; 0 for the last."""
    round: int
    """ROUND: the betting round, 0-based. The work only separates the first from the others."""
    in_game_count: int
    """INGAME: players that have not folded, this one included."""
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
        """Chips the player has put in during this hand: POT / ODDS, as in the work; 0 if ODDS is 0."""
        return round(self.pot_chips / self.odds) if self.odds else 0


def observe(view: View, chance_percent: float | None = None) -> Observation:
    """The quantities that the player to act sees.

    Args:
        view: the state.
        chance_percent: CHANCE, if needed.
    """
    own_chips = view.hand_committed[view.position]
    return Observation(
        chance_percent=chance_percent,
        pot_chips=view.pot,
        odds=view.pot / own_chips if own_chips else 0.0,
        raise_chips=view.to_call,
        raise_count=sum(action.kind is ActionKind.RAISE for actions in view.actions_by_round for _, action in actions),
        player_count=view.num_players,
        follower_count=len(view.players_behind),
        round=view.round,
        in_game_count=len(view.active_positions),
        big_blind_chips=view.big_blind,
    )


def in_words(view: View, seen: Observation) -> str:
    """The cards and the quantities seen in a state, in one line."""
    cards = view.hole_text + (f" on {view.board_text}" if view.board else "")
    chance = "" if seen.chance_percent is None else f"CHANCE {seen.chance_percent:.1f}, "
    return (
        f"{view.round_name} {cards}: {chance}POT {seen.pot_money:g}, ODDS {seen.odds:.4g}, RAISE {seen.raise_money:g}, "
        f"QTYRAISE {seen.raise_count}, NPLAYERS {seen.player_count}, FOLLOWERS {seen.follower_count}, "
        f"INGAME {seen.in_game_count}"
    )
