"""Players with a known leak, and the sound player that they are derived from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from bots import Bot, View
from bots.baseline import HandRandom
from bots.sdk.selfplay import self_play
from engine import CALL, RAISE, Action, ActionKind
from logs import HandRecord
from logs.leaks.divergences import hand_class

Change = Callable[[View, Action], Action]


class LeakyPlayer(Bot):
    """Randomised player with an optional change: it bets good hands and draws, and bluffs.

    It folds most weaker hands to a bet, so bets with draws earn something against it.

    """

    def __init__(self, seed: int, change: Change = lambda view, action: action) -> None:
        self._random = HandRandom(seed)
        self._change = change

    def hand_started(self, view: View) -> None:
        """Start the numbers of the hand."""
        self._random.begin_hand(view.hand_number)

    def act(self, view: View) -> Action:
        """Return a random action that depends on the cards, after the change."""
        drawn = self._random.random()
        hand = hand_class(view.hole_cards, view.board)
        raised = RAISE if view.can_raise else CALL
        if view.round == 0:
            action = raised if drawn < 0.1 else CALL
        elif hand in ("draw", "two pair or better", "top pair or an overpair"):
            action = raised if drawn < 0.9 and view.raises_this_round < 2 else CALL
        elif view.to_call:
            action = CALL if drawn < 0.05 else view.fold()
        else:
            action = raised if drawn < 0.05 else CALL
        return self._change(view, action)


def is_draw(view: View) -> bool:
    """Return whether a player has a draw without a made hand."""
    return view.round > 0 and hand_class(view.hole_cards, view.board) == "draw"


def folds_rivers(view: View, action: Action) -> Action:
    """Fold every bet on the river."""
    return view.fold() if view.round == 3 and view.to_call and view.can_fold else action


def folds_to_bets(view: View, action: Action) -> Action:
    """Fold every bet after the flop is dealt."""
    return view.fold() if view.round and view.to_call and view.can_fold else action


def never_raises_draws(view: View, action: Action) -> Action:
    """Check and call draws."""
    return CALL if is_draw(view) and action.kind is ActionKind.RAISE else action


def play_duplicates(bots: Sequence[Bot], hands: int, seed: int) -> Iterator[list[tuple[str, HandRecord]]]:
    """Return the deals of a duplicate match of A, B, ..., in every rotation."""
    game = "limit" if len(bots) == 2 else f"limit{len(bots)}"
    return deals_of(self_play(game, bots, deals=hands, seed=seed, names="ABCDEF"[: len(bots)]))


def deals_of(records: Iterable[HandRecord]) -> Iterator[list[tuple[str, HandRecord]]]:
    """Group hands by deal, each with the name of its match for a path."""
    for _, hands in groupby(records, key=lambda record: record.hand_number):
        yield [(record.match_name, record) for record in hands]
