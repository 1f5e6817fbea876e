"""What pages and the API ask of what counts: ratings, pairs and larger tables, their runs."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from dealer.server.records import VERSIONS, BotRecord, RunRecord, bot_of_row, runs_by_number
from dealer.server.settings import ServerGame
from dealer.server.store import Store
from logs.estimation import Bounds, Moments, score_bounds

__all__ = [
    "CompanyRecord",
    "PairRecord",
    "PairScore",
    "RatingRecord",
    "companies",
    "count_tables",
    "pair",
    "pairs",
    "standings",
    "tables",
    "worst_runs",
]


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
