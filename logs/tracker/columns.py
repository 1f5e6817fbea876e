"""Hands as arrays, some thousand at a time, for all counting.

`record_columns` makes them from records. `logs.tracker.clean_logs` reads them from clean logs without making records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import BettingState, Game
from engine.game import DEFAULT_STACK
from engine.holdem import has_usual_blinds
from engine.kernels.cards import rank_sevens
from logs.record import HandRecord
from logs.tracker.hand_facts import BettingFacts

NOT_DEALT: Final = 255
"""Value of a card that was not dealt, or is unknown."""
_BATCH_HANDS: Final = 1 << 12
_MAX_BETTINGS: Final = 1 << 12
"""Betting lines whose facts are cached."""


class Columns(NamedTuple):
    """Hands of one game, with any stacks, deal by deal.

    Attributes:
        facts: facts of the betting lines that occur.
        names: players by position, of each table that occurs.
        order: index of each hand among all hands of the batch, shape (hands,).
        ways: index of each hand's betting line in `facts`, shape (hands,).
        tables: index of each hand's table in `names`, shape (hands,).
        deals: deal number of each hand, shape (hands,), ascending; equal for hands with the same cards.
        cards: hole cards of all positions, then five board cards, shape (hands, 2 * positions + 5); only in hold'em.
        values: net chips, shape (hands, positions).
        record: makes the record of a hand from its index.
    """

    game: Game
    facts: Sequence[BettingFacts]
    names: Sequence[tuple[str, ...]]
    order: NDArray[np.int64]
    ways: NDArray[np.int64]
    tables: NDArray[np.int64]
    deals: NDArray[np.int64]
    cards: NDArray[np.uint8]
    values: NDArray[np.float64]
    record: Callable[[int], HandRecord]


def without_stacks(game: Game) -> Game:
    """Return the game with default stacks, as a key for hands that differ in stacks only."""
    return game._replace(stacks=(DEFAULT_STACK,) * game.num_players)


def ranks_of(cards: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Rank the seven cards of each position, shape (hands, positions); 0 if a card is missing.

    Args:
        cards: as in `Columns`.
    """
    positions = (cards.shape[1] - 5) // 2
    board_columns = range(2 * positions, 2 * positions + 5)
    ranks = np.zeros((len(cards), positions), np.uint16)
    for position in range(positions):
        seven_cards = cards[:, [2 * position, 2 * position + 1, *board_columns]]
        known = np.flatnonzero((seven_cards != NOT_DEALT).all(axis=1))
        ranks[known, position] = rank_sevens(seven_cards[known])
    return ranks


def record_columns(records: Iterable[HandRecord]) -> Iterator[tuple[list[HandRecord], list[Columns]]]:
    """Yield hands in batches of whole deals, each with its columns by game."""
    facts_for = lru_cache(_MAX_BETTINGS)(BettingFacts)
    for batch in _batches(records):
        # A deal number for each hand of the batch.
        is_new_deal = [True]
        for previous, record in pairwise(batch):
            is_new_deal.append(not _is_same_deal(previous, record))
        deals = np.cumsum(is_new_deal)
        indices_by_game: dict[Game, list[int]] = {}
        game = None
        game_indices: list[int] = []
        for index, record in enumerate(batch):
            # Consecutive hands mostly share a game object, for which no key has to be made.
            if record.game is not game:
                game = record.game
                game_indices = indices_by_game.setdefault(without_stacks(game), [])
            game_indices.append(index)
        columns = [_columns(batch, np.array(indices), deals, facts_for) for indices in indices_by_game.values()]
        yield batch, columns


def _batches(records: Iterable[HandRecord]) -> Iterator[list[HandRecord]]:
    batch: list[HandRecord] = []
    for record in records:
        if len(batch) >= _BATCH_HANDS and not _is_same_deal(batch[-1], record):
            yield batch
            batch = []
        batch.append(record)
    if batch:
        yield batch


def _is_same_deal(record: HandRecord, next_record: HandRecord) -> bool:
    # Hands with unknown cards may have different ones.
    holes = next_record.deal.hole_cards
    return record.hand_number == next_record.hand_number and record.deal.hole_cards == holes and all(holes)


def _columns(
    batch: Sequence[HandRecord],
    order: NDArray[np.int64],
    deals: NDArray[np.int64],
    facts_for: Callable[[BettingState], BettingFacts],
) -> Columns:
    records = [batch[index] for index in order.tolist()]
    # Each betting line and each table gets the next index when it first occurs.
    facts_indices: dict[BettingFacts, int] = {}
    table_indices: dict[tuple[str, ...], int] = {}
    ways = [facts_indices.setdefault(facts_for(record.betting), len(facts_indices)) for record in records]
    tables = [table_indices.setdefault(record.names, len(table_indices)) for record in records]
    game = records[0].game
    cards = np.full((len(records), 2 * game.num_players + 5), NOT_DEALT, np.uint8)
    if has_usual_blinds(game):
        for row, record in zip(cards, records, strict=True):
            hand_cards: list[int] = []
            for hole in record.deal.hole_cards:
                hand_cards += hole or (NOT_DEALT, NOT_DEALT)
            hand_cards += record.deal.board
            row[: len(hand_cards)] = hand_cards
    return Columns(
        game=game,
        facts=list(facts_indices),
        names=list(table_indices),
        order=order,
        ways=np.array(ways),
        tables=np.array(tables),
        deals=deals[order],
        cards=cards,
        values=np.array([record.values for record in records], np.float64),
        record=records.__getitem__,
    )
