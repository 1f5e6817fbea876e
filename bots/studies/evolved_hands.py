"""Play of a player at its table of ten: winnings by hand, style, and genes used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.evolution.breeding import Bools, Chromosomes
from bots.evolved.chromosome import GENES, Odds
from bots.evolved.training import DealSet
from bots.studies.measured import Measured
from engine.cards import starting_hand_table
from logs.estimation import Z_95

_PLAYERS: Final = 10
_STARTING_HAND: Final = np.array(starting_hand_table(), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class HandResults:
    """The hands with a flop of some deals as player 0 played them, in the order played: deal, rotation of the pairs,
    rotation of the players.

    Attributes:
        position: 0 for the small blind.
        hand: its starting hand, an index of `engine.cards.STARTING_HANDS`.
        category: of its hand at the end, which is the last round that it saw; 0 to 8.
        last: the last round that it saw, 0 if it folded before the flop.
        won: whether it won a part of the pot.
        raises: its bets and raises after the flop.
        calls: its calls of a price after the flop.
        used: the genes it was asked for, shape (5040,).
    """

    deals: int
    deal: NDArray[np.int64]
    position: NDArray[np.int64]
    hand: NDArray[np.int64]
    category: NDArray[np.int64]
    dollars: NDArray[np.float64]
    last: NDArray[np.int64]
    showdown: NDArray[np.bool_]
    won: NDArray[np.bool_]
    raises: NDArray[np.int64]
    calls: NDArray[np.int64]
    used: Bools

    @property
    def saw_flop(self) -> NDArray[np.bool_]:
        return self.last > 0


def play_hands(
    deals: DealSet, player: Chromosomes, opponents: Chromosomes, odds: Sequence[Odds], rake: bool
) -> HandResults:
    """Play all hands of some deals, and watch player 0, whose chromosome has shape (5040, 2).

    Args:
        opponents: of the nine others, shape (9, 5040, 2).
        odds: by which each of the ten decides, the player first.
    """
    from bots.evolved.kernel import LOGGED

    log = np.empty((_PLAYERS * len(deals.flops), LOGGED))
    used = np.zeros(GENES, bool)
    deals.play(_at_table(player, opponents), odds, rake, used=used, won=np.zeros(_PLAYERS), log=log)
    turn = np.tile(np.arange(_PLAYERS), len(deals.flops))
    number, rotation = (np.repeat(deals.flops[:, column], _PLAYERS) for column in (0, 1))
    position = (_PLAYERS - turn) % _PLAYERS
    pair = (position + rotation) % _PLAYERS
    last = log[:, 1].astype(np.int64)
    return HandResults(
        deals=len(deals.cards),
        deal=number,
        position=position,
        hand=_STARTING_HAND[deals.cards[number, 2 * pair], deals.cards[number, 2 * pair + 1]],
        category=deals.categories[number, pair, np.maximum(last, 1) - 1].astype(np.int64),
        dollars=log[:, 0],
        last=last,
        showdown=log[:, 2] > 0,
        won=log[:, 3] > 0,
        raises=log[:, 4].astype(np.int64),
        calls=log[:, 5].astype(np.int64),
        used=used,
    )


def winnings_of(
    deals: DealSet, player: Chromosomes, opponents: Chromosomes, odds: Sequence[Odds], rake: bool
) -> tuple[NDArray[np.float64], Bools]:
    """Winnings of ten players in all hands of some deals, in dollars, and the genes that the first one used."""
    used, won = np.zeros(GENES, bool), np.zeros(_PLAYERS)
    deals.play(_at_table(player, opponents), odds, rake, used=used, won=won)
    return won, used


def genes_after(
    deals: DealSet,
    counts: Sequence[int],
    player: Chromosomes,
    opponents: Chromosomes,
    odds: Sequence[Odds],
    rake: bool,
) -> list[float]:
    """Shares of the genes that player 0 was asked for in the first deals.

    Args:
        counts: of these deals, in ascending order.
    """
    used, won, shares, first = np.zeros(GENES, bool), np.zeros(_PLAYERS), [], 0
    table = _at_table(player, opponents)
    for count in counts:
        chosen = (deals.flops[:, 0] >= first) & (deals.flops[:, 0] < count)
        part = replace(deals, flops=deals.flops[chosen], spent=deals.spent[chosen])
        part.play(table, odds, rake, used=used, won=won)
        shares.append(float(used.mean()))
        first = count
    return shares


def _at_table(player: Chromosomes, opponents: Chromosomes) -> Chromosomes:
    return np.concatenate([player[None], opponents]).astype(np.int16)


# ---- figures over deals


def total(watched: HandResults, values: NDArray[Any]) -> Measured:
    """A sum over hands; the units of its interval are deals, since the hundred hands of a deal share its cards."""
    return Measured(float(values.sum()), _half_width(_by_deal(watched, values)), watched.deals)


def ratio(watched: HandResults, values: NDArray[Any], chances: NDArray[Any]) -> Measured:
    """The quotient of two sums over hands, such as a frequency.

    Its interval is that of a ratio of two sums over deals (Cochran 1977, "Sampling Techniques", chapter 6).
    """
    return _ratio(_by_deal(watched, values), _by_deal(watched, chances))


def _by_deal(watched: HandResults, values: NDArray[Any]) -> NDArray[np.float64]:
    return np.bincount(watched.deal, values, watched.deals).astype(np.float64, copy=False)


def _ratio(values: NDArray[np.float64], chances: NDArray[np.float64]) -> Measured:
    of = float(chances.sum())
    value = float(values.sum()) / of
    return Measured(value, _half_width(values - value * chances) / of, len(values))


def _half_width(by_deal: NDArray[np.float64]) -> float:
    return float(Z_95 * np.std(by_deal, ddof=1) * len(by_deal) ** 0.5)


# ---- before the flop


def preflop_play(deals: DealSet) -> dict[str, Measured]:
    """Actions of the charts before the flop, as shares of the hands with a turn, the same for all players."""
    from bots.evolved.kernel import preflop

    count = len(deals.cards)
    blinds = np.array([1, 2, *[0] * (_PLAYERS - 2)])
    paid, turns, raised = np.zeros((3, count, _PLAYERS))
    spent = np.empty(_PLAYERS, np.int64)
    for number, cards in enumerate(deals.cards):
        for rotation in range(_PLAYERS):
            in_pot, _, raisers = preflop(cards, rotation, spent)
            has_turn = np.ones(_PLAYERS, bool)
            # All others folded, without a raise: the big blind had no turn.
            has_turn[1] = in_pot != 2 or bool(raisers)
            turns[number] += has_turn
            paid[number] += spent > blinds
            raised[number] += [raisers >> position & 1 for position in range(_PLAYERS)]
    others = [position for position in range(_PLAYERS) if position != 1]
    return {
        "VPIP": _ratio(paid[:, others].sum(axis=1), turns[:, others].sum(axis=1)),
        "VPIP small blind": _ratio(paid[:, 0], turns[:, 0]),
        "PFR": _ratio(raised.sum(axis=1), turns.sum(axis=1)),
    }
