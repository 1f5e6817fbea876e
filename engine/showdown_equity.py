"""What a showdown is worth while board cards are still to come: every board counted, nothing sampled.

All hole cards are known here, as they are after a hand. (What a hand is worth against cards one
does not see is another question.) The numbers are counts of boards, so they are exact, and so is all that is made of
them up to the last rounding.

    >>> odds = showdown_odds([parse_cards("AcAd"), parse_cards("KcKh")])
    >>> odds.boards, odds.wins[0], odds.ties[0]
    (1712304, 1399204, 7923)

Two or more unknown board cards of hold'em are counted by compiled kernels (`engine.kernels.showdown_equity`), which
are imported and compiled when they are first needed, two seconds once per process; a single unknown card, and other
games, by `engine.rank_hand` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

from engine.cards import Card
from engine.evaluator import rank_hand
from engine.pots import Pot, uncalled

__all__ = [
    "ShowdownOdds",
    "boards_to_come",
    "expected_values",
    "odds_by_pot",
    "showdown_odds",
]

_WHOLE_DECK: Final = tuple(range(52))
_BOARD_CARDS: Final = 5


@dataclass(frozen=True, slots=True)
class ShowdownOdds:
    """How often each player wins a pot.

    Attributes:
        boards: how many boards can come.
        shared: by player, on how many of them the player is one of 1, 2, ... winners; 0 everywhere for players
            who do not play for the pot.
    """

    boards: int
    shared: tuple[tuple[int, ...], ...]

    @property
    def wins(self) -> tuple[int, ...]:
        """By player, the number of boards on which the player wins alone."""
        return tuple([of_player[0] for of_player in self.shared])

    @property
    def ties(self) -> tuple[int, ...]:
        """By player, the number of boards on which the player shares the pot."""
        return tuple([sum(of_player[1:]) for of_player in self.shared])

    @property
    def equities(self) -> tuple[float, ...]:
        """By player, the expected share of the pot, 0 to 1."""
        return tuple([sum(count / winners for winners, count in enumerate(of, 1)) / self.boards for of in self.shared])


def boards_to_come(deck_cards: int, known_cards: int, board_cards: int) -> int:
    """How many boards there are.

    Args:
        deck_cards: of the whole deck.
        known_cards: hole cards, board cards and others that are known to be elsewhere.
        board_cards: how many are to come.
    """
    return comb(deck_cards - known_cards, board_cards)


def showdown_odds(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card] = (),
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _WHOLE_DECK,
    board_cards: int = _BOARD_CARDS,
) -> ShowdownOdds:
    """How often each of some players wins a pot for which all of them play; see `odds_by_pot`.

    Raises:
        ValueError: as `odds_by_pot`.
    """
    everybody = range(len(hole_cards))
    return odds_by_pot(hole_cards, board, [everybody], dead=dead, deck=deck, board_cards=board_cards)[0]


def odds_by_pot(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card],
    pots: Sequence[Sequence[int]],
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _WHOLE_DECK,
    board_cards: int = _BOARD_CARDS,
) -> list[ShowdownOdds]:
    """How often each player wins each of some pots, over all boards.

    Args:
        hole_cards: of the players that are still in.
        board: the known board cards.
        pots: the players, as indices, who play for each pot.
        dead: cards that are known to be elsewhere, such as folded ones.
        deck: all cards of the game.
        board_cards: of a whole board.

    Raises:
        ValueError: a card is there twice or not in the deck, more board cards than there may be, or a pot without
            players.
    """
    known = [card for cards in hole_cards for card in cards] + [*board, *dead]
    live = [card for card in deck if card not in set(known)]
    missing = board_cards - len(board)
    if len(set(known)) != len(known) or len(live) + len(known) != len(deck):
        raise ValueError("the known cards are not all different cards of the deck")
    if missing < 0:
        raise ValueError(f"{len(board)} board cards where there are {board_cards}")
    if not hole_cards or not all(map(len, pots)):
        raise ValueError("nobody plays for a pot")
    if len(set(map(len, hole_cards))) > 1 or not hole_cards[0]:
        raise ValueError("the players have not equally many hole cards")
    boards = boards_to_come(len(deck), len(known), missing)
    is_holdem = len(deck) == 52 and board_cards == _BOARD_CARDS and all(len(cards) == 2 for cards in hole_cards)
    count = _count_compiled if missing > 1 and is_holdem else _count_here
    counts = count(hole_cards, board, live, missing, pots)
    return [ShowdownOdds(boards, tuple(map(tuple, of_pot))) for of_pot in counts]


def _count_here(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card],
    live: Sequence[Card],
    missing: int,
    pots: Sequence[Sequence[int]],
) -> list[list[list[int]]]:
    """By pot, player and number of winners: on how many boards."""
    players = len(hole_cards)
    counts = [[[0] * players for _ in range(players)] for _ in pots]
    known = [(*cards, *board) for cards in hole_cards]
    for rest in combinations(live, missing):
        ranks = [rank_hand(cards + rest) for cards in known]
        for pot, of_pot in zip(pots, counts, strict=True):
            best = max([ranks[player] for player in pot])
            winners = [player for player in pot if ranks[player] == best]
            for player in winners:
                of_pot[player][len(winners) - 1] += 1
    return counts


def _count_compiled(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card],
    live: Sequence[Card],
    missing: int,
    pots: Sequence[Sequence[int]],
) -> list[list[list[int]]]:
    """The same for hold'em."""
    import numpy as np

    from engine.kernels import showdown_equity as kernels

    players = len(hole_cards)
    members = np.zeros((len(pots), players), np.uint8)
    for index, pot in enumerate(pots):
        members[index, list(pot)] = 1
    counts = np.zeros((len(pots), players, players), np.int64)
    holes = np.array(hole_cards, np.uint8)
    deck = np.array(live, np.uint8)
    if missing == _BOARD_CARDS:
        kernels.count_rank_patterns(holes, deck, members, counts)
    else:
        kernels.count_boards(holes, np.array(board, np.uint8), deck, members, counts)
    found: list[list[list[int]]] = counts.tolist()
    return found


def expected_values(
    spent: Sequence[int], folded: int, pots: Sequence[Pot], equities: Sequence[Sequence[float]]
) -> list[float]:
    """Net chips of every position on average, the expectation of `engine.showdown.showdown_values`.

    Args:
        spent: chips each position put in.
        folded: bit p is set when position p has folded.
        pots: what they play for (see `engine.pots.side_pots`).
        equities: of each pot, the expected part of each of its players.
    """
    values = [float(-chips) for chips in spent]
    for (amount, players), parts in zip(pots, equities, strict=True):
        for position, part in zip(players, parts, strict=True):
            values[position] += amount * part
    position, returned = uncalled(spent)
    if not folded >> position & 1:
        values[position] += returned
    return values
