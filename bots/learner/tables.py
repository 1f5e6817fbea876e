"""Tables at which a learner plays fast: its opponents compiled, its memory in arrays.

What is played is what `bots.self_play` plays with the bots of the same names and seeds, hand by hand: the learner has
the first seat, every deal is played in all rotations, and chances are drawn from the seed of the table, the same for
everybody. Where an opponent is not compiled, `bots.self_play` does play.

More opponents than seats make several line-ups, so that a learner meets them in turn: of n opponents for m seats, n
line-ups of m neighbours in the order given.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.bot import Bot
from bots.errors import EvolutionError
from bots.learner.bot import LearnerBot
from bots.learner.cells import Cell, level_counts
from bots.learner.constants import Constants
from bots.learner.files import read_memory, write_memory
from bots.learner.memory import Memory, Results
from bots.registry import make_bot, parse_spec
from bots.selfplay import self_play
from engine import Game, deals
from engine.equity import DEFAULT_TRIALS

if TYPE_CHECKING:
    from bots.kernels.players import Eyes, Seat

__all__ = ["Learner", "Opponents", "Pack", "line_ups", "play_pack"]

_FIRST_ROWS: Final = 1 << 13


@dataclass(frozen=True, slots=True)
class Opponents:
    """Who plays against a learner.

    Attributes:
        game: what is played.
        specs: the players by seat after the learner's, as `bots.registry.make_bot` takes them.
        seed: of their draws and of everybody's chances.
    """

    game: Game
    specs: tuple[str, ...]
    seed: int

    def bots(self) -> list[Bot]:
        """The players."""
        return [make_bot(spec, _seed_of(spec, self.seed, at)) for at, spec in enumerate(self.specs, 1)]


@dataclass(frozen=True, slots=True)
class Learner:
    """How a learner plays; without `learns` it is frozen.

    Attributes:
        constants: how finely it looks.
        explore: which part of its decisions is drawn while it learns.
        trials: showdowns drawn for a chance.
        seed: of these draws.
        learns: whether it goes on learning.
    """

    constants: Constants = Constants()
    explore: float = 0.1
    trials: int = DEFAULT_TRIALS
    seed: int = 0
    learns: bool = True


@dataclass(slots=True)
class Pack:
    """Consecutive deals of a seed, and the chances that have been asked for in them so far.

    Attributes:
        game: what is dealt.
        seed: of the cards.
        first: the number of the first hand.
        cards: by deal, the hole cards position by position, then the board.
    """

    game: Game
    seed: int
    first: int
    cards: NDArray[np.uint8]
    _chances: dict[tuple[tuple[int, int], ...], NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def deal(cls, game: Game, seed: int, first: int, count: int) -> Pack:
        """Deal them."""
        cards = [[*sum(deal.hole_cards, ()), *deal.board] for deal in islice(deals(game, seed, first), count)]
        return cls(game, seed, first, np.array(cards, np.uint8).reshape(count, game.cards_per_hand))

    def part(self, start: int, end: int) -> Pack:
        """Some of the deals; what is learnt of their chances is kept here, too."""
        return Pack(
            self.game,
            self.seed,
            self.first + start,
            self.cards[start:end],
            {kinds: chances[start:end] for kinds, chances in self._chances.items()},
        )

    def chances(self, kinds: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
        """The chances of some seeds and numbers of trials; see `bots.kernels.hands.play_deals`."""
        if kinds not in self._chances:
            from bots.kernels.hands import NO_CHANCE

            shape = (len(self.cards), len(kinds), self.game.num_players, 3, 9)
            self._chances[kinds] = np.full(shape, NO_CHANCE)
        return self._chances[kinds]


def line_ups(specs: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Who sits at the table together; see above."""
    if len(specs) <= seats:
        return [tuple([specs[seat % len(specs)] for seat in range(seats)])]
    return [tuple([specs[(first + seat) % len(specs)] for seat in range(seats)]) for first in range(len(specs))]


def play_pack(opponents: Opponents, learner: Learner, memory: Memory, pack: Pack) -> tuple[Memory, NDArray[np.float64]]:
    """Play all rotations of some deals.

    Args:
        opponents: one for each seat but the first.
        learner: who has that.
        memory: what it knows.
        pack: the deals.

    Returns:
        what it knows afterwards, without a record of training, and by deal, rotation and player the net chips.
    """
    from bots.kernels.hands import LEARNER
    from bots.kernels.players import learner_seat, simple_seat

    chance = (opponents.seed, learner.trials)
    eyes = _eyes(learner.constants, 0)
    seats = [learner_seat(eyes, chance, explores=learner.explore, seed=learner.seed, learns=True)]
    if not learner.learns:
        seats = [learner_seat(eyes, chance, learns=False)]
    memories = [memory]
    for at, spec in enumerate(opponents.specs, 1):
        seed = _seed_of(spec, opponents.seed, at)
        seat = _frozen_seat(spec, seed, memories, seats) if spec.startswith("learner") else simple_seat(spec, seed)
        if seat is None:
            return _play_bots(opponents, learner, memory, pack)
        seats.append(seat)
    assert seats[0].kind == LEARNER
    return _play_arrays(opponents.game, seats, memories, learner.learns, pack)


def _seed_of(spec: str, seed: int, at: int) -> int:
    """Chances have the seed of the table; what is drawn otherwise has one for each seat."""
    return seed + at if spec.startswith("random") else seed
