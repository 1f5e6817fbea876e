"""What counts in the standings: the sums over all runs between the same versions, and the ratings made of them.

`dealer.server.queue.unrated` decides which runs count. A run that was broken off counts as far as it has come:
who breaks off what goes badly does not escape it. It is added to the sums in the change that closes it, so that it
counts once.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from dealer.server.db.records import Bot, Run, read_row, runs_by_number, versions_by_number
from dealer.server.db.store import Store
from dealer.server.ratings import FittedRating, TableScores
from dealer.server.server_settings import ServerGame
from logs.estimation import Bounds, Estimate, RunningMean, score_bounds


def add_run(
    db: sqlite3.Connection, run: int, game: str, versions: Sequence[int], *, scores: Sequence[array[float]], hands: int
) -> None:
    """Add a run to what counts.

    Args:
        scores: by player, what it won in every duplicate, in mbb/g.
    """
    ordered = sorted(zip(versions, scores, strict=True), key=lambda one: one[0])
    key = json.dumps([version for version, _ in ordered])
    units = len(scores[0])
    is_new = db.execute(
        "INSERT INTO lineups (game, versions) VALUES (?, ?) ON CONFLICT DO NOTHING", (game, key)
    ).rowcount
    (lineup,) = db.execute("SELECT id FROM lineups WHERE game = ? AND versions = ?", (game, key)).fetchone()
    db.execute(
        "UPDATE lineups SET runs = runs + 1, units = units + ?, hands = hands + ? WHERE id = ?", (units, hands, lineup)
    )
    db.execute("UPDATE runs SET lineup = ? WHERE id = ?", (lineup, run))
    db.execute("UPDATE seats SET lineup = ? WHERE run = ?", (lineup, run))
    for version, of_version in ordered:
        total, squares = math.fsum(of_version), math.fsum(score * score for score in of_version)
        db.execute(
            "INSERT INTO lineup_scores (lineup, version, total, squares) VALUES (?1, ?2, ?3, ?4) "
            "ON CONFLICT DO UPDATE SET total = total + ?3, squares = squares + ?4",
            (lineup, version, total, squares),
        )
        if len(ordered) > 2:
            db.executemany(
                "INSERT INTO company (game, version, other, lineups, units, total, squares) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET "
                "lineups = lineups + ?4, units = units + ?5, total = total + ?6, squares = squares + ?7",
                [(game, version, other, is_new, units, total, squares) for other, _ in ordered if other != version],
            )


def table_scores(store: Store, game: str) -> list[TableScores]:
    """Everything that counts in a game."""
    return [
        TableScores(
            tuple(row["version"] for row in rows),
            tuple(_mean(row["duplicates"], row["total"], row["squares"]) for row in rows),
        )
        for rows in _by_lineup(store, "lineups.game = ?", game)
    ]


def write_ratings(db: sqlite3.Connection, game: str, ratings: Sequence[FittedRating]) -> None:
    """Write the ratings of a game in place of those before, which the history keeps as far as they are apart."""
    db.executemany(
        "INSERT INTO rating_history SELECT ?1, ?2, ?3, ?4 "
        "WHERE ?2 >= 1.05 * coalesce((SELECT max(units) FROM rating_history WHERE version = ?1), 1)",
        [
            (one.player, one.units, one.won.mean, one.won.half_width)
            for one in ratings
            if one.won.half_width is not None
        ],
    )
    db.execute("DELETE FROM ratings WHERE game = ?", (game,))
    db.executemany(
        "INSERT INTO ratings (game, version, mbb_per_game, half_width_95, field, is_provisional) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(game, one.player, one.won.mean, one.won.half_width, one.field, one.is_provisional) for one in ratings],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """Score of a version in a pair."""

    version: int
    mbb_per_game: float
    half_width_95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Everything that counts between the same versions.

    Attributes:
        scores: in the order of their versions.
    """

    id: int
    game: str
    runs: int
    duplicates: int
    hands: int
    scores: tuple[PairScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentScore(PairScore):
    """Score of a version in a game of more than two, over all tables with another version; every deal counts alike.

    The interval is that of the mean of the deals as if all were of one table. Where scores differ between tables, that
    makes the interval wider, never narrower.

    Attributes:
        duplicates: deals played at these tables in every seating.
    """

    other: int
    tables: int
    duplicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Expected score of a version against the average of its field.

    Attributes:
        field: ratings of different fields cannot be compared.
        duplicates: of all its pairs.
    """

    bot: Bot
    mbb_per_game: float
    half_width_95: float | None
    field: int
    is_provisional: bool
    duplicates: int


_PAIRS = (
    "SELECT lineups.id, lineups.game, lineups.runs, lineups.units AS duplicates, lineups.hands, version, total, "
    "squares FROM lineups JOIN lineup_scores ON lineup = lineups.id "
)


def _mean(units: int, total: float, squares: float, bounds: Bounds | None = None) -> RunningMean:
    # A million hands for 20,000 chips each: plain sums give the variance to 1e-10 of itself.
    return RunningMean.from_moments(units, total / units, squares - total * total / units, bounds)


def _won(row: sqlite3.Row, bounds: Bounds) -> dict[str, Any]:
    won = _mean(row["duplicates"], row["total"], row["squares"], bounds)
    return {"mbb_per_game": won.mean, "half_width_95": won.half_width()}


def _by_lineup(store: Store, condition: str, *values: object) -> list[list[sqlite3.Row]]:
    """The scores of line-ups, those of each together, by version."""
    rows = store.read(f"{_PAIRS}WHERE {condition} ORDER BY lineups.id, version", *values)
    return [list(of_lineup) for _, of_lineup in groupby(rows, key=itemgetter("id"))]


def _pairs(store: Store, game: ServerGame, condition: str, *values: object) -> tuple[Pair, ...]:
    bounds = score_bounds(game.game)
    return tuple(
        read_row(Pair, rows[0], scores=tuple(PairScore(version=row["version"], **_won(row, bounds)) for row in rows))
        for rows in _by_lineup(store, condition, *values)
    )


def pairs(store: Store, game: ServerGame, version: int | None = None, among: Sequence[int] = ()) -> tuple[Pair, ...]:
    """The crosstable of a game, or the row of a version: all pairs, or larger tables, of which something counts.

    Args:
        among: the only versions, of a game for two; all if there are none.
    """
    if among:
        of_both = "SELECT lineup FROM lineup_scores WHERE version IN (SELECT value FROM json_each(?))"
        return _pairs(store, game, f"lineups.id IN ({of_both} GROUP BY lineup HAVING count(*) = 2)", json.dumps(among))
    if version is None:
        return _pairs(store, game, "lineups.game = ?", game.name)
    return _pairs(store, game, "lineups.id IN (SELECT lineup FROM lineup_scores WHERE version = ?)", version)


def pair(store: Store, game: ServerGame, number: int) -> Pair | None:
    """A pair of a game by its number."""
    return next(iter(_pairs(store, game, "lineups.game = ? AND lineups.id = ?", game.name, number)), None)


def opponent_scores(
    store: Store, game: ServerGame, version: int | None = None, among: Sequence[int] = ()
) -> tuple[OpponentScore, ...]:
    """The crosstable of a game of more than two, or the row of a version; empty between two.

    Args:
        among: the only versions; all if there are none.
    """
    only = "SELECT value FROM json_each(?2)"
    condition = f" AND version IN ({only}) AND other IN ({only})" if among else ""
    condition = " AND version = ?2" if version is not None else condition
    values = json.dumps(among) if version is None else version
    rows = store.read(
        f"SELECT *, lineups AS tables, units AS duplicates FROM company WHERE game = ?1{condition} "
        "ORDER BY version, other",
        game.name,
        *((values,) if condition else ()),
    )
    bounds = score_bounds(game.game)
    return tuple(read_row(OpponentScore, row, **_won(row, bounds)) for row in rows)


def count_tables(store: Store, game: ServerGame) -> int:
    """How many pairs, or larger tables, of a game there are of which something counts."""
    return int(store.read("SELECT count(*) AS found FROM lineups WHERE game = ?", game.name)[0]["found"])


def tables(
    store: Store,
    game: ServerGame,
    *,
    together: tuple[int, int] | None = None,
    after: int | None = None,
    limit: int = 50,
) -> tuple[Pair, ...]:
    """Tables of a game, in the order in which they first met; of two players, the worst for the first of them first.

    Args:
        after: the last table of the page before; the answer is empty if it is none of these.
    """
    if together is None:
        query = "SELECT id FROM lineups WHERE game = ?1 AND id > coalesce(?2, 0) ORDER BY id LIMIT ?3"
        numbers = [row["id"] for row in store.read(query, game.name, after, limit)]
    else:
        query = (
            "WITH met AS (SELECT lineup, mine.total / units AS won FROM lineup_scores AS mine "
            "JOIN lineups ON lineups.id = lineup AND game = ?1 WHERE mine.version = ?2 "
            "AND EXISTS (SELECT 1 FROM lineup_scores AS theirs WHERE theirs.lineup = mine.lineup AND version = ?3)) "
            "SELECT lineup FROM met WHERE ?4 IS NULL "
            "OR (won, lineup) > (SELECT won, lineup FROM met WHERE lineup = ?4) ORDER BY won, lineup LIMIT ?5"
        )
        numbers = [row["lineup"] for row in store.read(query, game.name, *together, after, limit)]
    marks = ",".join("?" * len(numbers))
    found = {one.id: one for one in _pairs(store, game, f"lineups.id IN ({marks})", *numbers)}
    return tuple(found[number] for number in numbers)


def rating_history(store: Store, version: int) -> tuple[tuple[int, Estimate], ...]:
    """What the rating of a version was, by the deals that it had played."""
    rows = store.read("SELECT * FROM rating_history WHERE version = ? ORDER BY units", version)
    return tuple((row["units"], Estimate(row["mbb_per_game"], row["half_width_95"])) for row in rows)


def standings(
    store: Store, game: str, bot: str | None = None, *, skip: int = 0, limit: int | None = None
) -> tuple[Rating, ...]:
    """The ratings of a game, or of the versions of a bot: the largest field first, and in it the highest first.

    Args:
        skip: how many are left out at the beginning.
        most: how many; None for all.
    """
    rows = store.read(
        "SELECT *, (SELECT sum(lineups.units) FROM lineup_scores JOIN lineups ON lineups.id = lineup "
        "WHERE lineup_scores.version = sized.version) AS duplicates FROM "
        "(SELECT *, count(*) OVER (PARTITION BY field) AS size FROM ratings WHERE game = ?1) AS sized "
        "WHERE ?2 IS NULL OR version IN (SELECT versions.id FROM versions "
        "JOIN bots ON bots.id = versions.bot WHERE bots.game = ?1 AND bots.name = ?2) "
        "ORDER BY size DESC, field, mbb_per_game DESC, version LIMIT coalesce(?3, -1) OFFSET ?4",
        game,
        bot,
        limit,
        skip,
    )
    bots = versions_by_number(store, [row["version"] for row in rows])
    return tuple(
        read_row(Rating, row, bot=bots[row["version"]], is_provisional=bool(row["is_provisional"])) for row in rows
    )


def count_rated(store: Store, game: str) -> int:
    """How many versions have a rating in a game."""
    return int(store.read("SELECT count(*) AS found FROM ratings WHERE game = ?", game)[0]["found"])


def worst_runs(store: Store, pair: int, version: int, *, after: int | None = None, limit: int = 50) -> tuple[Run, ...]:
    """Runs that count in a pair, those in which a player won least first; of the same result, the oldest first.

    An index has them in this order, so a page takes as long however many there are.

    Args:
        after: the last run of the page before; the answer is empty if it does not count in the pair.
    """
    beyond, values = "", [pair, version]
    if after is not None:
        beyond = "AND (mbb_per_game, run) > (SELECT last.mbb_per_game, run FROM seats AS last WHERE run = ? "
        beyond += "AND lineup = ? AND version = ?) "
        values += [after, pair, version]
    query = f"SELECT run FROM seats WHERE lineup = ? AND version = ? {beyond}ORDER BY mbb_per_game, run LIMIT ?"
    numbers = [row["run"] for row in store.read(query, *values, limit)]
    found = runs_by_number(store, numbers)
    return tuple(found[number] for number in numbers)
