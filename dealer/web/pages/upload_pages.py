"""Pages of a user's uploads, with the upload form, the state of each upload and the doctor's findings."""

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
from dealer.web.visitor import SEE_OTHER, require_account
from engine.text import ago
from logs.document import NAME, Column, Document, Fact, Link, Part, Section, Table, Tone, Toned
from protocol.game_definition import short_name

_MAX_UPLOADS: Final = 50
_PATH: Final = "/account/uploads"
_TONES: Final = {UploadState.ACCEPTED: Tone.GOOD, UploadState.REJECTED: Tone.BAD}


def routes(site: Site, server: ServerParts, intake: Intake) -> list[BaseRoute]:
    """Return the routes of these pages; none if the server takes no uploads."""
    if intake.settings is None:
        return []
    pages = _UploadPages(site, server, intake)
    return [
        Route(_PATH, pages.show_list, methods=["GET"]),
        Route(_PATH, pages.upload, methods=["POST"]),
        Route(_PATH + "/{upload:int}", pages.show_upload),
        Route(_PATH + "/{upload:int}/remove", pages.remove, methods=["POST"]),
    ]


@dataclass(frozen=True)
class _UploadPages:
    site: Site
    server: ServerParts
    intake: Intake

    async def show_list(self, request: Request) -> Response:
        """Show the user's uploads and the upload form."""
        return self._list_page(request)

    def _list_page(self, request: Request, error: WebError | None = None) -> Response:
        rows = []
        for upload in uploads(self.server.store, user=require_account(request).id, limit=_MAX_UPLOADS):
            link = Link(upload.bot, f"{_PATH}/{upload.id}")
            games = tuple(map(short_name, upload.games))
            state = Toned(upload.state.value, _TONES.get(upload.state, Tone.FAINT))
            age = ago(upload.submitted_s, time.time())
            rows.append((link, upload.number, games, upload.language, state, age))
        part: Part = "You have not uploaded a bot yet."
        if rows:
            columns = ("bot", "upload", Column("games"), Column("language"), Column("state"), Column("when"))
            part = Table.of("", columns, rows)
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
        """Accept an archive."""
        user = require_account(request)
        try:
            upload = await self.intake.take(user, await read_file(request, "archive"))
        except (RefusedError, WebError) as error:
            return self._list_page(request, as_web_error(error))
        return RedirectResponse(f"{_PATH}/{upload.id}", SEE_OTHER)

    def _find_upload(self, request: Request) -> Upload:
        user = require_account(request)
        rows = uploads(self.server.store, user=user.id, number=request.path_params["upload"])
        if not rows:
            raise WebError(404, "You have no such upload.")
        return rows[0]

    async def show_upload(self, request: Request) -> Response:
        """Show an upload with the doctor's findings."""
        upload = self._find_upload(request)
        reports = read_reports(self.server.store, upload)
        sections = []
        for report in reports:
            # Findings come before the situations in which the doctor looked for them.
            for section in reversed(doctor_document(report).sections):
                title = section.title
                if len(reports) > 1:
                    title = f"{title} in {short_name(report.game)}"
                sections.append(Section(title, section.parts))
        sentences = [_describe_state(upload), *(report.sentence for report in reports)]
        facts = (
            Fact("command", upload.command, NAME),
            Fact("language", upload.language, NAME),
            Fact("games", tuple(map(short_name, upload.games)), NAME),
            Fact("uploaded", upload.submitted_at.isoformat(" ", "seconds"), NAME),
            Fact("SHA-256", upload.sha256, NAME),
        )
        return self.site.document(
            request,
            Document(f"{upload.bot}, upload {upload.number}", tuple(sentences), facts, tuple(sections)),
            "upload.html.jinja",
            crumbs=(*CRUMBS, Link("Uploads", _PATH)),
            upload=upload,
            log=self.intake.printed(upload, LOG_NAME),
            failure=self.intake.printed(upload, FAILURE_NAME),
        )

    async def remove(self, request: Request) -> Response:
        """Remove all versions of an uploaded bot."""
        upload = self._find_upload(request)
        await read_form(request)
        await self.intake.withdraw(upload.owner, upload.bot)
        return RedirectResponse(_PATH, SEE_OTHER)


def _describe_state(upload: Upload) -> str:
    match upload.state:
        case UploadState.WAITING:
            return "The doctor examines this upload when earlier ones are done."
        case UploadState.ACCEPTED:
            return "This upload plays. Anybody can challenge it, and it plays background matches."
        case UploadState.REJECTED:
            return f"It does not play: {upload.reason or 'the doctor has found errors'}."
        case UploadState.REPLACED:
            return "A later upload has replaced this one."
        case UploadState.REMOVED:
            return "This bot was removed."
