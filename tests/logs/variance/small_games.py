"""Every hand of a small game with its probability, for exact tests of estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import permutations
from typing import NamedTuple, TypeAlias

import numpy as np

from engine import Action, ActionKind, BettingState, Card, Deal, Game, Seat, betting_start, hand_values, raise_to
from logs import HandRecord
from protocol import find_game

Strategy: TypeAlias = Callable[[BettingState, Card, tuple[Card, ...]], Mapping[Action, float]]
"""Probabilities of the legal actions, given the betting, the own card and the board."""


class Weighed(NamedTuple):
    """A hand with its probability."""

    probability: float
    record: HandRecord


def small_game(name: str) -> Game:
    """Return a game by name; ``leduc no-limit`` has stacks of three big blinds, so that it can be enumerated."""
    if name == "leduc no-limit":
        return find_game("leduc.nolimit.2p")[1]._replace(stacks=(300, 300))
    return find_game(name)[1]


def legal(betting: BettingState) -> list[Action]:
    """Return all legal actions."""
    allowed = betting.legal_actions()
    actions = [Action(ActionKind.CALL)]
    if allowed.can_fold:
        actions.append(Action(ActionKind.FOLD))
    if allowed.can_raise:
        sizes = [0] if betting.game.is_limit else range(allowed.raise_min, allowed.raise_max + 1, 100)
        actions += [raise_to(size) for size in sizes]
    return actions


def uniform(betting: BettingState, own: Card, board: tuple[Card, ...]) -> Mapping[Action, float]:
    """Play every legal action with equal probability."""
    actions = legal(betting)
    return dict.fromkeys(actions, 1 / len(actions))


def random_strategy(seed: int) -> Strategy:
    """Return a random strategy that depends on the ranks of its cards."""

    @cache
    def chances(betting: BettingState, own_rank: int, board_ranks: tuple[int, ...]) -> Mapping[Action, float]:
        actions = legal(betting)
        text = repr((seed, betting.rounds, own_rank, board_ranks)).encode()
        weights = np.random.default_rng(list(text)).dirichlet(np.full(len(actions), 0.7))
        return dict(zip(actions, weights.tolist(), strict=True))

    return lambda betting, own, board: chances(betting, own >> 2, tuple([card >> 2 for card in board]))


def all_deals(game: Game) -> list[Deal]:
    """Yield all deals, equally likely."""
    players, cards = game.num_players, game.cards_per_hand
    return [
        Deal(tuple([(card,) for card in dealt[:players]]), dealt[players:]) for dealt in permutations(game.deck, cards)
    ]


def all_hands(game: Game, strategies: tuple[Strategy, ...], names: tuple[str, ...] = ("A", "B", "C")) -> list[Weighed]:
    """Yield all hands between strategies, given by position."""
    deals = all_deals(game)
    names = names[: game.num_players]
    seats = tuple([Seat(seat) for seat in range(game.num_players)])

    def play(betting: BettingState, deal: Deal, probability: float) -> Iterator[Weighed]:
        if betting.finished:
            values = tuple(hand_values(betting, deal))
            yield Weighed(probability, HandRecord(game, "match", 0, names, seats, deal, betting, values))
            return
        position = betting.acting_position
        board = deal.board[: game.board_cards_by_round[betting.round]]
        for action, chance in strategies[position](betting, deal.hole_cards[position][0], board).items():
            yield from play(betting.after(action), deal, probability * chance)

    return [hand for deal in deals for hand in play(betting_start(game), deal, 1 / len(deals))]
