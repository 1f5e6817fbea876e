"""Who plays whom, in which seats, over which hands: everything about a run that is decided before the first card.

A *seating* assigns the players to the seats. A match of a contest is one seating over one slice of the hands; the cards
follow from the seed of the seating and the hand number alone, so neither the number of seatings nor that of slices
changes a card.
"""

from __future__ import annotations

import enum
import itertools
import math
from typing import NamedTuple


class Seating(enum.StrEnum):
    """Which seatings are played, as a rule with the same cards."""

    SINGLE = "single"
    """The seats as given, once."""
    ROTATIONS = "rotations"
    """The players move on by one seat until all have had every seat: a duplicate match."""
    PERMUTATIONS = "permutations"
    """Every order of the players."""


class Format(enum.StrEnum):
    """Which bots of a tournament meet."""

    ROUND_ROBIN = "round-robin"
    """Every bot meets every other."""
    GAUNTLET = "gauntlet"
    """The first bot meets all others; they do not meet without it."""


class Slot(NamedTuple):
    """One match of a contest.

    Attributes:
        name: of the match and its files.
        seating: index of the seating.
        players: by seat, the index of its player.
        first_hand: number of the first hand.
        hands: how many.
    """

    name: str
    seating: int
    players: tuple[int, ...]
    first_hand: int
    hands: int


def seatings(kind: Seating, players: int) -> list[tuple[int, ...]]:
    """The seatings, each with the player of every seat, in the order given first."""
    order = tuple(range(players))
    if kind is Seating.SINGLE:
        return [order]
    if kind is Seating.ROTATIONS:
        return [order[-shift:] + order[:-shift] if shift else order for shift in range(players)]
    return list(itertools.permutations(order))


def number_of_seatings(kind: Seating, players: int) -> int:
    """How many seatings there are, without making them."""
    return {Seating.SINGLE: 1, Seating.ROTATIONS: players, Seating.PERMUTATIONS: math.factorial(players)}[kind]


def slots(kind: Seating, players: int, hands: int, slices: int) -> list[Slot]:
    """All matches of a contest, slice by slice.

    The slices are as equal as possible, and never more than there are hands.
    """
    found = []
    slices = max(1, min(slices, hands))
    orders = seatings(kind, players)
    for slice_ in range(slices):
        first, end = hands * slice_ // slices, hands * (slice_ + 1) // slices
        for seating, order in enumerate(orders):
            name = "match"
            if slices > 1:
                name += f".{slice_ + 1}"
            if len(orders) > 1:
                name += f".{'abcdefghijklmnopqrstuvwxyz'[seating]}" if len(orders) <= 26 else f".p{seating + 1}"
            found.append(Slot(name, seating, order, first, end - first))
    return found


def pairings(format_: Format, bots: int, players: int) -> list[tuple[int, ...]]:
    """The groups of bots that meet in a tournament, as indices in rising order.

    Args:
        format_: who meets whom.
        bots: how many there are.
        players: how many play in one contest.
    """
    groups = itertools.combinations(range(bots), players)
    return [group for group in groups if format_ is Format.ROUND_ROBIN or 0 in group]
