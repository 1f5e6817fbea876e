"""Scores that count in the standings, summed over all runs between the same versions, and the ratings.

`dealer.server.queue.unrated` decides which runs count. A run adds its scores in the change that closes it, so it counts
exactly once.
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
    """Add the scores of a run.

    A run that was broken off counts up to its end: a player cannot escape a loss by leaving.

    Args:
        scores: by player, in mbb/g by duplicate.
    """
    scores_by_version = sorted(zip(versions, scores, strict=True), key=itemgetter(0))
    key = json.dumps([version for version, _ in scores_by_version])
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
    for version, version_scores in scores_by_version:
        total = math.fsum(version_scores)
        squares = math.fsum(score * score for score in version_scores)
        db.execute(
            "INSERT INTO lineup_scores (lineup, version, total, squares) VALUES (?1, ?2, ?3, ?4) "
            "ON CONFLICT DO UPDATE SET total = total + ?3, squares = squares + ?4",
            (lineup, version, total, squares),
        )
        if len(scores_by_version) > 2:
            opponents = [opponent for opponent, _ in scores_by_version if opponent != version]
            db.executemany(
                "INSERT INTO company (game, version, other, lineups, units, total, squares) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET "
                "lineups = lineups + ?4, units = units + ?5, total = total + ?6, squares = squares + ?7",
                [(game, version, opponent, is_new, units, total, squares) for opponent in opponents],
            )


def table_scores(store: Store, game: str) -> list[TableScores]:
    """Scores of all line-ups of a game, for the ratings."""
    tables = []
    for rows in _by_lineup(store, "lineups.game = ?", game):
        players = tuple(row["version"] for row in rows)
        scores = tuple(_mean(row["duplicates"], row["total"], row["squares"]) for row in rows)
        tables.append(TableScores(players, scores))
    return tables


def write_ratings(db: sqlite3.Connection, game: str, ratings: Sequence[FittedRating]) -> None:
    """Replace the ratings of a game; the history keeps one per 5 % more units."""
    db.executemany(
        "INSERT INTO rating_history SELECT ?1, ?2, ?3, ?4 "
        "WHERE ?2 >= 1.05 * coalesce((SELECT max(units) FROM rating_history WHERE version = ?1), 1)",
        [
            (rating.player, rating.units, rating.won.mean, rating.won.half_width)
            for rating in ratings
            if rating.won.half_width is not None
        ],
    )
    db.execute("DELETE FROM ratings WHERE game = ?", (game,))
    db.executemany(
        "INSERT INTO ratings (game, version, mbb_per_game, half_width_95, field, is_provisional) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (game, rating.player, rating.won.mean, rating.won.half_width, rating.field, rating.is_provisional)
            for rating in ratings
        ],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """Score of a version in a pair."""

    version: int
    mbb_per_game: float
    half_width_95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Scores between the same versions, two or more.

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
    """Score of a version over all tables with another version, in a game of more than two players.

    The interval treats all deals as those of one table. If scores differ between tables, it is wider than necessary.

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
        field: number of the field. Ratings of different fields cannot be compared.
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
    # Plain sums are precise enough: the variance of a million hands for 20,000 chips has a relative error of 1e-10.
    return RunningMean.from_moments(units, total / units, squares - total * total / units, bounds=bounds)


def _won(row: sqlite3.Row, bounds: Bounds) -> dict[str, Any]:
    won = _mean(row["duplicates"], row["total"], row["squares"], bounds)
    return {"mbb_per_game": won.mean, "half_width_95": won.guaranteed_half_width()}


def _by_lineup(store: Store, condition: str, *values: object) -> list[list[sqlite3.Row]]:
    """Read the scores of line-ups, a list for each in the order of the versions."""
    rows = store.read(f"{_PAIRS}WHERE {condition} ORDER BY lineups.id, version", *values)
    return [list(lineup_rows) for _, lineup_rows in groupby(rows, key=itemgetter("id"))]


def _pairs(store: Store, game: ServerGame, condition: str, *values: object) -> tuple[Pair, ...]:
    bounds = score_bounds(game.game)
    pairs = []
    for rows in _by_lineup(store, condition, *values):
        scores = tuple(PairScore(version=row["version"], **_won(row, bounds)) for row in rows)
        pairs.append(read_row(Pair, rows[0], scores=scores))
    return tuple(pairs)


def pairs(store: Store, game: ServerGame, version: int | None = None, among: Sequence[int] = ()) -> tuple[Pair, ...]:
    """Crosstable of a game, or the row of a version: all line-ups with scores.

    Args:
        among: in a game for two, only pairs of these versions; empty for all.
    """
    if among:
        lineups = "SELECT lineup FROM lineup_scores WHERE version IN (SELECT value FROM json_each(?))"
        return _pairs(store, game, f"lineups.id IN ({lineups} GROUP BY lineup HAVING count(*) = 2)", json.dumps(among))
    if version is None:
        return _pairs(store, game, "lineups.game = ?", game.name)
    return _pairs(store, game, "lineups.id IN (SELECT lineup FROM lineup_scores WHERE version = ?)", version)


