"""Scores of bots that met at tables of three or more, against plain sums over all deals."""

from __future__ import annotations

import contextlib
import itertools
import random
import sqlite3
import statistics
from array import array
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from dealer.server.db import counted_scores
from dealer.server.db.counted_scores import add_run
from dealer.server.db.records import JobRequest, new_job
from dealer.server.db.run_changes import add_job, begin_run
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User, add_user
from dealer.server.server_settings import ServerGame
from logs.estimation import RunningMean, score_bounds
from protocol import find_game

GAME = ServerGame("three", "kuhn.limit.3p", find_game("kuhn.limit.3p")[1], 20, 10, ())
BOTS = range(1, 6)
LINE_UPS = tuple(itertools.combinations(BOTS, 3))
Scores = defaultdict[tuple[tuple[int, ...], int], list[float]]


@pytest.fixture
def scores() -> Scores:
    """Score of every deal, by line-up and bot. The fixture `store` fills it."""
    return defaultdict(list)


@pytest.fixture
def store(tmp_path: Path, scores: Scores) -> Iterator[Store]:
    """Database in which every line-up has played two runs, no two of the same number of deals."""
    chance = random.Random(3)

    def enter(db: sqlite3.Connection) -> None:
        ann = User(add_user(db, "ann"), "ann")
        for bot in BOTS:
            db.execute("INSERT INTO bots (id, game, name) VALUES (?1, 'three', 'bot' || ?1)", (bot,))
            db.execute("INSERT INTO versions VALUES (?1, ?1, 1, '', '', 0.0, '')", (bot,))
        for run, versions in enumerate(LINE_UPS * 2, 1):
            job = add_job(db, new_job(ann, JobRequest("three", ("A", "B", "C"), "t"), 7))
            begin_run(db, job, versions, 1)
            drawn = [array("d", [chance.gauss(10 * bot, 300) for _ in range(60 + run)]) for bot in versions]
            add_run(db, run, "three", versions, scores=drawn, hands=3 * (60 + run))
            for bot, own in zip(versions, drawn, strict=True):
                scores[versions, bot] += own

    with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as opened:
        opened.write_now(enter)
        yield opened


def test_scores_against_an_opponent_weigh_every_common_deal_equally(store: Store, scores: Scores) -> None:
    opponents = {
        (opponent.version, opponent.other): opponent for opponent in counted_scores.opponent_scores(store, GAME)
    }
    assert set(opponents) == set(itertools.permutations(BOTS, 2))
    for (bot, other), opponent in opponents.items():
        common = [table for table in LINE_UPS if {bot, other} <= set(table)]
        won = [score for table in common for score in scores[table, bot]]
        mean = RunningMean(won, score_bounds(GAME.game))
        assert opponent.tables == 3
        assert opponent.duplicates == len(won)
        assert opponent.mbb_per_game == pytest.approx(mean.mean)
        assert opponent.half_width_95 == pytest.approx(mean.guaranteed_half_width())


def test_tables_of_two_bots_are_paged_worst_first(store: Store, scores: Scores) -> None:
    for bot, other in itertools.permutations(BOTS, 2):
        common = [table for table in LINE_UPS if {bot, other} <= set(table)]
        expected = sorted(common, key=lambda table: statistics.fmean(scores[table, bot]))
        together = counted_scores.tables(store, GAME, together=(bot, other))
        assert [tuple(score.version for score in table.scores) for table in together] == expected
        pages = []
        while page := counted_scores.tables(
            store, GAME, together=(bot, other), after=pages[-1].id if pages else None, limit=2
        ):
            pages += page
        assert tuple(pages) == together
    assert counted_scores.tables(store, GAME, together=(1, 2), after=10) == ()
    assert counted_scores.count_tables(store, GAME) == len(LINE_UPS)
    assert [table.id for table in counted_scores.tables(store, GAME, after=3, limit=3)] == [4, 5, 6]
