"""Terms of a hand whose mean is 0 whatever the players do, and the expected shares of pots these are made of.

A term may be taken from the result of a hand without a bias. Before every random event of a hand, any function V of
what follows has an expectation, and the expectation less what came is such a term (White & Bowling 2009, "Learning a
value function for variance reduction"; Burch et al. 2018, "AIVAT"). The events here are those of chance: the deal, and
the cards of the board, round by round. V is made of the expected shares of the pots, all hole cards known, so the terms
take logs that show all of them, folded ones too:

- the *pot term* of a round is the sum over the pots of chips times (share before the cards - share after them);
- the *share term* is the same of one chip, for all that are in: an estimator with weights may use it in addition, where
  pots grow after the cards.

The expectation of a share over the cards to come is the share before them, and before the deal every player's share is
the same: that is all the estimators rely on.

Every term is linear in expected shares. So `Terms` holds weights: these follow from the betting alone, and
`Shares` finds the shares of many hands at once, all hole cards known.

In hold'em compiled code counts all boards from the flop on; before it two players are looked up in a table, and for
more of them some boards are drawn (`engine.kernels.ranges`). In other games every board is counted, which takes small
decks: what was counted is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import BettingState, Card, Deal, Game, side_pots
from engine.equity import MOST_BOARDS, showdown_odds
from engine.holdem import is_holdem
from engine.splitmix import MASK_64, STEP, mixed

DRAWS: Final = 250
"""Boards drawn before the flop between three or more: an expected share is then known to 0.03, and what is left to luck
on the flop alone is 0.2 of the pot."""


class PotRow(NamedTuple):
    """A pot at a time of a hand: what follows for it from the betting.

    Attributes:
        members: who plays for it, as a set of bits.
        known: how many cards of the board are known.
    """

    members: int
    known: int


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
        self._counted = lru_cache(MOST_BOARDS)(self._count)

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
        found = [
            self._counted(deals[hand].hole_cards, deals[hand].board[: row.known], row.members)
            for hand, row in zip(hands.tolist(), rows, strict=True)
        ]
        return np.array(found, np.float64).reshape(len(found), self._game.num_players)

    def _compiled(
        self, deals: Sequence[Deal], hands: NDArray[np.int64], rows: Sequence[PotRow], streams: Sequence[int]
    ) -> NDArray[np.float64]:
        from engine.duels import duel_counts
        from engine.kernels.ranges import find_shares

        players = self._game.num_players
        whole = self._game.board_cards_by_round[-1]
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
        who = members.astype(np.uint64)
        at = np.ascontiguousarray(known)
        find_shares(cards, hands, who, at, streams=starts, draws=self._draws, duels=duel_counts(), shares=shares)
        return shares

    def _count(self, holes: tuple[tuple[Card, ...], ...], board: tuple[Card, ...], members: int) -> tuple[float, ...]:
        inside = [position for position in range(len(holes)) if members >> position & 1]
        odds = showdown_odds(
            [holes[position] for position in inside],
            board,
            dead=[card for position, hole in enumerate(holes) if position not in inside for card in hole],
            deck=self._game.deck,
            board_cards=self._game.board_cards_by_round[-1],
        )
        shares = dict(zip(inside, odds.equities, strict=True))
        return tuple([shares.get(at, 0.0) for at in range(len(holes))])


class Terms:
    """The terms of a hand, as weights of expected shares, which are added up.

    The value of a column for a position is its constant plus the sum over its weights of chips times share.

    Attributes:
        rows: the pots whose shares are needed, each with its number.
        weights: flat, three numbers for each: the number of its row, its column, and the chips.
        constants: shape (players, columns), in chips.
    """

    def __init__(self, players: int, columns: int) -> None:
        self.constants = np.zeros((players, columns))
        self.rows: dict[PotRow, int] = {}
        self.weights: list[float] = []

    def add(self, row: PotRow, column: int, chips: float) -> None:
        """Add a weight of a pot's share."""
        self.weights += (self.rows.setdefault(row, len(self.rows)), column, chips)


def term_values(
    shares: Shares, deals: Sequence[Deal], terms: Sequence[Terms], streams: Sequence[int]
) -> NDArray[np.float64]:
    """The terms of hands in chips, shape (hands, players, columns).

    Args:
        terms: of the hands, with the same columns.
        streams: as for `Shares.of`.
    """
    players, columns = terms[0].constants.shape
    found = np.concatenate([one.constants for one in terms]).reshape(len(terms), players, columns)
    counts = np.array([len(one.rows) for one in terms], np.int64)
    hands = np.repeat(np.arange(len(deals)), counts)
    if len(hands):
        of_rows = shares.of(deals, hands, [row for one in terms for row in one.rows], streams)
        numbers = np.array([len(one.weights) // 3 for one in terms], np.int64)
        every = chain.from_iterable([one.weights for one in terms])
        flat = np.fromiter(every, np.float64, 3 * int(numbers.sum())).reshape(-1, 3)
        row = flat[:, 0].astype(np.int64) + np.repeat(np.cumsum(counts) - counts, numbers)
        cell = hands[row] * columns + flat[:, 1].astype(np.int64)
        for player in range(players):
            added = np.bincount(cell, flat[:, 2] * of_rows[row, player], len(terms) * columns)
            found[:, player] += added.reshape(len(terms), columns)
    return found


def chance_columns(game: Game) -> int:
    """How many columns `chance_terms` has: the pot terms of the rounds, then the share terms."""
    return 2 * game.num_rounds


def chance_terms(betting: BettingState) -> Terms:
    """The terms of the deal and of each board that came, given the end of a betting."""
    game = betting.game
    rounds = game.num_rounds
    players = game.num_players
    all_players = (1 << players) - 1
    found = Terms(players, chance_columns(game))
    dealt = PotRow(all_players, 0)
    chips = float(sum(game.blinds) or game.big_blind)
    for column, amount in ((0, chips), (rounds, float(game.big_blind))):
        found.constants[:, column] += amount / players
        found.add(dealt, column, -amount)
    last: BettingState | None = None
    pots: list[tuple[int, int]] = []
    for round_, start in enumerate(betting.round_starts[1:], 1):
        before, after = game.board_cards_by_round[round_ - 1 : round_ + 1]
        if before == after:
            continue
        folded = start.folded
        if start is not last:
            last = start
            pots = [
                (sum([1 << position for position in pot.players]), pot.amount) for pot in side_pots(start.spent, folded)
            ]
        for column, members, amount in (
            *[(round_, members, float(amount)) for members, amount in pots],
            (rounds + round_, all_players & ~folded, float(game.big_blind)),
        ):
            found.add(PotRow(members, before), column, amount)
            found.add(PotRow(members, after), column, -amount)
    return found
