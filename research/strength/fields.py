"""Measure the built-in bots at tables of two, three, six and ten players, for `research/tables/strength.md`.

    python research/strength/fields.py FOLDER [WORKERS]

plays every bot against players of every other one in all other seats, every deal in all rotations and without the luck
of the cards; with two players, those bots that the tournaments leave out. FOLDER keeps the winnings; the
results go to `fields.csv` next to this script. The tests compare the page with it.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import Row, between, read_rows, won_without_luck, write_rows

from bots.cfr.bot import SHIPPED
from bots.cfr.strategy_files import read_strategy
from bots.sdk.registry import make_bot
from logs.estimation import RunningMean
from protocol import find_game

FIELDS: Final = Path(__file__).resolve().parent / "fields.csv"
PAGE: Final = APPENDIX / "strength.md"
_EVERYWHERE: Final = {name: name for name in ("mfs", "rembrant", "rh", "calling", "raising", "folding", "random")} | {
    "learner": "learner?learn=false"
}
_LIMIT: Final = _EVERYWHERE | {"evolved": "evolved"}
BOTS: Final[Mapping[str, Mapping[str, str]]] = {
    "limit": _LIMIT | {"lp": "lp", "cfr0": "cfr?rivers=0"},
    "nolimit": _EVERYWHERE | {"cfr0": "cfr?rivers=0"},
    "limit3": _LIMIT | {"cfr": "cfr"},
    "nolimit3": _EVERYWHERE,
    "limit6": _LIMIT,
    "nolimit6": _EVERYWHERE,
    "limit10": _LIMIT,
    "nolimit10": _EVERYWHERE,
}
"""Bots of each game, by their names in the tables."""
ROWS: Final = {"limit": ("cfr0", "learner", "evolved", "lp"), "nolimit": ("cfr0", "learner")}
"""Bots with rows, by game; all if none are named."""
DEALS: Final = {2: 300, 3: 200, 6: 100, 10: 100}
"""Deals by the number of players."""
DEALS_OF_CELLS: Final = {("nolimit6", "learner", "calling"): 15_000}
"""Deals of single cells that few deals leave undecided."""
CFR_DEALS: Final = 20_000
"""Deals of `cfr` against each field."""
SEED: Final = 2011


class Met(NamedTuple):
    """Winnings of a bot from a field, in mbb/g.

    Attributes:
        player: by its name in the tables.
        opponent: in all other seats.
        deals: how many, each played in all rotations.
        mean: over the deals.
        half_width: of the 95 % interval.
    """

    game: str
    player: str
    opponent: str
    deals: int
    mean: float
    half_width: float


def met(folder: Path, game: str, player: str, opponent: str) -> Met:
    """Winnings at one table, played or read from the folder."""
    players = find_game(game)[1].num_players
    deals = CFR_DEALS if player == "cfr" else DEALS_OF_CELLS.get((game, player, opponent), DEALS[players])
    has_cfr = "cfr" in player + opponent
    checksum = zlib.crc32(read_strategy(SHIPPED[game]).probabilities.tobytes()) if has_cfr else 0
    path = folder / f"{game}-{player}-{opponent}-{deals}-{checksum:08x}.json"
    if not path.exists():
        seated = BOTS[game][player], *[BOTS[game][opponent]] * (players - 1)
        bots = [make_bot(name, seed=seed) for seed, name in enumerate(seated, 1)]
        row = Row.of(opponent, RunningMean(won_without_luck(game, bots, deals, SEED)))
        path.write_text(json.dumps(row), "utf-8")
    return Met(game, player, *json.loads(path.read_text("utf-8")))


def with_fields(text: str, rows: Iterable[Met]) -> str:
    """Return the page with the tables of these rows, the highest mean first."""
    of_pairs = {(row.game, row.player, row.opponent): row for row in rows}
    for game, bots in BOTS.items():
        records = {}
        for player in ROWS.get(game, bots):
            cells = [of_pairs.get((game, player, other)) for other in bots]
            records[f"| {player} | {' | '.join(map(_shown, cells))} |"] = sum(cell.mean for cell in cells if cell)
        lines = [f"| against | {' | '.join(bots)} |", f"| --- |{' ---: |' * len(bots)}"]
        lines += sorted(records, key=lambda line: -records[line])
        text = between(text, f"fields {game}", lines)
    return text


def with_overview(text: str, rows: Iterable[Met]) -> str:
    """Return the page with the number of fields at larger tables that each bot beats or loses to significantly."""
    rows, games = list(rows), [game for game in BOTS if game not in ROWS]
    lines = [f"| wins from, loses to | {' | '.join(games)} |", f"| --- |{' ---: |' * len(games)}"]
    for player in BOTS["limit3"]:
        cells = []
        for game in games:
            of_game = [row for row in rows if (row.game, row.player) == (game, player)]
            wins = sum(row.mean > row.half_width for row in of_game)
            losses = sum(row.mean < -row.half_width for row in of_game)
            cells.append(f"{wins}, {losses}" if of_game else "")
        lines.append(f"| {player} | {' | '.join(cells)} |")
    return between(text, "overview", lines)


def _shown(row: Met | None) -> str:
    if row is None:
        return ""
    # Between bots that never fold all corrected scores are equal.
    return f"{row.mean:+z,.0f}" + (f" ± {row.half_width:,.0f}" if row.half_width else "")


def main(folder: Path, workers: int = 1) -> None:
    """Play the missing deals and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        pending = [
            pool.submit(met, folder, game, player, opponent)
            for game, bots in BOTS.items()
            for player in ROWS.get(game, bots)
            for opponent in bots
            if player != opponent
        ]
        write_rows(FIELDS, Met, [one.result() for one in pending])
    rows = read_rows(FIELDS, Met)
    PAGE.write_text(with_overview(with_fields(PAGE.read_text("utf-8"), rows), rows), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
