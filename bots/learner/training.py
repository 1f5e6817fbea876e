"""The training of a learner: blocks of hands, after each of them frozen play on deals that it never learns from.

A training lives in one file, the memory, whose record says with what it was made and how far it has come. The same
settings go on with it after any stop, and the end is the same to the bit; more hands go on with a finished one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError, LearnerFileError
from bots.learner.files import MemoryFile
from bots.learner.memory import Constants, Memory
from bots.learner.tables import Pack, Style, Trainee, line_ups
from engine import Game
from engine.equity import DEFAULT_TRIALS
from engine.splitmix import MASK_64, mixed
from logs.estimation.mean import RunningMean
from protocol import find_game

_PROGRAM: Final = "arena train learner"
_DEFAULT: Final = Constants()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """What a training is made of.

    Attributes:
        game: its name or file.
        opponents: the field it learns on; `bots.learner.tables.line_ups` says who sits where.
        unseen: a field it never learns on.
        constants: how finely it looks.
    """

    game: str = "limit"
    opponents: tuple[str, ...] = ("calling", "random?decisions=20/50/15/10/5", "mfs", "rh")
    unseen: tuple[str, ...] = ("raising", "random", "mfs?k=4", "rh?k=64")
    constants: Constants = _DEFAULT
    explore: float = field(default=0.1, metadata={"decides": "which part of its decisions is drawn while it learns"})
    trials: int = field(default=DEFAULT_TRIALS, metadata={"decides": "showdowns drawn for its chance against several"})
    block: int = field(default=2000, metadata={"decides": "hands of a block, after which it is tested and saved"})
    test: int = field(default=2000, metadata={"decides": "hands of frozen play against each field after each block"})
    seed: int = field(default=1, metadata={"decides": "of the cards and of all draws"})

    def __post_init__(self) -> None:
        """Check.

        Raises:
            EvolutionError: a value is out of range, or a field is empty.
        """
        if not 0 <= self.explore <= 1:
            raise EvolutionError(f"explore must be from 0 to 1, not {self.explore:g}")
        for name in ("trials", "block", "test"):
            if getattr(self, name) < 1:
                raise EvolutionError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("opponents", "unseen"):
            if not getattr(self, name):
                raise EvolutionError(f"the {name} are missing: name at least one player")

    @property
    def style(self) -> Style:
        """How it plays."""
        return Style(self.explore, self.trials, self.seed)


class Earned(NamedTuple):
    """What a learner won, in mbb per hand.

    Attributes:
        mean: of the hands.
        half_width: of the normal 95 % interval for the mean over all deals, a deal with its rotations being one score;
            0 where there are too few for one.
    """

    mean: float
    half_width: float

    @property
    def words(self) -> str:
        """In whole numbers; without an interval where there is none."""
        return f"{self.mean:+,.0f} ± {self.half_width:,.0f}" if self.half_width else f"{self.mean:+,.0f}"


class Block(NamedTuple):
    """What was won in a block, and right after it.

    Attributes:
        hands: learnt so far.
        cells: met so far.
        learning: while it learnt, drawing decisions now and then.
        field: frozen, against the field it learns on.
        unseen: frozen, against the other field.
    """

    hands: int
    cells: int
    learning: Earned
    field: Earned
    unseen: Earned


class TrainingProgress(NamedTuple):
    """How a training stands.

    Attributes:
        blocks: all so far, those of earlier commands included.
        wanted: how many there will be.
        hands_per_s: learnt by this command, by the clock, tests aside; None before its second block.
        left_s: how long it will still take; None before the second block.
    """

    blocks: tuple[Block, ...]
    wanted: int
    hands_per_s: float | None
    left_s: float | None


def train(
    settings: TrainingSettings, hands: int, path: Path, show: Callable[[TrainingProgress], None] = lambda _: None
) -> tuple[Memory, tuple[Block, ...]]:
    """Train a learner, or go on with a training.

    Args:
        settings: of the training.
        hands: how many, in whole blocks.
        path: of the memory.
        show: called after each block, when it is on disk.

    Raises:
        LearnerFileError: the file cannot be read or written, or was made with other settings.
        EvolutionError: hands below 1, or a game without blinds.
        GameDefinitionError, SpecError, GameRefused, BotFailure: the game or an opponent cannot be played.
    """
    game = find_game(settings.game)[1]
    deals = _deals_of_block(settings, game)
    if hands < 1:
        raise EvolutionError(f"hands must be 1 or more, not {hands}")
    wanted = ceil(hands / (deals * game.num_players))
    file = MemoryFile(path, settings.constants)
    try:
        blocks = _blocks_of(file.start, settings, path)
        trainee = Trainee(game, file.start, settings.style)
        fields = [line_ups(specs, game.num_players - 1) for specs in (settings.opponents, settings.unseen)]
        tests = [(tables, unseen_packs(game, len(tables), settings.test, settings.seed)) for tables in fields]
        learnt_s, began_s, first = 0.0, time.monotonic(), len(blocks)
        while len(blocks) < wanted:
            start_s = time.monotonic()
            learning = train_block(settings, trainee, len(blocks) * deals, deals)
            now_s = time.monotonic()
            against = [frozen_play(trainee, tables, packs) for tables, packs in tests]
            blocks = (*blocks, Block(trainee.hands, trainee.cells, learning, *against))
            file.write(replace(trainee.memory, training=_record(settings, blocks)))
            done = len(blocks) - first - 1
            if done == 0:  # It has waited for the compiler and tells nothing of the others.
                began_s = time.monotonic()
                show(TrainingProgress(blocks, wanted, None, None))
                continue
            learnt_s += now_s - start_s
            left_s = (time.monotonic() - began_s) / done * (wanted - len(blocks))
            show(TrainingProgress(blocks, wanted, done * deals * game.num_players / max(learnt_s, 1e-9), left_s))
        return replace(trainee.memory, training=_record(settings, blocks)), blocks
    finally:
        file.close()


def train_block(settings: TrainingSettings, trainee: Trainee, first: int, deals: int) -> Earned:
    """Learn from deals, each line-up from an equal part of them; what was won meanwhile.

    Args:
        settings: of the training.
        trainee: who learns.
        first: the number of the first deal.
        deals: how many, a multiple of the number of line-ups.
    """
    scores = []
    tables = line_ups(settings.opponents, trainee.game.num_players - 1)
    part = deals // len(tables)
    for at, specs in enumerate(tables):
        pack = Pack.deal(trainee.game, settings.seed, first + at * part, part)
        scores.append(trainee.play(specs, pack, learns=True))
    return earned(trainee.game, scores)


def frozen_play(trainee: Trainee, field_: Sequence[Sequence[str]], packs: Sequence[Pack]) -> Earned:
    """What a learner wins that learns nothing.

    Args:
        trainee: who plays.
        field_: line-ups of opponents.
        packs: the deals for each line-up.
    """
    played = [trainee.play(specs, pack, learns=False) for specs, pack in zip(field_, packs, strict=True)]
    return earned(trainee.game, played)


def earned(game: Game, values: Sequence[NDArray[np.float64]]) -> Earned:
    """What player 0 won, of chips by deal, rotation and player; a deal with all its rotations is one score."""
    scores = np.concatenate([chips[:, :, 0].mean(axis=1) for chips in values]) * (1000 / game.big_blind)
    mean = RunningMean(scores.tolist())
    return Earned(mean.mean, mean.half_width_95 or 0.0)


def unseen_packs(game: Game, tables: int, hands: int, seed: int) -> list[Pack]:
    """Deals for frozen play, of another seed than those of a training: for each line-up an equal part of the hands."""
    part = max(1, ceil(hands / game.num_players / tables))
    return [Pack.deal(game, mixed(seed & MASK_64) & 0xFFFFFFFF, at * part, part) for at in range(tables)]


def _deals_of_block(settings: TrainingSettings, game: Game) -> int:
    tables = len(line_ups(settings.opponents, game.num_players - 1))
    return tables * max(1, round(settings.block / (tables * game.num_players)))


def _about(settings: TrainingSettings) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    del about["constants"]
    return about


def _record(settings: TrainingSettings, blocks: Sequence[Block]) -> str:
    return json.dumps({"program": _PROGRAM, "settings": _about(settings), "blocks": blocks}, sort_keys=True)


def _blocks_of(memory: Memory, settings: TrainingSettings, path: Path) -> tuple[Block, ...]:
    """The blocks that a memory has been trained for.

    Raises:
        LearnerFileError: it stems from elsewhere, or from other settings.
    """
    if not memory.hands:
        return ()
    record = json.loads(memory.training) if memory.training else {}
    if not isinstance(record, dict) or record.get("program") != _PROGRAM:
        raise LearnerFileError(str(path), f"{_PROGRAM} did not make it, and cannot go on with it: take another file")
    found, about = record.get("settings", {}), _about(settings)
    if differing := [name for name, value in about.items() if found.get(name) != value]:
        theirs = ", ".join(f"{name} {_words(found.get(name))}" for name in differing)
        ours = ", ".join(f"{name} {_words(about[name])}" for name in differing)
        raise LearnerFileError(str(path), f"it was trained with {theirs}, not {ours}: take another file")
    try:
        blocks = [
            Block(hands, cells, Earned(*learning), Earned(*of_field), Earned(*of_unseen))
            for hands, cells, learning, of_field, of_unseen in record["blocks"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise LearnerFileError(str(path), "its record of training is damaged") from error
    return tuple(blocks)


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
