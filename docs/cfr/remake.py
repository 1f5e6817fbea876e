"""Play `cfr` against the other bots again and write what came out into `docs/cfr.md`.

    python docs/cfr/remake.py FOLDER

plays limit hold'em, duplicates, against every built-in bot of the list below. What has been played is kept in FOLDER,
one file for each opponent, and not played again; the results go to `matches.csv` beside this script, and from there
into the table of the page. The tests hold the page against that file.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from bots.registry import make_bot
from bots.selfplay import self_play
from logs.estimation import RunningMean

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "cfr.md"
CSV: Final = HERE / "matches.csv"
OPPONENTS: Final = ("calling", "raising", "mfs", "rembrant")
DEALS: Final = 1_000
SEED: Final = 2011
_BEGIN: Final = "<!-- matches -->\n"
_END: Final = "<!-- end of matches -->"
_BIG_BLIND: Final = 10


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


def played(folder: Path, opponent: str, deals: int = DEALS) -> Row:
    """The match against one opponent; from the folder, if it has been played."""
    path = folder / f"{opponent}.json"
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
    """The page with the table of these rows."""
    lines = ["| against | deals, in both seatings | mbb/g |", "| --- | ---: | ---: |"]
    lines += [f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |" for row in rows]
    head, rest = text.split(_BEGIN)
    return head + _BEGIN + "\n".join(lines) + "\n" + _END + rest.split(_END)[1]


def main(folder: Path) -> None:
    """Play, and write everything anew."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [played(folder, opponent) for opponent in OPPONENTS]
    with CSV.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["opponent", "deals", "mbb_per_game", "half_width_95"])
        writer.writerows(rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
