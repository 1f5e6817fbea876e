"""Hands, logs and exports of finished runs, streamed from their files.

A file is found by its place among those that the database lists of a run; no word of an address becomes the name of a
file. Exports are those of `arena export`, made in a folder that is gone when they have been sent.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from dealer.errors import WebError
from dealer.server import records
from dealer.server.accounts import Scope
from dealer.server.disk import removed_on
from dealer.server.ledger import RunState
from dealer.server.records import MatchRecord, RunRecord
from dealer.server.server import ServerParts
from dealer.web.api import models
from dealer.web.api.operations import Call, Operation, Parameter
from dealer.web.api.reading import may_see_cards, run_of
from logs.acpc_log.writer import format_state_line
from logs.conversion import Conversion, convert
from logs.errors import LogError, LogsError
from logs.export import FORMATS
from logs.hand_access import open_hands
from logs.reading import HandFile

__all__ = ["Files"]

_Place: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
_Limit: TypeAlias = Annotated[int, Field(ge=1, le=1000)]
_EXPORTS_AT_A_TIME = 2


class Files:
    """The operations that send hands."""

    def __init__(self, parts: ServerParts) -> None:
        """Send the files of a server."""
        self._parts = parts
        self._slots = asyncio.Semaphore(_EXPORTS_AT_A_TIME)

    def operations(self) -> list[Operation]:
        """All of them."""
        match = "/runs/{run:int}/matches/{match:int}"
        read = Scope.READ
        words = ", ".join(FORMATS)
        return [
            Operation(
                *("GET", f"{match}/hands", "hands", "The hands of a match, in their order", read, models.Hands),
                self._hands,
                query=(
                    Parameter("after", _Place, "hands to pass over", 0),
                    Parameter("limit", _Limit, "hands of a page", 100),
                ),
            ),
            Operation("GET", f"{match}/log", "log", "The ACPC log of a match", read, "text/plain", self._log),
            Operation(
                *("GET", match + "/export/{format}", "export", f"A match as a hand history: {words}"),
                *(read, "application/octet-stream", self._export),
            ),
        ]

    def _match(self, call: Call) -> tuple[RunRecord, MatchRecord, Path]:
        """The match of a call, and its log.

        Raises:
            WebError: there is none, it is not over, or the caller may not see it yet.
        """
        run, job = run_of(self._parts, call.path["run"])
        if run.state is RunState.RUNNING:
            raise WebError(409, "The run is still being played.")
        if not may_see_cards(self._parts, call.caller, job):
            raise WebError(403, "Cards of this job can be seen when all of it has been played.")
        found = records.matches(self._parts.store, run.id)
        place = call.path["match"]
        if place >= len(found):
            raise WebError(404, f"Run {run.id} has {len(found)} matches with hands, counted from 0.")
        path = self._parts.folder / run.folder / found[place].log
        if date := removed_on(path.parent):
            raise WebError(410, f"The logs of this run were removed on {date}; its results are kept.")
        if not path.is_file():
            raise WebError(410, "The files of this run have been removed.")
        return run, found[place], path

    async def _log(self, call: Call) -> Response:
        run, _, path = self._match(call)
        return FileResponse(path, media_type="text/plain", filename=f"run{run.id}-{call.path['match']}.log")

    async def _hands(self, call: Call) -> models.Hands:
        _, _, path = self._match(call)
        return await asyncio.to_thread(_hands, path, call.query["after"], call.query["limit"])

    async def _export(self, call: Call) -> Response:
        format_ = FORMATS.get(call.path["format"])
        if format_ is None:
            raise WebError(404, f"There are the formats {', '.join(FORMATS)}.")
        run, _, path = self._match(call)
        async with self._slots:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="arena-export-"))
            try:
                conversion = Conversion((format_,), folder)
                await asyncio.to_thread(convert, [HandFile(str(path))], conversion)
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
            filename=f"run{run.id}-{call.path['match']}{made[0].suffix}",
            background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
        )


def _hands(path: Path, after: int, limit: int) -> models.Hands:
    try:
        with open_hands(HandFile(str(path))) as access:
            # A run starts its log anew: it holds one match.
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
