"""Hands before the flop by the kernel and by the rules: equal cards, choices and chips."""

from __future__ import annotations

import pytest

from bots.lp_mc.strategy import preflop_strategy
from bots.studies.lp_mc_balance import balance
from engine import CALL, FOLD, RAISE, Action, BettingState, Card, betting_start, nearest_legal, rank_hand
from engine.cards import starting_hand
from engine.splitmix import MASK_64, STEP, mixed
from protocol import find_game

LIMIT = find_game("limit")[1]
SIMPLE = {"raises": (0.0, 0.0, 1.0), "calls": (0.0, 1.0, 0.0), "draws": (1 / 3, 1 / 3, 1 / 3)}


class Deck:
    """Deck that is never gathered: each hand's cards move to the front of the previous order."""

    def __init__(self, start: int) -> None:
        self.cards = [Card(card) for card in range(52)]
        self.counter = start

    def deal(self, draws: int) -> list[Card]:
        halves: list[int] = []
        for draw in range(draws):
            if not halves:
                self.counter = self.counter + STEP & MASK_64
                word = mixed(self.counter)
                halves = [word >> 32, word & 0xFFFFFFFF]
            place = draw + (halves.pop(0) * (52 - draw) >> 32)
            self.cards[place], self.cards[draw] = self.cards[draw], self.cards[place]
        return self.cards[:draws]


def won_slowly(as_published: bool, simple: tuple[float, float, float], hands: int, seed: int) -> list[int]:
    """Return twice the chips won in each hand."""
    strategy = preflop_strategy(as_published=as_published)
    start = mixed(seed)
    deck, counter = Deck(start), mixed(start)
    won = []
    for number in range(hands):
        cards, us = deck.deal(9), number % 2
        holes = (cards[0], cards[1]), (cards[2], cards[3])
        betting, folded = betting_start(LIMIT), None
        while betting.round == 0 and folded is None and not betting.finished:
            counter = counter + STEP & MASK_64
            draw = (mixed(counter) >> 11) * 2.0**-53
            position = betting.acting_position
            line = "".join("fcr"[action.kind] for _, action in betting.rounds[0])
            chances = strategy.chances(line, starting_hand(holes[us])) if position == us else simple
            action = chosen(chances, draw)
            if action is FOLD:
                folded = position
            else:
                betting = betting.after(nearest_legal(action, betting))
        won.append(chips(betting, folded, [rank_hand((*hole, *cards[4:])) for hole in holes], us))
    return won


def chosen(chances: tuple[float, float, float], draw: float) -> Action:
    return FOLD if draw < chances[0] else CALL if draw < chances[0] + chances[1] else RAISE


def chips(betting: BettingState, folded: int | None, ranks: list[int], us: int) -> int:
    """Return twice our winnings: all of the other's chips, none, or half of the pot's if the hands are equal."""
    spent = betting.spent
    if folded is not None:
        return -2 * spent[us] if folded == us else 2 * spent[1 - us]
    return 2 * spent[us] * ((ranks[us] > ranks[1 - us]) - (ranks[us] < ranks[1 - us]))


@pytest.mark.slow
@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("name", SIMPLE)
def test_the_kernel_plays_as_the_rule_book(as_published: bool, name: str) -> None:
    strategy, simple = preflop_strategy(as_published=as_published), SIMPLE[name]
    sizes = [2, 3, 10, 400]
    slow = won_slowly(as_published, simple, sizes[-1], 7)
    for hands in sizes:
        result = balance(LIMIT, strategy, simple, hands=hands, seed=7)
        won = [chips / 2 / 10 for chips in slow[:hands]]
        mean = sum(won) / hands
        variance = sum((one - mean) ** 2 for one in won) / (hands - 1)
        assert result.mean == pytest.approx(mean)
        assert result.half_width == pytest.approx(1.959964 * (variance / hands) ** 0.5)
        assert result.hands == hands


@pytest.mark.slow
def test_equilibrium_never_loses() -> None:
    for number, simple in enumerate([*SIMPLE.values(), (0.5, 0.0, 0.5), (0.0, 0.5, 0.5), (0.2, 0.7, 0.1)]):
        result = balance(LIMIT, preflop_strategy(), simple, hands=1_000_000, seed=number)
        assert result.mean + result.half_width > 0
