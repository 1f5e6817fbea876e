"""Play the shipped memories against the built-in bots, and write the results into `research/tables/learner.md`.

    python research/learner/remake.py FOLDER [GAME...]

plays them frozen, each deal in all rotations of the seats, and an empty learner on the same deals; then it trains
learners against them. Matches in FOLDER are not played again unless a memory has changed. The results go to `GAME.csv`
and `counters.csv` next to this script, and from there into the tables of the page. The tests compare the page with
these files, and the files with the memories.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from bots.learner.memory import SHIPPED, Constants, Memory, memory_bytes, shipped_memory
from bots.learner.training import DealBatch, Trainee
from bots.learner.tuning import TuningSettings, measured_mbb
from bots.long_run import ResultJournal, result_journal
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.estimation import RunningMean, score_bounds
from logs.estimation.mean import signed
from protocol import find_game

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "learner.md"
COUNTERS: Final = HERE / "counters.csv"
SEED: Final = 2008
COUNTER_GAMES: Final = ("limit", "nolimit", "limit10", "nolimit10")
COUNTER_SEEDS: Final = range(1, 9)

_EVERYWHERE: Final = (
    "calling",
    "folding",
    "raising",
    "random",
    "random?decisions=20/50/15/10/5",
    "constant?decision=3",
    "mfs",
    "rh",
    "mfs?k=4",
    "rh?k=64",
)
_SLOW: Final = ("rembrant",)
_SLOW_IN_LIMIT: Final = ("evolved",)
_SLOW_IN_LIMIT_OF_TWO: Final = ("lp", "mc", "lp-mc", "cfr")
"""Bots that are not compiled for a learner's tables; omitted with three and six players."""
MIXED: Final = ("calling", "raising", "random", "folding", "mfs", "rh", "mfs?k=4", "calling", "random")
"""Bots of a mixed full table, used from the first on."""


_TRAINED: Final = "learner?learn=false"
_EMPTY: Final = "learner?learn=false,empty=true"


class Row(NamedTuple):
    """Winnings of a frozen learner from one kind of opponent, in mbb/g, with half the guaranteed interval over deals.

    Attributes:
        opponent: in all other seats; several bots with blanks between them are one in each.
        memory: checksum of the memory of the trained learner.
        deals: how many, each played in all rotations, or once (`is_single`).
        trained_mbb: winnings of the trained learner.
        empty_mbb: winnings of an untrained learner on the same deals.
        gain_mbb: the first less the second, deal by deal.
    """

    opponent: str
    memory: str
    deals: int
    trained_mbb: float
    trained_half_width: float
    empty_mbb: float
    empty_half_width: float
    gain_mbb: float
    gain_half_width: float


class Counter(NamedTuple):
    """Winnings of a learner after training against frozen ones in all other seats.

    Attributes:
        game: its name.
        memory: checksum of the memory of the frozen learners.
        seed: of its training and its test.
        mbb: won in the test, mbb per hand.
    """

    game: str
    memory: str
    seed: int
    mbb: float


def opponents(name: str) -> tuple[str, ...]:
    """Opponents of a game: compiled bots, a mixed table of them, and the others."""
    game = find_game(name)[1]
    count = game.num_players
    others = (*_SLOW, *(_SLOW_IN_LIMIT * game.is_limit), *(_SLOW_IN_LIMIT_OF_TWO * (game.is_limit and count == 2)))
    mixed = (" ".join(MIXED[: count - 1]),)
    return (*_EVERYWHERE, *(mixed * (count > 2)), *(others * (count in (2, 10))))


def deals(name: str, opponent: str) -> int:
    """Number of deals; fewer at larger tables and against slow opponents."""
    count = find_game(name)[1].num_players
    if opponent in {*_SLOW, *_SLOW_IN_LIMIT, *_SLOW_IN_LIMIT_OF_TWO}:
        return {2: 400}.get(count, 800)
    return {2: 2_000, 3: 1_000}.get(count, 4_000)


@cache
def checksum(name: str) -> str:
    """Checksum of the shipped memory of a game."""
    return hashlib.sha256(memory_bytes(shipped_memory(find_game(name)[1], Constants()))).hexdigest()[:16]


def play(name: str, opponent: str) -> Row:
    """Play one kind of opponent."""
    game = find_game(name)[1]
    specs = opponent.split() if " " in opponent else [opponent] * (game.num_players - 1)
    low, high = score_bounds(game)
    if is_single(name, opponent):
        trained, empty = [_singles(name, learner, specs) for learner in (_TRAINED, _EMPTY)]
    else:
        pack = _pack(name, deals(name, opponent))
        trained, empty = [
            Trainee(game, memory, seed=SEED).play(specs, pack, learns=False)[:, :, 0].mean(axis=1)
            * (1000 / game.big_blind)
            for memory in (shipped_memory(game, Constants()), Memory(Constants()))
        ]
    found: list[float] = []
    for scores, bounds in ((trained, (low, high)), (empty, (low, high)), (trained - empty, (low - high, high - low))):
        mean = RunningMean(scores.tolist(), bounds)
        found += [round(mean.mean, 1), round(mean.guaranteed_half_width(), 1)]
    return Row(opponent, checksum(name), len(trained), *found)


def is_single(name: str, opponent: str) -> bool:
    """Return whether each deal is played once, in changing seats, so that slow bots play more deals."""
    return opponent in {*_SLOW, *_SLOW_IN_LIMIT} and find_game(name)[1].num_players > 2


