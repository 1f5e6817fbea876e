"""Uploads in the database, with the changes made to them, for `Store.write`.

Records are kept forever. The code is kept only as long as the bot may be played.
"""

from __future__ import annotations

import enum
import hashlib
import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from dealer.doctor.findings import DoctorReport
from dealer.errors import RefusedError
from dealer.server.db.audit import record_change
from dealer.server.db.bot_registry import check_name
from dealer.server.db.records import read_row, utc_datetime
from dealer.server.db.store import Store
from dealer.server.db.users import User
from dealer.server.server_settings import UploadSettings
from dealer.uploads.archive import BotFile
from engine.text import count_of

_DAY_S = 86_400.0
_REPORTS: TypeAdapter[tuple[DoctorReport, ...]] = TypeAdapter(tuple[DoctorReport, ...])


class UploadState(enum.StrEnum):
    WAITING = "waiting"
    """Not examined yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REPLACED = "replaced"
    """Superseded by a later upload of the bot."""
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded version of a bot.

    Attributes:
        number: among the uploads of this bot, from 1.
        games: full names.
        reason: of a rejection; empty if the doctor's report explains it.
        sha256: of the archive.
        size: of the archive, in bytes.
    """

    id: int
    bot: str
    number: int
    command: str
    language: str
    games: tuple[str, ...]
    state: UploadState
    reason: str
    sha256: str
    size: int
    submitted_s: float
    folder: str
    owner: User
    submitted_at = utc_datetime("submitted_s")


def _upload(row: sqlite3.Row) -> Upload:
    return read_row(
        Upload,
        row,
        games=tuple(json.loads(row["games"])),
        state=UploadState(row["state"]),
        owner=User(row["user"], row["name"]),
    )


def uploads(
    store: Store,
    *,
    user: int | None = None,
    number: int | None = None,
    state: UploadState | None = None,
    limit: int = -1,
) -> tuple[Upload, ...]:
    """Uploads of users who may log in, the latest first."""
    rows = store.read(
        "SELECT uploads.id, bot, number, command, language, games, state, reason, sha256, size, submitted_s, folder, "
        "user, users.name FROM uploads JOIN users ON users.id = uploads.user "
        "WHERE users.disabled_s IS NULL AND users.name NOT LIKE '(%' AND (?1 IS NULL OR user = ?1) "
        "AND (?2 IS NULL OR uploads.id = ?2) AND (?3 IS NULL OR state = ?3) ORDER BY uploads.id DESC LIMIT ?4",
        *(user, number, state, limit),
    )
    return tuple(map(_upload, rows))


def read_reports(store: Store, upload: Upload) -> tuple[DoctorReport, ...]:
    """Reports of the doctor, one per game; empty before the examination."""
    return _REPORTS.validate_json(store.read("SELECT reports FROM uploads WHERE id = ?", upload.id)[0]["reports"])


def add_upload(
    db: sqlite3.Connection,
    user: User,
    described: BotFile,
    games: Sequence[str],
    settings: UploadSettings,
    *,
    max_names: int,
    folder: str,
    archive: bytes,
) -> int:
    """Add an upload that waits to be examined; return its number.

    Raises:
        RefusedError: the bot is another user's, or the user has reached a limit.
    """
    name = described.name
    now_s = time.time()
    sha256 = hashlib.sha256(archive).hexdigest()
    check_name(db, user.id, name, max_names)
    (today,) = db.execute(
        "SELECT count(*) FROM uploads WHERE user = ? AND submitted_s > ?", (user.id, now_s - _DAY_S)
    ).fetchone()
    if today >= settings.max_per_day:
        raise RefusedError(f"the limit is {count_of(settings.max_per_day, 'upload')} in 24 hours; try again later")
    own_bots = db.execute(
        "SELECT DISTINCT bot FROM uploads WHERE user = ? AND state IN ('waiting', 'accepted')", (user.id,)
    )
    bots = {row["bot"] for row in own_bots}
    bots.add(name)
    if len(bots) > settings.max_bots:
        raise RefusedError(f"the limit is {count_of(settings.max_bots, 'uploaded bot')}; remove one first")
    db.execute(
        "UPDATE uploads SET state = 'replaced' WHERE user = ? AND bot = ? AND state = 'waiting'", (user.id, name)
    )
    inserted = db.execute(
        "INSERT INTO uploads (user, bot, number, command, language, games, sha256, size, folder, submitted_s) VALUES "
        "(?1, ?2, (SELECT 1 + count(*) FROM uploads WHERE user = ?1 AND bot = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (user.id, name, described.command, described.language, json.dumps(games), sha256, len(archive), folder, now_s),
    )
    record_change(db, user.name, f"uploaded the bot {name}, {len(archive):,} bytes with the SHA-256 {sha256}")
    return int(inserted.lastrowid or 0)


def end_examination(db: sqlite3.Connection, number: int, reports: Sequence[DoctorReport], reason: str) -> None:
    """Store the doctor's reports, and accept the upload if they are complete and sound."""
    state = "rejected"
    if not reason and all(report.result == "sound" for report in reports):
        state = "accepted"
    db.execute(
        "UPDATE uploads SET state = ?, reason = ?, reports = ? WHERE id = ? AND state = 'waiting'",
        (state, reason, _REPORTS.dump_json(tuple(reports)).decode(), number),
    )


def reject(db: sqlite3.Connection, number: int, reason: str) -> None:
    """Reject an upload that was accepted before."""
    db.execute("UPDATE uploads SET state = 'rejected', reason = ? WHERE id = ?", (reason, number))


def replace_earlier(db: sqlite3.Connection, upload: Upload) -> None:
    """Retire the earlier accepted uploads of a bot."""
    db.execute(
        "UPDATE uploads SET state = 'replaced' WHERE user = ? AND bot = ? AND id < ? AND state = 'accepted'",
        (upload.owner.id, upload.bot, upload.id),
    )


def remove_bot(db: sqlite3.Connection, user: User, bot: str) -> bool:
    """Remove a user's uploaded bot; return False if it does not exist."""
    removed = db.execute(
        "UPDATE uploads SET state = 'removed' WHERE user = ? AND bot = ? AND state IN ('waiting', 'accepted')",
        (user.id, bot),
    )
    if removed.rowcount:
        record_change(db, user.name, f"removed the uploaded bot {bot}")
    return removed.rowcount > 0
