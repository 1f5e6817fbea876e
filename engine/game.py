"""The definition of a game: players, rounds, blinds, bets, deck.

`Game` is frozen and checked when it is made, so every other module may rely on it. Its limits are those of the ACPC
protocol (ten players, four rounds, three hole cards). Its complaints have the wording and the order of the
reference dealer's, whose command line `acpc-dealer` replaces.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, NewType, Self

from engine.cards import CARD_TEXTS, RANKS, Card, rank_of
from engine.errors import GameError

Position = NewType("Position", int)
"""A player's place relative to the button in one hand, 0-based: the order in which blinds are posted and cards
dealt."""

Seat = NewType("Seat", int)
"""A player's seat in a match, 0-based and fixed while the button moves."""

MAX_PLAYERS = 10
POSITIONS = tuple(map(Position, range(MAX_PLAYERS)))
MAX_ROUNDS = 4
MAX_HOLE_CARDS = 3
MAX_BOARD_CARDS = 7
MAX_ACTIONS_PER_ROUND = 64
DEFAULT_STACK = 2**31 - 1
"""The stack of a player whom the definition gives none: deeper than any pot."""


class BettingType(enum.Enum):
    """How raises are sized."""

    LIMIT = "limit"
    NO_LIMIT = "nolimit"


class _Definition(NamedTuple):
    betting: BettingType
    num_players: int
    num_rounds: int
    stacks: tuple[int, ...]
    """Chips of each position at the start of every hand."""
    blinds: tuple[int, ...]
    """Chips each position posts before the first action."""
    raise_sizes: tuple[int, ...]
    """Limit games: the size of a raise in each round, in chips. Empty in no-limit games."""
    first_players: tuple[int, ...]
    """The position that acts first in each round (0-based, unlike the file format)."""
    max_raises: tuple[int, ...]
    """How many raises each round may have; blinds are not raises."""
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    num_board_cards: tuple[int, ...]
    """How many board cards each round adds."""


class Game(_Definition):
    """One game. Tuples are indexed by position or by round, both 0-based.

    Raises:
        GameError: the definition contradicts itself or exceeds the protocol's limits.
    """

    # No dataclass: the module of those takes a fifth of the start of a bot.

    def __new__(cls, *values: Any, **named: Any) -> Self:
        game = super().__new__(cls, *values, **named)
        problem = next(game._problems(), None)
        if problem is not None:
            raise GameError(problem)
        return game

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]  # the same, with a variable of mypy's own
        """Of `_replace`, too: what is changed is checked."""
        return cls(*iterable)

    def _problems(self) -> Iterator[str]:
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
        if not 1 <= self.num_hole_cards <= MAX_HOLE_CARDS:
            yield f"invalid number of hole cards: {self.num_hole_cards}"
        if len(self.num_board_cards) < rounds:
            yield f"only read {len(self.num_board_cards)} board card numbers, need {rounds}"
        if self.cards_per_hand > self.num_suits * self.num_ranks:
            yield "too many hole and board cards for specified deck"
        if sum(self.num_board_cards) > MAX_BOARD_CARDS:
            yield f"too many board cards: {sum(self.num_board_cards)}, the most is {MAX_BOARD_CARDS}"
        if min(self.num_board_cards, default=0) < 0:
            yield f"invalid number of board cards: {min(self.num_board_cards)}"
        if not all(0 <= raises <= 255 for raises in self.max_raises):
            yield f"invalid maximal raises: {', '.join(map(str, self.max_raises))}"
        if max(self.stacks, default=0) > DEFAULT_STACK:
            yield f"a stack of {max(self.stacks)} is beyond {DEFAULT_STACK}"
        for what, have, need in (
            ("raise sizes", self.raise_sizes, rounds if self.betting is BettingType.LIMIT else 0),
            ("stacks", self.stacks, players),
            ("blinds", self.blinds, players),
            ("first players", self.first_players, rounds),
            ("maximal raises", self.max_raises, rounds),
            ("board card numbers", self.num_board_cards, rounds),
        ):
            if len(have) != need:
                yield f"{len(have)} {what} given for {need}"

    def __hash__(self) -> int:
        """Computed once: games are keys on hot paths."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the definition alone: a remembered hash would be wrong in another process."""
        return Game, tuple(self)

    @cached_property
    def is_limit(self) -> bool:
        """Whether raises have a fixed size."""
        return self.betting is BettingType.LIMIT

    @cached_property
    def cards_per_hand(self) -> int:
        """Cards dealt in every hand, seen or not."""
        return self.num_players * self.num_hole_cards + sum(self.num_board_cards)

    @cached_property
    def board_cards_by_round(self) -> tuple[int, ...]:
        """How many board cards lie on the table in each round, in total."""
        return tuple(sum(self.num_board_cards[: i + 1]) for i in range(self.num_rounds))

    @cached_property
    def big_blind(self) -> int:
        """The largest blind in chips, at least 1: the unit of mbb/g."""
        return max(1, *self.blinds)

    @cached_property
    def deck(self) -> tuple[Card, ...]:
        """The deck before it is shuffled, suit by suit; short decks keep the highest suits and ranks."""
        suits = range(4 - self.num_suits, 4)
        ranks = range(13 - self.num_ranks, 13)
        return tuple(rank * 4 + suit for suit in suits for rank in ranks)

    def shown_cards(self, cards: Iterable[Card]) -> tuple[str, ...]:
        """Cards as people read them: ``As``; those of a single suit without it, and three such ranks as J, Q and K.

        Those are the cards of Kuhn (1950); protocol, logs and files have Qs, Ks and As, which the reference deals.
        """
        if self.num_suits > 1:
            return tuple([CARD_TEXTS[card] for card in cards])
        lower = 1 if self.num_ranks == len("JQK") else 0
        return tuple([RANKS[rank_of(card) - lower] for card in cards])

    @cached_property
    def deck_set(self) -> frozenset[Card]:
        return frozenset(self.deck)
