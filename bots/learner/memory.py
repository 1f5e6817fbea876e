"""Memory of a learner: constants, cells of states, rewards of decisions, the best decision, and files.

Each quantity of a state is divided into levels, and states with the same levels share a cell. A cell has the rewards of
each decision in thousandths of a big blind (mbb). They are whole numbers, so that sums are exact and memories can be
added in any order.

A file (`bots.artifact`) has the constants, the numbers of hands and cells, and a record of the training in its first
line, and then a line for each cell. It has the nine levels as digits, and for each decision its number, the number and
sum of the profits, and the number and sum of the losses, in mbb:

    305101012 2:12,18400,9,9000 3:1,2500,0,0

Equal memories give equal bytes.
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
"""Bounds of the number of levels, which are single digits in a file."""


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
"""Bounds of each constant in the search of the thesis. BIG QTY and LITTLE QTY are whole numbers."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Widths and numbers of the levels. Money is in big blinds and CHANCE in per cent.

    Raises:
        ValueError: a value is out of range.
    """

    # The thesis prints no results of its search. The defaults divide the states of two players with 100 big blinds into
    # a few levels each.
    chance_interval: Annotated[
        float,
        "width of a level of CHANCE, in per cent",
        Wording(group="How finely it distinguishes states"),
        _LEVEL,
    ] = 12.5
    pot_interval: Annotated[float, "width of a level of POT, in big blinds", _LEVEL] = 4.0
    raise_interval: Annotated[float, "width of a level of RAISE, in big blinds", _LEVEL] = 2.0
    odds_interval: Annotated[float, "width of a level of ODDS", _LEVEL] = 1.5
    qtyraise_interval: Annotated[float, "width of a level of QTYRAISE", _LEVEL] = 2.0
    nplayers_interval: Annotated[float, "width of a level of NPLAYERS", _LEVEL] = 3.0
    followers_interval: Annotated[float, "width of a level of FOLLOWERS", _LEVEL] = 1.0
    ingame_interval: Annotated[float, "width of a level of INGAME", _LEVEL] = 2.0
    big_qty: Annotated[int, "number of levels of CHANCE, POT, RAISE and ODDS", _LEVELS] = 8
    little_qty: Annotated[int, "number of levels of the other quantities", _LEVELS] = 4

    def __post_init__(self) -> None:
        check_options(self)
        # Equal constants must be written alike, so intervals are always floats.
        for constant in fields(self):
            if constant.name.endswith("_interval"):
                object.__setattr__(self, constant.name, float(getattr(self, constant.name)))

    def differences(self, other: Constants) -> Mapping[str, float]:
        """Return the values of another set where it differs from this one, by name."""
        values = {}
        for constant in fields(other):
            value = getattr(other, constant.name)
            if value != getattr(self, constant.name):
                values[constant.name] = value
        return values


class MemoryCell(NamedTuple):
    """Levels of a state, 0-based, in the order of the dimensions in the thesis."""

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
        """Parse a cell from its digits.

        Raises:
            ValueError: the text does not have a digit for each level.
        """
        if not (len(text) == len(cls._fields) and text.isascii() and text.isdigit()):
            raise ValueError(f"a cell is {len(cls._fields)} digits")
        return cls(*map(int, text))


def level(value: float, interval: float, levels: int) -> int:
    """Return the 0-based level of a value of 0 or more."""
    # The thesis does not define the level of a value on a border. It belongs to the higher level here.
    return min(int(value / interval), levels - 1)


def level_counts(constants: Constants) -> MemoryCell:
    """Return the number of levels of each dimension. Their product is the number of cells, of which few ever occur."""
    big = constants.big_qty
    little = constants.little_qty
    return MemoryCell._make([big] * 4 + [little] * 3 + [2, little])


def cell_of(seen: Observation, constants: Constants) -> MemoryCell:
    """Return the cell of an observation.

    Raises:
        ValueError: the observation has no CHANCE.
    """
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
    """Numbers and sums of the rewards of a decision in a cell, C_d in formula 8.

    Attributes:
        profits: number of rewards of 0 or more.
        profit_mbb: sum of these rewards.
        losses: number of rewards below 0.
        loss_mbb: sum of these rewards, without the sign.
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
        """Mean reward, R(d) in formula 8. The decision must have been taken."""
        # The formula is missing. The text calls it the "best mean of rewards in proportion".
        return (self.profit_mbb - self.loss_mbb) / (self.profits + self.losses)

    def with_reward(self, reward: int) -> Results:
        """Return the results with another reward, in mbb."""
        if reward < 0:
            return Results(self.profits, self.profit_mbb, self.losses + 1, self.loss_mbb - reward)
        return Results(self.profits + 1, self.profit_mbb + reward, self.losses, self.loss_mbb)


_NOTHING: Final = Results()
Row: TypeAlias = tuple[Results, ...]
"""Results of the decisions 1 to 5 in a cell."""
UNTRIED: Final[Row] = (_NOTHING,) * 5
"""Row of a cell that has not been met."""


def best_decision(row: Row) -> Decision:
    """Compute formula 7: the decision with the best mean reward, or the smallest of several.

    Untried decisions do not count. Without any results it is decision 2, to continue.
    """
    best = Decision.CALL
    best_mean = -float("inf")
    for decision, results in zip(Decision, row, strict=True):
        if results.taken and (mean := results.mean_mbb) > best_mean:
            best = decision
            best_mean = mean
    return best


