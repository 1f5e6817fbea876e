"""Measurements for the paper on Rembrant: hands on the flop, and matches of the options that fill gaps of its text.

- ``flop HAND``: per cent of the flops on which a player has a hand
- ``OPTIONS against BOT``: mean of both seatings in mbb/g, over `DEALS` deals of no-limit hold'em, the same for all
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.studies.measured import Measured, Task
from engine import Category
from engine.batch import rank_hands
from logs.estimation import Z_95, RunningMean
from protocol import find_game

DEALS: Final = 3_000
"""Both seatings of each give the 6,000 hands of a match of 2011."""
SEED: Final = 2011


def flop_chances() -> dict[str, Measured]:
    """Count all hands of five cards, the straight flushes with the royal ones."""
    ranks = rank_hands(np.array(list(combinations(range(52), 5)), np.uint8))
    names = [category.name.replace("_", " ").lower() for category in Category]
    counts = dict(zip(names, np.bincount(ranks >> 12, minlength=len(names)).tolist(), strict=True))
    counts["royal flush"] = int((ranks == ranks.max()).sum())
    return {f"flop {name}": Measured(100 * count / len(ranks)) for name, count in counts.items()}


def tasks(figures: Iterable[str], _: Path) -> Iterator[Task]:
    for figure in figures:
        if figure != "default against rembrant":
            yield task_of(figure)


def task_of(figure: str) -> Task:
    if figure.startswith("flop "):
        return Task("flop", flop_chances)
    return Task(figure, play, (figure,), is_long=True)


def play(figure: str, deals: int = DEALS) -> dict[str, Measured]:
    options, opponent = figure.split(" against ")
    game = find_game("nolimit")[1]
    us = "rembrant" if options == "default" else f"rembrant?{options}"
    bots = [make_bot(us, seed=SEED), make_bot(opponent, seed=SEED + 1)]
    won, of_deal = RunningMean(), 0.0
    for number, hand in enumerate(self_play(game, bots, deals=deals, seed=SEED, names=("us", "them")), 1):
        of_deal += hand.values[hand.names.index("us")]
        if number % 2 == 0:
            won.add(500 * of_deal / game.big_blind)
            of_deal = 0.0
    return {figure: Measured(won.mean, Z_95 * (won.standard_error or 0.0), won.count)}