def pair(store: Store, game: ServerGame, number: int) -> Pair | None:
    return next(iter(_pairs(store, game, "lineups.game = ? AND lineups.id = ?", game.name, number)), None)


def opponent_scores(
    store: Store, game: ServerGame, version: int | None = None, among: Sequence[int] = ()
) -> tuple[OpponentScore, ...]:
    """Crosstable of a game of more than two players, or the row of a version; empty for a game of two.

    Args:
        among: only these versions; empty for all.
    """
    condition = ""
    values: list[object] = [game.name]
    if version is not None:
        condition = " AND version = ?2"
        values.append(version)
    elif among:
        numbers = "SELECT value FROM json_each(?2)"
        condition = f" AND version IN ({numbers}) AND other IN ({numbers})"
        values.append(json.dumps(among))
    rows = store.read(
        f"SELECT *, lineups AS tables, units AS duplicates FROM company WHERE game = ?1{condition} "
        "ORDER BY version, other",
        *values,
    )
    bounds = score_bounds(game.game)
    return tuple(read_row(OpponentScore, row, **_won(row, bounds)) for row in rows)


def count_tables(store: Store, game: ServerGame) -> int:
    """Count the line-ups of a game that have scores."""
    return int(store.read("SELECT count(*) AS n FROM lineups WHERE game = ?", game.name)[0]["n"])


def tables(
    store: Store,
    game: ServerGame,
    *,
    together: tuple[int, int] | None = None,
    after: int | None = None,
    limit: int = 50,
) -> tuple[Pair, ...]:
    """Line-ups of a game in the order of their first runs, or those of two players with the first's worst first.

    Args:
        together: versions of two players.
        after: last number of the previous page; an unknown one gives an empty page.
    """
    if together is None:
        query = "SELECT id FROM lineups WHERE game = ?1 AND id > coalesce(?2, 0) ORDER BY id LIMIT ?3"
        numbers = [row["id"] for row in store.read(query, game.name, after, limit)]
    else:
        query = (
            "WITH met AS (SELECT lineup, first.total / units AS won FROM lineup_scores AS first "
            "JOIN lineups ON lineups.id = lineup AND game = ?1 WHERE first.version = ?2 "
            "AND EXISTS (SELECT 1 FROM lineup_scores AS second WHERE second.lineup = first.lineup AND version = ?3)) "
            "SELECT lineup FROM met WHERE ?4 IS NULL "
            "OR (won, lineup) > (SELECT won, lineup FROM met WHERE lineup = ?4) ORDER BY won, lineup LIMIT ?5"
        )
        numbers = [row["lineup"] for row in store.read(query, game.name, *together, after, limit)]
    marks = ",".join("?" * len(numbers))
    by_number = {pair.id: pair for pair in _pairs(store, game, f"lineups.id IN ({marks})", *numbers)}
    return tuple(by_number[number] for number in numbers)


def rating_history(store: Store, version: int) -> tuple[tuple[int, Estimate], ...]:
    """Past ratings of a version, each with the number of units it had played."""
    rows = store.read("SELECT * FROM rating_history WHERE version = ? ORDER BY units", version)
    return tuple((row["units"], Estimate(row["mbb_per_game"], row["half_width_95"])) for row in rows)


def standings(
    store: Store, game: str, bot: str | None = None, *, skip: int = 0, limit: int | None = None
) -> tuple[Rating, ...]:
    """Ratings of a game or of a bot's versions, the largest field first and the highest rating first in it.

    Args:
        skip: number of ratings left out at the beginning.
        limit: number of ratings; None for all.
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
    """Count the versions with a rating in a game."""
    return int(store.read("SELECT count(*) AS n FROM ratings WHERE game = ?", game)[0]["n"])


def worst_runs(store: Store, pair: int, version: int, *, after: int | None = None, limit: int = 50) -> tuple[Run, ...]:
    """Runs of a pair in the order of a version's winnings, the lowest first; of equal ones, the oldest first.

    Args:
        after: last run of the previous page; one that does not count in the pair gives an empty page.
    """
    # The index seats_by_lineup has this order, so the time of a page does not depend on the number of runs.
    condition = ""
    values = [pair, version]
    if after is not None:
        condition = (
            "AND (mbb_per_game, run) > (SELECT last.mbb_per_game, run FROM seats AS last WHERE run = ? "
            "AND lineup = ? AND version = ?) "
        )
        values += [after, pair, version]
    query = f"SELECT run FROM seats WHERE lineup = ? AND version = ? {condition}ORDER BY mbb_per_game, run LIMIT ?"
    numbers = [row["run"] for row in store.read(query, *values, limit)]
    by_number = runs_by_number(store, numbers)
    return tuple(by_number[number] for number in numbers)
