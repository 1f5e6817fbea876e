"""What a learner remembers: constants, cells of states, rewards in each cell, and the decision that follows.

Constants. The thesis searches them within the ranges given here and prints no results. The defaults are
ours: they split what occurs between two players with 100 big blinds into a few levels each.

Cells. A dimension with the interval w has its first level from 0 to w, the second from w to 2w, and so on; what is
larger than the last level goes into the last. Its example: POT, 7 levels of 13.3; 29 falls into the third. It
does not define where a value on a border belongs: here, in the higher level. ROUND has two levels, the first round and
the others.

Rewards. The matrix of the thesis has a dimension for each quantity of the state, one for the decision and one for
profit or loss; a cell holds "the results". Training (formula 4) writes the reward of every decision of a hand into the
cell of its state. A decision (formulas 7 and 8) is D = argmax R(d), where R(d) is the "best mean of rewards in
proportion" over C_d, the rewards of the state in which d was taken: here (profits - losses) / (number of profits +
number of losses).

The formulas are missing; these parts are ours. The reward is what the player won or lost in the whole hand, the same
for each of its decisions. Rewards are whole thousandths of a big blind, so that sums are exact and memories can be
added in any order. A hand that ends even counts as a profit of 0. A decision never tried in a state is no candidate;
among equal means the smaller decision is taken; a state without any result is answered by decision 2, to continue.

A memory as a file (`bots.artifact`) has a line for each cell. The first line has the constants, the number of hands and
of cells, and a record of the training if there is one. A cell is its nine levels, a digit each, and for each decision
that was taken its number, the number and sum of its profits, and the number and sum of its losses, in thousandths of a
big blind:

    305101012 2:12,18400,9,9000 3:1,2500,0,0

The same memory is always written as the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from operator import ge
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from bots.artifact import Artifact, FileKind, artifact_bytes, lock_file, read_artifact, write_file
from bots.errors import BotFileError
from bots.formula.formulas import Decision, Observation
from bots.sdk.options import Interval, Wording, check_options
from engine import Game
from engine.errors import quoted
from protocol import find_game

_LEVEL: Final = Interval(0.001, 1_000_000)
_LEVELS: Final = Interval(1, 10)
"""A level is one digit in a file."""


RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "chance_interval": (5, 25),
    "pot_interval": (1, 50),
    "raise_interval": (1, 25),
    "odds_interval": (1, 10),
    "qtyraise_interval": (1, 10),
    "nplayers_interval": (1, 10),
    "followers_interval": (1, 10),
    "ingame_interval": (1, 10),
    "big_qty": (2, 10),
    "little_qty": (2, 4),
}
"""Lowest and highest value of each constant in the thesis's search. BIG QTY and LITTLE QTY are whole numbers."""


@dataclass(frozen=True, slots=True)
class Constants:
    """How finely a learner looks. Money is in big blinds, CHANCE in per cent."""

    chance_interval: Annotated[
        float,
        "how much of CHANCE, in per cent, one level holds",
        Wording(group="How finely it distinguishes states"),
        _LEVEL,
    ] = 12.5
    pot_interval: Annotated[float, "how much of POT, in big blinds, one level holds", _LEVEL] = 4.0
    raise_interval: Annotated[float, "how much of RAISE, in big blinds, one level holds", _LEVEL] = 2.0
    odds_interval: Annotated[float, "how much of ODDS one level holds", _LEVEL] = 1.5
    qtyraise_interval: Annotated[float, "how much of QTYRAISE one level holds", _LEVEL] = 2.0
    nplayers_interval: Annotated[float, "how much of NPLAYERS one level holds", _LEVEL] = 3.0
    followers_interval: Annotated[float, "how much of FOLLOWERS one level holds", _LEVEL] = 1.0
    ingame_interval: Annotated[float, "how much of INGAME one level holds", _LEVEL] = 2.0
    big_qty: Annotated[int, "how many levels CHANCE, POT, RAISE and ODDS have", _LEVELS] = 8
    little_qty: Annotated[int, "how many levels the other quantities have", _LEVELS] = 4

    def __post_init__(self) -> None:
        """Check the values, and make every interval a float, so that equal constants are written alike."""
        check_options(self)
        for one in fields(self):
            if one.name.endswith("_interval"):
                object.__setattr__(self, one.name, float(getattr(self, one.name)))

    def differences(self, other: Constants) -> Mapping[str, float]:
        """The constants in which another set differs, with its values."""
        values = {one.name: getattr(other, one.name) for one in fields(other)}
        return {name: value for name, value in values.items() if value != getattr(self, name)}


