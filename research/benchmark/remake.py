"""Play the benchmark with built-in bots, and write the results into `research/tables/benchmark.md`.

    python research/benchmark/remake.py FOLDER              # all bots
    python research/benchmark/remake.py FOLDER mfs rh       # these
    python research/benchmark/remake.py FOLDER mfs -n 100   # with other than the standard number of deals

FOLDER keeps the runs: a finished one is not played again, an interrupted one continues. The results go to `nolimit.csv`
next to this script, in which other bots keep theirs, and what `mfs` prints to `output.txt`. The page shows both.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import between, read_rows, write_rows

from dealer.reports.benchmark_data import DEALS, BenchmarkData
from dealer.reports.winnings_parts import WinningsPart

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "benchmark.md"
CSV: Final = HERE / "nolimit.csv"
OUTPUT: Final = HERE / "output.txt"
SHOWN: Final = "mfs"
"""Bot whose output the page shows."""
ARENA: Final = str(Path(sys.executable).with_name("arena"))
BOTS: Final = (
    "cfr",
    "mfs",
    "rembrant",
    "rh",
    "learner",
    "calling",
    "raising",
    "folding",
    "random",
    "constant",
)
"""Bots of no-limit hold'em, except `lbr`, which responds to a given policy."""
OPTIONS: Final = {"learner": "learner?learn=false", "constant": "constant?decision=3"}
"""Bots with options: one that learns is no single player."""
STREETS: Final = ("preflop", "flop", "turn", "river")


class Row(NamedTuple):
    """Benchmark of a bot, in mbb/g.

    Attributes:
        bot: by its name.
        version: version of the benchmark.
        deals: deals in both seatings.
        strategy: checksum of the opponent's strategy.
        mean: win rate by AIVAT.
        half_width: of its 95 % interval; 0 with too few deals.
        raw: win rate by chips.
        raw_half_width: of its 95 % interval; 0 with too few deals.
        preflop: part of the street by AIVAT, or by chips without values, as for the other streets.
        is_corrected: whether the streets are by AIVAT.
        median_ms: median time of an answer.
        p99_ms: 99th percentile of the answer times.
    """

    bot: str
    version: int
    deals: int
    strategy: str
    mean: float
    half_width: float
    raw: float
    raw_half_width: float
    preflop: float
    flop: float
    turn: float
    river: float
    is_corrected: int
    median_ms: float
    p99_ms: float
    faults: int


def played(folder: Path, bot: str, deals: int) -> BenchmarkData:
    """Play or resume the benchmark of a bot unless it has finished; keep the output next to its folder."""
    name = f"{bot}-{deals}"
    path = folder / name / "benchmark.json"
    if not path.exists():
        words = [name]
        if not (folder / name / "run.toml").exists():
            words = [f"{bot}={OPTIONS[bot]}" if bot in OPTIONS else bot, "-n", str(deals), "--out", name]
        ran = subprocess.run([ARENA, "benchmark", *words], cwd=folder, check=True, stdout=subprocess.PIPE)
        (folder / f"{name}.txt").write_bytes(ran.stdout)
    return BenchmarkData.model_validate_json(path.read_text("utf-8"))


def row_of(bot: str, data: BenchmarkData) -> Row:
    """Convert a benchmark to its stored row."""
    player = data.result.players[0]
    if data.rate is None or player.won is None or player.median_us is None or player.p99_us is None:
        raise ValueError(f"{bot}: {data.problem}")
    return Row(
        bot,
        data.benchmark,
        data.result.duplicates,
        data.strategy,
        round(data.rate.mbb_per_game, 1),
        round(data.rate.half_width_95 or 0.0, 1),
        round(player.won.raw.mean, 1),
        round(player.won.raw.half_width or 0.0, 1),
        *map(_street, data.streets),
        int(data.streets[0].corrected is not None),
        round(player.median_us / 1000, 3),
        round(player.p99_us / 1000, 3),
        sum(player.faults.values()),
    )


def _street(part: WinningsPart) -> float:
    return round((part.corrected or part.raw).mean, 1)


def table(rows: Iterable[Row]) -> list[str]:
    """Lines of the table: smallest losses first, unmeasured bots last."""
    lines = [
        "| bot | deals | mbb/g by AIVAT | mbb/g by chips | preflop | flop | turn | river | median | 99 % | faults |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    measured = {row.bot: row for row in rows}
    for row in sorted(measured.values(), key=lambda row: -row.mean):
        streets = [f"{value:+,.0f}" for value in (row.preflop, row.flop, row.turn, row.river)]
        cells = [
            f"`{row.bot}`",
            f"{row.deals:,}",
            _interval(row.mean, row.half_width),
            _interval(row.raw, row.raw_half_width),
            *streets,
            f"{row.median_ms:,.3g} ms",
            f"{row.p99_ms:,.3g} ms",
            f"{row.faults:,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for bot in BOTS:
        if bot not in measured:
            lines.append(f"| `{bot}` | not yet measured |{' |' * 9}")
    return lines


def _interval(mean: float, half_width: float) -> str:
    return f"{mean:+,.0f} ± {half_width:,.0f}" if half_width else f"{mean:+,.0f}"


def with_results(text: str) -> str:
    """Return the page with the stored output and table."""
    output = OUTPUT.read_text("utf-8").splitlines() if OUTPUT.exists() else []
    text = between(text, "output", ["```text", *[line.rstrip() for line in output], "```"])
    return between(text, "bots", table(stored()))


def stored() -> list[Row]:
    return read_rows(CSV, Row) if CSV.exists() else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Play, store, and write the page after each bot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("bots", nargs="*", choices=[*BOTS, []], default=list(BOTS))
    parser.add_argument("-n", "--deals", type=int, default=DEALS)
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for bot in chosen.bots:
        row = row_of(bot, played(chosen.folder, bot, chosen.deals))
        rows = {row.bot: row for row in stored()} | {bot: row}
        write_rows(CSV, Row, [rows[name] for name in BOTS if name in rows])
        if bot == SHOWN:
            OUTPUT.write_bytes((chosen.folder / f"{bot}-{chosen.deals}.txt").read_bytes())
        PAGE.write_text(with_results(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
