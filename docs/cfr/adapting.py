"""What `cfr?exploit` wins while it learns about an opponent.

    python docs/cfr/adapting.py FOLDER [WORKERS]

plays matches of 3,000 hands of limit hold'em, duplicates, against each opponent. No rivers are solved. FOLDER keeps
what has been played; the results go to `adapting.csv` next to this script, and from there into the table of
`docs/cfr-tables.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from rows import PAGE, Row, between, read_rows, won_in_both_seatings, write_rows

from bots.sdk.registry import make_bot
from logs.estimation import RunningMean

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "adapting.csv"
PART: Final = 0.3
"""Of the hands, in which it answers."""
DEALS: Final = 1_500
"""Of a match, each in both seatings: 3,000 hands."""
MATCHES: Final = {"calling": 2, "raising": 2, "mfs": 1, "rembrant": 1}
"""By opponent; each begins with nothing learnt."""
SEED: Final = 43


def played(folder: Path, opponent: str, number: int) -> list[float]:
    """A match of `cfr?exploit`, from the folder if it has been played."""
    path = folder / f"{opponent}-{number}.json"
    if not path.exists():
        seed = SEED + number
        bots = make_bot(f"cfr?rivers=0,exploit={PART}", seed=number), make_bot(opponent, seed=seed)
        won = list(won_in_both_seatings("limit", bots, DEALS, seed))
        path.write_text(json.dumps(won), "utf-8")
    found: list[float] = json.loads(path.read_text("utf-8"))
    return found


def with_table(text: str, rows: Iterable[Row]) -> str:
    """The page with what was won."""
    lines = ["| opponent | deals, in both seatings | mbb/g |", "| --- | ---: | ---: |"]
    lines += [f"| `{one.opponent}` | {one.deals:,} | {one.mean:+,.0f} ± {one.half_width:,.0f} |" for one in rows]
    return between(text, "adapting", lines)


def main(folder: Path, count: int = 1) -> None:
    """Play what is missing and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(count) as pool:
        matches = {
            opponent: [pool.submit(played, folder, opponent, number) for number in range(many)]
            for opponent, many in MATCHES.items()
        }
        rows = [
            Row.of(opponent, RunningMean(one for part in parts for one in part.result()))
            for opponent, parts in matches.items()
        ]
    write_rows(CSV, Row, rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read_rows(CSV, Row)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
