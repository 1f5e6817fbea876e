"""Definition of a game: players, rounds, blinds, bets and deck.

A `Game` is validated on construction, so other modules can rely on it. Its limits are those of the ACPC protocol: ten
players, four rounds, three hole cards.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, NewType, Self

from engine.cards import CARD_TEXTS, RANKS, Card, rank_of
from engine.errors import GameError

Position = NewType("Position", int)
"""Place of a player relative to the button in one hand, 0-based, in the order in which cards are dealt."""

Seat = NewType("Seat", int)
"""Seat of a player, 0-based and the same in all hands of a match."""

MAX_PLAYERS = 10
POSITIONS = tuple(map(Position, range(MAX_PLAYERS)))
MAX_ROUNDS = 4
_MAX_HOLE_CARDS = 3
_MAX_BOARD_CARDS = 7
MAX_ACTIONS_PER_ROUND = 64
DEFAULT_STACK = 2**31 - 1
"""Stack in chips if the definition gives none, the largest 32-bit integer as in the reference."""


class BettingType(enum.Enum):
    LIMIT = "limit"
    NO_LIMIT = "nolimit"


class _Definition(NamedTuple):
    betting: BettingType
    num_players: int
    num_rounds: int
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    raise_sizes: tuple[int, ...]
    first_players: tuple[int, ...]
    max_raises: tuple[int, ...]
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    num_board_cards: tuple[int, ...]


# Not a dataclass: importing that module takes a fifth of the start of a bot.
class Game(_Definition):
    """A game. Positions and rounds are 0-based, amounts in chips.

    Attributes:
        stacks: chips at the start of every hand, by position.
        blinds: chips posted before the first action, by position.
        raise_sizes: size of a raise, by round, in limit games; empty in no-limit games.
        first_players: position that acts first, by round.
        max_raises: number of raises allowed, by round. Blinds are not raises.
        num_board_cards: number of board cards added, by round.

    Raises:
        GameError: the definition contradicts itself or exceeds a limit of the protocol.
    """

    def __new__(cls, *values: Any, **named: Any) -> Self:
        game = super().__new__(cls, *values, **named)
        problem = next(game._problems(), None)
        if problem is not None:
            raise GameError(problem)
        return game

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]  # the same, with a variable of mypy's own
        # `_replace` calls this, and must validate its result, too.
        return cls(*iterable)

    def _problems(self) -> Iterator[str]:
        # The first texts have the wording and the order of the reference, which `acpc-dealer` replaces.
        players = self.num_players
        rounds = self.num_rounds
        if not 1 <= rounds <= MAX_ROUNDS:
            yield f"invalid number of rounds: {rounds}"
        if not 2 <= players <= MAX_PLAYERS:
            yield f"invalid number of players: {players}"
        if len(self.stacks) < players:
            yield f"only read {len(self.stacks)} stack sizes, need {players}"
        if len(self.blinds) < players:
            yield f"only read {len(self.blinds)} blinds, need {players}"
        for position, (blind, stack) in enumerate(zip(self.blinds, self.stacks, strict=False)):
            if blind > stack:
                yield f"blind for player {position + 1} is greater than stack size"
            if blind < 0:
                yield f"blind for player {position + 1} is negative"
        if self.betting is BettingType.LIMIT and len(self.raise_sizes) < rounds:
            yield f"only read {len(self.raise_sizes)} raise sizes, need {rounds}"
        if any(size < 0 for size in self.raise_sizes):
            yield "a raise size is negative"
        for round_, first in enumerate(self.first_players[:rounds]):
            if not 0 <= first < players:
                yield f"invalid first player {first + 1} on round {round_ + 1}"
        if not 1 <= self.num_suits <= 4:
            yield f"invalid number of suits: {self.num_suits}"
        if not 1 <= self.num_ranks <= 13:
            yield f"invalid number of ranks: {self.num_ranks}"
        if not 1 <= self.num_hole_cards <= _MAX_HOLE_CARDS:
            yield f"invalid number of hole cards: {self.num_hole_cards}"
        if len(self.num_board_cards) < rounds:
            yield f"only read {len(self.num_board_cards)} board card numbers, need {rounds}"
        if self.cards_per_hand > self.num_suits * self.num_ranks:
            yield "too many hole and board cards for specified deck"
        if sum(self.num_board_cards) > _MAX_BOARD_CARDS:
            yield f"too many board cards: {sum(self.num_board_cards)}, the most is {_MAX_BOARD_CARDS}"
        if min(self.num_board_cards, default=0) < 0:
            yield f"invalid number of board cards: {min(self.num_board_cards)}"
        if not all(0 <= raises <= 255 for raises in self.max_raises):
            yield f"invalid maximal raises: {', '.join(map(str, self.max_raises))}"
        if max(self.stacks, default=0) > DEFAULT_STACK:
            yield f"a stack of {max(self.stacks)} is beyond {DEFAULT_STACK}"
        num_raise_sizes = rounds if self.betting is BettingType.LIMIT else 0
        for what, values, need in (
            ("raise sizes", self.raise_sizes, num_raise_sizes),
            ("stacks", self.stacks, players),
            ("blinds", self.blinds, players),
            ("first players", self.first_players, rounds),
            ("maximal raises", self.max_raises, rounds),
            ("board card numbers", self.num_board_cards, rounds),
        ):
            if len(values) != need:
                yield f"{len(values)} {what} given for {need}"

    def __hash__(self) -> int:
        # Computed once, because games are keys in hot paths.
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle the definition alone. The cached hash would be wrong in another process.
        return Game, tuple(self)

    @cached_property
    def is_limit(self) -> bool:
        """The game fixes the size of raises."""
        return self.betting is BettingType.LIMIT

    @cached_property
    def cards_per_hand(self) -> int:
        """Number of cards dealt in every hand, whether they are shown or not."""
        return self.num_players * self.num_hole_cards + sum(self.num_board_cards)

    @cached_property
    def board_cards_by_round(self) -> tuple[int, ...]:
        """Number of board cards on the table in each round."""
        return tuple(accumulate(self.num_board_cards))

    @cached_property
    def big_blind(self) -> int:
        """Largest blind in chips, at least 1. Results in mbb/g are in thousandths of it."""
        return max(1, *self.blinds)

    @cached_property
    def deck(self) -> tuple[Card, ...]:
        """Cards before the shuffle, suit by suit as in the reference. Short decks keep the highest suits and ranks."""
        suits = range(4 - self.num_suits, 4)
        ranks = range(13 - self.num_ranks, 13)
        return tuple(rank * 4 + suit for suit in suits for rank in ranks)

    def shown_cards(self, cards: Iterable[Card]) -> tuple[str, ...]:
        """Return texts of cards for people: ``As``, or the rank alone if the deck has a single suit."""
        if self.num_suits > 1:
            return tuple([CARD_TEXTS[card] for card in cards])
        # The reference deals Kuhn poker with Q, K and A, but the cards of Kuhn (1950) are J, Q and K.
        offset = 1 if self.num_ranks == 3 else 0
        return tuple([RANKS[rank_of(card) - offset] for card in cards])

    @cached_property
    def deck_set(self) -> frozenset[Card]:
        return frozenset(self.deck)
