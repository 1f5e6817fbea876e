"""Measurements for the paper on Rembrant: a count in its tables, and matches of the options that fill its gaps.

``OPTIONS against BOT`` is the mean of both seatings in mbb/g, over `DEALS` deals of no-limit hold'em, the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Final

from measured import Measured

from bots.rembrant.rules import POSTFLOP_RULES, STREETS, HandKind, Opponent, TableMove
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.estimation import Z_95, RunningMean
from protocol import find_game

DEALS: Final = 3_000
"""Both seatings of each give the 6,000 hands of a match of 2011."""
SEED: Final = 2011
_BETS: Final = (Opponent.RAISE, Opponent.RE_RAISE, Opponent.ALL_IN)
_STRAIGHTS: Final = tuple(kind for kind in HandKind if kind.name.startswith("STRAIGHT"))


def paying_cells() -> int:
    """The cells of the tables for a straight that pay a bet."""
    rules = [POSTFLOP_RULES[situation] for situation in product(_STRAIGHTS, STREETS, _BETS)]
    return sum(TableMove.FOLD not in (rule.passive, rule.aggressive) for rule in rules)


def tasks(figures: Iterable[str], _: Path) -> Iterator[tuple[str, Callable[..., dict[str, Measured]], tuple[str]]]:
    for figure in figures:
        if figure != "default against rembrant":
            yield figure, play, (figure,)


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
