"""One hand with its cards, and the payoff at its end: main pot, side pots and ties.

A `Hand` joins a betting state and a deal. The payoff takes the chips in layers, from the smallest amount that a player
put in. All players who put in at least as much pay into a layer, and those who have not folded play for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from engine.betting import BettingState, betting_start
from engine.betting_rules import Action, LegalActions
from engine.cards import Card
from engine.dealing import Deal
from engine.evaluator import rank_hand
from engine.game import POSITIONS, Game, Position


def showdown_values(spent: Sequence[int], ranks: Sequence[int | None]) -> list[float]:
    """Return the net chips of every position after a showdown.

    Args:
        spent: chips put in, by position.
        ranks: ranks of the hands by position, higher is better; None for players who folded.
    """
    in_pot = [rank for rank in ranks if rank is not None]
    # Without any chips all values are 0, through the layers. The reference aborts on such a hand.
    if len(in_pot) == len(ranks) and spent[0] > 0 and spent.count(spent[0]) == len(spent):
        return _single_pot_values(spent[0], in_pot)
    values = []
    for chips, rank in zip(spent, ranks, strict=True):
        values.append(float(-chips) if rank is None else 0.0)
    for size, layer in _pot_layers(spent):
        _pay_layer(size, layer, ranks, values)
    return values


def _single_pot_values(size: int, ranks: Sequence[int]) -> list[float]:
    best = max(ranks)
    winners = ranks.count(best)
    # Equal shares without odd chips, in double precision and in this order of operations, because the logs of the
    # reference print six decimals. The additions to 0.0 are those of `_pay_layer`.
    won = 0.0 + size * (len(ranks) - winners) / winners
    return [won if rank == best else 0.0 - size for rank in ranks]


def _pay_layer(size: int, layer: Sequence[Position], ranks: Sequence[int | None], values: list[float]) -> None:
    in_pot = []
    for position in layer:
        rank = ranks[position]
        if rank is not None:
            in_pot.append(rank)
    if not in_pot:
        # Everyone who paid into this layer has folded, after the limit raise of a short stack lowered the bet. The
        # chips are lost, as in the reference.
        return
    best = max(in_pot)
    winners = in_pot.count(best)
    won = size * (len(layer) - winners) / winners
    for position in layer:
        rank = ranks[position]
        if rank == best:
            values[position] += won
        elif rank is not None:
            values[position] -= size


class Pot(NamedTuple):
    """Main pot or side pot, with the players who can win it."""

    amount: int
    players: tuple[Position, ...]

    def winners(self, ranks: Sequence[int | None]) -> tuple[Position, ...]:
        """Return the positions that share the pot, given the rank of each position's hand."""
        best = max([ranks[position] or 0 for position in self.players])
        return tuple([position for position in self.players if (ranks[position] or 0) == best])


def _pot_layers(spent: Sequence[int]) -> Iterator[tuple[int, list[Position]]]:
    """Yield the layers of a pot from the smallest, each as the chips of one payer and the positions that pay."""
    below = 0
    for level in sorted(set(spent)):
        if level > 0:
            yield level - below, [Position(p) for p, chips in enumerate(spent) if chips >= level]
            below = level


def uncalled(spent: Sequence[int]) -> tuple[Position, int]:
    """Return the position with the largest bet, and the chips in it that were not called, possibly 0."""
    second, highest = sorted(spent)[-2:]
    return Position(spent.index(highest)), highest - second


def side_pots(spent: Sequence[int], folded: int = 0) -> list[Pot]:
    """Return the main pot, then the side pots, without uncalled chips.

    A layer into which only folded players paid is in no pot. Its chips are lost, as in `showdown_values`.

    Args:
        spent: chips put in, by position.
        folded: positions that have folded, as a set of bits.
    """
    in_pot = tuple([position for position in POSITIONS[: len(spent)] if not folded >> position & 1])
    highest = max(spent)
    # Nearly all hands have one pot, which is found without layers: first without, then with uncalled chips.
    if len(in_pot) > 1 and highest and highest == min([spent[position] for position in in_pot]):
        return [Pot(sum(spent), in_pot)]
    called = list(spent)
    position, returned = uncalled(spent)
    called[position] -= returned
    level = called[position]
    if level and level == min([called[position] for position in in_pot]):
        return [Pot(sum(called), in_pot)]
    pots: list[Pot] = []
    for size, layer in _pot_layers(called):
        players = tuple([position for position in layer if not folded >> position & 1])
        amount = size * len(layer)
        if pots and pots[-1].players == players:
            pots[-1] = Pot(pots[-1].amount + amount, players)
        elif players:
            pots.append(Pot(amount, players))
    return pots