def reward_mbb(value_chips: float, big_blind_chips: int) -> int:
    """Return the reward of a hand, its net chips in mbb."""
    # A split pot can have halves of chips, which are rounded half to even.
    return round(value_chips * 1000 / big_blind_chips)


@dataclass(slots=True)
class Memory:
    """Rewards of a learner's decisions.

    Attributes:
        hands: number of hands learnt.
        cells: row of each cell that has been met.
        training: record of the training as JSON; empty without one.
    """

    constants: Constants
    hands: int = 0
    cells: dict[MemoryCell, Row] = field(default_factory=dict)
    training: str = ""

    def row(self, cell: MemoryCell) -> Row:
        return self.cells.get(cell, UNTRIED)

    def learn(self, decisions: Iterable[tuple[MemoryCell, Decision]], reward: int) -> None:
        """Add the reward of a hand, in mbb, to each of its decisions (formula 4).

        The formula is missing. Here each decision gets the reward of the whole hand, and a decision that was taken
        twice in a cell gets it twice.
        """
        self.hands += 1
        for cell, decision in decisions:
            row = list(self.row(cell))
            row[decision - 1] = row[decision - 1].with_reward(reward)
            self.cells[cell] = tuple(row)


_KIND: Final = FileKind("a memory of acpc-arena's learner", 2, "`arena train learner` and the bot write such files")
# Numbers of 18 digits fit into the 64 bits of the kernel's sums.
_ITEM: Final = re.compile(r"([1-5]):([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18})", re.ASCII)


def memory_bytes(memory: Memory) -> bytes:
    """Return the contents of a memory's file."""
    lines = []
    for cell, row in sorted(memory.cells.items()):
        items = "".join(_items(row))
        lines.append(f"{cell.text}{items}\n")
    body = "".join(lines).encode("ascii")
    header: dict[str, Any] = {
        "constants": asdict(memory.constants),
        "hands": memory.hands,
        "cells": len(memory.cells),
    }
    if memory.training:
        header["training"] = json.loads(memory.training)
    return artifact_bytes(_KIND, header, body)


def _items(row: Row) -> list[str]:
    """Format the results of the decisions that were taken."""
    items = []
    for decision, results in enumerate(row, 1):
        if results != _NOTHING:
            sums = ",".join(map(str, results))
            items.append(f" {decision}:{sums}")
    return items


def write_memory(path: str | os.PathLike[str], memory: Memory) -> None:
    """Write a memory atomically, in place of an earlier file."""
    write_file(path, memory_bytes(memory))


def read_memory(path: str | os.PathLike[str], constants: Constants | None = None) -> Memory:
    """Read a memory.

    Args:
        constants: the constants that the memory must have; None for any.

    Raises:
        BotFileError: the file is missing, damaged, not a memory, or has other constants.
    """
    artifact = read_artifact(path, _KIND)
    with artifact.parsing():
        memory = _parse(artifact)
    if constants is None:
        return memory
    differences = constants.differences(memory.constants)
    if differences:
        options = ",".join([f"{name}={value:g}" for name, value in differences.items()])
        raise BotFileError(os.fspath(path), f"it was learnt with other constants: add the options {options}")
    return memory


def _parse(artifact: Artifact) -> Memory:
    header = artifact.header
    hands = header["hands"]
    count = header["cells"]
    values = header["constants"]
    training = header.get("training")
    names = {constant.name for constant in fields(Constants)}
    if set(values) != names or type(hands) is not int or hands < 0:
        raise ValueError("a constant or the number of hands is missing or unknown")
    lines = str(artifact.contents, "ascii").splitlines()
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
    record = ""
    if training:
        record = json.dumps(training, sort_keys=True)
    return Memory(constants, hands, rows, record)


def _parse_cell(number: int, text: str) -> tuple[MemoryCell, Row]:
    digits, *items = text.split(" ")
    row = [_NOTHING] * 5
    for item in items:
        match = _ITEM.fullmatch(item)
        if match is None:
            raise ValueError(f"line {number} has {quoted(item)} where results are expected")
        decision, *sums = map(int, match.groups())
        row[decision - 1] = Results(*sums)
    return MemoryCell.parse(digits), tuple(row)


class MemoryFile:
    """File of a memory, locked for a single learner.

    Attributes:
        start: memory in the file when it was opened; empty without a file.

    Raises:
        BotFileError: another learner has locked the file, or it is damaged or has other constants.
    """

    def __init__(self, path: str | os.PathLike[str], constants: Constants) -> None:
        self.path = Path(path)
        # Locked before it is read: a learner that writes in between would be overwritten.
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
"""Games with a shipped memory. In all other games a learner starts with an empty one."""
_FOLDER: Final = os.path.join(os.path.dirname(__file__), "memories")


def shipped_memory(game: Game, constants: Constants) -> Memory:
    """Return the shipped memory of a game, or an empty one if none is shipped with these constants."""
    for name in SHIPPED:
        if find_game(name)[1] != game:
            continue
        memory = _read(name)
        if memory.constants == constants:
            # A copy, because a learner changes it.
            return replace(memory, cells=dict(memory.cells))
    return Memory(constants)


@cache
def _read(name: str) -> Memory:
    return read_memory(os.path.join(_FOLDER, f"{name}.memory"))
