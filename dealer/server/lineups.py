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

from dealer.server.ratings import Rating, TableScores, fit_ratings
from dealer.server.store import Store
from logs.estimation import Bounds, Moments

__all__ = ["add_run", "fitted", "table_scores", "write_ratings"]


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