def decisions(betting: BettingState) -> Iterator[tuple[BettingState, Action]]:
    """Yield the actions of a betting in order, each with the state in which it was chosen."""
    state = betting_start(betting.game)
    for _, action in chain.from_iterable(betting.rounds):
        yield state, action
        state = state.after(action)


class Hand:
    """Hand in progress.

    Attributes:
        deal: all cards of the hand, whether they are shown or not.
    """

    __slots__ = ("betting", "deal")

    def __init__(self, game: Game, deal: Deal) -> None:
        self.betting: BettingState = betting_start(game)
        self.deal = deal

    def copy(self) -> Hand:
        """Return an independent hand at the same point."""
        # Betting and deal are immutable, so their references are enough.
        hand = Hand.__new__(Hand)
        hand.betting = self.betting
        hand.deal = self.deal
        return hand

    @property
    def game(self) -> Game:
        return self.betting.game

    @property
    def acting_position(self) -> Position:
        """Position of the player to act, -1 if the hand is over."""
        return self.betting.acting_position

    @property
    def finished(self) -> bool:
        return self.betting.finished

    @property
    def board(self) -> tuple[Card, ...]:
        """Board cards on the table in the current round."""
        return self.deal.board[: self.game.board_cards_by_round[self.betting.round]]

    @property
    def is_showdown(self) -> bool:
        return self.betting.is_showdown

    def legal_actions(self) -> LegalActions:
        """Return the actions that are legal for the acting player.

        Raises:
            IllegalAction: the hand is over.
        """
        return self.betting.legal_actions()

    def apply(self, action: Action) -> None:
        """Play an action of the acting player.

        Raises:
            IllegalAction: the rules reject the action. The hand is unchanged.
        """
        self.betting = self.betting.after(action)

    def values(self) -> list[float]:
        """Return the net chips of every position, as `hand_values` does.

        Raises:
            ValueError: the hand is not over.
        """
        return hand_values(self.betting, self.deal)


@lru_cache(maxsize=1 << 12)
def _values_by_order(spent: tuple[int, ...], order: tuple[int | None, ...]) -> tuple[float, ...]:
    return tuple(showdown_values(spent, order))


def hand_values(betting: BettingState, deal: Deal) -> list[float]:
    """Return the net chips of every position at the end of a hand.

    They sum to zero except in a limit game in which the raise of a short stack lowered the bet. Chips beyond that bet
    are lost if their players folded, as in the reference.

    Raises:
        ValueError: the hand is not over.
    """
    if not betting.finished:
        raise ValueError("the hand has no values because it is not over")
    return list(end_values(betting.game, betting.round, betting.spent, betting.folded, deal))


def end_values(game: Game, round_: int, spent: tuple[int, ...], folded: int, deal: Deal) -> tuple[float, ...]:
    """Return the same as `hand_values` for a betting given by its numbers, where the dealer has no state."""
    if folded.bit_count() + 1 >= len(spent):
        pot = sum(spent)
        values = []
        for position, chips in enumerate(spent):
            values.append(float(-chips) if folded >> position & 1 else float(pot - chips))
        return tuple(values)
    board = deal.board[: game.board_cards_by_round[round_]]
    if len(spent) == 2:
        first, second = deal.hole_cards
        first_rank = rank_hand(first + board)
        second_rank = rank_hand(second + board)
        # Only the order of the ranks counts, so that the results of few orders can be remembered.
        return _values_by_order(spent, ((first_rank > second_rank) - (first_rank < second_rank), 0))
    ranks: list[int | None] = []
    for position, hole in enumerate(deal.hole_cards):
        ranks.append(None if folded >> position & 1 else rank_hand(hole + board))
    ordered = sorted([rank for rank in ranks if rank is not None])
    order = tuple([None if rank is None else ordered.index(rank) for rank in ranks])
    return _values_by_order(spent, order)
