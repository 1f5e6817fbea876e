"""Play `cfr` against the other bots and write the results into `docs/cfr-tables.md`.

    python docs/cfr/remake.py FOLDER [WORKERS]

plays limit and no-limit hold'em, in duplicates, against every built-in bot that plays these games; then it trains a
strategy of its own for the iterations of the page and plays some of the bots with it. FOLDER keeps one file for each
opponent and strategy, which is not played again; the results go to `matches.csv`, `nolimit.csv` and `own.csv` next to
this script, and from there into the tables of the page. The tables of the trainings are those in the records of the
shipped strategies. The tests compare the page with all of them.
"""

from __future__ import annotations

import csv
import json
import sys
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from rows import PAGE, between

from bots.cfr.bot import SHIPPED
from bots.cfr.files import read_strategy
from bots.cfr.settings import CfrSettings
from bots.cfr.training import STRATEGY, TrainingLimit, plan_training, train
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from dealer.cli.progress import duration
from logs.estimation import RunningMean
from logs.page.drawing import MARK, TONES, drawn, plain_number

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "matches.csv"
NO_LIMIT_CSV: Final = HERE / "nolimit.csv"
OWN_CSV: Final = HERE / "own.csv"
MILESTONE_CSV: Final = HERE / "milestone.csv"
OWN_TRAINING: Final = HERE / "own-training.csv"
NO_LIMIT_CHART: Final = "training-nolimit"
GROUNDS: Final = {"light": "#1f2328", "dark": "#e6edf3"}
"""The colour of a chart's text and axes by the background."""
DEALS: Final = {
    "calling": 2_000,
    "raising": 20_000,
    "mfs": 6_000,
    "rembrant": 2_000,
    "rh": 2_000,
    "random": 2_000,
    "folding": 1_000,
    "lp": 1_000,
    "mc": 1_000,
    "lp-mc": 6_000,
    "learner": 1_000,
    "evolved": 1_000,
}
"""By opponent: those against whom the luck of the cards is large, and those of whom the page says more, play longer."""
NO_LIMIT_DEALS: Final = {
    "calling": 4_000,
    "raising": 8_000,
    "mfs": 32_000,
    "rembrant": 16_000,
    "rh": 4_000,
    "random": 10_000,
    "folding": 1_000,
    "learner": 4_000,
}
"""The same in no-limit."""
OWN_DEALS: Final = {"calling": 2_000, "raising": 16_000, "mfs": 4_000, "rembrant": 2_000}
"""The same for the strategy from nothing."""
OWN: Final = CfrSettings(buckets="50")
OWN_ITERATIONS: Final = 9_412
"""What `arena train cfr --buckets 50 --minutes 10` did on two cores that did little else."""
MILESTONE_ITERATIONS: Final = 1_024
"""What the same did in its first minute or so: a test trains as far again."""
MILESTONE_DEALS: Final = 4_000
SEED: Final = 2011
_BIG_BLIND: Final = 10
_NO_LIMIT_BIG_BLIND: Final = 100


class Row(NamedTuple):
    """Winnings of `cfr` from one opponent, in mbb/g.

    Attributes:
        opponent: by its name.
        deals: how many, each played in both seatings.
        mean: of the duplicates.
        half_width: of the 95 % interval.
    """

    opponent: str
    deals: int
    mean: float
    half_width: float


def own_strategy(folder: Path, count: int = 1, iterations: int = OWN_ITERATIONS) -> Path:
    """The strategy from nothing; from the folder, if it has been trained."""
    path = folder / f"own-{iterations}" / STRATEGY
    if not path.exists():
        train(plan_training(OWN), path.parent, TrainingLimit(iterations=iterations), threads=count)
    return path


def milestone(folder: Path, count: int = 1) -> Row:
    """What the strategy of the first minute wins from `mfs`; it does not solve rivers."""
    return played(folder, "mfs", MILESTONE_DEALS, str(own_strategy(folder, count, MILESTONE_ITERATIONS)), rivers="0")


def played(folder: Path, opponent: str, deals: int, strategy: str = SHIPPED["limit"], *, rivers: str = "") -> Row:
    """The match against one opponent; from the folder, if it has been played with this strategy.

    Args:
        folder: of what has been played.
        opponent: by its name.
        deals: each in both seatings.
        strategy: its file.
        rivers: the option of that name, where it is not to be the default.
    """
    checksum = zlib.crc32(read_strategy(strategy).probabilities.tobytes())
    path = folder / f"{opponent}-{deals}-{checksum:08x}{rivers and '-' + rivers}.json"
    if path.exists():
        return Row(*json.loads(path.read_text("utf-8")))
    options = [f"strategy={strategy}"] if strategy not in SHIPPED.values() else []
    options += [f"rivers={rivers}"] if rivers else []
    bots = [make_bot("?".join(["cfr", ",".join(options)][: 1 + bool(options)]), seed=1), make_bot(opponent, seed=2)]
    game, big_blind = ("nolimit", _NO_LIMIT_BIG_BLIND) if strategy == SHIPPED["nolimit"] else ("limit", _BIG_BLIND)
    means = RunningMean()
    waiting: dict[int, float] = {}
    for hand in self_play(game, bots, hands=deals, seed=SEED, names=["cfr", opponent]):
        won = 1000 / big_blind * hand.values[hand.names.index("cfr")]
        if hand.hand_number in waiting:
            means.add((waiting.pop(hand.hand_number) + won) / 2)
        else:
            waiting[hand.hand_number] = won
    row = Row(opponent, deals, round(means.mean, 1), round(means.half_width() or 0.0, 1))
    path.write_text(json.dumps(row), "utf-8")
    return row


