"""Measure the exact best responses to the shipped strategies from the turn and from the river on.

    python research/cfr/responses.py FOLDER [WORKERS]

is equivalent to `arena exploit exact GAME BOT --from ROUND --run FOLDER/NAME` for each row of `QUESTIONS`. FOLDER keeps
the computed boards; the results go to `responses.csv` next to this script and to `research/tables/cfr.md`.

"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import between, read_rows, write_rows

from bots.cfr.response_estimates import Street, estimate_responses, response_settings
from bots.workers import local_workers
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
CSV: Final = HERE / "responses.csv"
PAGE: Final = APPENDIX / "cfr.md"


class Question(NamedTuple):
    """Settings of an estimate.

    Attributes:
        street: round from which on one player plays the best response.
        boards: how many are drawn.
        rivers: drawn after each turn, if not all.
    """

    game: str
    bot: str
    street: Street
    boards: int
    rivers: int | None = None
    seed: int = 1


QUESTIONS: Final = (
    Question("limit", "cfr?rivers=0", "turn", 500),
    Question("limit", "cfr?turns=0", "turn", 100, rivers=6, seed=0),
    Question("limit", "cfr?turns=25", "turn", 100, rivers=6, seed=0),
    Question("limit", "cfr?rivers=0", "river", 1_000),
    Question("limit", "cfr?turns=0", "river", 1_000),
    Question("nolimit", "cfr?rivers=0", "turn", 300),
    Question("nolimit", "cfr?turns=0", "turn", 100, rivers=6, seed=0),
    Question("nolimit", "cfr?turns=50", "turn", 100, rivers=6, seed=0),
    Question("nolimit", "cfr?rivers=0", "river", 200),
    Question("nolimit", "cfr?turns=0", "river", 100),
)


class Response(NamedTuple):
    """Winnings of a best response in mbb/g.

    Attributes:
        street: round from which on one player plays the best response.
        boards: how many were drawn.
        mean: over the boards and both seats.
        half_width: of the 95 % interval over boards.
    """

    game: str
    bot: str
    street: str
    boards: int
    mean: float
    half_width: float


def measure(folder: Path, question: Question, workers: int) -> Response:
    """Compute the boards that are missing in the folder."""
    game, bot, street, boards, rivers, seed = question
    settings = response_settings(find_game(game)[0], bot, street, seed, rivers)
    name = f"{game}-{bot.replace('?', '-').replace('=', '-')}-{street}"
    with nullcontext() if workers == 1 else local_workers(workers) as pool:
        won = estimate_responses(settings, boards, folder=folder / name, workers=pool)
    return Response(game, bot, street, won.count, round(won.mean, 1), round(won.half_width() or 0.0, 1))


def with_table(text: str, responses: Iterable[Response]) -> str:
    """Fill the table of the page."""
    lines = ["| game | bot | from | boards | a best response wins, mbb/g |", "| --- | --- | --- | ---: | ---: |"]
    for row in responses:
        won = f"{row.mean:+,.0f} ± {row.half_width:,.0f}"
        lines.append(f"| {row.game} | `{row.bot}` | {row.street} | {row.boards:,} | {won} |")
    return between(text, "responses", lines)


def main(folder: Path, workers: int = 1) -> None:
    """Measure all rows and write the file and the page."""
    responses = []
    for question in QUESTIONS:
        before = time.process_time()
        responses.append(measure(folder, question, workers))
        print(*responses[-1], f"{time.process_time() - before:.0f} s of processor time", flush=True)
    write_rows(CSV, Response, responses)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), read_rows(CSV, Response)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
