"""What each player may expect of a pot before the board is complete, all hole cards known: for many hands at once.

In hold'em compiled code counts all boards from the flop on; before it two players are looked up in a table, and for
more of them some boards are drawn (`engine.kernels.ranges`). In other games every board is counted, which takes small
decks: what was counted is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine import Card, Deal, Game
from engine.equity import boards_to_come, showdown_odds
from engine.holdem import is_holdem
from engine.splitmix import MASK_64, STEP, mixed

DRAWS: Final = 250
"""Boards drawn before the flop between three or more: an expected share is then known to 0.03, and what is left to luck
on the flop alone is 0.2 of the pot."""

_MOST_BOARDS: Final = 20_000
"""Counted in Python."""

_Key: TypeAlias = tuple[tuple[tuple[Card, ...], ...], tuple[Card, ...], int]


class PotRow(NamedTuple):
    """A pot at a time of a hand: what follows for it from the betting.

    Attributes:
        members: who plays for it, as a set of bits.
        known: how many cards of the board are known.
    """

    members: int
    known: int


def shares_refusal(game: Game) -> str | None:
    """Why no expected shares are counted for a game; None where they are."""
    dealt = game.num_players * game.num_hole_cards
    boards = boards_to_come(len(game.deck), dealt, game.board_cards_by_round[-1])
    if is_holdem(game) or boards <= _MOST_BOARDS:
        return None
    return f"a game with {boards:,} boards that is not hold'em has too many to be counted"


class Shares:
    """The expected shares of pots in one game."""

    def __init__(self, game: Game, draws: int = DRAWS) -> None:
        """Prepare to count.

        Args:
            game: one that `shares_refusal` does not refuse.
            draws: boards drawn before the flop of hold'em between three or more.
        """
        self._game = game
        self._draws = draws
        self._known: dict[_Key, tuple[float, ...]] = {}

    def of(
        self, deals: Sequence[Deal], hands: NDArray[np.int64], rows: Sequence[PotRow], streams: Sequence[int]
    ) -> NDArray[np.float64]:
        """The shares of all positions in each pot, shape (pots, players).

        Args:
            deals: of the hands, with all hole cards.
            hands: of each pot, the hand.
            rows: of each pot, what it is.
            streams: of each hand, a number that decides which boards are drawn; must not depend on its cards.
        """
        if is_holdem(self._game):
            return self._compiled(deals, hands, rows, streams)
        found = [self._counted(deals[hand], row) for hand, row in zip(hands.tolist(), rows, strict=True)]
        return np.array(found, np.float64).reshape(len(found), self._game.num_players)

    def _compiled(
        self, deals: Sequence[Deal], hands: NDArray[np.int64], rows: Sequence[PotRow], streams: Sequence[int]
    ) -> NDArray[np.float64]:
        from engine.duels import duel_counts
        from engine.kernels.ranges import find_shares

        players, whole = self._game.num_players, self._game.board_cards_by_round[-1]
        padding = (0,) * whole
        flat: list[int] = []
        for deal in deals:
            for hole in deal.hole_cards:
                flat += hole
            flat += (deal.board + padding)[:whole]
        # Of a bytearray, since numba compiles another kernel for arrays that cannot be written.
        cards = np.frombuffer(bytearray(flat), np.uint8).reshape(len(deals), 2 * players + whole)
        members, known = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(-1, 2).T
        starts = np.array([mixed(number * STEP & MASK_64) for number in streams], np.uint64)
        shares = np.zeros((len(rows), players))
        who, at = members.astype(np.uint64), np.ascontiguousarray(known)
        find_shares(cards, hands, who, at, starts, self._draws, duel_counts(), shares)
        return shares

    def _counted(self, deal: Deal, row: PotRow) -> tuple[float, ...]:
        board = deal.board[: row.known]
        key = deal.hole_cards, board, row.members
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_BOARDS:
                self._known.clear()
            inside = [position for position in range(len(deal.hole_cards)) if row.members >> position & 1]
            dead = [card for position, hole in enumerate(deal.hole_cards) if position not in inside for card in hole]
            odds = showdown_odds(
                [deal.hole_cards[position] for position in inside],
                board,
                dead=dead,
                deck=self._game.deck,
                board_cards=self._game.board_cards_by_round[-1],
            )
            shares = dict(zip(inside, odds.equities, strict=True))
            found = self._known[key] = tuple([shares.get(at, 0.0) for at in range(len(deal.hole_cards))])
        return found
