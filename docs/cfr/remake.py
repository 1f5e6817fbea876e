"""Play `cfr` against the other bots again and write what came out into `docs/cfr.md`.

    python docs/cfr/remake.py FOLDER [WORKERS]

plays limit hold'em, duplicates, against every built-in bot that can sit at that table. What has been played is kept in
FOLDER, one file for each opponent, and not played again; the results go to `matches.csv` beside this script, and from
there into the table of the page. The table of the training is that of the shipped strategy's record. The tests hold the
page against both.
"""

from __future__ import annotations

import csv
import json
import sys
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from bots.cfr.bot import SHIPPED
from bots.cfr.files import read_strategy
from bots.registry import make_bot
from bots.selfplay import self_play
from dealer.cli.working import duration
from logs.estimation import RunningMean

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "cfr.md"
CSV: Final = HERE / "matches.csv"
DEALS: Final = {
    "calling": 2_000,
    "raising": 8_000,
    "mfs": 6_000,
    "rembrant": 2_000,
    "rh": 2_000,
    "random": 2_000,
    "folding": 1_000,
    "lp": 1_000,
    "mc": 1_000,
    "lp-mc": 1_000,
    "learner": 1_000,
    "evolved": 1_000,
}
"""By opponent: those against whom the luck of the cards is large, and those of whom the page says more, play longer."""
SEED: Final = 2011
_BEGIN: Final = "<!-- matches -->\n"
_END: Final = "<!-- end of matches -->"
_BIG_BLIND: Final = 10
_TRAINING_BEGIN: Final = "<!-- training -->\n"
_TRAINING_END: Final = "<!-- end of training -->"


class Row(NamedTuple):
    """What `cfr` won from one opponent, in mbb/g.

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


def played(folder: Path, opponent: str, deals: int) -> Row:
    """The match against one opponent; from the folder, if it has been played with this strategy."""
    checksum = zlib.crc32(read_strategy(SHIPPED).probabilities.tobytes())
    path = folder / f"{opponent}-{deals}-{checksum:08x}.json"
    if path.exists():
        return Row(*json.loads(path.read_text("utf-8")))
    bots = [make_bot("cfr", seed=1), make_bot(opponent, seed=2)]
    means, waiting = RunningMean(), {}
    for hand in self_play("limit", bots, hands=deals, seed=SEED, names=["cfr", opponent]):
        won = 1000 / _BIG_BLIND * hand.values[hand.names.index("cfr")]
        if hand.hand_number in waiting:
            means.add((waiting.pop(hand.hand_number) + won) / 2)
        else:
            waiting[hand.hand_number] = won
    row = Row(opponent, deals, round(means.mean, 1), round(means.half_width(), 1))
    path.write_text(json.dumps(row), "utf-8")
    return row


def rows_of_csv() -> list[Row]:
    """The results."""
    with CSV.open(encoding="utf-8", newline="") as file:
        return [
            Row(row["opponent"], int(row["deals"]), float(row["mbb_per_game"]), float(row["half_width_95"]))
            for row in csv.DictReader(file)
        ]


def with_table(text: str, rows: Iterable[Row]) -> str:
    """The page with the table of these rows, what wins least first."""
    lines = ["| against | deals, in both seatings | mbb/g |", "| --- | ---: | ---: |"]
    lines += [
        f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in sorted(rows, key=lambda row: row.mean)
    ]
    return _between(text, _BEGIN, _END, lines)


def with_training(text: str) -> str:
    """The page with what was measured while the shipped strategy was trained."""
    record = read_strategy(SHIPPED).record
    lines = ["| iterations | boards | time | an answer wins, mbb/g |", "| ---: | ---: | ---: | ---: |"]
    unit = 1000 / _BIG_BLIND
    for row in record["history"]:
        won, error = row["exploitability"] * unit, 1.96 * row["error"] * unit
        boards = row["iteration"] * record["settings"]["boards"]
        lines.append(f"| {row['iteration']:,} | {boards:,} | {duration(row['seconds'])} | {won:+,.0f} ± {error:,.0f} |")
    return _between(text, _TRAINING_BEGIN, _TRAINING_END, lines)


def _between(text: str, begin: str, end: str, lines: Iterable[str]) -> str:
    head, rest = text.split(begin)
    return head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]


def main(folder: Path, count: int = 1) -> None:
    """Play, and write everything anew."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(count) as pool:
        rows = list(pool.map(played, [folder] * len(DEALS), DEALS, DEALS.values()))
    with CSV.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["opponent", "deals", "mbb_per_game", "half_width_95"])
        writer.writerows(rows)
    PAGE.write_text(with_training(with_table(PAGE.read_text("utf-8"), rows)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
