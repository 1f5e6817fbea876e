"""Compare the cards of a log with those that the seed in its header deals.

A log may come from a dealer that writes a seed and deals by another method. So the first hands show whether the cards
follow from the seed. If they do, every other hand has to fit as well. Nothing is compared if the header has the
fingerprint of a key, which does not show how cards are dealt.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import ceil, log, perm
from typing import Final

from engine import Deal, Game, deals
from logs.acpc_log.header import LogHeader

DECIDING_HANDS: Final = 16
"""Hands after which the majority decides whether the cards follow from the seed."""
MAX_HAND: Final = 1 << 24
"""Hands from this number on are not compared: reaching them would take too long."""
_MAX_GAP: Final = 1000
"""Missing hands that are dealt to reach the next one. The generator skips larger gaps."""
_MAX_SKIPPED: Final = 1 << 26
"""Hands skipped in a log whose numbers jump back and forth. Above it, hands that need a skip are not compared."""
_CERTAINTY: Final = 1_000_000
"""Odds against chance at which the cards certainly follow from the seed."""


class DealtCards:
    """Deals of a match by the seed in its header."""

    def __init__(self, game: Game, seed: int) -> None:
        self.seed = seed
        self._game = game
        self._deals: Iterator[Deal] = iter(())
        self._fitting = 0
        self._compared = 0
        self._needed = _hands_needed(game)
        self._next: int | None = None
        self._skipped = 0

    @classmethod
    def by_header(cls, game: Game, header: LogHeader | None) -> DealtCards | None:
        """Return the deals of a header's seed; None if it has no seed, or the fingerprint of a key."""
        if header is None or isinstance(header.seed, str):
            return None
        return cls(game, header.seed)

    @property
    def is_certain(self) -> bool:
        """True if chance cannot explain the hands that fit; of a full deck one or two hands are enough."""
        return self._fitting >= self._needed

    def are_by_seed(self) -> bool:
        """Return whether the cards follow from the seed, by the hands compared so far."""
        return self.is_certain or 2 * self._fitting > self._compared

    def fit(self, hand_number: int, deal: Deal) -> bool:
        """Return whether the known cards of a hand are those of the seed; hands that are not compared fit."""
        dealt = self._deal(hand_number)
        if dealt is None:
            return True
        holes, board = deal
        fits = board == dealt.board[: len(board)]
        if fits and holes != dealt.hole_cards:
            for hole, dealt_hole in zip(holes, dealt.hole_cards, strict=True):
                # Hole cards that were never shown are empty.
                if hole and hole != dealt_hole:
                    fits = False
        # A hand with unknown cards proves less than `_hands_needed` assumes.
        if not fits or all(holes):
            self._compared += 1
            self._fitting += fits
        return fits

    def _deal(self, hand_number: int) -> Deal | None:
        if hand_number >= MAX_HAND:
            return None
        if self._next is None or not 0 <= hand_number - self._next < _MAX_GAP:
            # The generator begins again at hand 0 and skips from there.
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
        return max(1, ceil(log(_CERTAINTY, hole_cards)))
    return DECIDING_HANDS


def wrong_cards(hand_number: int, seed: int | str | None) -> str:
    return f"hand {hand_number} has other cards than seed {seed} deals"
