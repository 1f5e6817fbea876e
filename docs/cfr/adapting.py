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
from typing import Final, NamedTuple

from rows import PAGE, between, read_rows, write_rows

from bots.sdk.bot import Bot
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
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
_BIG_BLIND: Final = 10


class Adapted(NamedTuple):
    """What is won in mbb/g.

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


def match(bot: Bot, opponent: str, seed: int) -> list[float]:
    """What the bot wins in each deal of a match, the mean of both seatings, in mbb/g."""
    found, waiting = [], dict[int, float]()
    for hand in self_play("limit", [bot, make_bot(opponent, seed=seed)], deals=DEALS, seed=seed, names=["us", "them"]):
        won = 1000 / _BIG_BLIND * hand.values[hand.names.index("us")]
        if hand.hand_number in waiting:
            found.append((waiting.pop(hand.hand_number) + won) / 2)
        else:
            waiting[hand.hand_number] = won
    return found


def played(folder: Path, opponent: str, number: int) -> list[float]:
    """A match of `cfr?exploit`, from the folder if it has been played."""
    path = folder / f"{opponent}-{number}.json"
    if not path.exists():
        won = match(make_bot(f"cfr?rivers=0,exploit={PART}", seed=number), opponent, SEED + number)
        path.write_text(json.dumps(won), "utf-8")
    found: list[float] = json.loads(path.read_text("utf-8"))
    return found


def row(opponent: str, won: Iterable[float]) -> Adapted:
    means = RunningMean(won)
    return Adapted(opponent, means.count, round(means.mean, 1), round(means.half_width() or 0.0, 1))


def with_table(text: str, rows: Iterable[Adapted]) -> str:
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
        rows = [row(opponent, [one for part in parts for one in part.result()]) for opponent, parts in matches.items()]
    write_rows(CSV, Adapted, rows)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read_rows(CSV, Adapted)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
