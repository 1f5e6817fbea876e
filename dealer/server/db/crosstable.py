"""What counts in the standings: the sums over all runs between the same versions, and the ratings made of them.

A run counts when nobody could have chosen it for its result: its cards came from a key that the server drew, it was
played in every seating, its length was not to depend on who was ahead, and every player is a known version. A run that
was broken off counts as far as it has come: who breaks off what goes badly does not escape it. It is added to the sums
in the change that closes it, so that it counts once.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from dealer.server.db.records import VERSIONS, BotRecord, RunRecord, bot_of_row, runs_by_number
from dealer.server.db.store import Store
from dealer.server.ratings import Rating, TableScores, fit_ratings
from dealer.server.settings import ServerGame
from logs.estimation import Bounds, Moments, score_bounds

__all__ = [
    "CompanyRecord",
    "PairRecord",
    "PairScore",
    "RatingRecord",
    "add_run",
    "companies",
    "count_tables",
    "fitted",
    "pair",
    "pairs",
    "standings",
    "table_scores",
    "tables",
    "worst_runs",
    "write_ratings",
]


def add_run(
    db: sqlite3.Connection, run: int, game: str, versions: Sequence[int], scores: Sequence[array[float]], hands: int
) -> None:
    """Add a run to what counts.

    Args:
        db: the database.
        run: its number.
        game: the name of the game.
        versions: by player.
        scores: by player, what it won in every duplicate, in mbb/g.
        hands: of all matches.
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


def table_scores(store: Store, game: str) -> dict[int, TableScores]:
    """Everything that counts in a game, by the numbers of the line-ups."""
    players: dict[int, list[int]] = {}
    sums: dict[int, list[Moments]] = {}
    for row in store.read(
        "SELECT lineups.id, lineups.units, version, total, squares FROM lineups "
        "JOIN lineup_scores ON lineup = lineups.id WHERE game = ? ORDER BY lineups.id, version",
        game,
    ):
        players.setdefault(row["id"], []).append(row["version"])
        sums.setdefault(row["id"], []).append(Moments(row["units"], row["total"], row["squares"]))
    return {number: TableScores(tuple(players[number]), tuple(sums[number])) for number in players}


def fitted(tables: dict[int, TableScores], bounds: Bounds) -> list[Rating]:
    """The ratings that follow from everything that counts in a game."""
    return fit_ratings(list(tables.values()), bounds)


def write_ratings(db: sqlite3.Connection, game: str, ratings: Sequence[Rating]) -> None:
    """Write the ratings of a game in place of those before."""
    db.execute("DELETE FROM ratings WHERE game = ?", (game,))
    db.executemany(
        "INSERT INTO ratings (game, version, mbb_per_game, half_width_95, field, is_provisional) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(game, one.player, one.mbb_per_game, one.half_width_95, one.field, one.is_provisional) for one in ratings],
    )


@dataclass(frozen=True, slots=True)
class PairScore:
    """What a player won over everything that counts between the same versions.

    Attributes:
        version: of the bot.
        mbb_per_game: what it won.
        half_width_95: half the 95 % interval of that; None if the deals are too few.
    """

    version: int
    mbb_per_game: float
    half_width_95: float | None


@dataclass(frozen=True, slots=True)
class PairRecord:
    """Everything that counts between the same versions: a pair, or the players of a larger game.

    Attributes:
        id: its number.
        game: the name of the game.
        runs: how many. duplicates: deals played in every seating. hands: of all matches.
        scores: of the players, in the order of their versions.
    """

    id: int
    game: str
    runs: int
    duplicates: int
    hands: int
    scores: tuple[PairScore, ...]


@dataclass(frozen=True, slots=True)
class CompanyRecord:
    """What a player of a game of more than two won at all tables at which another sat too, every deal counting alike.

    The interval is that of the mean of the deals as if all were of one table. Where what it wins differs from table to
    table, that makes the interval wider, never narrower.

    Attributes:
        version: of the player. other: that sat there too.
        tables: how many. duplicates: deals played at them in every seating.
        mbb_per_game: what the player won from all others there.
        half_width_95: half the 95 % interval of that; None if the deals are too few.
    """

    version: int
    other: int
    tables: int
    duplicates: int
    mbb_per_game: float
    half_width_95: float | None


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """A version's rating: what it would win from the average of its field, in mbb/g.

    Attributes:
        bot: the version.
        mbb_per_game: the rating.
        half_width_95: half its 95 % interval; None while too little is known.
        field: versions of the same number are connected by pairs; ratings of different fields cannot be compared.
        is_provisional: whether too little is known to go by it.
        duplicates: of all its pairs.
    """

    bot: BotRecord
    mbb_per_game: float
    half_width_95: float | None
    field: int
    is_provisional: bool
    duplicates: int


_PAIRS = (
    "SELECT lineups.id, lineups.game, lineups.runs, lineups.units, lineups.hands, version, total, squares "
    "FROM lineups JOIN lineup_scores ON lineup = lineups.id "
)


def _pairs_of_rows(rows: list[sqlite3.Row], bounds: Bounds) -> tuple[PairRecord, ...]:
    scores: dict[int, list[PairScore]] = {}
    heads: dict[int, sqlite3.Row] = {}
    for row in rows:
        heads[row["id"]] = row
        moments = Moments(row["units"], row["total"], row["squares"])
        score = PairScore(row["version"], row["total"] / row["units"], moments.half_width(bounds))
        scores.setdefault(row["id"], []).append(score)
    return tuple(
        PairRecord(number, row["game"], row["runs"], row["units"], row["hands"], tuple(scores[number]))
        for number, row in heads.items()
    )


