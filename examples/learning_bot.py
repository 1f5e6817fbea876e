"""A bot that learns during a match how often its opponent folds, and bluffs as often as that pays.

    arena play limit examples/learning_bot.py:LearningBot "random?fold=0.6,call=0.2,raise=0.2"

It remembers from hand to hand, so its result is an average over a match. A run with `--workers` cuts a match into
slices, which begin without memory; play it with one worker.
"""

from itertools import pairwise

from bots import ActionKind, Bot, Category, View, run
from bots.sdk.bot import draw, uniform


class LearningBot(Bot):
    """Counts the folds after its raises, and bluffs while they exceed the price of a bluff."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        # One raise in two was answered by a fold: a guess worth two observations, until there are more.
        self.raises = 2.0
        self.folds = 1.0

    @property
    def fold_rate(self) -> float:
        """Share of the raises that ended the hand."""
        return self.folds / self.raises

    def act(self, view: View):
        """Raise made hands; bluff with some others if the opponent folds often enough."""
        is_made = view.category >= Category.PAIR
        price = view.to_call + view.big_blind
        # A bluff risks `price` to win the pot; it pays if folds are more frequent than this.
        pays = self.fold_rate > price / (price + view.pot)
        is_bluff = pays and uniform(draw(self.seed, view)) < 0.5
        if is_made or is_bluff:
            return view.raise_min()
        return view.fold() if view.can_fold and view.pot_odds > 0.25 else view.call()

    def hand_finished(self, view: View) -> None:
        """Count what followed each raise of this bot."""
        for actions in view.actions_by_round:
            for (position, action), (_, answer) in pairwise(actions):
                if position == view.position and action.kind is ActionKind.RAISE:
                    self.raises += 1
                    self.folds += answer.kind is ActionKind.FOLD
        view.comment(f"folds to {self.fold_rate:.0%} of the raises")


if __name__ == "__main__":
    run(LearningBot())
