"""Hands, logs and exports of finished runs, streamed from their files.

A file is found by its place among those that the database lists of a run; no word of an address becomes the name of a
file. Exports are those of `arena export`, made in a folder that is gone when they have been sent.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from dealer.errors import WebError
from dealer.server import access
from dealer.server.access import Sight
from dealer.server.db import records
from dealer.server.db.runs import RunState
from dealer.server.resources import removed_on
from dealer.server.server import ServerParts
from dealer.web.api import models
from dealer.web.api.calls import Caller, Parts, Reader, answers, new_router
from dealer.web.api.reading import run_of
from logs.acpc_log.writer import format_state_line
from logs.conversion import Conversion, convert
from logs.errors import LogError, LogsError
from logs.export import FORMATS
from logs.hand_access import open_hands
from logs.reading import HandFile

__all__ = ["export_slots", "router"]

_EXPORTS_AT_A_TIME = 2


router = new_router()
_MATCH = "/runs/{run:int}/matches/{match:int}"
_NO_MATCH = answers(
    s404="there is no such run or match, or nothing to send",
    s409="the run is still being played, or the format cannot hold the game",
    s410="the files of the run have been removed, or cannot be read",
)


def export_slots() -> asyncio.Semaphore:
    """How many exports are made at a time, for an application to keep in its state."""
    return asyncio.Semaphore(_EXPORTS_AT_A_TIME)


def _file(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {"schema": {"type": "string"}}}}, **_NO_MATCH}


def _log_of(parts: ServerParts, caller: Caller, run: int, match: int) -> Path:
    """The log of a match.

    Raises:
        WebError: there is none, it is not over, or the caller may not see it yet.
    """
    row, job = run_of(parts, run)
    if row.state is RunState.RUNNING:
        raise WebError(409, "The run is still being played.")
    if access.sight(parts.store, job, caller.person) is not Sight.EVERYTHING:
        raise WebError(403, "Cards of this job can be seen when all of it has been played.")
    found = records.matches(parts.store, run)
    if match >= len(found):
        raise WebError(404, f"Run {run} has {len(found)} matches with hands, counted from 0.")
    path = parts.folder / row.folder / found[match].log
    if date := removed_on(path.parent):
        raise WebError(410, f"The logs of this run were removed on {date}; its results are kept.")
    if not path.is_file():
        raise WebError(410, "The files of this run have been removed.")
    return path


@router.get(f"{_MATCH}/log", summary="The ACPC log of a match", response_class=Response, responses=_file("text/plain"))
async def log(caller: Reader, parts: Parts, run: int, match: int) -> Response:
    """The dealer's own log."""
    path = _log_of(parts, caller, run, match)
    return FileResponse(path, media_type="text/plain", filename=f"run{run}-{match}.log", stat_result=path.stat())


@router.get(f"{_MATCH}/hands", summary="The hands of a match, in their order", responses=_NO_MATCH)
async def hands(
    caller: Reader, parts: Parts, run: int, match: int, query: Annotated[models.HandsQuery, Query()]
) -> models.Hands:
    """Hands, page by page."""
    return await asyncio.to_thread(_hands, _log_of(parts, caller, run, match), query.after, query.limit)


@router.get(
    _MATCH + "/export/{format}",
    summary=f"A match as a hand history: {', '.join(FORMATS)}",
    response_class=Response,
    responses=_file("application/octet-stream"),
)
async def export(request: Request, caller: Reader, parts: Parts, run: int, match: int, format: str) -> Response:
    """What `arena export` makes of a match."""
    format_ = FORMATS.get(format)
    if format_ is None:
        raise WebError(404, f"There are the formats {', '.join(FORMATS)}.")
    path = _log_of(parts, caller, run, match)
    async with request.app.state.exports:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="arena-export-"))
        try:
            await asyncio.to_thread(convert, [HandFile(str(path))], Conversion((format_,), folder))
            made = [one for one in sorted(folder.rglob("*")) if one.is_file()]
            if len(made) != 1:
                raise WebError(404, "The match has no hands.")
        except LogsError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise WebError(409, f"{error}.") from None
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return FileResponse(
        made[0],
        media_type="application/octet-stream",
        filename=f"run{run}-{match}{made[0].suffix}",
        background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
    )


def _hands(path: Path, after: int, limit: int) -> models.Hands:
    try:
        with open_hands(HandFile(str(path))) as access:
            # The log of a match holds this match alone.
            match = access.matches[0]
            made = []
            for number in match.page(after, limit):
                record = match.hand(number)
                state = format_state_line(record).split(":")[1:4]
                made.append(
                    models.Hand(
                        number=record.hand_number,
                        names=list(record.names),
                        state=":".join(state),
                        values=list(record.values),
                    )
                )
            return models.Hands(hands=made, after=after + limit if after + limit < match.count else None)
    except (LogError, OSError) as error:
        raise WebError(410, f"The log of this match cannot be read: {error}.") from None
