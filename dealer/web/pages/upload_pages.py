"""A user's uploads: the form, what has become of each, and what the doctor has found."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.doctor.findings import doctor_document
from dealer.errors import RefusedError, WebError
from dealer.server.server import ServerParts
from dealer.uploads.boxed_bot import FAILURE_NAME
from dealer.uploads.intake import LOG_NAME, Intake
from dealer.uploads.upload_records import Upload, UploadState, read_reports, uploads
from dealer.web.pages.account import CRUMBS
from dealer.web.security import as_web_error, read_file, read_form
from dealer.web.site import Site
from dealer.web.visitor import SEE_OTHER, require_user
from engine.text import ago
from logs.document import NAME, Column, Document, Fact, Link, Section, Table, Tone, Toned
from protocol.game_definition import short_name

_MOST_UPLOADS: Final = 50
_PATH: Final = "/account/uploads"
_TONES: Final = {UploadState.ACCEPTED: Tone.GOOD, UploadState.REJECTED: Tone.BAD}


def routes(site: Site, server: ServerParts, intake: Intake) -> list[BaseRoute]:
    """The pages of this room; none for a server that takes no uploads."""
    if intake.settings is None:
        return []
    pages = _UploadPages(site, server, intake)
    return [
        Route(_PATH, pages.show, methods=["GET"]),
        Route(_PATH, pages.upload, methods=["POST"]),
        Route(_PATH + "/{upload:int}", pages.show_one),
        Route(_PATH + "/{upload:int}/remove", pages.remove, methods=["POST"]),
    ]


@dataclass(frozen=True)
class _UploadPages:
    site: Site
    server: ServerParts
    intake: Intake

    async def show(self, request: Request) -> Response:
        """The uploads and the form."""
        return self._page(request)

    def _page(self, request: Request, error: WebError | None = None) -> Response:
        found = uploads(self.server.store, user=require_user(request).id, limit=_MOST_UPLOADS)
        rows = [
            (
                Link(one.bot, f"{_PATH}/{one.id}"),
                one.number,
                tuple(map(short_name, one.games)),
                one.language,
                Toned(one.state.value, _TONES.get(one.state, Tone.FAINT)),
                ago(one.submitted_s, time.time()),
            )
            for one in found
        ]
        columns = ("bot", "upload", Column("games"), Column("language"), Column("state"), Column("when"))
        part = Table.of("", columns, rows) if rows else "You have uploaded no bot yet."
        return self.site.document(
            request,
            Document("Uploads", (), (), (Section("", (part,)),)),
            "uploads.html.jinja",
            crumbs=CRUMBS,
            status=200 if error is None else error.status,
            problem="" if error is None else error.sentence,
            settings=self.intake.settings,
        )

    async def upload(self, request: Request) -> Response:
        """Take an archive."""
        user = require_user(request)
        try:
            found = await self.intake.take(user, await read_file(request, "archive"))
        except (RefusedError, WebError) as error:
            return self._page(request, as_web_error(error))
        return RedirectResponse(f"{_PATH}/{found.id}", SEE_OTHER)

    def _own(self, request: Request) -> Upload:
        found = uploads(self.server.store, user=require_user(request).id, number=request.path_params["upload"])
        if not found:
            raise WebError(404, "You have no such upload.")
        return found[0]

    async def show_one(self, request: Request) -> Response:
        """An upload, with what is wrong with it."""
        one = self._own(request)
        reports = read_reports(self.server.store, one)
        sections = [
            Section(f"{section.title}{f' in {short_name(report.game)}' if len(reports) > 1 else ''}", section.parts)
            for report in reports
            # What is wrong comes before where it was looked for.
            for section in reversed(doctor_document(report).sections)
        ]
        sentences = [_sentence(one), *(report.sentence for report in reports)]
        facts = (
            Fact("command", one.command, NAME),
            Fact("language", one.language, NAME),
            Fact("games", tuple(map(short_name, one.games)), NAME),
            Fact("uploaded", one.submitted_at.isoformat(" ", "seconds"), NAME),
            Fact("SHA-256", one.sha256, NAME),
        )
        return self.site.document(
            request,
            Document(f"{one.bot}, upload {one.number}", tuple(sentences), facts, tuple(sections)),
            "upload.html.jinja",
            crumbs=(*CRUMBS, Link("Uploads", _PATH)),
            upload=one,
            log=self.intake.printed(one, LOG_NAME),
            failure=self.intake.printed(one, FAILURE_NAME),
        )

    async def remove(self, request: Request) -> Response:
        """Have a bot play no more."""
        one = self._own(request)
        await read_form(request)
        await self.intake.withdraw(one.owner, one.bot)
        return RedirectResponse(_PATH, SEE_OTHER)


def _sentence(one: Upload) -> str:
    match one.state:
        case UploadState.WAITING:
            return "The doctor examines it as soon as earlier uploads are done."
        case UploadState.ACCEPTED:
            return "It plays here: anybody can challenge it, and it plays background matches."
        case UploadState.REJECTED:
            return f"It does not play: {one.reason or 'the doctor has found errors'}."
        case UploadState.REPLACED:
            return "A later upload plays."
        case UploadState.REMOVED:
            return "It was removed."
