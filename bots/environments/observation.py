"""Observations as arrays: the cards that a player sees and a summary of the betting, in a fixed layout.

research/tables/agents.md has the layout as a table. It changes only with a new `LAYOUT_VERSION`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import ActionKind, BettingState, Deal, Game, Position
from engine.game import MAX_ACTIONS_PER_ROUND

LAYOUT_VERSION: Final = 1


class Field(NamedTuple):
    """Part of an observation.

    Attributes:
        start: index of its first entry.
        size: number of entries.
        high: upper bound of each entry; the lower one is 0.
    """

    name: str
    start: int
    size: int
    high: float


class ObservationLayout:
    """Layout of the observations of a game, arrays of float32.

    Players are in the order of their positions from the observer on, who is the first. Amounts are in big blinds.

    Attributes:
        fields: parts of the array, by name, in order.
        size: length of the array.
        max_total: most chips that a player can put in during a hand.
        card_index: place of each card among the cards of the deck in ascending order, -1 if the deck lacks it.
        board_starts: start of the field of each board card, in the order of the deal.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        players = game.num_players
        rounds = game.num_rounds
        deck = sorted(game.deck)
        self.card_index = [-1] * 52
        for index, card in enumerate(deck):
            self.card_index[card] = index
        caps = [min(cap, MAX_ACTIONS_PER_ROUND) for cap in game.max_raises]
        self.max_total = max(game.stacks)
        if game.is_limit:
            most = max(game.blinds) + sum(cap * size for cap, size in zip(caps, game.raise_sizes, strict=True))
            self.max_total = min(self.max_total, most)
        max_bets = max(1, self.max_total) / game.big_blind
        self.fields: dict[str, Field] = {}
        self.size = 0
        self._add("hole", len(deck), 1)
        self.board_starts: list[int] = []
        for round_, count in enumerate(game.num_board_cards):
            if count:
                self._add(f"board {round_}", len(deck), 1)
                self.board_starts += [self.fields[f"board {round_}"].start] * count
        self._add("position", players, 1)
        self._add("round", rounds, 1)
        self._add("folded", players, 1)
        self._add("all-in", players, 1)
        self._add("chips", rounds * players, max_bets)
        self._add("raises", rounds * players, max(1, *caps))
        self._add("last raiser", rounds * players, 1)
        self._add("pot", 1, max_bets * players)
        self._add("to call", 1, max_bets)
        self._add("smallest raise", 1, max_bets)
        self._add("largest raise", 1, max_bets)
        self._cards_size = self.fields["position"].start

    def _add(self, name: str, size: int, high: float) -> None:
        self.fields[name] = Field(name, self.size, size, high)
        self.size += size

    @property
    def highs(self) -> NDArray[np.float32]:
        """Upper bound of each entry."""
        return np.concatenate([np.full(field.size, field.high, np.float32) for field in self.fields.values()])

    def encode(self, betting: BettingState, position: Position, deal: Deal) -> NDArray[np.float32]:
        """Return the observation of a position, with its own cards and those on the table."""
        row = self.betting_row(betting, position)
        for card in deal.hole_cards[position]:
            row[self.card_index[card]] = 1.0
        end = self.game.board_cards_by_round[betting.round]
        for start, card in zip(self.board_starts[:end], deal.board[:end], strict=True):
            row[start + self.card_index[card]] = 1.0
        return row

    def betting_row(self, betting: BettingState, position: Position) -> NDArray[np.float32]:
        """Return an observation without cards."""
        game = self.game
        players = game.num_players
        unit = game.big_blind
        # The position of the player at each place. Lists, because storing numbers in an array takes longer.
        owners = [*range(position, players), *range(position)]
        places = [(owner - position) % players for owner in range(players)]
        entries = [0.0] * (players + game.num_rounds)
        entries[position] = 1.0
        entries[players + betting.round] = 1.0
        entries += [float(betting.folded >> owner & 1) for owner in owners]
        entries += [float(betting.spent[owner] >= game.stacks[owner]) for owner in owners]
        chips = [0.0] * (game.num_rounds * players)
        raises = chips.copy()
        last_raiser = chips.copy()
        before = (0,) * players
        start = 0
        for state, actions in zip([*betting.round_starts[1:], betting], betting.rounds, strict=True):
            for place, owner in enumerate(owners):
                chips[start + place] = (state.spent[owner] - before[owner]) / unit
            before = state.spent
            raiser = -1
            for owner, action in actions:
                if action.kind is ActionKind.RAISE:
                    raiser = places[owner]
                    raises[start + raiser] += 1.0
            if raiser >= 0:
                last_raiser[start + raiser] = 1.0
            start += players
        entries += chips + raises + last_raiser
        entries.append(betting.pot / unit)
        if betting.acting_position == position:
            legal = betting.legal_actions()
            entries += [betting.to_call / unit, legal.raise_min / unit, legal.raise_max / unit]
        row = np.zeros(self.size, np.float32)
        row[self._cards_size : self._cards_size + len(entries)] = entries
        return row


@lru_cache(64)
def observation_layout(game: Game) -> ObservationLayout:
    """Return the layout of a game."""
    return ObservationLayout(game)
