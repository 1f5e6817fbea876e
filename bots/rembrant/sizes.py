"""From a move of the tables to a legal action of the game.

All sizes are totals that the round's bet is raised to. An illegal size becomes the nearest legal one, and a raise where
none is allowed becomes a call; in a limit game every raise, all-in included, has the fixed size.
"""

from __future__ import annotations

from bots.rembrant.cells import Move
from bots.rembrant.danger import Danger
from bots.rembrant.style import Style
from bots.view import View
from engine import CALL, FOLD, Action, raise_to

__all__ = ["action_of"]


def action_of(move: Move, view: View, danger: Danger | None, style: Style) -> Action:
    """The legal action for a move.

    Args:
        move: the move of the rule.
        view: the situation.
        danger: of the board; None before the flop.
        style: the sizes.
    """
    if move is Move.FOLD:
        return view.nearest_legal(FOLD)
    if move in (Move.CHECK, Move.CALL):
        return CALL
    if move is Move.ALL_IN:
        return view.all_in()
    if danger is None:
        total = style.open_bb * view.big_blind if move is Move.RAISE else style.reraise_times * view.betting.max_spent
        return view.nearest_legal(raise_to(int(total)))
    if move is Move.RAISE:
        is_large = danger.invites_draws(on_river=style.river_danger)
        return view.raise_by_pot(style.bet_pot_danger if is_large else style.bet_pot)
    return view.nearest_legal(raise_to(view.to_hand_total(int(style.raise_times * max(view.street_spent)))))
