"""Slow twins of the solvers: walk every deal and betting, for games of one hole card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

import numpy as np

from bots.solving.sequence_form import Chances, Choice, Plan, SequenceForm, plan_of
from engine import CALL, FOLD, RAISE, Action, BettingState, Game, betting_start, format_cards, rank_hand
from engine.hand import showdown_values

Strategy = Mapping[str, Chances]
"""Action probabilities by holding, for each betting and board."""


def random_strategy(form: SequenceForm, player: int, seed: int) -> dict[str, Chances]:
    rng = np.random.default_rng(seed)
    classes = len(form.game.classes[player])
    return {
        choice.name: rng.dirichlet(np.ones(len(choice.actions)), classes).T.copy() for choice in form.choices[player]
    }


def as_plan(form: SequenceForm, player: int, strategy: Strategy) -> Plan:
    def chances(choice: Choice) -> Chances:
        return strategy[choice.name]

    return plan_of(form, player, chances)


def actions_of(state: BettingState) -> list[tuple[str, Action]]:
    legal = state.legal_actions()
    actions = [("f", FOLD)] * legal.can_fold + [("c", CALL)] + [("r", RAISE)] * legal.can_raise
    return actions


def showdown(state: BettingState, hole: tuple[int, ...], board: tuple[int, ...]) -> list[float]:
    ranks = [rank_hand((card, *board)) if not state.folded >> at & 1 else None for at, card in enumerate(hole)]
    return showdown_values(state.spent, ranks)


def expected_value(game: Game, strategies: Sequence[Strategy], player: int = 0, own_card: int | None = None) -> float:
    """Return the mean winnings of a player over all deals, or over those that give it a card."""
    cards = sorted(game.deck)
    players, board_cards = game.num_players, sum(game.num_board_cards)

    def walk(state: BettingState, deal: tuple[int, ...], name: str) -> float:
        if state.finished:
            board = deal[players : players + game.board_cards_by_round[state.round]]
            return showdown(state, deal[:players], board)[player]
        acting = state.acting_position
        chances = strategies[acting][name][:, cards.index(deal[acting])]
        total = 0.0
        for chance, (letter, action) in zip(chances, actions_of(state), strict=True):
            after = state.after(action)
            dealt = f"/{format_cards(deal[players : players + 1])}" if after.round > state.round else ""
            total += chance * walk(after, deal, name + letter + dealt)
        return total

    deals = [deal for deal in permutations(cards, players + board_cards) if own_card in (None, deal[player])]
    return sum(walk(betting_start(game), deal, "") for deal in deals) / len(deals)


def best_value_of_pure_answers(form: SequenceForm, game: Game, strategies: Sequence[Strategy], player: int) -> float:
    """Return the best mean winnings over all pure answers of each card; two actions per decision."""
    cards, choices = sorted(game.deck), form.choices[player]
    total = 0.0
    for card in cards:
        values = []
        for answers in product((0.0, 1.0), repeat=len(choices)):
            own = {
                choice.name: np.tile([[1 - answer], [answer]], (1, len(cards)))
                for choice, answer in zip(choices, answers, strict=True)
            }
            tried = [own if other == player else strategy for other, strategy in enumerate(strategies)]
            values.append(expected_value(game, tried, player, card))
        total += max(values)
    return total / len(cards)


def best_response_value(game: Game, player: int, other: Strategy) -> float:
    """Return the best mean winnings of a player against a strategy."""
    cards = sorted(game.deck)

    def walk(state: BettingState, own: int, others: Mapping[int, float], board: tuple[int, ...], name: str) -> float:
        """Return the best winnings against each card of the opponent, weighted by its probability, summed."""
        if state.finished:
            return sum(
                chance * showdown(state, (own, card) if player == 0 else (card, own), board)[player]
                for card, chance in others.items()
            )
        values = []
        for at, (letter, action) in enumerate(actions_of(state)):
            meets = others
            if state.acting_position != player:
                meets = {card: chance * other[name][at, cards.index(card)] for card, chance in others.items()}
            after = state.after(action)
            if after.round == state.round:
                values.append(walk(after, own, meets, board, name + letter))
                continue
            left = len(cards) - 2
            values.append(
                sum(
                    walk(
                        after,
                        own,
                        {card: chance / left for card, chance in meets.items() if card != dealt},
                        (dealt,),
                        f"{name}{letter}/{format_cards((dealt,))}",
                    )
                    for dealt in cards
                    if dealt != own
                )
            )
        return max(values) if state.acting_position == player else sum(values)

    deals = len(cards) * (len(cards) - 1)
    return sum(
        walk(betting_start(game), own, {card: 1 / deals for card in cards if card != own}, (), "") for own in cards
    )


def pure_strategies(form: SequenceForm, player: int) -> Iterator[Strategy]:
    """Yield all pure strategies of a game with two actions per decision."""
    names = [choice.name for choice in form.choices[player]]
    classes = len(form.game.classes[player])
    for number in range(2 ** (len(names) * classes)):
        bits = np.array([number >> bit & 1 for bit in range(len(names) * classes)], np.float64).reshape(-1, classes)
        yield {name: np.stack([1 - row, row]) for name, row in zip(names, bits, strict=True)}
