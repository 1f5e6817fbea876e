"""Measurements as files and as tables of pages, shared by the scripts of `cfr` and `strength`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

from blocks import with_blocks

from bots.sdk.bot import Bot
from bots.sdk.selfplay import self_play
from logs.estimation import Z_95, RunningMean
from logs.variance.correction import ChanceCorrection
from protocol import find_game

_AT_ONCE = 100


class Row(NamedTuple):
    """Winnings from an opponent, in mbb/g.

    Attributes:
        opponent: by its name.
        deals: how many, each played in every seating.
        mean: over the deals.
        half_width: of the normal 95 % interval.
    """

    opponent: str
    deals: int
    mean: float
    half_width: float

    @classmethod
    def of(cls, opponent: str, won: RunningMean) -> Row:
        return cls(opponent, won.count, round(won.mean, 1), round(Z_95 * (won.standard_error or 0.0), 1))


def won_without_luck(game: str, bots: Sequence[Bot], deals: int, seed: int) -> Iterator[float]:
    """Winnings of the first bot in each deal, luck-corrected means over rotations, in mbb/g."""
    rules, rotations = find_game(game)[1], len(bots)
    correction = ChanceCorrection(rules)
    hands = self_play(game, bots, deals=deals, seed=seed, names=[str(number) for number in range(rotations)])
    while some := list(islice(hands, rotations * _AT_ONCE)):
        won = [of[hand.names.index("0")] for hand, of in zip(some, correction.values(some), strict=True)]
        for first in range(0, len(won), rotations):
            yield 1000 / rules.big_blind * sum(won[first : first + rotations]) / rotations


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def read_rows(path: Path, kind: type[_Row]) -> list[_Row]:
    """Read the results of a file as named tuples of texts and numbers."""
    makers = get_type_hints(kind)
    with path.open(encoding="utf-8", newline="") as file:
        return [kind(**{name: makers[name](cell) for name, cell in row.items()}) for row in csv.DictReader(file)]


def write_rows(path: Path, kind: type[_Row], rows: Iterable[_Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kind.__annotations__)
        writer.writerows(rows)


def between(text: str, name: str, lines: Iterable[str]) -> str:
    """Replace the lines of a page between the markers ``name`` and ``end of name``."""
    return with_blocks(text, {name: "".join(f"{line}\n" for line in lines)})
