"""The cards of a log compared with those that the seed in its header deals.

A log may come from a dealer that writes a seed and deals by another method. So the first hands show whether the seed
counts: as many have to fit as cannot by chance, of a full deck one or two. Then every other hand must fit, too.

Nothing is compared where the header has the fingerprint of a key, which does not show how cards are dealt.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import ceil, log, perm
from typing import Final

from engine import Deal, Game, deals
from logs.acpc_log.header import LogHeader

DECIDING_HANDS: Final = 16
"""Hands that show whether the cards are those of the seed."""
MAX_HAND: Final = 1 << 24
"""Hands from this number on are not compared: reaching them would take too long."""
_MAX_GAP: Final = 1000
"""Hands that are missing between two others and dealt all the same; over more, the generator skips."""
_MAX_SKIPPED: Final = 1 << 26
"""Hands that the generator skips in all, where numbers jump back and forth; later hands are not compared."""
_CERTAIN: Final = 1_000_000
"""One in so many is no chance."""


class DealtCards:
    """The deals of a match by its header; None where it has no seed that cards follow from."""

    def __init__(self, game: Game, seed: int) -> None:
        self.seed = seed
        self._game = game
        self._deals: Iterator[Deal] = iter(())
        self._fitting = self._compared = 0
        self._needed = _hands_needed(game)
        self._next: int | None = None
        self._skipped = 0

    @classmethod
    def by_header(cls, game: Game, header: LogHeader | None) -> DealtCards | None:
        if header is None or isinstance(header.seed, str):
            return None
        return cls(game, header.seed)

    @property
    def is_certain(self) -> bool:
        """Whether so many hands fit that it cannot be chance."""
        return self._fitting >= self._needed

    def are_by_seed(self) -> bool:
        """Whether the hands compared show that the cards follow from the seed."""
        return self.is_certain or 2 * self._fitting > self._compared

    def fit(self, hand_number: int, deal: Deal) -> bool:
        """Whether the known cards of a hand are those of the seed; hands that are not compared fit."""
        dealt = self._deal(hand_number)
        if dealt is None:
            return True
        holes, board = deal
        # Hole cards that were never shown are unknown.
        fits = holes == dealt.hole_cards or all(
            not hole or hole == other for hole, other in zip(holes, dealt.hole_cards, strict=True)
        )
        fits = fits and board == dealt.board[: len(board)]
        if not fits or all(holes):
            self._compared += 1
            self._fitting += fits
        return fits

    def _deal(self, hand_number: int) -> Deal | None:
        if hand_number >= MAX_HAND:
            return None
        if self._next is None or not 0 <= hand_number - self._next < _MAX_GAP:
            if self._skipped > _MAX_SKIPPED:
                return None
            self._skipped += hand_number + _MAX_GAP
            self._deals = deals(self._game, self.seed, hand_number)
            self._next = hand_number
        dealt = next(islice(self._deals, hand_number - self._next, None))
        self._next = hand_number + 1
        return dealt


def _hands_needed(game: Game) -> int:
    hole_cards = perm(len(game.deck), game.num_players * game.num_hole_cards)
    if hole_cards > 1:
        return max(1, ceil(log(_CERTAIN, hole_cards)))
    return DECIDING_HANDS


def wrong_cards(hand_number: int, seed: int | str | None) -> str:
    """The sentence about a hand with other cards than its seed deals."""
    return f"hand {hand_number} has other cards than seed {seed} deals"
