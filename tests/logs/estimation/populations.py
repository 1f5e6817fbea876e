"""Finite populations of scores with mean 0, sampled with replacement, to test statistics.

Some are constructed to be difficult; the others are results of simple players against each other.

"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from engine import CALL, FOLD, RAISE, Action, BettingState, Card, Deal, Game, Hand, deals, raise_to
from logs.estimation import score_bounds
from protocol import find_game

Player: TypeAlias = Callable[[BettingState, Sequence[Card], random.Random], Action]


@dataclass(frozen=True)
class Population:
    """Scores in mbb per hand with mean 0, and their bounds."""

    scores: tuple[float, ...]
    lowest: float
    highest: float

    @property
    def sd(self) -> float:
        return math.sqrt(sum(score * score for score in self.scores) / len(self.scores))

    def stream(self, seed: int, count: int, mean: float = 0.0) -> list[float]:
        """Draw scores at random, with another mean."""
        return [score + mean for score in random.Random(seed).choices(self.scores, k=count)]

    def reach(self, shift: float) -> dict[str, float]:
        """Bounds of scores shifted by at most `shift` either way, for a `BetterTest`."""
        return {"lowest": self.lowest - shift, "highest": self.highest + shift}


def centred(scores: Sequence[float], lowest: float, highest: float) -> Population:
    """Shift scores and their bounds to a mean of 0."""
    mean = math.fsum(scores) / len(scores)
    return Population(tuple(score - mean for score in scores), lowest - mean, highest - mean)


def chance_error(share: float, runs: int, sigmas: float = 4.0) -> float:
    """Bound of the distance between a share of some runs and the true probability."""
    return sigmas * math.sqrt(max(share * (1 - share), 1 / runs) / runs)


# ---- constructed


def normal() -> Population:
    chance = random.Random(1)
    return centred([chance.gauss(0, 5000) for _ in range(20_000)], -40_000, 40_000)


def even_all_ins() -> Population:
    """All-in for 200 big blinds in 1 % of the hands, small pots in the others."""
    return Population((200_000.0, -200_000.0, *(2000.0, -2000.0) * 99), -200_000, 200_000)


def rare_loss() -> Population:
    """A small win in 99 % of the hands, a loss of 200 big blinds in 1 %."""
    return centred([-200_000.0] + [2_000.0] * 99, -200_000, 200_000)


def rare_win() -> Population:
    """Mirror image of `rare_loss`."""
    return centred([200_000.0] + [-2_000.0] * 99, -200_000, 200_000)


def rarer_loss() -> Population:
    """Scores against a player who folds most hands: 0.75 big blinds won, 200 lost in 1 of 268 hands."""
    return Population((*(-200_000.0,) * 3, *(750.0,) * 800), -200_000, 200_000)


# ---- played


def calling(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    return CALL


def raising(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    legal = betting.legal_actions()
    if not legal.can_raise:
        return CALL
    return RAISE if betting.game.is_limit else raise_to(legal.raise_min)


def largest_raising(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    legal = betting.legal_actions()
    if not legal.can_raise:
        return CALL
    return RAISE if betting.game.is_limit else raise_to(legal.raise_max)


def careless(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    """Fold a little, call mostly, raise by any amount."""
    legal = betting.legal_actions()
    draw = chance.random()
    if legal.can_fold and draw < 0.15:
        return FOLD
    if not legal.can_raise or draw < 0.7:
        return CALL
    return RAISE if betting.game.is_limit else raise_to(chance.choice([legal.raise_min, legal.raise_max]))


def shoving(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    """Go all-in in one hand of twenty, fold otherwise."""
    legal = betting.legal_actions()
    if legal.can_raise and chance.random() < 0.05:
        return RAISE if betting.game.is_limit else raise_to(legal.raise_max)
    return FOLD if legal.can_fold else CALL


def tight(betting: BettingState, hole: Sequence[Card], chance: random.Random) -> Action:
    """Play pairs, aces and kings only."""
    legal = betting.legal_actions()
    ranks = [card // 4 for card in hole]
    if max(ranks) < 11 and len(set(ranks)) == len(ranks):
        return FOLD if legal.can_fold else CALL
    if not legal.can_raise or betting.max_spent >= 2000:
        return CALL
    return (
        RAISE if betting.game.is_limit else raise_to(min(legal.raise_max, max(legal.raise_min, 3 * betting.max_spent)))
    )


def play(game: Game, players: Sequence[Player], deal: Deal, chance: random.Random) -> list[float]:
    """Play one hand; return net chips by position."""
    hand = Hand(game, deal)
    while not hand.finished:
        position = hand.acting_position
        hand.apply(players[position](hand.betting, deal.hole_cards[position], chance))
    return hand.values()


def simulate(name: str, first: Player, second: Player, hands: int, *, duplicates: bool = False) -> Population:
    """Return the first player's scores, of hands with a moving button or of whole duplicates."""
    game = find_game(name)[1]
    to_mbb = 1000 / game.big_blind
    chance = random.Random(7)
    scores = []
    for number, deal in zip(range(hands), deals(game, 20260101), strict=False):
        if duplicates:
            value = (play(game, (first, second), deal, chance)[0] + play(game, (second, first), deal, chance)[1]) / 2
        elif number % 2:
            value = play(game, (first, second), deal, chance)[0]
        else:
            value = play(game, (second, first), deal, chance)[1]
        scores.append(value * to_mbb)
    return centred(scores, *score_bounds(game))


MAKERS: dict[str, Callable[[], Population]] = {
    "normal": normal,
    "even all-ins": even_all_ins,
    "rare loss": rare_loss,
    "rare win": rare_win,
    "rarer loss": rarer_loss,
    "no-limit, shoving against tight": lambda: simulate("nolimit", shoving, tight, 20_000),
    "no-limit duplicates, tight against calling": lambda: simulate("nolimit", tight, calling, 10_000, duplicates=True),
    "limit, raising against tight": lambda: simulate("limit", raising, tight, 10_000),
    "leduc no-limit, careless against calling": lambda: simulate("leduc-nolimit", careless, calling, 10_000),
}


@cache
def population(name: str) -> Population:
    """Return a population by its name."""
    return MAKERS[name]()
