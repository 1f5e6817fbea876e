"""One hand: its betting and its cards, and who wins what at its end: the main pot and the side pots, split exactly.

Chips are taken in layers, starting from the smallest amount of any player: every player who put in at least as much
pays into the layer, and those among them who have not folded play for it.

The arithmetic is the reference's, because its logs print six decimals: pots are split into equal real shares (no odd
chips), layer by layer from the smallest, in double precision and in this order of operations.

`Hand` is the pair of an immutable betting state and an immutable deal, so a copy costs two references.
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
    """Net chips of every position when a hand ends by showdown.

    Args:
        spent: chips each position put in.
        ranks: the rank of each position's hand, higher is better; None for players who folded.
    """
    in_pot = [rank for rank in ranks if rank is not None]
    if len(in_pot) == len(ranks) and spent[0] > 0 and spent.count(spent[0]) == len(spent):
        return _values_of_one_pot(spent[0], in_pot)
    values = [float(-chips) if rank is None else 0.0 for chips, rank in zip(spent, ranks, strict=True)]
    for size, layer in pot_layers(spent):
        _pay_layer(size, layer, ranks, values)
    return values


def _values_of_one_pot(size: int, ranks: Sequence[int]) -> list[float]:
    best = max(ranks)
    winners = ranks.count(best)
    won = 0.0 + size * (len(ranks) - winners) / winners
    return [won if rank == best else 0.0 - size for rank in ranks]


def _pay_layer(size: int, layer: Sequence[Position], ranks: Sequence[int | None], values: list[float]) -> None:
    in_pot = [rank for position in layer if (rank := ranks[position]) is not None]
    if not in_pot:
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
    """A pot, main or side. `amount`: in chips."""

    amount: int
    players: tuple[Position, ...]

    def winners(self, ranks: Sequence[int | None]) -> tuple[Position, ...]:
        """Who shares the pot when each position's hand has this rank; the ranks of other positions do not matter."""
        found = [(ranks[position] or 0, position) for position in self.players]
        best = max(found)[0]
        return tuple([position for rank, position in found if rank == best])


def pot_layers(spent: Sequence[int]) -> Iterator[tuple[int, list[Position]]]:
    """The layers of a pot from the smallest: the chips of each payer, and the positions that pay, in order.

    Args:
        spent: chips each position put in.
    """
    below = 0
    for level in sorted(set(spent)):
        if level > 0:
            yield level - below, [Position(p) for p, chips in enumerate(spent) if chips >= level]
            below = level


def uncalled(spent: Sequence[int]) -> tuple[Position, int]:
    """The position that put in more than anybody called, and the difference; 0 where no player did."""
    second, most = sorted(spent)[-2:]
    return Position(spent.index(most)), most - second


def side_pots(spent: Sequence[int], folded: int = 0) -> list[Pot]:
    """The main pot, then the side pots, without uncalled chips.

    Args:
        spent: chips each position put in.
        folded: bit p is set when position p has folded. Chips that only folded players put in are in no pot: they are
            lost, as in `engine.hand`.
    """
    in_pot = tuple([position for position in POSITIONS[: len(spent)] if not folded >> position & 1])
    most = max(spent)
    if len(in_pot) > 1 and most and most == min([spent[position] for position in in_pot]):
        return [Pot(sum(spent), in_pot)]
    called = list(spent)
    position, returned = uncalled(spent)
    called[position] -= returned
    level = called[position]
    if level and level == min([called[position] for position in in_pot]):
        return [Pot(sum(called), in_pot)]
    pots: list[Pot] = []
    for size, layer in pot_layers(called):
        players = tuple([position for position in layer if not folded >> position & 1])
        amount = size * len(layer)
        if pots and pots[-1].players == players:
            pots[-1] = Pot(pots[-1].amount + amount, players)
        elif players:
            pots.append(Pot(amount, players))
    return pots


def decisions(betting: BettingState) -> Iterator[tuple[BettingState, Action]]:
    """The actions of a betting in order, each with the state in which it was chosen."""
    state = betting_start(betting.game)
    for _, action in chain.from_iterable(betting.rounds):
        yield state, action
        state = state.after(action)


class Hand:
    """A hand being played; `apply` advances it. `deal`: every card of the hand, seen or not."""

    __slots__ = ("betting", "deal")

    def __init__(self, game: Game, deal: Deal) -> None:
        self.betting: BettingState = betting_start(game)
        self.deal = deal

    def copy(self) -> Hand:
        """An independent hand at the same point."""
        twin = Hand.__new__(Hand)
        twin.betting = self.betting
        twin.deal = self.deal
        return twin

    @property
    def game(self) -> Game:
        return self.betting.game

    @property
    def acting_position(self) -> Position:
        """Whose turn it is; -1 when the hand is over."""
        return self.betting.acting_position

    @property
    def finished(self) -> bool:
        return self.betting.finished

    @property
    def board(self) -> tuple[Card, ...]:
        """The board cards on the table in the present round."""
        return self.deal.board[: self.game.board_cards_by_round[self.betting.round]]

    @property
    def is_showdown(self) -> bool:
        """Whether the hand ended with at least two players who did not fold."""
        return self.betting.is_showdown

    def legal_actions(self) -> LegalActions:
        """What the acting player may do.

        Raises:
            IllegalAction: the hand is over.
        """
        return self.betting.legal_actions()

    def apply(self, action: Action) -> None:
        """Play an action for the acting player.

        Raises:
            IllegalAction: the rules reject it; the hand is unchanged.
        """
        self.betting = self.betting.after(action)

    def values(self) -> list[float]:
        """Net chips of every position; see `hand_values`.

        Raises:
            ValueError: the hand is not over.
        """
        return hand_values(self.betting, self.deal)


@lru_cache(maxsize=1 << 12)
def _values_by_order(spent: tuple[int, ...], order: tuple[int | None, ...]) -> tuple[float, ...]:
    return tuple(showdown_values(spent, order))


def hand_values(betting: BettingState, deal: Deal) -> list[float]:
    """Net chips of every position at the end of a hand, in chips, by position.

    They sum to zero, except in a limit game in which a short raiser lowered the bet (see `engine.betting_rules`): what
    the others had put in beyond it is lost, as in the reference. A pot to which no player added a chip is worth 0 to
    everyone (the reference aborts on it).

    Raises:
        ValueError: the hand is not over.
    """
    if not betting.finished:
        raise ValueError("the hand is not over: it has no values yet")
    return list(end_values(betting.game, betting.round, betting.spent, betting.folded, deal))


def end_values(game: Game, round_: int, spent: tuple[int, ...], folded: int, deal: Deal) -> tuple[float, ...]:
    """`hand_values`, given the numbers of a betting that has ended in a certain round."""
    if folded.bit_count() + 1 >= len(spent):
        pot = sum(spent)
        return tuple([float(-chips) if folded >> p & 1 else float(pot - chips) for p, chips in enumerate(spent)])
    board = deal.board[: game.board_cards_by_round[round_]]
    if len(spent) == 2:
        first, second = deal.hole_cards
        a = rank_hand(first + board)
        b = rank_hand(second + board)
        return _values_by_order(spent, ((a > b) - (a < b), 0))
    ranks = [None if folded >> p & 1 else rank_hand(hole + board) for p, hole in enumerate(deal.hole_cards)]
    order = sorted([rank for rank in ranks if rank is not None])
    return _values_by_order(spent, tuple([None if rank is None else order.index(rank) for rank in ranks]))