def pairs(store: Store, game: ServerGame) -> tuple[PairRecord, ...]:
    """The crosstable of a game: all pairs, or larger tables, of which something counts."""
    rows = store.read(_PAIRS + "WHERE lineups.game = ? ORDER BY lineups.id, version", game.name)
    return _pairs_of_rows(rows, score_bounds(game.game))


def pair(store: Store, game: ServerGame, number: int) -> PairRecord | None:
    """A pair of a game by its number."""
    rows = store.read(_PAIRS + "WHERE lineups.game = ? AND lineups.id = ? ORDER BY version", game.name, number)
    found = _pairs_of_rows(rows, score_bounds(game.game))
    return found[0] if found else None


def companies(store: Store, game: ServerGame) -> tuple[CompanyRecord, ...]:
    """The crosstable of a game of more than two: every player with every other that it has met; empty between two."""
    query = "SELECT * FROM company WHERE game = ? ORDER BY version, other"
    bounds = score_bounds(game.game)
    return tuple(
        CompanyRecord(
            row["version"],
            row["other"],
            row["lineups"],
            row["units"],
            row["total"] / row["units"],
            Moments(row["units"], row["total"], row["squares"]).half_width(bounds),
        )
        for row in store.read(query, game.name)
    )


def count_tables(store: Store, game: ServerGame) -> int:
    """How many pairs, or larger tables, of a game there are of which something counts."""
    return int(store.read("SELECT count(*) AS found FROM lineups WHERE game = ?", game.name)[0]["found"])


def tables(
    store: Store, game: ServerGame, *, together: tuple[int, int] | None = None, after: int | None = None, most: int = 50
) -> tuple[PairRecord, ...]:
    """Tables of a game, in the order in which they first met; of two players, the worst for the first of them first.

    Args:
        store: the database.
        game: the game.
        together: versions that both sit there.
        after: the last table of the page before; the answer is empty if it is none of these.
        most: how many at most.
    """
    if together is None:
        query = "SELECT id FROM lineups WHERE game = ?1 AND id > coalesce(?2, 0) ORDER BY id LIMIT ?3"
        numbers = [row["id"] for row in store.read(query, game.name, after, most)]
    else:
        query = (
            "WITH met AS (SELECT lineup, mine.total / units AS won FROM lineup_scores AS mine "
            "JOIN lineups ON lineups.id = lineup AND game = ?1 WHERE mine.version = ?2 "
            "AND EXISTS (SELECT 1 FROM lineup_scores AS theirs WHERE theirs.lineup = mine.lineup AND version = ?3)) "
            "SELECT lineup FROM met WHERE ?4 IS NULL "
            "OR (won, lineup) > (SELECT won, lineup FROM met WHERE lineup = ?4) ORDER BY won, lineup LIMIT ?5"
        )
        numbers = [row["lineup"] for row in store.read(query, game.name, *together, after, most)]
    marks = ",".join("?" * len(numbers))
    rows = store.read(f"{_PAIRS}WHERE lineups.id IN ({marks}) ORDER BY lineups.id, version", *numbers)
    found = {one.id: one for one in _pairs_of_rows(rows, score_bounds(game.game))}
    return tuple(found[number] for number in numbers)


def standings(store: Store, game: str) -> tuple[RatingRecord, ...]:
    """The ratings of a game: the largest field first, and in it the highest first."""
    bots_of_game = {row["version"]: bot_of_row(row) for row in store.read(VERSIONS + "WHERE bots.game = ?", game)}
    rows = store.read(
        "SELECT ratings.*, (SELECT sum(lineups.units) FROM lineup_scores JOIN lineups ON lineups.id = lineup "
        "WHERE lineup_scores.version = ratings.version) AS units, "
        "(SELECT count(*) FROM ratings AS others WHERE others.game = ratings.game AND others.field = ratings.field) "
        "AS size FROM ratings WHERE game = ? ORDER BY size DESC, field, mbb_per_game DESC, version",
        game,
    )
    return tuple(
        RatingRecord(
            bots_of_game[row["version"]],
            row["mbb_per_game"],
            row["half_width_95"],
            row["field"],
            bool(row["is_provisional"]),
            row["units"],
        )
        for row in rows
    )


def worst_runs(
    store: Store, pair: int, version: int, *, after: int | None = None, most: int = 50
) -> tuple[RunRecord, ...]:
    """Runs that count in a pair, those in which a player won least first; of the same result, the oldest first.

    An index has them in this order, so a page takes as long however many there are.

    Args:
        store: the database.
        pair: its number.
        version: the player.
        after: the last run of the page before; the answer is empty if it does not count in the pair.
        most: how many at most.
    """
    beyond, values = "", [pair, version]
    if after is not None:
        beyond = "AND (mbb_per_game, run) > (SELECT last.mbb_per_game, run FROM seats AS last WHERE run = ? "
        beyond += "AND lineup = ? AND version = ?) "
        values += [after, pair, version]
    query = f"SELECT run FROM seats WHERE lineup = ? AND version = ? {beyond}ORDER BY mbb_per_game, run LIMIT ?"
    numbers = [row["run"] for row in store.read(query, *values, most)]
    found = runs_by_number(store, numbers)
    return tuple(found[number] for number in numbers)
