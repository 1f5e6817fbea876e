"""A bot with a trained model: a logistic regression of the chance to win at showdown.

    arena play limit mfs rembrant -n 2000 --seed 1 --out runs/data
    python examples/model_bot.py runs/data model.npz
    arena play limit "examples/model_bot.py:ModelBot?model=model.npz" random

The second command trains on the showdowns of finished hands: runs, ACPC logs or hand histories. Replace `features` and
`train` by your own; the bot needs only a file that it can load and a chance to win.
"""

import sys
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from bots import Action, Bot, View, run
from engine import Card, category, rank_hand
from logs import HandRecord
from logs.hand_source import find

NUM_CATEGORIES = 9


def features(hole: tuple[Card, ...], board: tuple[Card, ...]) -> np.ndarray:
    """Describe two hole cards and a board as an array of shape (14,)."""
    # A card is 4 * rank + suit.
    low, high = sorted(card // 4 / 12 for card in hole)
    array = np.zeros(5 + NUM_CATEGORIES)
    array[:5] = 1, high, low, hole[0] % 4 == hole[1] % 4, len(board) / 5
    array[5 + category(rank_hand(hole + board))] = 1
    return array


def examples(records: Iterator[HandRecord]) -> Iterator[tuple[np.ndarray, float]]:
    """Pair the features of the players of showdowns, street by street, with their results.

    A result is 1 for a win, 0.5 for a split pot and 0 for a loss.
    """
    for record in records:
        if not record.betting.is_showdown:
            continue
        for hole, value in zip(record.deal.hole_cards, record.values, strict=True):
            for cards in (0, 3, 4, 5):
                yield features(hole, record.deal.board[:cards]), (np.sign(value) + 1) / 2


def train(inputs: np.ndarray, targets: np.ndarray, steps: int = 2000, rate: float = 1.0) -> np.ndarray:
    """Fit a logistic regression by gradient descent; return its weights."""
    weights = np.zeros(inputs.shape[1])
    for _ in range(steps):
        chances = 1 / (1 + np.exp(-inputs @ weights))
        weights += rate * inputs.T @ (targets - chances) / len(targets)
    return weights


class ModelBot(Bot):
    """Raises with a chance to win above 60 %, and folds below the pot odds."""

    def __init__(self, model: Annotated[str, "file of the weights"] = "model.npz") -> None:
        self.weights = np.load(model)["weights"]

    def refusal(self, game) -> str | None:
        """Refuse games without two hole cards, which the features describe."""
        return None if game.num_hole_cards == 2 else "the model knows games with two hole cards"

    def act(self, view: View) -> Action:
        """Compare the model's chance with the price of a call."""
        chance = 1 / (1 + np.exp(-features(view.hole_cards, view.board) @ self.weights))
        view.comment(f"chance {chance:.2f}")
        if chance > 0.6 and view.raises_this_round < 2:
            return view.raise_by_pot(1.0)
        if view.can_fold and chance < view.pot_odds:
            return view.fold()
        return view.call()


def main(source: str, model: str) -> None:
    """Train on the hands of a folder or file, and save the weights."""
    inputs, targets = map(np.array, zip(*examples(find([source]).hands()), strict=True))
    weights = train(inputs, targets)
    np.savez(model, weights=weights)
    is_right = (inputs @ weights > 0) == (targets > 0.5)
    print(f"{len(targets):,} examples, {is_right[targets != 0.5].mean():.0%} of the winners recognised")


if __name__ == "__main__":
    if len(sys.argv) == 3 and not sys.argv[2].isdigit():
        main(*sys.argv[1:])
    else:
        run(ModelBot())  # a dealer starts it with host and port
