"""The hands a player lost most on, each with the hands in which others held the same cards.

    for worst in worst_hands(find(["runs/x"]), "New", count=10):
        print(worst.chips, worst.hand.match_name, worst.hand.hand_number)
        for other in worst.others:
            print("  the same deal:", other.names, other.values)

In a duplicate match the same deal is played in every seating: beside a lost hand it shows what the others made of it.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from engine import Game
from engine.errors import quoted
from logs.hand_source import HandSource
from logs.record import HandRecord

_Deal: TypeAlias = tuple[str, Game, int, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True)
class WorstHand:
    """A hand that a player lost.

    Attributes:
        path: the file it stands in.
        player: who lost.
        chips: net chips of the player, below 0.
        hand: the hand.
        others: the same deal in the other seatings: the file and the hand.
    """

    path: str
    player: str
    chips: float
    hand: HandRecord
    others: tuple[tuple[str, HandRecord], ...]


def worst_hands(source: HandSource, player: str | None = None, *, count: int = 10) -> list[WorstHand]:
    """The hands a player lost most on, the worst first; equal losses in the order of the files.

    Args:
        source: of the hands.
        player: whose losses; None for the first player of the first hand.
        count: how many hands at most.

    Raises:
        LogsError: a file cannot be read.
        ValueError: nobody has the name; the sentence lists the players.
        OSError: a file cannot be read.
    """
    lost: list[tuple[float, int, str, HandRecord]] = []
    names: dict[str, None] = {}
    for order, (path, record) in enumerate(_with_paths(source)):
        names |= dict.fromkeys(record.names_by_seat)
        player = record.names_by_seat[0] if player is None else player
        if player in record.names:
            chips = record.values[record.names.index(player)]
            if chips < 0:
                entry = (-chips, -order, path, record)
                if len(lost) < count:
                    heapq.heappush(lost, entry)
                else:
                    heapq.heappushpop(lost, entry)
    if names and player not in names:
        raise ValueError(f"no player is called {quoted(player)}; there are {', '.join(names)}")
    lost.sort(reverse=True)
    wanted: dict[_Deal, list[tuple[str, HandRecord]]] = {_deal_of(path, record): [] for _, _, path, record in lost}
    again = replace(source, on_problem=lambda problem: None)
    for path, record in _with_paths(again) if wanted else ():
        same = wanted.get(_deal_of(path, record))
        if same is not None:
            same.append((path, record))
    return [
        WorstHand(
            path,
            player or "",
            -loss,
            record,
            tuple((other, hand) for other, hand in wanted[_deal_of(path, record)] if hand.names != record.names),
        )
        for loss, _, path, record in lost
    ]


def _with_paths(source: HandSource) -> Iterator[tuple[str, HandRecord]]:
    for file in source.files:
        for record in source.read(file):
            yield file.path, record


def _deal_of(path: str, record: HandRecord) -> _Deal:
    """What hands of the same deal have in common: their folder, game, number and the cards of each position."""
    return os.path.dirname(path), record.game, record.hand_number, record.deal.hole_cards
