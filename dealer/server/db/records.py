"""What pages and the API ask of the store: users, bots, jobs, runs, matches, faults, scores.

Every answer is a frozen value or a tuple of them, as of the last change on disk. Lists go backwards in time and are
asked for page by page: `before` is the number of the last entry seen, `most` how many to give. Nothing here decides who
may see what; what only an owner may see (faults, logs, seeds of one's own requests) is the reader's to guard.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from dealer.server.accounts import User
from dealer.server.db.runs import JOBS, JobRow, JobState, RunState, job_of_row, seed_of_row
from dealer.server.db.store import Store
from engine import Seed

__all__ = [
    "BotRecord",
    "FaultRecord",
    "MatchRecord",
    "RunRecord",
    "SeatRecord",
    "bot",
    "bots",
    "duplicate_scores",
    "faults",
    "job",
    "jobs",
    "matches",
    "run",
    "runs",
    "runs_by_number",
    "users",
    "versions",
]

_PAGE = 50


@dataclass(frozen=True, slots=True)
class BotRecord:
    """A version of a bot in a game.

    Attributes:
        version: its number among all versions: what seats, pairs and ratings name.
        game: the name of the game.
        name: of the bot.
        owner: whose it is; None for a bot of the server.
        number: of the version among those of the bot in this game, from 1.
        label: what its owner calls the version; empty for a bot of the server.
        created_s: when it was first seen. seen_s: when the bot was last connected; None for a bot of the server.
            In seconds since 1970.
    """

    version: int
    game: str
    name: str
    owner: User | None
    number: int
    label: str
    created_s: float
    seen_s: float | None


@dataclass(frozen=True, slots=True)
class SeatRecord:
    """A player of a run.

    Attributes:
        player: its place among the players, which is its seat in the first seating.
        name: in logs and tables; of a run without a result, that of the bot, or of the user whose own agent plays.
        version: of the bot; None for a client's own agent.
        chips: net, over all hands that count; None before the end, as all that follows.
        mbb_per_game: what it won. half_width_95: half the 95 % interval of that; None if the hands are too few.
        adjusted_mbb: the same with all-in hands at their expectation; None where nothing is known of that.
        adjusted_half_width_95: half its interval.
    """

    player: int
    name: str
    version: int | None
    chips: float | None
    mbb_per_game: float | None
    half_width_95: float | None
    adjusted_mbb: float | None
    adjusted_half_width_95: float | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: a contest that is played or was.

    Attributes:
        id: its number among all runs.
        job: the number of its job. number: its own among those of the job, from 1.
        user: the name of who asked for it. tag: what the user calls the job.
        game: the name of the game.
        seed: of the cards, a number or a key.
        state: how it stands. reason: how it ended, in a sentence.
        folder: of its files, in that of the server.
        duplicates: how many deals were played in every seating; None for a run of which no scores are kept.
        is_rated: whether it counts in the standings.
        started_s: when. ended_s: None before. In seconds since 1970.
        seats: its players.
    """

    id: int
    job: int
    number: int
    user: str
    tag: str
    game: str
    seed: Seed
    state: RunState
    reason: str
    folder: str
    duplicates: int | None
    is_rated: bool
    started_s: float
    ended_s: float | None
    seats: tuple[SeatRecord, ...]


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match of a run: one seating of its players.

    Attributes:
        name: of the match.
        log: the file of its log, in the folder of the run.
        first_hand: the number of its first hand. hands: how many there are.
    """

    name: str
    log: str
    first_hand: int
    hands: int


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """Something a player did wrong.

    Attributes:
        id: its number among all faults.
        run: in which run. match: in which of its matches.
        player: whose fault it is, as in `SeatRecord`. version: of that bot; None for a client's own agent.
        kind: what it is called.
        hand_number: the hand; -1 before the first.
        line: the offending line as it was received; empty where there is none.
        remedy: what was done about it.
    """

    id: int
    run: int
    match: str
    player: int
    version: int | None
    kind: str
    hand_number: int
    line: bytes
    remedy: str


# ---- users and bots
def users(store: Store) -> tuple[User, ...]:
    """All users, in the order in which they came."""
    return tuple(User(row["id"], row["name"]) for row in store.read("SELECT id, name FROM users ORDER BY id"))


VERSIONS = (
    "SELECT versions.id AS version, bots.game, bots.name, bots.owner, users.name AS owner_name, versions.number, "
    "versions.label, versions.created_s, bots.seen_s FROM versions JOIN bots ON bots.id = versions.bot "
    "LEFT JOIN users ON users.id = bots.owner "
)


def bot_of_row(row: sqlite3.Row) -> BotRecord:
    """A version, of a row of `VERSIONS`."""
    return BotRecord(
        row["version"],
        row["game"],
        row["name"],
        None if row["owner"] is None else User(row["owner"], row["owner_name"]),
        row["number"],
        row["label"],
        row["created_s"],
        row["seen_s"],
    )


def bots(store: Store, *, game: str | None = None, owner: int | None = None) -> tuple[BotRecord, ...]:
    """The newest version of every bot, by game and name; of one game or one owner, where these are given."""
    return tuple(
        bot_of_row(row)
        for row in store.read(
            VERSIONS + "WHERE versions.number = (SELECT max(number) FROM versions AS all_versions "
            "WHERE all_versions.bot = bots.id) AND (?1 IS NULL OR bots.game = ?1) AND (?2 IS NULL OR bots.owner = ?2) "
            "ORDER BY bots.game, bots.name",
            game,
            owner,
        )
    )


def bot(store: Store, version: int) -> BotRecord | None:
    """A version by its number."""
    rows = store.read(VERSIONS + "WHERE versions.id = ?", version)
    return bot_of_row(rows[0]) if rows else None


def versions(store: Store, game: str, name: str) -> tuple[BotRecord, ...]:
    """All versions of a bot in a game, the newest first."""
    query = VERSIONS + "WHERE bots.game = ? AND bots.name = ? ORDER BY versions.number DESC"
    return tuple(bot_of_row(row) for row in store.read(query, game, name))


# ---- jobs and runs
def job(store: Store, number: int) -> JobRow | None:
    """A job by its number."""
    rows = store.read(JOBS + "WHERE jobs.id = ?", number)
    return job_of_row(rows[0]) if rows else None


def jobs(
    store: Store,
    *,
    user: int | None = None,
    state: JobState | None = None,
    is_running: bool | None = None,
    before: int | None = None,
    most: int = _PAGE,
) -> tuple[JobRow, ...]:
    """Jobs, the newest first; of a user, in a state, with or without a run that goes on, where these are given."""
    chosen: dict[str, object] = {
        "jobs.user = ?": user,
        "jobs.state = ?": state,
        "is_running = ?": is_running,
        "jobs.id < ?": before,
    }
    return tuple(map(job_of_row, _page(store, JOBS, chosen, "jobs.id", most)))


def _page(store: Store, query: str, chosen: dict[str, object], order: str, most: int) -> list[sqlite3.Row]:
    """The rows of a page: a condition whose value is None does not count."""
    given = {condition: value for condition, value in chosen.items() if value is not None}
    where = f"WHERE {' AND '.join(given)} " if given else ""
    return store.read(f"{query}{where}ORDER BY {order} DESC LIMIT ?", *given.values(), most)


_RUNS = (
    "SELECT runs.*, jobs.tag, users.name AS user_name FROM runs JOIN jobs ON jobs.id = runs.job "
    "JOIN users ON users.id = jobs.user "
)


def _runs_of_rows(store: Store, rows: list[sqlite3.Row]) -> tuple[RunRecord, ...]:
    seats: dict[int, list[SeatRecord]] = {row["id"]: [] for row in rows}
    users_of = {row["id"]: row["user_name"] for row in rows}
    marks = ",".join("?" * len(seats))
    found = store.read(
        "SELECT seats.*, bots.name AS bot_name FROM seats LEFT JOIN versions ON versions.id = seats.version "
        f"LEFT JOIN bots ON bots.id = versions.bot WHERE run IN ({marks}) ORDER BY run, seat",
        *seats,
    )
    for row in found:
        seats[row["run"]].append(
            SeatRecord(
                row["seat"],
                row["name"] or row["bot_name"] or users_of[row["run"]],
                row["version"],
                row["chips"],
                row["mbb_per_game"],
                row["half_width_95"],
                row["adjusted_mbb"],
                row["adjusted_half_width_95"],
            )
        )
    return tuple(
        RunRecord(
            row["id"],
            row["job"],
            row["number"],
            row["user_name"],
            row["tag"],
            row["game"],
            seed_of_row(row),
            RunState(row["state"]),
            row["reason"],
            row["folder"],
            row["duplicates"],
            row["lineup"] is not None,
            row["started_s"],
            row["ended_s"],
            tuple(seats[row["id"]]),
        )
        for row in rows
    )


def run(store: Store, number: int) -> RunRecord | None:
    """A run by its number."""
    found = _runs_of_rows(store, store.read(_RUNS + "WHERE runs.id = ?", number))
    return found[0] if found else None


def runs(
    store: Store,
    *,
    job: int | None = None,
    game: str | None = None,
    state: RunState | None = None,
    version: int | None = None,
    pair: int | None = None,
    before: int | None = None,
    most: int = _PAGE,
) -> tuple[RunRecord, ...]:
    """Runs, the newest first.

    Args:
        store: the database.
        job: of this job only. game: of this game only. state: in this state only.
        version: with this version of a bot only.
        pair: that count in this pair only.
        before: older than this run only.
        most: how many at most.
    """
    chosen: dict[str, object] = {
        "runs.job = ?": job,
        "runs.game = ?": game,
        "runs.state = ?": state,
        "runs.id IN (SELECT run FROM seats WHERE version = ?)": version,
        "runs.lineup = ?": pair,
        "runs.id < ?": before,
    }
    return _runs_of_rows(store, _page(store, _RUNS, chosen, "runs.id", most))


def runs_by_number(store: Store, numbers: Sequence[int]) -> dict[int, RunRecord]:
    """Runs by their numbers."""
    query = f"{_RUNS}WHERE runs.id IN ({','.join('?' * len(numbers))})"
    return {one.id: one for one in _runs_of_rows(store, store.read(query, *numbers))}


def matches(store: Store, run: int) -> tuple[MatchRecord, ...]:
    """The matches of a run that has ended, in the order of their names."""
    query = "SELECT name, log, first_hand, hands FROM matches WHERE run = ? ORDER BY name"
    return tuple(MatchRecord(*row) for row in store.read(query, run))


def faults(
    store: Store,
    *,
    run: int | None = None,
    version: int | None = None,
    owner: int | None = None,
    before: int | None = None,
    most: int = _PAGE,
) -> tuple[FaultRecord, ...]:
    """What players did wrong, the latest first: in a run, of a version of a bot, or of all bots of a user."""
    query = (
        "SELECT faults.id, faults.run, faults.match, faults.seat, seats.version, faults.kind, faults.hand_number, "
        "faults.line, faults.remedy FROM faults JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
    )
    of_owner = "seats.version IN (SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE bots.owner = ?)"
    chosen: dict[str, object] = {
        "faults.run = ?": run,
        "seats.version = ?": version,
        of_owner: owner,
        "faults.id < ?": before,
    }
    return tuple(FaultRecord(*row) for row in _page(store, query, chosen, "faults.id", most))


def duplicate_scores(store: Store, run: int, player: int) -> array[float]:
    """What a player won in each duplicate of a run, in mbb/g and in the order of the deals; empty without a result."""
    scores = array("d")
    for row in store.read("SELECT mbb_by_duplicate FROM scores WHERE run = ? AND seat = ?", run, player):
        scores.frombytes(row["mbb_by_duplicate"])
    return scores
