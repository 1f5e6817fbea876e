"""The test of the thesis as compiled code: a strategy for the game before the flop plays against simple players.

Hands end with the betting before the flop, and all cards are shown. One opponent always raises, one always calls, one
draws fold, call and raise with equal chances and may fold where it owes nothing, as the rules of the thesis allow. An
illegal action becomes the nearest legal one. The strategy sits in both seats in turn.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.lp_mc.strategy import BETTINGS, PreflopStrategy
from bots.studies.limit_hand import LimitRules, limit_hand, limit_rules
from engine import Game
from engine.cards import starting_hand_table
from engine.kernels.betting import holdem_ranks
from engine.kernels.draw import draw_cards, mixed
from engine.kernels.jit import njit
from engine.splitmix import MASK_64, STEP
from engine.splitmix import mixed as mixed_here

RAISES: Final = (0.0, 0.0, 1.0)
CALLS: Final = (0.0, 1.0, 0.0)
DRAWS: Final = (1 / 3, 1 / 3, 1 / 3)
"""Frequencies of a simple player's folds, calls and raises."""

_DECK: Final = np.arange(52, dtype=np.uint8)
_CARDS: Final = 9
_STARTING_HANDS: Final = np.array(starting_hand_table(), np.uint8)
_STEP: Final = np.uint64(STEP)
_ELEVEN: Final = np.uint64(11)
_UNIT: Final = 2.0**-53


def _betting_numbers() -> NDArray[np.int64]:
    """The place in `BETTINGS`, by the number of actions so far and of raises among them: they name a betting."""
    numbers = np.zeros((5, 5), np.int64)
    for number, betting in enumerate(BETTINGS):
        numbers[len(betting), betting.count("r")] = number
    return numbers


_NUMBERS: Final = _betting_numbers()


class _Table(NamedTuple):
    """The input of the policy for a hand.

    Attributes:
        strategy: by place in `BETTINGS` and starting hand, the probability of a fold, and of a fold or a call.
        simple: the same two of the other player.
        hands: by position, the starting hand.
        us: one number: our position.
        counter: one number: of the generator.
    """

    strategy: NDArray[np.float64]
    simple: NDArray[np.float64]
    hands: NDArray[np.int64]
    us: NDArray[np.int64]
    counter: NDArray[np.uint64]


@njit
def _policy(
    table: Any, position: int, round_: int, raises: int, actions: int, to_call: int, pot: int, in_pot: int
) -> int:
    table.counter[0] += _STEP
    number = np.float64(mixed(table.counter[0]) >> _ELEVEN) * _UNIT
    if position == table.us[0]:
        betting, hand = _NUMBERS[actions, raises], table.hands[position]
        fold, call = table.strategy[betting, hand, 0], table.strategy[betting, hand, 1]
    else:
        fold, call = table.simple[0], table.simple[1]
    return 0 if number < fold else 1 if number < call else 2


_play = limit_hand(_policy, free_folds=True)


@njit
def play_hands(rules: LimitRules, table: Any, hands: int, start: np.uint64, sums: NDArray[np.float64]) -> None:
    """Play hands, the strategy in position 0 of every other one, and add up what it wins.

    The cards come from one stream of `engine.kernels.draw.draw_cards`, the choices from the table's counter.

    Args:
        rules: of a game of one round.
        table: a `_Table`.
        hands: how many.
        start: of the cards' random numbers.
        sums: what was won, and the sum of its squares, in chips; added to.
    """
    deck = _DECK.copy()
    ranks, values = np.empty(2, np.int64), np.empty(2, np.float64)
    counter = start
    for number in range(hands):
        counter = np.uint64(draw_cards(deck, _CARDS, counter))
        table.us[0] = number % 2
        for position in range(2):
            table.hands[position] = _STARTING_HANDS[deck[2 * position], deck[2 * position + 1]]
        holdem_ranks(deck, ranks)
        _play(rules, table, ranks, values)
        won = values[table.us[0]]
        sums[0] += won
        sums[1] += won * won


class Balance(NamedTuple):
    """Winnings of a strategy, in small bets per hand.

    Attributes:
        mean: over both seats.
        half_width: of the 95 % interval.
    """

    mean: float
    half_width: float
    hands: int


def preflop_rules(game: Game) -> LimitRules:
    """The rules of a limit game that ends before the flop."""
    blinds, *rest = limit_rules(game)
    return LimitRules(blinds, *[of_rounds[:1] for of_rounds in rest])


def balance(
    game: Game, strategy: PreflopStrategy, simple: tuple[float, float, float], *, hands: int, seed: int
) -> Balance:
    """Play a strategy against a simple player.

    Args:
        game: limit hold'em of two players with the blinds and the cap of the strategy.
        strategy: by starting hand and betting.
        simple: how often the other player folds, calls and raises.
        hands: how many, 2 or more.
        seed: of the cards and the choices.
    """
    chances = np.array(strategy.numbers).reshape(len(BETTINGS), -1, 3)
    start = mixed_here(seed & MASK_64)
    table = _Table(
        chances.cumsum(axis=2)[:, :, :2].copy(),
        np.cumsum(simple)[:2].copy(),
        np.zeros(2, np.int64),
        np.zeros(1, np.int64),
        np.array([mixed_here(start)], np.uint64),
    )
    sums = np.zeros(2)
    play_hands(preflop_rules(game), table, hands, np.uint64(start), sums)
    small_bet = game.raise_sizes[0]
    won, squares = sums.tolist()
    mean = won / hands
    error = sqrt((squares / hands - mean**2) / (hands - 1))
    return Balance(mean / small_bet, 1.959964 * error / small_bet, hands)
