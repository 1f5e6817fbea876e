"""Control variates of a hand, of mean 0 whatever the players do, from expected shares of pots.

Adding such a term to the result of a hand causes no bias. For any function V of a hand, the expectation of V before a
random event less the value of V after it is such a term (White & Bowling 2009, "Learning a value function for variance
reduction"; Burch et al. 2018, "AIVAT"). The events here are the deal and the board cards of each round. V is made of
the expected shares of pots with all hole cards known, so that the hands must show all of them, folded ones too.

- The *pot term* of a round is the sum over the pots of chips times (share before the cards - share after them).
- The *share term* of a round is the same for one big blind that all players in the hand compete for. An estimator with
  fitted weights can use it where pots grow after the cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import BettingState, Card, Deal, Game, side_pots
from engine.equity import MAX_BOARDS, showdown_odds
from engine.holdem import is_holdem
from engine.splitmix import MASK_64, STEP, mixed

DRAWS: Final = 250
"""Boards sampled before the flop for three or more players.

The expected share then has a standard error of 0.03. On the flop alone, 0.2 of the pot would remain luck.
"""


class PotRow(NamedTuple):
    """A pot at a moment of a hand, as far as its expected shares depend on the betting.

    Attributes:
        members: positions that compete for it, as a bit set.
        known: number of board cards that are known.
    """

    members: int
    known: int


class Shares:
    """Expected shares of pots in one game.

    In hold'em, compiled code enumerates all boards from the flop on. Before the flop, shares of two players come from a
    table and those of more players from sampled boards (`engine.kernels.ranges`). In other games all boards are
    enumerated, which takes a small deck, and the results are cached.
    """

    def __init__(self, game: Game, draws: int = DRAWS) -> None:
        """Prepare the caches.

        Args:
            game: a game that `shares_refusal` does not refuse.
            draws: boards sampled before the flop of hold'em for three or more players.
        """
        self._game = game
        self._draws = draws
        self._cached_shares = lru_cache(MAX_BOARDS)(self._enumerate)

    def of(
        self, deals: Sequence[Deal], hands: NDArray[np.int64], rows: Sequence[PotRow], streams: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return the shares of all positions in each pot, shape (pots, players).

        Args:
            deals: deals of the hands, with all hole cards.
            hands: index of each pot's hand, shape (pots,).
            rows: the pots.
            streams: random stream of each hand, for sampled boards; must not depend on its cards.
        """
        if is_holdem(self._game):
            return self._compiled(deals, hands, rows, streams)
        shares = []
        for hand, row in zip(hands.tolist(), rows, strict=True):
            deal = deals[hand]
            shares.append(self._cached_shares(deal.hole_cards, deal.board[: row.known], row.members))
        return np.array(shares, np.float64).reshape(len(shares), self._game.num_players)

    def _compiled(
        self, deals: Sequence[Deal], hands: NDArray[np.int64], rows: Sequence[PotRow], streams: Sequence[int]
    ) -> NDArray[np.float64]:
        from engine.duels import duel_counts
        from engine.kernels.ranges import find_shares

        players = self._game.num_players
        board_cards = self._game.board_cards_by_round[-1]
        padding = (0,) * board_cards
        flat_cards: list[int] = []
        for deal in deals:
            for hole in deal.hole_cards:
                flat_cards += hole
            flat_cards += (deal.board + padding)[:board_cards]
        # The buffer must be writable, as numba compiles another kernel for read-only arrays.
        cards = np.frombuffer(bytearray(flat_cards), np.uint8).reshape(len(deals), 2 * players + board_cards)
        flat_rows = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows))
        members, known = flat_rows.reshape(-1, 2).T
        stream_states = np.array([mixed(number * STEP & MASK_64) for number in streams], np.uint64)
        shares = np.zeros((len(rows), players))
        find_shares(
            cards,
            hands,
            members.astype(np.uint64),
            np.ascontiguousarray(known),
            streams=stream_states,
            draws=self._draws,
            duels=duel_counts(),
            shares=shares,
        )
        return shares

    def _enumerate(
        self, holes: tuple[tuple[Card, ...], ...], board: tuple[Card, ...], members: int
    ) -> tuple[float, ...]:
        positions = [position for position in range(len(holes)) if members >> position & 1]
        folded_cards: list[Card] = []
        for position, hole in enumerate(holes):
            if position not in positions:
                folded_cards += hole
        odds = showdown_odds(
            [holes[position] for position in positions],
            board,
            dead=folded_cards,
            deck=self._game.deck,
            board_cards=self._game.board_cards_by_round[-1],
        )
        shares = dict(zip(positions, odds.equities, strict=True))
        return tuple([shares.get(position, 0.0) for position in range(len(holes))])


