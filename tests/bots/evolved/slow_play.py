"""Hands of the training, played by the rules, one action after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bots.evolved.chromosome import Odds, chart, chart_position, decision, gene
from bots.evolved.training import DealSet
from engine import Action, ActionKind, Card, Deal, Seat, betting_start, rank_hand
from engine.betting import nearest_legal
from engine.cards import starting_hand
from logs.record import HandRecord
from protocol import find_game

GAME = find_game("limit10")[1]
CHIPS_PER_DOLLAR = 5
NAMES = tuple(map(str, range(10)))


def raises_of(actions: Sequence[Any]) -> int:
    return sum(action.kind is ActionKind.RAISE for _, action in actions)


@dataclass(frozen=True)
class SlowPlay:
    """All hands of all deals.

    Attributes:
        won: winnings of ten players, in dollars.
        used: the genes that player 0 used.
        records: the hands; player 0 is called ``0``, and a chip is a fifth of a dollar.

    """

    won: list[float]
    used: set[int]
    records: list[HandRecord]

    @property
    def flops(self) -> list[HandRecord]:
        """Hands with a flop."""
        return [record for record in self.records if len(record.betting.rounds) > 1]


def played_slowly(deals: DealSet, chromosomes: Any, odds: Sequence[Odds], rake: bool) -> SlowPlay:
    """Play all hands by the rules; `odds` is by player."""
    won, used, records = [0.0] * 10, set(), []
    for number, cards in enumerate(deals.cards.tolist()):
        holdings = [cards[2 * pair : 2 * pair + 2] for pair in range(10)]
        board = cards[20:]
        for rotation in range(10):
            for turn in range(10):
                betting = betting_start(GAME)
                while not betting.finished:
                    position = betting.acting_position
                    hole = holdings[(position + rotation) % 10]
                    raises = [raises_of(actions) for actions in betting.rounds]
                    if betting.round == 0:
                        kind = chart()[chart_position(position, 10)][starting_hand(hole)][raises[0]]
                    else:
                        seen = board[: betting.round + 2]
                        at = gene(
                            rank_hand([*hole, *seen]) >> 12,
                            chart_position(position, 10),
                            betting.round,
                            raises[-2],
                            raises[-1],
                        )
                        if (player := (position + turn) % 10) == 0:
                            used.add(at)
                        opponents = len(betting.in_pot) - 1
                        weight = deals.weights[number, (position + rotation) % 10, betting.round - 1, opponents - 1]
                        price, pot = betting.to_call / CHIPS_PER_DOLLAR, betting.pot / CHIPS_PER_DOLLAR
                        kind = decision(*chromosomes[player, at].tolist(), float(weight), price, pot, odds[player])
                    betting = betting.after(nearest_legal(Action(ActionKind(kind)), betting))
                spent = [chips / CHIPS_PER_DOLLAR for chips in betting.spent]
                pot, alive, taken = sum(spent), betting.in_pot, 0.0
                if len(betting.rounds) > 1:
                    taken = min(0.25 * (pot // 5), 3.0) if rake else 0.0
                ranks = [rank_hand([*holdings[(position + rotation) % 10], *board]) for position in range(10)]
                best = max(ranks[position] for position in alive)
                winners = [position for position in alive if len(alive) == 1 or ranks[position] == best]
                values = [-chips for chips in spent]
                for position in winners:
                    values[position] += (pot - taken) / len(winners)
                for position in range(10):
                    won[(position + turn) % 10] += values[position]
                records.append(
                    HandRecord(
                        GAME,
                        "m",
                        len(records),
                        NAMES,
                        tuple(Seat((position + turn) % 10) for position in range(10)),
                        Deal(
                            tuple(tuple(Card(card) for card in holdings[(p + rotation) % 10]) for p in range(10)),
                            tuple(Card(card) for card in board),
                        ),
                        betting,
                        tuple(CHIPS_PER_DOLLAR * value for value in values),
                    )
                )
    return SlowPlay(won, used, records)