class MemoryCell(NamedTuple):
    """The levels of a state, 0-based, in the order in which the thesis names the dimensions."""

    chance: int
    pot: int
    raise_: int
    odds: int
    qtyraise: int
    nplayers: int
    followers: int
    round: int
    ingame: int

    @property
    def text(self) -> str:
        return "".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> MemoryCell:
        """The cell of such digits; others are a `ValueError`."""
        if not (len(text) == len(cls._fields) and text.isascii() and text.isdigit()):
            raise ValueError(f"a cell is {len(cls._fields)} digits")
        return cls(*map(int, text))


def level(value: float, interval: float, levels: int) -> int:
    """The 0-based level of a value of 0 or more: floor(value / interval), at most the last."""
    return min(int(value / interval), levels - 1)


def level_counts(constants: Constants) -> MemoryCell:
    """How many levels each dimension has; their product is the number of cells, of which few ever occur."""
    big = constants.big_qty
    little = constants.little_qty
    return MemoryCell._make([big] * 4 + [little] * 3 + [2, little])


def cell_of(seen: Observation, constants: Constants) -> MemoryCell:
    """The cell of an observation, which must have CHANCE."""
    if seen.chance_percent is None:
        raise ValueError("a cell needs CHANCE")
    big = constants.big_qty
    little = constants.little_qty
    return MemoryCell(
        level(seen.chance_percent, constants.chance_interval, big),
        level(seen.pot_money, constants.pot_interval, big),
        level(seen.raise_money, constants.raise_interval, big),
        level(seen.odds, constants.odds_interval, big),
        qtyraise=level(seen.raise_count, constants.qtyraise_interval, little),
        nplayers=level(seen.player_count, constants.nplayers_interval, little),
        followers=level(seen.follower_count, constants.followers_interval, little),
        round=min(seen.round, 1),
        ingame=level(seen.in_game_count, constants.ingame_interval, little),
    )


class Results(NamedTuple):
    """The rewards of one decision in one cell: formula 8's C_d, by its sums, in thousandths of a big blind.

    Rewards of 0 or more count as profits; the sum of the losses has no sign.
    """

    profits: int = 0
    profit_mbb: int = 0
    losses: int = 0
    loss_mbb: int = 0

    @property
    def taken(self) -> int:
        return self.profits + self.losses

    @property
    def mean_mbb(self) -> float:
        """Formula 8, R(d), of a decision that was taken."""
        return (self.profit_mbb - self.loss_mbb) / (self.profits + self.losses)

    def with_reward(self, reward: int) -> Results:
        """These and one more, in thousandths of a big blind."""
        if reward < 0:
            return Results(self.profits, self.profit_mbb, self.losses + 1, self.loss_mbb - reward)
        return Results(self.profits + 1, self.profit_mbb + reward, self.losses, self.loss_mbb)


_NOTHING: Final = Results()
Row: TypeAlias = tuple[Results, ...]
"""The results in one cell, of the decisions 1 to 5."""
UNTRIED: Final[Row] = (_NOTHING,) * 5
"""The row of a cell that has not been met."""


def best_decision(row: Row) -> Decision:
    """Formula 7: the decision with the best mean; the smaller one of equals, 2 where there is no result."""
    best = Decision.CALL
    best_mean = -float("inf")
    for decision, results in zip(Decision, row, strict=True):
        if results.taken and (mean := results.mean_mbb) > best_mean:
            best = decision
            best_mean = mean
    return best


def reward_mbb(value_chips: float, big_blind_chips: int) -> int:
    """The reward of a hand: net chips as thousandths of a big blind, rounded half to even where a pot was split."""
    return round(value_chips * 1000 / big_blind_chips)


@dataclass(slots=True)
class Memory:
    """All that a learner remembers.

    Attributes:
        cells: the row of each cell met.
        training: a record of how it came about, as JSON; an empty text without one.
    """

    constants: Constants
    hands: int = 0
    cells: dict[MemoryCell, Row] = field(default_factory=dict)
    training: str = ""

    def row(self, cell: MemoryCell) -> Row:
        return self.cells.get(cell, UNTRIED)

    def learn(self, decisions: Iterable[tuple[MemoryCell, Decision]], reward: int) -> None:
        """Formula 4: a hand has ended with a reward, in thousandths of a big blind.

        A decision taken twice in a cell counts twice.
        """
        self.hands += 1
        for cell, decision in decisions:
            row = list(self.row(cell))
            row[decision - 1] = row[decision - 1].with_reward(reward)
            self.cells[cell] = tuple(row)


