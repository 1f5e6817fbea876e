"""The biggest pots of many hands, with the hands themselves."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from logs.record import HandRecord

__all__ = ["BigPot", "BiggestPots"]


class BigPot(NamedTuple):
    """A hand by its pot; the bigger is the greater, of equal ones the earlier.

    Attributes:
        blinds: the pot in big blinds, without chips that nobody called.
        order: minus the number of hands before it.
        record: the hand.
    """

    blinds: float
    order: int
    record: HandRecord


class BiggestPots:
    """Keeps the hands with the biggest pots.

    Attributes:
        threshold: a pot in big blinds that is no bigger than this cannot be among them.
    """

    def __init__(self, most: int) -> None:
        self.threshold = -1.0 if most else float("inf")
        self._most = most
        self._heap: list[BigPot] = []

    def add(self, blinds: float, hands_before: int, record: HandRecord) -> None:
        """Keep a hand if its pot is big enough."""
        self._push(BigPot(blinds, -hands_before, record))

    def merge(self, hands_before: int, other: BiggestPots) -> None:
        """Add those of hands that followed."""
        for pot in other._heap:
            self._push(pot._replace(order=pot.order - hands_before))

    def in_order(self) -> list[BigPot]:
        """The biggest first."""
        return sorted(self._heap, key=lambda pot: pot[:2], reverse=True)

    def _push(self, pot: BigPot) -> None:
        key = pot[:2]
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, pot)
        elif self._most and key > self._heap[0][:2]:
            heapq.heapreplace(self._heap, pot)
        if len(self._heap) == self._most and self._most:
            self.threshold = self._heap[0].blinds