def _singles(name: str, learner: str, specs: Sequence[str]) -> NDArray[np.float64]:
    """Winnings of a learner in each hand."""
    game = find_game(name)[1]
    bots = [make_bot(spec, SEED + at) for at, spec in enumerate((learner, *specs))]
    names = [str(at) for at in range(len(bots))]
    hands = self_play(game, bots, deals=deals(name, specs[0]), seed=SEED, seating="single", names=names)
    return np.array([hand.values[hand.names.index("0")] for hand in hands]) * (1000 / game.big_blind)


@cache
def _pack(name: str, count: int) -> DealBatch:
    """Deals of a game, shared by all its opponents because their chances are cached."""
    return DealBatch.deal(find_game(name)[1], SEED, 0, count)


def counter_settings(name: str) -> TuningSettings:
    """Settings of learners that train against the memory of a game."""
    frozen = ("learner?learn=false,trials=200",)
    return TuningSettings(game=name, opponents=frozen, trials=200, hands=20_000, test=4_000)


def stored(name: str) -> list[Row]:
    """Rows of the file of a game."""
    return [
        Row(row["opponent"], row["memory"], int(row["deals"]), *[float(row[field]) for field in Row._fields[3:]])
        for row in _read(HERE / f"{name}.csv")
    ]


def stored_counters() -> list[Counter]:
    """Rows of the file of learners that trained against the memories."""
    return [Counter(row["game"], row["memory"], int(row["seed"]), float(row["mbb"])) for row in _read(COUNTERS)]


def table(name: str) -> str:
    """Return the table of a game, and the sentence below it."""
    rows = stored(name)
    lines = [
        f"| {_named(row.opponent)} | {row.deals:,} | {signed(row.trained_mbb)} ± {row.trained_half_width:,.0f} | "
        f"{signed(row.empty_mbb)} ± {row.empty_half_width:,.0f} | {signed(row.gain_mbb)} ± {row.gain_half_width:,.0f} |"
        for row in rows
    ]
    beaten = [row.opponent for row in rows if row.trained_mbb > row.trained_half_width]
    beating = [row.opponent for row in rows if row.trained_mbb < -row.trained_half_width]
    known = {*beaten, *beating}
    kinds = (
        ("Significant wins against", beaten),
        ("significant losses to", beating),
        ("undecided against", [row.opponent for row in rows if row.opponent not in known]),
    )
    words = "; ".join(f"{verb} {', '.join(map(_named, names)) or 'none'}" for verb, names in kinds)
    if worse := [row.opponent for row in rows if row.gain_mbb < -row.gain_half_width]:
        words += f". Calling alone wins more against {', '.join(map(_named, worse))}"
    return "\n".join(
        [
            f"| `{name}`, against | deals | trained | empty | difference |",
            "| --- | ---: | ---: | ---: | ---: |",
            *lines,
            "",
            f"{words}.",
        ]
    )


def _named(opponent: str) -> str:
    return "a mixed table" if " " in opponent else f"`{opponent}`"


def counter_table() -> str:
    """Return the table of learners that trained against the memories."""
    won: dict[str, list[float]] = {}
    for row in stored_counters():
        won.setdefault(row.game, []).append(row.mbb)
    lines = ["| game | learners | won, frozen, mbb/g |", "| --- | ---: | ---: |"]
    for name, values in won.items():
        half_width = stdtrit(len(values) - 1, 0.975) * stdev(values) / len(values) ** 0.5
        lines.append(f"| `{name}` | {len(values)} | {signed(fmean(values))} ± {half_width:,.0f} |")
    return "\n".join(lines)


def with_tables(page: str) -> str:
    """Return the page with all tables."""
    return with_blocks(page, {name: f"{table(name)}\n" for name in SHIPPED} | {"counters": f"{counter_table()}\n"})


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, fields: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(rows)


def _rows(kept: ResultJournal, name: str) -> list[Row]:
    known: Mapping[tuple[str, str, int], Row] = {(row[0], row[1], row[2]): Row(*row) for row in kept.rows}
    rows = []
    for opponent in opponents(name):
        row = known.get((opponent, checksum(name), deals(name, opponent)))
        if row is None:
            row = play(name, opponent)
            kept.add(row)
            print(f"{name}, {opponent}: {row.trained_mbb:+,.0f} ± {row.trained_half_width:,.0f}", flush=True)
        rows.append(row)
    return rows


def _counters(kept: ResultJournal, name: str) -> list[Counter]:
    known = {Counter(*row)[:3]: Counter(*row) for row in kept.rows}
    rows = []
    for seed in COUNTER_SEEDS:
        row = known.get((name, checksum(name), seed))
        if row is None:
            row = Counter(name, checksum(name), seed, measured_mbb(counter_settings(name), Constants(), seed))
            kept.add(row)
            print(f"{name}, against itself, seed {seed}: {row.mbb:+,.0f}", flush=True)
        rows.append(row)
    return rows


def main(arguments: Sequence[str]) -> None:
    """Play some games and write the page."""
    folder, *names = arguments
    for name in names or SHIPPED:
        with result_journal(Path(folder) / f"{name}.jsonl", {"game": name, "seed": SEED}) as kept:
            _write(HERE / f"{name}.csv", Row._fields, _rows(kept, name))
        if name not in COUNTER_GAMES:
            continue
        with result_journal(Path(folder) / f"{name}-counters.jsonl", asdict(counter_settings(name))) as kept:
            others = [row for row in stored_counters() if row.game != name] if COUNTERS.exists() else []
            rows = [*others, *_counters(kept, name)]
            rows.sort(key=lambda row: (SHIPPED.index(row.game), row.seed))
            _write(COUNTERS, Counter._fields, [(*row[:3], round(row.mbb, 1)) for row in rows])
    if all((HERE / f"{name}.csv").exists() for name in SHIPPED):
        PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
