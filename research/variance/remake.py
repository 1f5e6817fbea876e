"""Repeat the measurements of variance reduction in `research/tables/benchmarks.md` and write them into the page.

    python research/variance/remake.py
    python research/variance/remake.py ranges       # or factors, or speed: only this table

plays matches between built-in bots in this process, counts their hands for all estimators, and times the counting. The
results go to `factors.csv`, `ranges.csv` and `speed.csv` next to this script, and from there into the tables of the
page. The tests compare the page with these files. Review the sentences of the page when the figures have changed.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from bots.evaluation.hypothetical_hands import ActionTerms, HypotheticalHands
from bots.evaluation.policies import parse_policy
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.record import HandRecord
from logs.variance.estimates import PlayerEstimates, WinRateEstimate
from logs.variance.reduction import Reduction

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "tables" / "benchmarks.md"
FACTORS: Final = HERE / "factors.csv"
RANGES: Final = HERE / "ranges.csv"
SPEED: Final = HERE / "speed.csv"

SEED: Final = 2018
RANDOM5: Final = "random?decisions=20/50/15/10/5"
MATCHES: Final = (
    (2_000, "limit", "mfs", "mfs?k=4"),
    (2_000, "limit", "calling", "random"),
    (2_000, "limit", "raising", "random"),
    (2_000, "limit", "random", "random"),
    (2_000, "limit3", "calling", "random", "rh?k=30"),
    (2_000, "nolimit", "calling", RANDOM5),
)
"""Hands, game and players."""
OVER_RANGES: Final = (400, "limit", "lp", "random")
"""Match for AIVAT over ranges, with the first player known."""
COLUMNS: Final = ("all-in adjusted", "chance-corrected", "chance-corrected, fitted", "one", "all")
"""Estimators of a match; the last two are fitted AIVAT, with the first drawing player known, and with all of them."""
DRAWING: Final = ("random", "rembrant?reading=probabilistic")
"""Players that draw, by the beginnings of their names: the others have no terms."""
BOUNDS: Final = ("<!-- {} -->", "<!-- end of {} -->")


class Row(NamedTuple):
    """Estimate of one match.

    Attributes:
        game: its name.
        players: their specifications.
        hands: how many, each played once.
        estimator: one of `COLUMNS`, or ``raw``.
        mean: of the first player, in mbb per game.
        error: its standard error.
        factor: how many times fewer hands than raw ones have this error; empty if nothing depends on luck.
    """

    game: str
    players: str
    hands: str
    estimator: str
    mean: str
    error: str
    factor: str


def bots_of(players: Sequence[str]) -> list[str]:
    """Create the players with their own seeds."""
    seeded = {"random", "mfs", "rembrant", "lp"}
    return [
        f"{text}{',' if '?' in text else '?'}seed={at}" if text.partition("?")[0] in seeded else text
        for at, text in enumerate(players, 1)
    ]


def hands_of(game: str, players: Sequence[str], hands: int) -> Iterable[HandRecord]:
    """Hands of a match; players are named by number."""
    return self_play(
        game,
        [make_bot(text) for text in bots_of(players)],
        deals=hands,
        seed=SEED,
        seating="single",
        names=[str(at) for at in range(1, len(players) + 1)],
    )


def estimated(records: Iterable[HandRecord], known: Mapping[str, str]) -> PlayerEstimates:
    """First player's win rate by all estimators."""
    reduction = Reduction(lambda game: ActionTerms(game, {name: parse_policy(known[name], game) for name in known}))
    for record in records:
        reduction.add(record)
    (found,) = reduction.estimates().games
    return next(one for one in found.players if one.player == "1")


def measured(match: tuple[int, *tuple[str, ...]]) -> list[Row]:
    """Rows of the match."""
    hands, game, *players = match
    known = {str(at): text for at, text in enumerate(bots_of(players), 1) if text.startswith(DRAWING)}
    alone = estimated(hands_of(game, players, hands), known)
    kept = {"raw": "raw", "all-in adjusted": "all-in adjusted", **{one: one for one in COLUMNS[1:3]}}
    kept |= {
        f"AIVAT, {' and '.join(names)} known, fitted": column
        for column, names in (("one", list(known)[:1]), ("all", list(known)))
    }
    estimates = [(kept[one.name], one) for one in alone.estimates if one.name in kept]
    return [row_of(match, name, one) for name, one in estimates]