_KIND: Final = FileKind("a memory of acpc-arena's learner", 2, "`arena train learner` and the bot write such files")
_ITEM: Final = re.compile(r"([1-5]):([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18})", re.ASCII)


def memory_bytes(memory: Memory) -> bytes:
    body = "".join([f"{cell.text}{''.join(_items(row))}\n" for cell, row in sorted(memory.cells.items())]).encode(
        "ascii"
    )
    header: dict[str, Any] = {
        "constants": asdict(memory.constants),
        "hands": memory.hands,
        "cells": len(memory.cells),
    }
    if memory.training:
        header["training"] = json.loads(memory.training)
    return artifact_bytes(_KIND, header, body)


def _items(row: Row) -> list[str]:
    return [
        f" {decision}:{','.join(map(str, results))}" for decision, results in enumerate(row, 1) if results != _NOTHING
    ]


def write_memory(path: str | os.PathLike[str], memory: Memory) -> None:
    """Write a memory whole, in place of an earlier file."""
    write_file(path, memory_bytes(memory))


def read_memory(path: str | os.PathLike[str], constants: Constants | None = None) -> Memory:
    """Read a memory; a `BotFileError` if it is not one, damaged, or of other constants than those given."""
    found = read_artifact(path, _KIND)
    with found.parsing():
        memory = _parse(found)
    if constants is not None and (differing := constants.differences(memory.constants)):
        options = ",".join(f"{name}={value:g}" for name, value in differing.items())
        raise BotFileError(os.fspath(path), f"it was learnt with other constants: add the options {options}")
    return memory


def _parse(found: Artifact) -> Memory:
    header = found.header
    hands = header["hands"]
    count = header["cells"]
    values = header["constants"]
    training = header.get("training")
    if {*values} != {one.name for one in fields(Constants)} or type(hands) is not int or hands < 0:
        raise ValueError("a constant or the number of hands is missing or unknown")
    lines = str(found.contents, "ascii").splitlines()
    cells = [_parse_cell(number, text) for number, text in enumerate(lines, 2)]
    constants = Constants(**values)
    rows = dict(cells)
    if len(cells) != count:
        raise ValueError(f"it has {len(cells)} cells, not {count}")
    if [cell for cell, _ in cells] != sorted(rows):
        raise ValueError("its cells are out of order")
    for cell in rows:
        if any(map(ge, cell, level_counts(constants))):
            raise ValueError(f"cell {cell.text} is beyond its levels")
    return Memory(constants, hands, rows, json.dumps(training, sort_keys=True) if training else "")


def _parse_cell(number: int, text: str) -> tuple[MemoryCell, Row]:
    digits, *items = text.split(" ")
    row = [_NOTHING] * 5
    for item in items:
        found = _ITEM.fullmatch(item)
        if found is None:
            raise ValueError(f"line {number} has {quoted(item)} where results are expected")
        decision, *sums = map(int, found.groups())
        row[decision - 1] = Results(*sums)
    return MemoryCell.parse(digits), tuple(row)


class MemoryFile:
    """A memory on disk, written by one learner at a time; `start` is what it held at first, empty without a file."""

    def __init__(self, path: str | os.PathLike[str], constants: Constants) -> None:
        self.path = Path(path)
        self._lock = lock_file(path, "another learner is writing it; give each a file of its own")
        try:
            if self.path.exists():
                self.start = read_memory(path, constants)
            else:
                self.start = Memory(constants)
        except BotFileError:
            self._lock.close()
            raise

    def write(self, memory: Memory) -> None:
        write_memory(self.path, memory)

    def close(self) -> None:
        self._lock.close()


SHIPPED: Final = ("limit", "nolimit", "limit3", "nolimit3", "limit6", "nolimit6", "limit10", "nolimit10")
"""The games, by their short names. In any other, of other stakes or between another number of players, nothing has been
measured, and a learner starts from nothing."""
_FOLDER: Final = os.path.join(os.path.dirname(__file__), "memories")


def shipped_memory(game: Game, constants: Constants) -> Memory:
    """The memory for a game; an empty one for other games, and for constants that it was not trained with."""
    for name in SHIPPED:
        if find_game(name)[1] == game and (memory := _read(name)).constants == constants:
            return replace(memory, cells={**memory.cells})
    return Memory(constants)


@cache
def _read(name: str) -> Memory:
    return read_memory(os.path.join(_FOLDER, f"{name}.memory"))
