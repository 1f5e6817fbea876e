"""Compiled betting and payoff of one hand, for training.

Call `start`, then `act` until the position is -1, then `pay`. The rules are those of `engine.betting_rules` and the
payoffs those of `engine.hand.end_values`, and tests compare both. The caller deals, with
`engine.kernels.draw.draw_cards`, and ranks the hands with `holdem_ranks`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.betting_rules import first_point
from engine.game import MAX_ACTIONS_PER_ROUND, Game
from engine.kernels.cards import BITS, KEYS
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit

# Indexes of the fields of engine.betting_rules.BettingPoint in the array of a point, in the same order but without
# `spent`, which is an array of its own.
POSITION: Final = 0
ROUND: Final = 1
MAY_RAISE: Final = 2
MAX_SPENT: Final = 3
FOLDED: Final = 4
MIN_RAISE_TO: Final = 5
ABLE: Final = 6
CALLED: Final = 7
RAISES: Final = 8
ACTIONS: Final = 9
POINT_SIZE: Final = 10

_FOLD: Final = 0
_CALL: Final = 1


class BettingTables(NamedTuple):
    """Definition of a game as arrays of int64.

    Attributes:
        first: the point in which every hand starts.
        blinds: chips by position.
        stacks: chips by position.
        raise_sizes: chips by round, all 0 in a no-limit game.
        first_players: position that acts first, by round.
        max_raises: number of raises allowed, by round.
        big_blind: chips.
        is_limit: 1 or 0.
    """

    first: NDArray[np.int64]
    blinds: NDArray[np.int64]
    stacks: NDArray[np.int64]
    raise_sizes: NDArray[np.int64]
    first_players: NDArray[np.int64]
    max_raises: NDArray[np.int64]
    big_blind: int
    is_limit: int


def betting_tables(game: Game) -> BettingTables:
    """Return the tables of a game for `start` and `act`."""
    point = first_point(game)
    first = [int(number) for name, number in point._asdict().items() if name != "spent"]
    raise_sizes = game.raise_sizes or (0,) * game.num_rounds
    return BettingTables(
        first=np.array(first, np.int64),
        blinds=np.array(game.blinds, np.int64),
        stacks=np.array(game.stacks, np.int64),
        raise_sizes=np.array(raise_sizes, np.int64),
        first_players=np.array(game.first_players, np.int64),
        max_raises=np.array(game.max_raises, np.int64),
        big_blind=game.big_blind,
        is_limit=int(game.is_limit),
    )


@njit
def bits(word: int) -> int:
    """Return the number of positions in a set."""
    # numba does not compile int.bit_count(). Each pass clears the lowest bit.
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit
def start(tables: BettingTables, point: NDArray[np.int64], spent: NDArray[np.int64]) -> None:
    """Write the start of a hand to `point` and `spent`."""
    for i in range(POINT_SIZE):
        point[i] = tables.first[i]
    for position in range(len(spent)):
        spent[position] = tables.blinds[position]


@njit
def act(tables: BettingTables, point: NDArray[np.int64], spent: NDArray[np.int64], kind: int, size: Any) -> None:
    """Play a legal action of the acting player.

    The steps are those of `engine.betting_rules`, whose comments explain them.

    Args:
        point: changed in place.
        spent: chips by position, changed in place.
        kind: 0 fold, 1 call, 2 raise.
        size: hand total of a raise in a no-limit game.
    """
    position = point[POSITION]
    round_ = point[ROUND]
    max_spent = point[MAX_SPENT]
    able = point[ABLE]
    players = len(spent)
    stack = tables.stacks[position]
    total = spent[position]
    if kind == _CALL:
        total = min(max_spent, stack)
        point[CALLED] += total < stack
    elif kind == _FOLD:
        point[FOLDED] |= 1 << position
    else:
        total = min(max_spent + tables.raise_sizes[round_], stack) if tables.is_limit else size
        point[MIN_RAISE_TO] = max(point[MIN_RAISE_TO], 2 * total - max_spent)
        max_spent = point[MAX_SPENT] = total
        point[RAISES] += 1
        point[CALLED] = 1 if total < stack else 0
    spent[position] = total
    if kind == _FOLD or total >= stack:
        able &= ~(1 << position)
        point[ABLE] = able
    point[ACTIONS] += 1
    able_count = bits(able)
    is_contested = bits(point[FOLDED]) < players - 1
    if point[CALLED] < able_count and is_contested:
        position += 1
        while not able >> position & 1:
            position = position + 1 if position < players else 0
    elif able_count > 1 and is_contested and round_ < len(tables.max_raises) - 1:
        round_ += 1
        point[CALLED] = point[RAISES] = point[ACTIONS] = 0
        point[MIN_RAISE_TO] = max_spent + tables.big_blind
        position = tables.first_players[round_]
        # Find the first able position from there on.
        while not able >> position & 1:
            position = position + 1 if position + 1 < players else 0
    else:
        if able_count <= 1 and is_contested:
            round_ = len(tables.max_raises) - 1
        position = -1
    point[POSITION] = position
    point[ROUND] = round_
    point[MAY_RAISE] = (
        position >= 0
        and able_count > 1
        and point[RAISES] < tables.max_raises[round_]
        and point[ACTIONS] <= MAX_ACTIONS_PER_ROUND - players
        and (tables.is_limit == 1 or max_spent < tables.stacks[position])
    )


@njit
def pay(spent: NDArray[np.int64], folded: int, ranks: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    """Write the net chips of each position at the end of a hand to `values`.

    Args:
        spent: chips by position.
        folded: positions that have folded, as a set of bits.
        ranks: ranks of the hands by position, higher is better. Those of folded positions are ignored.
    """
    players = len(spent)
    if bits(folded) + 1 >= players:
        # All but one have folded: the last player wins the sum of all chips.
        pot = 0
        for position in range(players):
            pot += spent[position]
        for position in range(players):
            values[position] = -spent[position] if folded >> position & 1 else pot - spent[position]
        return
    for position in range(players):
        values[position] = -spent[position] if folded >> position & 1 else 0.0
    # Pay layer by layer from the smallest. A layer reaches from `below` to `level`, the next higher amount of a player.
    below = np.int64(0)
    while True:
        level = np.int64(-1)
        for position in range(players):
            if spent[position] > below and (level < 0 or spent[position] < level):
                level = spent[position]
        if level < 0:
            return
        # Find the best rank among the players in the layer, and count its winners and all who pay.
        best = np.int64(-1)
        winners = 0
        payers = 0
        for position in range(players):
            if spent[position] >= level:
                payers += 1
                if not folded >> position & 1:
                    if ranks[position] > best:
                        best = ranks[position]
                        winners = 1
                    elif ranks[position] == best:
                        winners += 1
        # Winners share the chips of the others in equal parts. Folded players have paid already.
        size = level - below
        for position in range(players):
            if winners and spent[position] >= level and not folded >> position & 1:
                if ranks[position] == best:
                    values[position] += size * (payers - winners) / winners
                else:
                    values[position] -= size
        below = level


@njit
def holdem_ranks(cards: NDArray[np.uint8], ranks: NDArray[np.int64]) -> None:
    """Write the rank of each position's seven cards to `ranks`.

    Args:
        cards: the hole cards by position, then the five cards of the board. Any cards may follow.
    """
    players = len(ranks)
    board_key, board_cards = key_and_set(cards[2 * players : 2 * players + 5])
    for position in range(players):
        first = cards[2 * position]
        second = cards[2 * position + 1]
        key = board_key + KEYS[first] + KEYS[second]
        ranks[position] = seven_rank(key, board_cards | BITS[first] | BITS[second])