def row_of(match: tuple[int, *tuple[str, ...]], name: str, one: WinRateEstimate) -> Row:
    """Convert an estimate to its stored row."""
    hands, game, *players = match
    factor = "" if one.factor is None else f"{one.factor:.3g}"
    return Row(
        game, " ".join(players), str(hands), name, f"{one.mbb_per_game:.1f}", f"{one.standard_error:.1f}", factor
    )


def over_ranges() -> list[Row]:
    """Rows of AIVAT over ranges; no weights are fitted."""
    hands, game, *players = OVER_RANGES
    policy = bots_of(players)[0]
    reduction = Reduction(
        lambda rules: ActionTerms(
            rules,
            {"1": parse_policy(policy, rules)},
            imagined=[HypotheticalHands(rules, {"1": parse_policy(policy, rules)})],
        )
    )
    for record in hands_of(game, players, hands):
        reduction.add(record)
    (found,) = reduction.estimates().games
    first = next(one for one in found.players if one.player == "1")
    return [row_of(OVER_RANGES, one.name, one) for one in first.estimates if not one.is_fitted]


def timed() -> list[tuple[str, str]]:
    """Hands counted per second of one core, chance terms alone, by game."""
    rows = []
    for game, players in (("limit", 2), ("nolimit", 2), ("limit6", 6)):
        records = list(hands_of(game, ["random"] * players, 20_000))
        for turn in (records[:100], records):
            reduction = Reduction()
            began_s = time.process_time()
            for record in turn:
                reduction.add(record)
            reduction.estimates()
            used_s = time.process_time() - began_s
        rows.append((game, f"{len(records) / used_s:.0f}"))
    return rows


class Stored(NamedTuple):
    """Results in the files next to this script."""

    factors: list[Row]
    ranges: list[Row]
    speed: list[tuple[str, str]]


def stored() -> Stored:
    factors, ranges = ([Row(*row) for row in _read(path)] for path in (FACTORS, RANGES))
    return Stored(factors, ranges, [(game, speed) for game, speed in _read(SPEED)])


def _read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def tables(found: Stored) -> dict[str, str]:
    """Tables of the page by name."""
    lines = [
        "| game | players | hands | raw, mbb/g | best, mbb/g | all-in | chance | fitted | one | all |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for key in dict.fromkeys(row[:3] for row in found.factors):
        cells = {row.estimator: row for row in found.factors if row[:3] == key}
        numbers = [(cells[column].factor or "no luck left") if column in cells else "" for column in COLUMNS]
        best = min(cells.values(), key=lambda row: float(row.error))
        names = " ".join(f"`{name}`" for name in key[1].split())
        shown = [key[0], names, f"{int(key[2]):,}", _mean(cells["raw"]), _mean(best), *map(_plain, numbers)]
        lines.append(f"| {' | '.join(shown)} |")
    ranges = ["| estimator | mbb/g | factor |", "| --- | --- | --- |"]
    ranges += [f"| {row.estimator} | {_mean(row)} | {_plain(row.factor)} |" for row in found.ranges]
    times = ["| game | hands per second |", "| --- | --- |"]
    times += [f"| {game} | {int(rate):,} |" for game, rate in found.speed]
    return {name: "\n".join(rows) for name, rows in (("factors", lines), ("ranges", ranges), ("speed", times))}


def _mean(row: Row) -> str:
    return f"{float(row.mean):+,.0f} ({float(row.error):,.1f})"


def _plain(factor: str) -> str:
    """Format a factor without a power of ten."""
    return f"{float(factor):,.0f}" if "e" in factor else factor


def with_tables(text: str, found: Stored) -> str:
    """Return the page with these tables."""
    for name, table in tables(found).items():
        begin, end = (bound.format(name) for bound in BOUNDS)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return text


def main(wanted: Sequence[str]) -> None:
    """Measure, store, and write the page."""
    if "factors" in wanted:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            _write(FACTORS, [row for rows in pool.map(measured, MATCHES) for row in rows])
    if "ranges" in wanted:
        _write(RANGES, over_ranges())
    if "speed" in wanted:
        _write(SPEED, timed())
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or ("factors", "ranges", "speed"))
