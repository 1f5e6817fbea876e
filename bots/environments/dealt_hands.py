"""Hands of a match dealt many at a time, with the indexes of their cards in observations.

The cards are those of `engine.deals`, which deals one hand after the other without numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.environments.observation import ObservationLayout
from engine import Deal, Game
from engine.dealing import reference_generator

_BLOCK: Final = 256
_MAX_SKIPPED_WORDS: Final = 1 << 16


class DealtHand(NamedTuple):
    """Cards of one hand of a match.

    Attributes:
        number: number of the hand in the match.
        holes: index of each hole card in an observation, by position.
        board: index of each board card.
    """

    number: int
    deal: Deal
    holes: list[list[int]]
    board: list[int]


class BlockDealer:
    """Dealer of the hands of a match in blocks."""

    def __init__(self, layout: ObservationLayout, seed: int, first_hand: int = 0) -> None:
        """Begin with a hand of the match.

        Args:
            seed: seed of the match, modulo 2**32.

        Raises:
            ValueError: the hand number is negative.
        """
        if first_hand < 0:
            raise ValueError(f"hands are numbered from 0, not {first_hand}")
        game = layout.game
        self._game = game
        self._deck = np.array(game.deck, np.uint8)
        # Index of each card in an observation, for hole cards and each board card.
        self._entries = np.array(layout.card_index, np.int64)
        self._starts = np.array([0] * (game.num_players * game.num_hole_cards) + layout.board_starts, np.int64)
        self._generator = reference_generator(seed)
        words_to_skip = first_hand * game.cards_per_hand
        while words_to_skip > 0:
            words = min(words_to_skip, _MAX_SKIPPED_WORDS)
            self._generator.getrandbits(32 * words)
            words_to_skip -= words

    def deal(self, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the cards of the next hands, hole cards by position and then the board, and their entries.

        Returns:
            the cards and their indexes in an observation, both of shape (count, cards of a hand).
        """
        width = self._game.cards_per_hand
        num_words = count * width
        words = np.frombuffer(self._generator.getrandbits(32 * num_words).to_bytes(4 * num_words, "little"), "<u4")
        words = words.reshape(count, width)
        rows = np.arange(count)
        decks = np.tile(self._deck, (count, 1))
        cards = np.empty((count, width), np.uint8)
        # As in `engine.deals`: the last card of the deck takes the place of the dealt one.
        for place in range(width):
            last = len(self._deck) - 1 - place
            drawn = words[:, place] % (last + 1)
            cards[:, place] = decks[rows, drawn]
            decks[rows, drawn] = decks[:, last]
        return cards, self._entries[cards] + self._starts


def dealt_hands(layout: ObservationLayout, seed: int, first_hand: int = 0) -> Iterator[DealtHand]:
    """Return the endless hands of a match.

    Raises:
        ValueError: the hand number is negative.
    """
    return _hands(layout.game, BlockDealer(layout, seed, first_hand), first_hand)


def _hands(game: Game, dealer: BlockDealer, number: int) -> Iterator[DealtHand]:
    size = game.num_hole_cards
    end = size * game.num_players
    starts = range(0, end, size)
    while True:
        cards, entries = dealer.deal(_BLOCK)
        for row, indexes in zip(cards.tolist(), entries.tolist(), strict=True):
            deal = Deal(tuple([tuple(row[start : start + size]) for start in starts]), tuple(row[end:]))
            holes = [indexes[start : start + size] for start in starts]
            yield DealtHand(number, deal, holes, indexes[end:])
            number += 1
