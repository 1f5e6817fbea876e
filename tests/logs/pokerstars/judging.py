"""Slow, obvious twin of hand names, ranks and pots; shares no code with the writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

RANKS = "23456789TJQKA"
NAMES = {
    "2": "Deuce", "3": "Three", "4": "Four", "5": "Five", "6": "Six", "7": "Seven", "8": "Eight", "9": "Nine",
    "T": "Ten", "J": "Jack", "Q": "Queen", "K": "King", "A": "Ace",
}  # fmt: skip


class Judged(NamedTuple):
    """Rank of a hand: the higher tuple wins."""

    kind: int
    ranks: tuple[int, ...]

    @property
    def name(self) -> str:
        singular = [NAMES[RANKS[rank]] for rank in self.ranks]
        plural = ["Sixes" if name == "Six" else name + "s" for name in singular]
        if self.kind in (8, 4) and self.ranks[0] == 3:
            run = "Ace to Five"
        else:
            run = f"{NAMES[RANKS[self.ranks[0] - 4]]} to {singular[0]}"
        if self.kind == 8:
            return "a Royal Flush" if self.ranks[0] == 12 else f"a straight flush, {run}"
        return {
            7: f"four of a kind, {plural[0]}",
            6: f"a full house, {plural[0]} full of {plural[1 % len(plural)]}",
            5: f"a flush, {singular[0]} high",
            4: f"a straight, {run}",
            3: f"three of a kind, {plural[0]}",
            2: f"two pair, {plural[0]} and {plural[1 % len(plural)]}",
            1: f"a pair of {plural[0]}",
            0: f"high card {singular[0]}",
        }[self.kind]

    @property
    def kickers(self) -> tuple[int, ...]:
        """Ranks that the name does not include."""
        return self.ranks[{7: 1, 6: 2, 5: 1, 4: 1, 3: 1, 2: 2, 1: 1, 0: 1, 8: 1}[self.kind] :]


@cache
def judge_five(ranks: tuple[int, ...], is_flush: bool) -> Judged:
    """Judge five cards by their ranks, highest first, and by whether they share a suit."""
    counts = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    shape = [count for count, _ in counts]
    in_order = tuple(rank for _, rank in counts)
    straight = None
    if len(in_order) == 5:
        if ranks[0] - ranks[4] == 4:
            straight = ranks[0]
        elif ranks == (12, 3, 2, 1, 0):
            straight = 3
    if straight is not None:
        return Judged(8 if is_flush else 4, (straight,))
    if is_flush:
        return Judged(5, ranks)
    kind = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1, 1, 1, 1, 1): 0}[tuple(shape)]
    return Judged(kind, in_order)


def judge(cards: Iterable[str]) -> Judged:
    """Judge the best five of some cards."""
    in_order = sorted(((RANKS.index(rank), suit) for rank, suit in cards), reverse=True)
    ranks = combinations([rank for rank, _ in in_order], 5)
    suits = combinations([suit for _, suit in in_order], 5)
    return max(judge_five(five, len(set(of_five)) == 1) for five, of_five in zip(ranks, suits, strict=True))


def ending(hand: Judged, before: Iterable[Judged]) -> str:
    """Return the end of a hand's name, given the hands shown before it."""
    best = max(before, default=None)
    if best is None or best.name != hand.name or best == hand:
        return ""
    if hand < best:
        return " - lower cards" if hand.kind == 5 else " - lower kicker"
    if hand.kind == 5:
        return ""
    named = []
    for own, other in zip(hand.kickers, best.kickers, strict=True):
        named.append(NAMES[RANKS[own]])
        if own != other:
            break
    return f" - {'+'.join(named)} kicker"


class JudgedPot(NamedTuple):
    """A pot and the players who compete for it."""

    cents: int
    players: frozenset[str]


def judge_pots(put_in: Mapping[str, int], folded: Iterable[str]) -> list[JudgedPot]:
    """Split chips into layers, each as thick as the smallest stack still playing; merge pots of equal players."""
    left = dict(put_in)
    pots: list[JudgedPot] = []
    while any(left.values()):
        playing = frozenset(player for player in left if left[player] and player not in folded)
        layer = min(left[player] for player in playing) if playing else max(left.values())
        cents = sum(min(layer, of_player) for of_player in left.values())
        left = {player: of_player - min(layer, of_player) for player, of_player in left.items()}
        if pots and playing in (pots[-1].players, frozenset()):
            pots[-1] = JudgedPot(pots[-1].cents + cents, pots[-1].players)
        else:
            pots.append(JudgedPot(cents, playing))
    return pots
