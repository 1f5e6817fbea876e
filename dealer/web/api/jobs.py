"""Having matches played: submitting a job, once whatever happens to the connection, and cancelling it."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from weakref import WeakValueDictionary

from dealer.errors import RefusedError, WebError
from dealer.server import access, records
from dealer.server.accounts import Scope
from dealer.server.ledger import JobRow
from dealer.server.requests import JobRequest
from dealer.server.server import ServerParts
from dealer.web.api import models
from dealer.web.api.callers import Caller
from dealer.web.api.operations import Call, Operation
from dealer.web.api.reading import job_model

__all__ = ["JobDesk"]

_KEY = "Idempotency-Key"
_MOST_KEY_LETTERS = 200
_MOST_KEYS = 1000


class JobDesk:
    """The operations that have matches played."""

    def __init__(self, parts: ServerParts) -> None:
        """Take requests for a server."""
        self._parts = parts
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    def operations(self) -> list[Operation]:
        """All of them."""
        return [
            Operation(
                *("POST", "/jobs", "submit", "Have a contest played", Scope.PLAY, models.Job, self._submit),
                body=models.NewJob,
                status=201,
                headers=((_KEY, "a word of yours: the same request sent again with it is the same job"),),
            ),
            Operation(
                *("DELETE", "/jobs/{job:int}", "cancel", "Cancel a job, also what is being played"),
                *(Scope.PLAY, models.Cancelled, self._cancel),
            ),
        ]

    async def _submit(self, call: Call) -> models.Job:
        key = call.request.headers.get(_KEY, "")
        if len(key) > _MOST_KEY_LETTERS or not key.isprintable():
            raise WebError(422, f"{_KEY} has at most {_MOST_KEY_LETTERS} letters that can be printed.")
        user = call.caller.user
        if not key:
            return job_model(self._parts, await self._enter(call.caller, call.body, "", b""), call.caller)
        fingerprint = hashlib.sha256(call.body.model_dump_json().encode()).digest()
        lock = self._locks.setdefault((user.id, key), asyncio.Lock())
        async with lock:
            query = "SELECT fingerprint, job FROM submissions WHERE user = ? AND key = ?"
            for row in self._parts.store.read(query, user.id, key):
                job = records.job(self._parts.store, row["job"])
                if row["fingerprint"] != fingerprint or job is None:
                    raise WebError(422, f"You have sent another request with this {_KEY}.")
                return job_model(self._parts, job, call.caller)
            return job_model(self._parts, await self._enter(call.caller, call.body, key, fingerprint), call.caller)

    async def _enter(self, caller: Caller, wish: models.NewJob, key: str, fingerprint: bytes) -> JobRow:
        request = JobRequest(
            wish.game,
            tuple(wish.players),
            wish.tag,
            wish.runs,
            wish.seed,
            hands=wish.hands,
            seating=wish.seating,
            stop=wish.stop,
            on_fault=wish.on_fault,
        )

        def note(db: sqlite3.Connection, job: int) -> None:
            db.execute("INSERT INTO submissions VALUES (?, ?, ?, ?)", (caller.user.id, key, fingerprint, job))
            db.execute(
                "DELETE FROM submissions WHERE user = ?1 AND job NOT IN "
                "(SELECT job FROM submissions WHERE user = ?1 ORDER BY job DESC LIMIT ?2)",
                (caller.user.id, _MOST_KEYS),
            )

        try:
            job, _ = await self._parts.service.submit(caller.user, request, note=note if key else None)
        except RefusedError as error:
            raise WebError(422, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        return job

    async def _cancel(self, call: Call) -> models.Cancelled:
        number = call.path["job"]
        job = records.job(self._parts.store, number)
        if job is None:
            raise WebError(404, f"There is no job {number}.")
        if not access.manages(job, call.caller.person):
            raise WebError(403, "This job is somebody else's.")
        return models.Cancelled(is_cancelled=await self._parts.service.cancel_job(job.user, number))
