"""Database of a server with many finished runs, written without playing them."""

from __future__ import annotations

import sqlite3
from array import array
from itertools import combinations

from dealer.server.db.counted_scores import add_run, table_scores, write_ratings
from dealer.server.db.store import Store
from dealer.server.ratings import fit_ratings
from dealer.server.server_settings import ServerGame

BOTS = 20
USERS = 10


def fill(db: sqlite3.Connection, game: ServerGame, runs: int, bots: int = BOTS, players: int = 2) -> None:
    """Enter finished runs between bots, requested by the first ten users.

    Args:
        db: database without bots and runs, with ten users.
        game: game of all runs.
        runs: number of runs, each of a hundred duplicates.
        bots: number of bots, which play in turn.
        players: bots of one run; the third and further ones win nothing.
    """
    for number in range(1, bots + 1):
        db.execute("INSERT INTO bots (id, game, name) VALUES (?, ?, ?)", (number, game.name, f"bot{number}"))
        db.execute("INSERT INTO versions VALUES (?, ?, 1, '', '', 0.0, '')", (number, number))
    lineups = list(combinations(range(1, bots + 1), players))
    scores = [array("d", [share * 100.0, share * -80.0] * 50) for share in (1, -1, *[0] * (players - 2))]
    for run in range(1, runs + 1):
        lineup = lineups[run % len(lineups)]
        user = 1 + run % USERS
        db.execute(
            "INSERT INTO jobs (id, user, tag, game, players, runs, seed, state, stamp, submitted_s, seating) "
            "VALUES (?, ?, 't', ?, '[\"a\",\"b\"]', 1, 1, 'done', ?, ?, 'rotations')",
            (run, user, game.name, run, float(run)),
        )
        db.execute(
            "INSERT INTO runs (id, job, number, game, seed, state, folder, duplicates, started_s, ended_s) "
            "VALUES (?, ?, 1, ?, 1, 'finished', ?, 100, ?, ?)",
            (run, run, game.name, f"runs/{run:08}", float(run), run + 1.0),
        )
        db.executemany(
            "INSERT INTO seats (run, seat, version, name, chips, mbb_per_game) VALUES (?, ?, ?, ?, 0, ?)",
            [
                (run, seat, version, f"bot{version}", (1 - 2 * seat) * (run * 37 % 5))
                for seat, version in enumerate(lineup)
            ],
        )
        db.executemany(
            "INSERT INTO scores (run, seat, mbb_by_duplicate) VALUES (?, ?, ?)",
            [(run, seat, seat_scores.tobytes()) for seat, seat_scores in enumerate(scores)],
        )
        db.executemany(
            "INSERT INTO matches VALUES (?, ?, ?, 0, 100)",
            [(run, name, f"{name}.log") for name in ("match.a", "match.b")],
        )
        if run % 10 == 0:
            db.execute(
                "INSERT INTO faults (run, match, seat, kind, hand_number, line, remedy) "
                "VALUES (?, 'match.a', 0, 'timeout', 1, x'', '')",
                (run,),
            )
        add_run(db, run, game.name, lineup, scores=scores, hands=100 * players)


def enter_ratings(store: Store, game: ServerGame) -> None:
    """Compute the ratings of a game from the scores in the database."""
    ratings = fit_ratings(table_scores(store, game.name), (-100_000.0, 100_000.0))
    store.write_now(lambda db: write_ratings(db, game.name, ratings))
