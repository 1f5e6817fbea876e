"""Measure the built-in bots at tables of three, six and ten players, for `docs/strength-tables.md`.

    python docs/strength/fields.py FOLDER [WORKERS]

plays every bot against players of every other one in all other seats, every deal in all rotations and without the luck
of the cards. FOLDER keeps what has been played; the results go to `fields.csv` next to this script. The tests compare
the page with it.
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
from rows import between, read_rows, rounded, won_without_luck, write_rows

from bots.cfr.bot import SHIPPED
from bots.cfr.strategy_files import read_strategy
from bots.sdk.registry import make_bot
from protocol import find_game

FIELDS: Final = Path(__file__).resolve().parent / "fields.csv"
PAGE: Final = Path(__file__).resolve().parents[1] / "strength-tables.md"
_EVERYWHERE: Final = {
    name: name for name in ("mfs", "rembrant", "rh", "calling", "raising", "folding", "random")
} | {"learner": "learner?learn=false"}
_LIMIT: Final = _EVERYWHERE | {"evolved": "evolved"}
BOTS: Final[Mapping[str, Mapping[str, str]]] = {
    "limit3": _LIMIT | {"cfr": "cfr"},
    "nolimit3": _EVERYWHERE,
    "limit6": _LIMIT,
    "nolimit6": _EVERYWHERE,
    "limit10": _LIMIT,
    "nolimit10": _EVERYWHERE,
}
"""By game, those that play it, by their names in the tables."""
DEALS: Final = {3: 500, 6: 200, 10: 100}
"""By the number of players."""
CFR_DEALS: Final = 20_000
"""Of `cfr` against each field."""
SEED: Final = 2011


class Met(NamedTuple):
    """What a bot wins from a field, in mbb/g.

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
    """The winnings at one table; from the folder, if they have been played."""
    players = find_game(game)[1].num_players
    deals = CFR_DEALS if player == "cfr" else DEALS[players]
    checksum = zlib.crc32(read_strategy(SHIPPED[game]).probabilities.tobytes()) if "cfr" in (player, opponent) else 0
    path = folder / f"{game}-{player}-{opponent}-{deals}-{checksum:08x}.json"
    if not path.exists():
        seated = BOTS[game][player], *[BOTS[game][opponent]] * (players - 1)
        bots = [make_bot(name, seed=seed) for seed, name in enumerate(seated, 1)]
        path.write_text(json.dumps(rounded(won_without_luck(game, bots, deals, SEED))), "utf-8")
    return Met(game, player, opponent, *json.loads(path.read_text("utf-8")))


def with_fields(text: str, rows: Iterable[Met]) -> str:
    """The page with the tables of these rows, what wins most in the mean first."""
    rows = list(rows)
    for game, bots in BOTS.items():
        cells = {(row.player, row.opponent): row for row in rows if row.game == game}
        means = {name: sum(cells[name, other].mean for other in bots if other != name) for name in bots}
        names = sorted(bots, key=lambda name: -means[name])
        lines = [f"| against | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
        lines += [f"| {name} | {' | '.join([_shown(cells.get((name, other))) for other in names])} |" for name in names]
        text = between(text, f"fields {game}", lines)
    return text


def _shown(row: Met | None) -> str:
    return f"{row.mean:+,.0f} ± {row.half_width:,.0f}" if row is not None else ""


def main(folder: Path, workers: int = 1) -> None:
    """Play what is missing and write the file and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        pending = [
            pool.submit(met, folder, game, player, opponent)
            for game, bots in BOTS.items()
            for player in bots
            for opponent in bots
            if player != opponent
        ]
        write_rows(FIELDS, Met, [one.result() for one in pending])
    PAGE.write_text(with_fields(PAGE.read_text("utf-8"), read_rows(FIELDS, Met)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
