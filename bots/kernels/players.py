"""The players of a table for `bots.kernels.hands`, from the texts that name bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from bots.formula.formulas import Decision, Proportions
from bots.kernels.hands import DECISION, DRAWN_DECISION, LEARNER, MFS, RANDOM, RH, SIZED_RAISE, Players
from bots.sdk.registry import describe, make_bot, parse_spec
from engine.splitmix import MASK_64, mixed

_DECISIONS = {"calling": Decision.CALL, "folding": Decision.FOLD, "raising": Decision.SMALL_RAISE}
_ACTIONS = {"fold": Decision.FOLD, "call": Decision.CALL}
_SIZES = {"pot": 1.0, "allin": -1.0}


@dataclass(frozen=True, slots=True)
class CellGrid:
    """How finely a learner looks, and where its cells begin.

    Attributes:
        intervals: of its eight dimensions, in the order of a cell without the round.
        big: BIG QTY.
        little: LITTLE QTY.
        offset: of its cells among those of all learners.
    """

    intervals: tuple[float, ...]
    big: int
    little: int
    offset: int = 0

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self.big**4 * self.little**4 * 2)


@dataclass(frozen=True, slots=True)
class Seat:
    """A player; see `bots.kernels.hands.Players`.

    Attributes:
        kind: of player.
        number: of a decision.
        value: numbers of its kind.
        drawn: decisions.
        seed: of its draws.
        chance: the seed and the trials of its chances.
        grid: of a learner.
        learns: whether a learner goes on learning.
    """

    kind: int
    number: int = 0
    value: tuple[float, ...] = ()
    drawn: tuple[int, ...] = ()
    seed: int = 0
    chance: tuple[int, int] = (0, 1)
    grid: CellGrid | None = None
    learns: bool = False


def simple_seat(spec: str, seed: int) -> Seat | None:
    """The player that a text names; None for one that is not compiled.

    Args:
        spec: as `bots.sdk.registry.make_bot` takes it.
        seed: for bots that draw and are given none.

    Raises:
        SpecError: as `make_bot`.
    """
    make_bot(spec, seed)
    name, given = parse_spec(spec)
    options: Mapping[str, object] = {option.name: option.default for option in describe(name).options} | dict(given)
    if options.get("seed", seed) is not None:
        seed = int(str(options.get("seed", seed)))
    if name in _DECISIONS:
        return Seat(DECISION, int(_DECISIONS[name]))
    if name == "constant":
        return _constant(options)
    if name == "random":
        return _random(options, seed)
    if name == "rh":
        return Seat(RH, value=(float(str(options["k"])),))
    if name == "mfs":
        return Seat(MFS, value=(float(str(options["k"])),), chance=(seed, int(str(options["trials"]))))
    return None


def _constant(options: Mapping[str, object]) -> Seat:
    if options["decision"] is not None:
        return Seat(DECISION, int(str(options["decision"])))
    action, size = str(options["action"]), str(options["size"])
    if action in _ACTIONS:
        return Seat(DECISION, int(_ACTIONS[action]))
    if size == "min":
        return Seat(DECISION, int(Decision.SMALL_RAISE))
    return Seat(SIZED_RAISE, value=(_SIZES[size] if size in _SIZES else float(size),))


def _random(options: Mapping[str, object], seed: int) -> Seat:
    if options["decisions"] is None:
        weights = tuple([float(str(options[name])) for name in ("fold", "call", "raise")])
        return Seat(RANDOM, value=weights, seed=seed)
    chances = Proportions(str(options["decisions"])).chances
    return Seat(DRAWN_DECISION, len(chances), tuple(accumulate(chances.values())), tuple(map(int, chances)), seed)


def learner_seat(
    grid: CellGrid, chance: tuple[int, int], *, explores: float = 0.0, seed: int = 0, learns: bool
) -> Seat:
    """A learner.

    Args:
        grid: how finely it looks.
        chance: the seed and the trials of its chances.
        explores: which part of its decisions is drawn.
        seed: of these draws.
        learns: whether it remembers what it earns.
    """
    return Seat(LEARNER, value=(explores,), seed=seed, chance=chance, grid=grid, learns=learns)


def chance_kinds(seats: Sequence[Seat]) -> tuple[tuple[int, int], ...]:
    """The kinds of chances at a table: seed and trials, in the order in which `Players.chance` counts them."""
    return tuple(sorted({seat.chance for seat in seats if seat.kind in (MFS, LEARNER)})) or ((0, 1),)


def as_players(seats: Sequence[Seat]) -> Players:
    """The arrays of a table."""
    count = len(seats)
    kinds = chance_kinds(seats)
    value, drawn = np.zeros((count, 6)), np.zeros((count, 5), np.int64)
    interval, levels = np.ones((count, 8)), np.ones((count, 2), np.int64)
    for at, seat in enumerate(seats):
        value[at, : len(seat.value)] = seat.value
        drawn[at, : len(seat.drawn)] = seat.drawn
        if seat.grid is not None:
            interval[at], levels[at] = seat.grid.intervals, (seat.grid.big, seat.grid.little)
    return Players(
        kind=np.array([seat.kind for seat in seats], np.int64),
        number=np.array([seat.number for seat in seats], np.int64),
        value=value,
        drawn=drawn,
        seed=np.array([mixed(seat.seed & MASK_64) for seat in seats], np.uint64),
        chance=np.array([kinds.index(seat.chance) if seat.chance in kinds else 0 for seat in seats], np.int64),
        chance_seed=np.array([mixed(seed & MASK_64) for seed, _ in kinds], np.uint64),
        chance_trials=np.array([trials for _, trials in kinds], np.int64),
        interval=interval,
        levels=levels,
        offset=np.array([seat.grid.offset if seat.grid else 0 for seat in seats], np.int64),
        learns=np.array([seat.learns for seat in seats], np.bool_),
    )
