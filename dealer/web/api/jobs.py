"""Having matches played: submitting a job, once whatever happens to the connection, and cancelling it."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from dealer.errors import RefusedError, WebError
from dealer.server import access
from dealer.server.accounts import User
from dealer.server.db import records
from dealer.server.db.records import Job
from dealer.server.server import ServerParts
from dealer.web.api import models
from dealer.web.api.calls import PREFIX, Parts, Player, answers, new_router
from dealer.web.api.reading import shown_job

_KEY = "Idempotency-Key"
_MOST_KEY_LETTERS = 200
_MOST_KEYS = 1000


_Locks: TypeAlias = "WeakValueDictionary[tuple[int, str], asyncio.Lock]"
"""One for each word of each user, so that the same request sent twice at once is entered once."""

router = new_router()
_Key: TypeAlias = Annotated[
    str, Header(alias=_KEY, description="a word of yours: the same request sent again with it is the same job")
]
_CREATED: Final[dict[int | str, dict[str, Any]]] = {
    201: {"headers": {"Location": {"description": "the address of the job", "schema": {"type": "string"}}}}
}


@router.post("/jobs", summary="Have a contest played", status_code=201, responses=_CREATED)
async def submit(
    request: Request, caller: Player, parts: Parts, wanted: models.NewJob, answer: Response, key: _Key = ""
) -> Job:
    """Enter a job; it is on disk when the answer comes."""
    if len(key) > _MOST_KEY_LETTERS or not key.isprintable():
        raise WebError(422, f"{_KEY} has at most {_MOST_KEY_LETTERS} letters that can be printed.")
    if key:
        locks: _Locks = request.app.state.locks
        async with locks.setdefault((caller.user.id, key), asyncio.Lock()):
            job = await _once(parts, caller.user, wanted, key)
    else:
        job = await _enter(parts, caller.user, wanted)
    answer.headers["location"] = f"{PREFIX}/jobs/{job.id}"
    return shown_job(parts, job, caller)


async def _once(parts: ServerParts, user: User, wanted: models.NewJob, key: str) -> Job:
    fingerprint = hashlib.sha256(wanted.model_dump_json().encode()).digest()

    def note(db: sqlite3.Connection, job: int) -> None:
        db.execute("INSERT INTO submissions VALUES (?, ?, ?, ?)", (user.id, key, fingerprint, job))
        db.execute(
            "DELETE FROM submissions WHERE user = ?1 AND job NOT IN "
            "(SELECT job FROM submissions WHERE user = ?1 ORDER BY job DESC LIMIT ?2)",
            (user.id, _MOST_KEYS),
        )

    query = "SELECT fingerprint, job FROM submissions WHERE user = ? AND key = ?"
    for row in parts.store.read(query, user.id, key):
        job = records.job(parts.store, row["job"])
        if row["fingerprint"] != fingerprint or job is None:
            raise WebError(422, f"You have sent another request with this {_KEY}.")
        return job
    return await _enter(parts, user, wanted, note)


async def _enter(
    parts: ServerParts, user: User, wanted: models.NewJob, note: Callable[[sqlite3.Connection, int], None] | None = None
) -> Job:
    try:
        job, _ = await parts.service.submit(user, wanted.request(), note=note)
    except RefusedError as error:
        raise WebError(422, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    return job


@router.delete(
    "/jobs/{job:int}", summary="Cancel a job, also what is being played", responses=answers(s404="there is no such job")
)
async def cancel(caller: Player, parts: Parts, job: int) -> models.Cancelled:
    """Cancel a job of one's own, or any as an admin."""
    row = records.job(parts.store, job)
    if row is None:
        raise WebError(404, f"There is no job {job}.")
    if not access.manages(row, caller.person):
        raise WebError(403, "This job is somebody else's.")
    return models.Cancelled(is_cancelled=await parts.service.cancel_job(row.user, job))
