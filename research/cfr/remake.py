"""Measure `cfr` and write the results into `research/tables/cfr.md`.

    python research/cfr/remake.py FOLDER [WORKERS]

plays limit and no-limit hold'em, in duplicates without the luck of the cards, against every built-in bot that plays
these games; no rivers are solved. Then it trains a strategy like the shipped one, and at intervals measures its
winnings from the shipped one. FOLDER keeps finished matches and trainings; the results go to `matches.csv`,
`nolimit.csv` and `training.csv` next to this script, and from there into the tables of the page and of
`docs/built-in-bots.md`. The tests compare the pages with all of them.

"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, DOCS
from rows import Row, between, won_without_luck, write_rows

from bots.cfr.bot import SHIPPED
from bots.cfr.expectation import compare_strategies
from bots.cfr.strategy_files import read_strategy
from bots.cfr.training import plan_training, train
from bots.cfr.training_settings import CfrSettings
from bots.sdk.registry import make_bot
from logs.estimation import Z_95, RunningMean

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "cfr.md"
BOTS: Final = DOCS / "built-in-bots.md"
CSV: Final = HERE / "matches.csv"
NO_LIMIT_CSV: Final = HERE / "nolimit.csv"
TRAINING_CSV: Final = HERE / "training.csv"
DEALS: Final = {
    "calling": 2_000,
    "raising": 10_000,
    "mfs": 6_000,
    "rembrant": 2_000,
    "rh": 2_000,
    "random": 2_000,
    "folding": 1_000,
    "lp": 1_000,
    "mc": 1_000,
    "lp-mc": 2_000,
    "learner": 1_000,
    "evolved": 1_000,
}
"""Deals by opponent: more with much luck of the cards, and for opponents described in detail on the page."""
NO_LIMIT_DEALS: Final = {
    "calling": 1_000,
    "raising": 2_000,
    "mfs": 20_000,
    "rembrant": 20_000,
    "rh": 1_000,
    "random": 2_000,
    "folding": 1_000,
    "learner": 1_000,
}
"""Deals by opponent in no-limit."""
FROZEN: Final = {"learner": "learner?learn=false"}
"""Opponents with options: one that learns and explores is no single player."""
MARKS: Final = (250, 1_000, 2_500, 5_000, 10_000)
"""Iterations of a training after which its strategy is compared with the shipped one."""
BOARDS: Final = 1_500
"""Boards of a comparison."""
SEED: Final = 2011


class Mark(NamedTuple):
    """Winnings of a strategy in training from the shipped one, in mbb/g, without solved rivers.

    Attributes:
        iterations: so far.
        deals: so far.
        boards: compared on.
        mean: won.
        half_width: of the normal 95 % interval over boards.
    """

    iterations: int
    deals: int
    boards: int
    mean: float
    half_width: float


def marks(folder: Path, count: int = 1) -> list[Mark]:
    """Train, and compare at intervals; resume from the folder."""
    shipped, rows = read_strategy(SHIPPED["limit"]), []
    plan = plan_training(CfrSettings())
    for iterations in MARKS:
        path = folder / f"{iterations}.strategy"
        if not path.exists():
            trained = train(plan, folder / "training", iterations=iterations, threads=count)
            path.write_bytes(trained.path.read_bytes())
        won = compare_strategies(read_strategy(str(path)), shipped, BOARDS, seed=SEED)
        rows.append(
            Mark(
                iterations,
                iterations * plan.settings.deals,
                BOARDS,
                round(won.mean, 1),
                round(Z_95 * (won.standard_error or 0.0), 1),
            )
        )
    return rows


def played(folder: Path, opponent: str, deals: int, game: str = "limit") -> Row:
    """Play a match against one opponent, each deal in both seatings, or read it from the folder."""
    strategy = SHIPPED[game]
    checksum = zlib.crc32(read_strategy(strategy).probabilities.tobytes())
    path = folder / f"{opponent}-{deals}-{checksum:08x}.json"
    if path.exists():
        return Row(*json.loads(path.read_text("utf-8")))
    bots = make_bot("cfr?rivers=0", seed=1), make_bot(FROZEN.get(opponent, opponent), seed=2)
    row = Row.of(opponent, RunningMean(won_without_luck(game, bots, deals, SEED)))
    path.write_text(json.dumps(row), "utf-8")
    return row


def with_table(text: str, rows: Iterable[Row], name: str = "matches") -> str:
    """Return the page with the table of these rows, smallest winnings first."""
    lines = ["| against | deals, in both seatings | mbb/g |", "| --- | ---: | ---: |"]
    lines += [
        f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in sorted(rows, key=lambda row: row.mean)
    ]
    return between(text, name, lines)


def with_no_limit_table(text: str, rows: Iterable[Row]) -> str:
    """Return the page with the table of no-limit."""
    return with_table(text, rows, "matches nolimit")


def with_bots(text: str, limit: Iterable[Row], no_limit: Iterable[Row]) -> str:
    """Fill the page of all bots with the winnings of each from `cfr`, and the least that `cfr` wins."""
    columns = [{row.opponent: row for row in rows} for rows in (limit, no_limit)]
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        bot = re.match(r"\| `([\w-]+)` \|", line)
        if bot is not None:
            before, *_ = line.rsplit("|", 3)
            cells = [_against_cfr(bot[1], rows) for rows in columns]
            lines[at] = "|".join([before, *(f" {cell} " if cell else " " for cell in cells), "\n"])
    return "".join(lines)


def _against_cfr(bot: str, rows: Mapping[str, Row]) -> str:
    if bot == "cfr":
        least = min(rows.values(), key=lambda row: row.mean)
        return f"{least.mean:+,.0f} ± {least.half_width:,.0f}"
    return f"{-rows[bot].mean:+,.0f} ± {rows[bot].half_width:,.0f}" if bot in rows else ""


def with_training(text: str, rows: Iterable[Mark]) -> str:
    """Return the page with the winnings of strategies in training from the shipped one."""
    lines = ["| iterations | million deals | wins from the shipped strategy, mbb/g |", "| ---: | ---: | ---: |"]
    lines += [
        f"| {row.iterations:,} | {row.deals / 1e6:.1f} | {row.mean:+,.0f} ± {row.half_width:,.0f} |" for row in rows
    ]
    return between(text, "training", lines)


def main(folder: Path, count: int = 1) -> None:
    """Measure the missing figures and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(count) as pool:
        rows = list(pool.map(played, [folder] * len(DEALS), DEALS, DEALS.values()))
        of_no_limit = list(
            pool.map(
                played,
                [folder] * len(NO_LIMIT_DEALS),
                NO_LIMIT_DEALS,
                NO_LIMIT_DEALS.values(),
                ["nolimit"] * len(NO_LIMIT_DEALS),
            )
        )
    of_training = marks(folder, count)
    write_rows(CSV, Row, rows)
    write_rows(NO_LIMIT_CSV, Row, of_no_limit)
    write_rows(TRAINING_CSV, Mark, of_training)
    text = with_no_limit_table(with_table(PAGE.read_text("utf-8"), rows), of_no_limit)
    PAGE.write_text(with_training(text, of_training), "utf-8")
    BOTS.write_text(with_bots(BOTS.read_text("utf-8"), rows, of_no_limit), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
