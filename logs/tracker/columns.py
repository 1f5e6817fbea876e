"""Hands in columns, thousands at a time: what all counting starts from.

`record_columns` makes them of any hands, `logs.tracker.clean_logs` reads them from clean logs without making records.
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
"""In place of a card that was not dealt, or is not known."""
_HANDS: Final = 1 << 12
"""At a time."""
_MAX_BETTINGS: Final = 1 << 12
"""Betting lines whose facts are remembered."""


class Columns(NamedTuple):
    """Hands of one game, whatever its stacks, deal by deal; the first axis is the hand, the second the position.

    Attributes:
        facts: of ways to bet.
        names: players by position, of each table.
        order: of the hands among those counted at the same time.
        ways: places in `facts`.
        tables: places in `names`.
        deals: ascending; hands of the same cards, one per seating, have the same number.
        cards: of hold'em: hole cards of all positions, then five board cards.
        values: net chips.
        record: a hand by its place.
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
    return game._replace(stacks=(DEFAULT_STACK,) * game.num_players)


def ranks_of(cards: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """The rank of each position's seven cards, as `Columns` have them; 0 where some are missing."""
    positions = (cards.shape[1] - 5) // 2
    ranks = np.zeros((len(cards), positions), np.uint16)
    for position in range(positions):
        seven = cards[:, [2 * position, 2 * position + 1, *range(2 * positions, 2 * positions + 5)]]
        known = np.flatnonzero((seven != NOT_DEALT).all(axis=1))
        ranks[known, position] = rank_sevens(seven[known])
    return ranks


def record_columns(records: Iterable[HandRecord]) -> Iterator[tuple[list[HandRecord], list[Columns]]]:
    """Hands as they come, some thousand at a time, with their columns game by game; no deal is cut in two."""
    facts_for = lru_cache(_MAX_BETTINGS)(BettingFacts)
    for batch in _batches(records):
        deals = np.cumsum([True, *(not _is_same_deal(*pair) for pair in pairwise(batch))])
        places: dict[Game, list[int]] = {}
        game = None
        of_game = list[int]()
        for place, record in enumerate(batch):
            if record.game is not game:
                game = record.game
                of_game = places.setdefault(without_stacks(game), [])
            of_game.append(place)
        yield batch, [_columns(batch, np.array(chosen), deals, facts_for) for chosen in places.values()]


def _batches(records: Iterable[HandRecord]) -> Iterator[list[HandRecord]]:
    batch: list[HandRecord] = []
    for record in records:
        if len(batch) >= _HANDS and not _is_same_deal(batch[-1], record):
            yield batch
            batch = []
        batch.append(record)
    if batch:
        yield batch


def _is_same_deal(one: HandRecord, other: HandRecord) -> bool:
    holes = other.deal.hole_cards
    return one.hand_number == other.hand_number and one.deal.hole_cards == holes and all(holes)


def _columns(
    batch: Sequence[HandRecord],
    order: NDArray[np.int64],
    deals: NDArray[np.int64],
    facts_for: Callable[[BettingState], BettingFacts],
) -> Columns:
    records = [batch[place] for place in order.tolist()]
    ways: dict[BettingFacts, int] = {}
    tables: dict[tuple[str, ...], int] = {}
    bet = [ways.setdefault(facts_for(record.betting), len(ways)) for record in records]
    seated = [tables.setdefault(record.names, len(tables)) for record in records]
    game = records[0].game
    cards = np.full((len(records), 2 * game.num_players + 5), NOT_DEALT, np.uint8)
    if has_usual_blinds(game):
        for row, record in zip(cards, records, strict=True):
            dealt = [card for hole in record.deal.hole_cards for card in hole or (NOT_DEALT, NOT_DEALT)]
            row[: len(dealt) + len(record.deal.board)] = [*dealt, *record.deal.board]
    return Columns(
        game=game,
        facts=list(ways),
        names=list(tables),
        order=order,
        ways=np.array(bet),
        tables=np.array(seated),
        deals=deals[order],
        cards=cards,
        values=np.array([record.values for record in records], np.float64),
        record=records.__getitem__,
    )
