"""The betting of one hand and what it pays, compiled: limit and no-limit.

`start`, then `act` until the point's position is -1, then `pay`. The rules are those of `engine.betting_rules`, number
for number, and the payments those of `engine.hand.end_values`; both are what the tests hold these against. They count
all-in players and side pots. The caller deals (`engine.kernels.draw.draw_cards`, then `holdem_ranks`).
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
"""Where the numbers of an `engine.betting_rules.BettingPoint` stand in the array of a point; `spent` is one of its
own."""
_FOLD: Final = 0
_CALL: Final = 1


class BettingTables(NamedTuple):
    """The rules of a game as arrays of int64.

    Attributes:
        blinds: by position, in chips.
        stacks: by position, in chips.
        raise_sizes: by round, in chips; all 0 in a no-limit game.
        first_players: by round, the position that acts first.
        max_raises: by round.
        big_blind: in chips; one number.
        is_limit: 1 or 0; one number.
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
    """The rules of a game for `start` and `act`."""
    point = first_point(game)
    numbers = (
        [int(number) for name, number in point._asdict().items() if name != "spent"],
        game.blinds,
        game.stacks,
        game.raise_sizes or (0,) * game.num_rounds,
        game.first_players,
        game.max_raises,
    )
    first, blinds, stacks, sizes, firsts, most = [np.array(of_one, np.int64) for of_one in numbers]
    return BettingTables(
        first=first,
        blinds=blinds,
        stacks=stacks,
        raise_sizes=sizes,
        first_players=firsts,
        max_raises=most,
        big_blind=game.big_blind,
        is_limit=int(game.is_limit),
    )


@njit
def bits(word: int) -> int:
    """How many bits of a set of positions are set."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit
def start(tables: BettingTables, point: NDArray[np.int64], spent: NDArray[np.int64]) -> None:
    """Write the start of a hand into a point and what each position has put in."""
    for i in range(POINT_SIZE):
        point[i] = tables.first[i]
    for position in range(len(spent)):
        spent[position] = tables.blinds[position]


@njit
def act(tables: BettingTables, point: NDArray[np.int64], spent: NDArray[np.int64], kind: int, size: Any) -> None:
    """Play a legal action of the acting player: 0 fold, 1 call, 2 raise to a hand total (in a limit game of any size).

    Args:
        point: changed in place.
        spent: by position, in chips; changed in place.
        size: of a raise, as a hand total.
    """
    position, round_, max_spent, able = point[POSITION], point[ROUND], point[MAX_SPENT], point[ABLE]
    players = len(spent)
    stack, total = tables.stacks[position], spent[position]
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
    able_count, is_contested = bits(able), bits(point[FOLDED]) < players - 1
    if point[CALLED] < able_count and is_contested:
        position += 1
        while not able >> position & 1:
            position = position + 1 if position < players else 0
    elif able_count > 1 and is_contested and round_ < len(tables.max_raises) - 1:
        round_ += 1
        point[CALLED] = point[RAISES] = point[ACTIONS] = 0
        point[MIN_RAISE_TO] = max_spent + tables.big_blind
        position = tables.first_players[round_]
        while not able >> position & 1:
            position = position + 1 if position + 1 < players else 0
    else:
        if able_count <= 1 and is_contested:
            round_ = len(tables.max_raises) - 1
        position = -1
    point[POSITION], point[ROUND] = position, round_
    point[MAY_RAISE] = (
        position >= 0
        and able_count > 1
        and point[RAISES] < tables.max_raises[round_]
        and point[ACTIONS] <= MAX_ACTIONS_PER_ROUND - players
        and (tables.is_limit == 1 or max_spent < tables.stacks[position])
    )


@njit
def pay(spent: NDArray[np.int64], folded: int, ranks: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    """Write the net chips of each position at the end of a hand.

    Args:
        spent: by position, in chips.
        folded: bit p is set when position p has folded.
        ranks: of the hands, higher is better; those of folded positions do not matter.
    """
    players = len(spent)
    if bits(folded) + 1 >= players:
        pot = 0
        for position in range(players):
            pot += spent[position]
        for position in range(players):
            values[position] = -spent[position] if folded >> position & 1 else pot - spent[position]
        return
    for position in range(players):
        values[position] = -spent[position] if folded >> position & 1 else 0.0
    below = np.int64(0)
    while True:
        level = np.int64(-1)
        for position in range(players):
            if spent[position] > below and (level < 0 or spent[position] < level):
                level = spent[position]
        if level < 0:
            return
        best, winners, payers = np.int64(-1), 0, 0
        for position in range(players):
            if spent[position] >= level:
                payers += 1
                if not folded >> position & 1:
                    if ranks[position] > best:
                        best, winners = ranks[position], 1
                    elif ranks[position] == best:
                        winners += 1
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
    """Write the rank of each position's seven cards to ranks.

    Args:
        cards: the hole cards position by position, then the five cards of the board; more may follow.
        ranks: one for each position.
    """
    players = len(ranks)
    board_key, board_cards = key_and_set(cards[2 * players : 2 * players + 5])
    for position in range(players):
        one, other = cards[2 * position], cards[2 * position + 1]
        ranks[position] = seven_rank(board_key + KEYS[one] + KEYS[other], board_cards | BITS[one] | BITS[other])