class Terms:
    """Terms of a hand as linear functions of expected shares.

    The betting alone decides the weights, so that hands with equal betting have equal `Terms`, and `Shares` finds the
    shares of many hands at once. The value of a column for a position is its constant plus the sum over the column's
    weights of chips times the position's share in the row.

    Attributes:
        rows: index of each pot whose shares are needed.
        weights: flat triples of row index, column and chips.
        constants: shape (players, columns), in chips.
    """

    def __init__(self, players: int, columns: int) -> None:
        self.constants = np.zeros((players, columns))
        self.rows: dict[PotRow, int] = {}
        self.weights: list[float] = []

    def add(self, row: PotRow, column: int, chips: float) -> None:
        """Add chips times the shares of a pot to a column."""
        index = self.rows.setdefault(row, len(self.rows))
        self.weights += (index, column, chips)


def term_values(
    shares: Shares, deals: Sequence[Deal], terms: Sequence[Terms], streams: Sequence[int]
) -> NDArray[np.float64]:
    """Evaluate the terms of hands, in chips, shape (hands, players, columns).

    Args:
        terms: terms of each hand, all with the same columns.
        streams: random stream of each hand, as for `Shares.of`.
    """
    players, columns = terms[0].constants.shape
    values = np.concatenate([hand_terms.constants for hand_terms in terms]).reshape(len(terms), players, columns)
    row_counts = np.array([len(hand_terms.rows) for hand_terms in terms], np.int64)
    # Index of the hand of each row, shape (rows,).
    hands = np.repeat(np.arange(len(deals)), row_counts)
    if not len(hands):
        return values
    rows = list(chain.from_iterable(hand_terms.rows for hand_terms in terms))
    row_shares = shares.of(deals, hands, rows, streams)
    # Weights of all hands, shape (weights, 3): row index within the hand, column, chips.
    weight_counts = np.array([len(hand_terms.weights) // 3 for hand_terms in terms], np.int64)
    flat_weights = chain.from_iterable([hand_terms.weights for hand_terms in terms])
    weights = np.fromiter(flat_weights, np.float64, 3 * int(weight_counts.sum())).reshape(-1, 3)
    first_rows = np.cumsum(row_counts) - row_counts
    weight_rows = weights[:, 0].astype(np.int64) + np.repeat(first_rows, weight_counts)
    weight_columns = weights[:, 1].astype(np.int64)
    chips = weights[:, 2]
    # Flat index of the hand and column to which each weight is added.
    cells = hands[weight_rows] * columns + weight_columns
    for player in range(players):
        sums = np.bincount(cells, chips * row_shares[weight_rows, player], len(terms) * columns)
        values[:, player] += sums.reshape(len(terms), columns)
    return values


def chance_columns(game: Game) -> int:
    """Return the number of columns of `chance_terms`: the pot terms of the rounds, then the share terms."""
    return 2 * game.num_rounds


def chance_terms(betting: BettingState) -> Terms:
    """Return the terms of the deal and of the board cards of each round, given the end of a betting."""
    game = betting.game
    rounds = game.num_rounds
    players = game.num_players
    big_blind = float(game.big_blind)
    all_players = (1 << players) - 1
    terms = Terms(players, chance_columns(game))
    # Before the deal the expected share of every player is the same.
    deal = PotRow(all_players, 0)
    blinds = float(sum(game.blinds) or game.big_blind)
    for column, chips in ((0, blinds), (rounds, big_blind)):
        terms.constants[:, column] += chips / players
        terms.add(deal, column, -chips)
    last_start: BettingState | None = None
    pots: list[tuple[int, int]] = []
    for round_, start in enumerate(betting.round_starts[1:], 1):
        known_before, known_after = game.board_cards_by_round[round_ - 1 : round_ + 1]
        if known_before == known_after:
            continue
        # Rounds without betting, after an all-in, share one state.
        if start is not last_start:
            last_start = start
            pots = []
            for pot in side_pots(start.spent, start.folded):
                pot_members = sum([1 << position for position in pot.players])
                pots.append((pot_members, pot.amount))
        for members, amount in pots:
            terms.add(PotRow(members, known_before), round_, float(amount))
            terms.add(PotRow(members, known_after), round_, -float(amount))
        members = all_players & ~start.folded
        terms.add(PotRow(members, known_before), rounds + round_, big_blind)
        terms.add(PotRow(members, known_after), rounds + round_, -big_blind)
    return terms