def rows_of_csv(path: Path = CSV) -> list[Row]:
    """The results."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(row["opponent"], int(row["deals"]), float(row["mbb_per_game"]), float(row["half_width_95"]))
            for row in csv.DictReader(file)
        ]


def with_table(text: str, rows: Iterable[Row], name: str = "matches") -> str:
    """The page with the table of these rows, what wins least first."""
    lines = ["| against | deals, in both seatings | mbb/g |", "| --- | ---: | ---: |"]
    lines += [
        f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in sorted(rows, key=lambda row: row.mean)
    ]
    return between(text, name, lines)


def with_no_limit_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of no-limit."""
    return with_table(text, rows, "matches nolimit")


def with_own_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of the strategy from nothing."""
    return with_table(text, rows, "own")


def with_training(text: str) -> str:
    """The page with what was measured while the shipped strategies were trained."""
    limit, no_limit = SHIPPED["limit"], SHIPPED["nolimit"]
    text = _with_history(text, limit, _BIG_BLIND, "training")
    return _with_history(text, no_limit, _NO_LIMIT_BIG_BLIND, "training nolimit")


def _with_history(text: str, strategy: str, big_blind: int, name: str) -> str:
    record = read_strategy(strategy).record
    lines = ["| iterations | boards | time | an answer wins, mbb/g |", "| ---: | ---: | ---: | ---: |"]
    unit = 1000 / big_blind
    for row in record["history"]:
        won, error = row["exploitability"] * unit, 1.96 * row["error"] * unit
        boards = row["iteration"] * record["settings"]["boards"]
        lines.append(f"| {row['iteration']:,} | {boards:,} | {duration(row['seconds'])} | {won:+,.0f} ± {error:,.0f} |")
    return between(text, name, lines)


def training_rows(path: Path) -> list[tuple[int, float, float]]:
    """Iterations, what an answer wins in mbb/g, and half the width of its interval."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (int(row["iterations"]), float(row["mbb_per_game"]), float(row["half_width_95"]))
            for row in csv.DictReader(file)
        ]


def write_training(path: Path, strategy: str) -> None:
    """Write what was measured while a strategy was trained."""
    unit = 1000 / _BIG_BLIND
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["iterations", "mbb_per_game", "half_width_95"])
        for row in read_strategy(strategy).record["history"]:
            writer.writerow(
                [row["iteration"], round(row["exploitability"] * unit, 1), round(1.96 * row["error"] * unit, 1)]
            )


def no_limit_training() -> list[tuple[int, float, float]]:
    """The same of the shipped no-limit strategy, from its record."""
    unit = 1000 / _NO_LIMIT_BIG_BLIND
    rows = read_strategy(SHIPPED["nolimit"]).record["history"]
    return [(row["iteration"], unit * row["exploitability"], 1.96 * unit * row["error"]) for row in rows]


def charts(rows: Iterable[tuple[int, float, float]], name: str = "training") -> dict[Path, str]:
    """What answers win in the course of a training, for each ground, by its file."""
    iterations, won, width = (np.array(column) for column in zip(*rows, strict=True))

    def paint(axes: Any) -> None:
        axes.fill_between(iterations, won - width, won + width, color=TONES[1], alpha=0.18, linewidth=0)
        axes.plot(iterations, won, color=TONES[1], linewidth=1.4, marker="o", markersize=3)
        axes.axhline(0, color=MARK, linewidth=0.6, alpha=0.5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(iterations)
        axes.xaxis.set_major_formatter(plain_number)
        axes.minorticks_off()
        axes.set_xlabel("iterations of two boards")
        axes.set_ylabel("an answer wins, mbb/g")

    picture = drawn(paint, "What an answer wins, mbb/g, by iterations", width=6.0, height=3.0)
    return {HERE / f"{name}-{ground}.svg": picture.replace("currentColor", ink) for ground, ink in GROUNDS.items()}


def main(folder: Path, count: int = 1) -> None:
    """Play what is missing and write the files, the charts and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    own = str(own_strategy(folder, count))
    of_first_minute = milestone(folder, count)
    with ProcessPoolExecutor(count) as pool:
        rows = list(pool.map(played, [folder] * len(DEALS), DEALS, DEALS.values()))
        of_own = list(
            pool.map(played, [folder] * len(OWN_DEALS), OWN_DEALS, OWN_DEALS.values(), [own] * len(OWN_DEALS))
        )
        of_no_limit = list(
            pool.map(
                played,
                [folder] * len(NO_LIMIT_DEALS),
                NO_LIMIT_DEALS,
                NO_LIMIT_DEALS.values(),
                [SHIPPED["nolimit"]] * len(NO_LIMIT_DEALS),
            )
        )
    write_csv(CSV, rows)
    write_csv(NO_LIMIT_CSV, of_no_limit)
    write_csv(OWN_CSV, of_own)
    write_csv(MILESTONE_CSV, [of_first_minute])
    write_training(OWN_TRAINING, own)
    pictures = charts(training_rows(OWN_TRAINING)) | charts(no_limit_training(), NO_LIMIT_CHART)
    for path, picture in pictures.items():
        path.write_text(picture, "utf-8")
    text = with_no_limit_table(with_table(PAGE.read_text("utf-8"), rows), of_no_limit)
    text = with_own_table(text, of_own)
    PAGE.write_text(with_training(text), "utf-8")


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """Write results."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["opponent", "deals", "mbb_per_game", "half_width_95"])
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
