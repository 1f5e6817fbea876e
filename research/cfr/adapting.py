"""Winnings of `cfr?exploit` while it learns about an opponent, and the losses of its response.

    python research/cfr/adapting.py FOLDER [WORKERS]

plays matches of 3,000 hands of limit hold'em, duplicates without the luck of the cards, against each opponent. No
rivers are solved. To measure the losses of a response, a bot that has learnt from a match plays it without learning
more, in every hand against the strategy; `cfr?exploit` loses the share of hands in which it responds. FOLDER keeps
finished matches; the results go to `adapting.csv` and `given.csv` next to this script, and from there into the tables
of `research/tables/cfr.md`.

"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import Row, between, read_rows, won_without_luck, write_rows

from bots.sdk.registry import make_bot
from logs.estimation import RunningMean

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "cfr.md"
CSV: Final = HERE / "adapting.csv"
GIVEN_CSV: Final = HERE / "given.csv"
PART: Final = 0.3
"""Share of the hands with the response."""
DEALS: Final = 1_500
"""Deals of a match, each in both seatings: 3,000 hands."""
MATCHES: Final = {"calling": 2, "raising": 2, "mfs": 1, "rembrant": 1}
"""Matches by opponent; each begins with nothing learnt."""
GIVEN: Final = {"calling": 3_000, "raising": 3_000}
"""Deals of each response against the strategy."""
SEED: Final = 43


def played(folder: Path, opponent: str, number: int) -> list[float]:
    """Play a match of `cfr?exploit`, or read it from the folder."""
    path = folder / f"{opponent}-{number}.json"
    if not path.exists():
        seed = SEED + number
        bots = make_bot(f"cfr?rivers=0,exploit={PART}", seed=number), make_bot(opponent, seed=seed)
        path.write_text(json.dumps(list(won_without_luck("limit", bots, DEALS, seed))), "utf-8")
    found: list[float] = json.loads(path.read_text("utf-8"))
    return found


def given(folder: Path, opponent: str, deals: int) -> list[float]:
    """Winnings of the strategy from its response to an opponent, by the share of hands with the response."""
    path = folder / f"{opponent}-given-{deals}.json"
    if not path.exists():
        bot = make_bot("cfr?rivers=0,exploit=1", seed=1)
        list(won_without_luck("limit", [bot, make_bot(opponent, seed=SEED)], DEALS, SEED))
        bot.hand_finished = lambda view: None  # type: ignore[method-assign]
        won = won_without_luck("limit", [bot, make_bot("cfr?rivers=0", seed=2)], deals, SEED + 1)
        path.write_text(json.dumps([-PART * one for one in won]), "utf-8")
    found: list[float] = json.loads(path.read_text("utf-8"))
    return found


def with_tables(text: str, won: Iterable[Row], lost: Iterable[Row]) -> str:
    """Fill the tables of the page."""
    for name, rows, head in (
        ("adapting", won, "| opponent | deals, in both seatings | mbb/g |"),
        ("given", lost, "| answer to | deals, in both seatings | gives away, mbb/g |"),
    ):
        lines = [head, "| --- | ---: | ---: |"]
        lines += [f"| `{row.opponent}` | {row.deals:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} |" for row in rows]
        text = between(text, name, lines)
    return text


def main(folder: Path, count: int = 1) -> None:
    """Play the missing matches and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(count) as pool:
        matches = {
            opponent: [pool.submit(played, folder, opponent, number) for number in range(many)]
            for opponent, many in MATCHES.items()
        }
        answers = {opponent: pool.submit(given, folder, opponent, deals) for opponent, deals in GIVEN.items()}
        won = [
            Row.of(opponent, RunningMean(one for part in parts for one in part.result()))
            for opponent, parts in matches.items()
        ]
        lost = [Row.of(opponent, RunningMean(answer.result())) for opponent, answer in answers.items()]
    write_rows(CSV, Row, won)
    write_rows(GIVEN_CSV, Row, lost)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), read_rows(CSV, Row), read_rows(GIVEN_CSV, Row)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
