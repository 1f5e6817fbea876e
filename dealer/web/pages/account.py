"""Pages of a user's account: login, invitation, requests, bots, faults, tokens and password.

Wrong logins count by address and by name, together with those of the text port (`dealer.server.accounts.GuessLimit`).
A new token is shown once, on the page that answers the form.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.match.faults import decode_line
from dealer.run.choices import Seating
from dealer.run.tournament_run import Progress
from dealer.server import access
from dealer.server.access import Access
from dealer.server.accounts import (
    MAX_PASSWORD_LENGTH,
    MIN_PASSWORD_LENGTH,
    Scope,
    add_token,
    find_invited_user,
    read_tokens,
    revoke_token,
)
from dealer.server.db import records
from dealer.server.db.audit import with_audit
from dealer.server.db.bot_registry import free_name, used_names
from dealer.server.db.counted_scores import standings
from dealer.server.db.records import Fault, Job, JobRequest, JobState, Run
from dealer.server.db.teams import team_invitations, teams
from dealer.server.db.users import User
from dealer.server.queue.fair_queue import Forecast
from dealer.server.resources import removal_sentence
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.server.server_tables import connected_bots_in
from dealer.web.pages.shown_runs import bot_path, run_path
from dealer.web.security import as_web_error, parse_form_number, parse_number, read_form, set_cookie
from dealer.web.site import Site, next_page_links, read_rows
from dealer.web.visitor import SCOPE_KEY, SEE_OTHER, Sessions, get_visitor, require_account, require_user
from engine.text import ago, count_of, duration, escaped
from logs.document import CHIPS, CODE, NAME, Column, Document, Fact, Link, Part, Section, Table, Tone, Toned
from logs.estimation import Estimate
from protocol.game_definition import short_name
from protocol.joining import TABLE_TAG, ContestTerms

_LAST_JOBS: Final = 30
_MAX_DEALS: Final = 999_999_999
_LAST_FAULTS: Final = 30
_MAX_TOKENS: Final = 50
_MAX_LABEL_CHARACTERS: Final = 64
_FILES: Final = {"log": ".log", "times": ".tlog", "faults": ".faults", "comments": ".comments"}
"""Files of a match that can be downloaded, and the endings of their names."""
_OWNER_SCOPES: Final = (Scope.READ, Scope.PLAY)
CRUMBS: Final = (Link("Account", "/account"),)
_SETTINGS: Final = "/account/settings"
_FIXED: Final = "Your password is set in the configuration of the server. Its operator can change it."
_NO_INVITATION: Final = "This invitation is used, expired or replaced. Ask the operator of the server for a new one."
_NO_BOTS: Final = (
    "You have no bots on this server yet. A bot is registered when it connects, from any machine. The steps are below."
)


def routes(site: Site, server: ServerParts, sessions: Sessions) -> list[BaseRoute]:
    """Return the routes of these pages."""
    account = _Account(site, server, sessions)
    return [
        Route("/login", account.show_login, methods=["GET"]),
        Route("/login", account.log_in, methods=["POST"]),
        Route("/logout", account.log_out, methods=["POST"]),
        Route("/invitation/{secret}", account.show_invitation, methods=["GET"]),
        Route("/invitation/{secret}", account.accept_invitation, methods=["POST"]),
        Route("/account", account.show_overview),
        Route("/account/request", account.show_request_form, methods=["GET"]),
        Route("/account/request", account.submit, methods=["POST"]),
        Route("/account/jobs/{job:int}/cancel", account.cancel, methods=["POST"]),
        Route("/account/runs/{run:int}", account.show_run),
        Route("/account/runs/{run:int}/{match}/{kind}", account.send_file),
        Route("/account/names/free", account.free_name, methods=["POST"]),
        Route("/account/faults", account.show_faults),
        Route("/account/settings", account.show_settings),
        Route("/account/tokens", account.create_token, methods=["POST"]),
        Route("/account/tokens/{token:int}/revoke", account.revoke, methods=["POST"]),
        Route("/account/password", account.change_password, methods=["POST"]),
    ]


@dataclass(frozen=True)
class _Account:
    site: Site
    server: ServerParts
    sessions: Sessions

    # ---- logging in and out

    async def show_login(self, request: Request) -> Response:
        return self.site.page(request, "login.html.jinja", next=_own_path(request.query_params.get("next", "")))

    async def log_in(self, request: Request) -> Response:
        form = await read_form(request)
        visitor = get_visitor(request)
        name = form.get("name", "").strip()
        secret = form.get("secret", "").strip()
        user = await self.server.accounts.log_in_person(name, secret, visitor.address)
        token = self.server.accounts.find_token(secret)
        target = _own_path(form.get("next", ""))
        if user is None:
            return self.site.page(request, "login.html.jinja", status=403, next=target, name=name, problem=True)
        await self.sessions.end(visitor.cookie)
        response = RedirectResponse(target, SEE_OTHER)
        set_cookie(request, response, visitor, await self.sessions.begin(user, token))
        return response

    async def log_out(self, request: Request) -> Response:
        await read_form(request)
        await self.sessions.end(get_visitor(request).cookie)
        response = RedirectResponse("/", SEE_OTHER)
        set_cookie(request, response, get_visitor(request), "")
        return response

    async def show_invitation(self, request: Request) -> Response:
        """Show the form in which an invited user chooses a password."""
        return self._invitation_page(request, self._find_invited(request))

    async def accept_invitation(self, request: Request) -> Response:
        """Set the password, log the browser in and show the new token once."""
        user = self._find_invited(request)
        form = await read_form(request)
        problem = _check_password(form.get("new", ""), form.get("again", ""))
        if problem:
            return self._invitation_page(request, user, problem=problem)
        accepted = await self.server.accounts.accept(request.path_params["secret"], form["new"])
        if accepted is None:
            # Another browser has used the invitation meanwhile.
            raise WebError(404, _NO_INVITATION)
        user, token = accepted
        visitor = get_visitor(request)
        await self.sessions.end(visitor.cookie)
        new_token = self.server.accounts.find_token(token)
        is_organiser = new_token is not None and Scope.ADMIN in new_token.scopes
        cookie = await self.sessions.begin(user, new_token if is_organiser else None)
        # This page already has the navigation and the form keys of the login.
        account = self.sessions.account_of(user)
        request.scope[SCOPE_KEY] = replace(
            visitor, user=user, account=account, cookie=cookie, is_organiser=is_organiser
        )
        response = self._invitation_page(request, user, token=token)
        set_cookie(request, response, visitor, cookie)
        return response

    def _find_invited(self, request: Request) -> User:
        guesses = self.server.accounts.guesses
        address = get_visitor(request).address
        if wait_s := guesses.wait_s(address):
            sentence = f"There were too many attempts. Try again in {count_of(wait_s, 'second')}."
            raise WebError(429, sentence, "login", wait_s)
        user = find_invited_user(self.server.store, request.path_params["secret"])
        if user is None:
            guesses.record_failure(address)
            raise WebError(404, _NO_INVITATION)
        if user.name in dict(self.server.settings.passwords):
            raise WebError(409, _FIXED)
        return user

    def _invitation_page(self, request: Request, user: User, *, problem: str = "", token: str = "") -> Response:
        return self.site.page(
            request,
            "invitation.html.jinja",
            status=422 if problem else 200,
            name=user.name,
            problem=problem,
            token=token,
            min_length=MIN_PASSWORD_LENGTH,
            max_length=MAX_PASSWORD_LENGTH,
        )

    # ---- overview and settings

    async def show_overview(self, request: Request) -> Response:
        """Show the user's requests, bots and latest faults."""
        return await self._overview_page(request)

    async def free_name(self, request: Request) -> Response:
        """Free the name of a bot of the user, or of any user for an organiser."""
        user = require_user(request)
        form = await read_form(request)
        owner = None if get_visitor(request).is_organiser else require_account(request).id
        try:
            await self.server.store.write(partial(free_name, who=user.name, name=form.get("name", ""), owner=owner))
        except RefusedError as error:
            return await self._overview_page(request, as_web_error(error).sentence)
        return RedirectResponse("/account", SEE_OTHER)

    async def _overview_page(self, request: Request, problem: str = "") -> Response:
        user = require_user(request)
        account = require_account(request)
        store = self.server.store
        forecasts = await self.server.service.queue.forecasts()
        jobs = [job for job in records.jobs(store, user=account.id, limit=_LAST_JOBS) if job.tag != TABLE_TAG]
        faults = self._read_faults(request, _LAST_FAULTS)
        sections = (
            Section("Requests", (self._jobs_part(jobs, forecasts),)),
            Section("Bots", (self._bots_part(account),)),
            Section("Faults of your bots", (_faults_part(faults),)),
        )
        facts = [Fact("new request", Link("request a contest", "/account/request"), NAME)]
        if faults:
            facts.append(Fact("all faults", Link("list by page", "/account/faults"), NAME))
        if self.server.settings.uploads is not None:
            facts.append(Fact("uploads", Link("bots that run on this server", "/account/uploads"), NAME))
        facts.append(Fact("settings", Link("tokens and password", _SETTINGS), NAME))
        manager = self.site.table_manager
        return self.site.document(
            request,
            Document(user.name, (), tuple(facts), sections),
            "account.html.jinja",
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            names=used_names(store, account.id),
            max_names=self.server.settings.max_names_per_user,
            team=next(iter(teams(store, account.id)), None),
            team_invitations=team_invitations(store, user),
            max_members=self.server.settings.max_team_members,
            open_jobs=[job for job in jobs if job.is_open],
            tables=[] if manager is None else manager.table_store.of(f"user {user.id}"),
        )

    async def show_settings(self, request: Request) -> Response:
        """Show the forms for tokens and the password."""
        return self._settings_page(request)

    def _settings_page(
        self, request: Request, *, status: int = 200, problem: str = "", message: str = "", token: str = ""
    ) -> Response:
        user = require_user(request)
        return self.site.document(
            request,
            Document("Settings"),
            "settings.html.jinja",
            crumbs=CRUMBS,
            status=status,
            problem=problem,
            message=message,
            new_token=token,
            tokens=read_tokens(self.server.store, user.id),
            is_fixed=user.name in dict(self.server.settings.passwords),
            min_length=MIN_PASSWORD_LENGTH,
            max_length=MAX_PASSWORD_LENGTH,
        )

    def _jobs_part(self, jobs: Sequence[Job], forecasts: Mapping[int, Forecast]) -> Part:
        if not jobs:
            return "You have no requests yet."
        rows = []
        progress = self.server.service.queue.progress()
        for job in jobs:
            runs = records.runs(self.server.store, job=job.id, limit=10)
            links = tuple(Link(f"{run.id} {run.state}", f"/account/runs/{run.id}") for run in runs)
            running = next((progress[run.id] for run in runs if run.id in progress), None)
            state = _describe_state(job, forecasts, running)
            rows.append((job.id, job.tag, short_name(job.game), job.players, state, links))
        columns = ("number", Column("name"), Column("game"), Column("players"), Column("state"), Column("runs"))
        return Table.of("Requests", columns, rows).without_empty()

    def _bots_part(self, user: User) -> Part:
        store = self.server.store
        online_names = {guest.name for guest in self.server.service.presence.bots if guest.owner == user}
        bots = records.bots(store, owner=user.id)
        if not bots:
            return _NO_BOTS
        ratings = {rating.bot.version: rating for bot in bots for rating in standings(store, bot.game, bot.name)}
        rows = []
        for bot in bots:
            last_seen: str | Toned = ""
            if bot.name in online_names:
                last_seen = Toned("online", Tone.GOOD)
            elif bot.seen_s is not None:
                last_seen = ago(bot.seen_s, time.time())
            estimate = None
            remark = ""
            rating = ratings.get(bot.version)
            if rating is not None:
                estimate = Estimate(rating.mbb_per_game, rating.half_width_95)
                remark = "provisional" if rating.is_provisional else ""
            name = Link(bot.name, bot_path(bot))
            rows.append((name, short_name(bot.game), bot.number, bot.label, last_seen, estimate, remark))
        columns = (
            "bot",
            Column("game"),
            Column("version"),
            Column("label"),
            Column("last seen"),
            Column("rating", "+,.0f", "mbb/g"),
            Column("", meaning="provisional: based on few deals"),
        )
        return Table.of("Bots", columns, rows).without_empty()

    # ---- requests

    async def show_request_form(self, request: Request) -> Response:
        require_user(request)
        return self._request_page(request, dict(request.query_params))

    def _request_page(self, request: Request, form: Mapping[str, str], problem: str = "") -> Response:
        game = self.server.settings.find_game(form.get("game", ""))
        guests = () if game is None else connected_bots_in(self.server, game)
        return self.site.page(
            request,
            "request.html.jinja",
            status=422 if problem else 200,
            games=self.server.settings.games,
            game=game,
            guests=[name for name, _ in guests],
            form_values=defaultdict(str, form),
            seatings=list(Seating),
            problem=problem,
        )

    async def submit(self, request: Request) -> Response:
        """Submit the contest of a form."""
        user = require_account(request)
        form = await read_form(request)
        game = self.server.settings.find_game(form.get("game", ""))
        if game is None:
            return self._request_page(request, form, "Choose a game.")
        try:
            await self.server.service.submit(user, _read_job_request(form, game))
        except (RefusedError, WebError) as error:
            return self._request_page(request, form, as_web_error(error).sentence)
        return RedirectResponse("/account", SEE_OTHER)

    async def cancel(self, request: Request) -> Response:
        """Cancel a request."""
        user = require_account(request)
        await read_form(request)
        if not await self.server.service.queue.cancel_job(user, request.path_params["job"]):
            raise WebError(404, "You have no unfinished request of this number.")
        return RedirectResponse("/account", SEE_OTHER)

    # ---- runs and faults

    def _find_own_run(self, request: Request) -> tuple[Run, Access]:
        """Return a run of the user or of the user's bots, and the parts of it that the user may see."""
        require_user(request)
        store = self.server.store
        number = request.path_params["run"]
        run = records.run(store, number)
        job = records.job_of_run(store, number)
        if run is not None and job is not None:
            permissions = access.access_to(store, run, job, get_visitor(request).person)
            if permissions.is_managed or permissions.own:
                return run, permissions
        raise WebError(404, "You have no such run.")

    async def show_run(self, request: Request) -> Response:
        """Show a run of the user, with the files of its matches and the faults of the user's bots."""
        run, permissions = self._find_own_run(request)
        reason = permissions.reason(run)
        sentences = [f"{run.state.capitalize()}: {reason}" if reason else f"{run.state.capitalize()}."]
        if run.unrated:
            sentences.append(f"This contest does not count in the standings: {run.unrated}.")
        link_text = "The hands of the run"
        if permissions.own:
            link_text = "The hands of the run, and the leaks of your bots"
        facts = (
            Fact("game", short_name(run.game), NAME),
            Fact("page", Link(link_text, run_path(str(run.id))), NAME),
        )
        faults = []
        for fault in records.faults(self.server.store, run=run.id, limit=500):
            name = run.seats[fault.player].name
            if permissions.is_own(name):
                faults.append((name, fault))
        document = Document(
            f"Run {run.id}",
            tuple(sentences),
            facts,
            (
                Section("Result", (_result_part(run, permissions),)),
                Section("Files", self._files_parts(run, permissions)),
                Section("Faults of your bots", (_faults_part(faults),)),
            ),
            ("The standard error of your bot stays on the machine where you started it.",),
        )
        return self.site.document(request, document, crumbs=CRUMBS)

    def _files_parts(self, run: Run, permissions: Access) -> tuple[Part, ...]:
        if removed := removal_sentence(self.server.folder / run.folder):
            return (removed,)
        matches = records.matches(self.server.store, run.id)
        if not matches:
            return ("The files are available when the run has ended.",)
        rows = []
        for match in matches:
            folder = f"/account/runs/{run.id}/{quote(match.name, safe='')}"
            links = tuple(
                Link(kind, f"{folder}/{kind}")
                for kind in self._kinds(permissions)
                if self._path(run, match.name, kind).is_file()
            )
            rows.append((match.name, match.hands, links))
        table = Table.of("Files", ("match", "hands", Column("files")), rows)
        if permissions.sees_cards:
            return (table,)
        return table, "The files are available when all runs of the request have ended."

    async def send_file(self, request: Request) -> Response:
        """Send a file of a match of the user."""
        run, permissions = self._find_own_run(request)
        name = request.path_params["match"]
        kind = request.path_params["kind"]
        # File names come from the database, never from the path of a request.
        match = next((match for match in records.matches(self.server.store, run.id) if match.name == name), None)
        if match is None or kind not in _FILES or not self._path(run, match.name, kind).is_file():
            raise WebError(404, "There is no such file.")
        if kind not in self._kinds(permissions):
            raise WebError(403, "The file contains cards. It is available when all runs of the request have ended.")
        path = self._path(run, match.name, kind)
        return FileResponse(path, filename=f"run{run.id}-{path.name}", media_type="text/plain; charset=utf-8")

    @staticmethod
    def _kinds(permissions: Access) -> list[str]:
        if not permissions.sees_cards:
            return []
        # The file of faults has those of all players.
        return [kind for kind in _FILES if kind != "faults" or permissions.is_managed]

    def _path(self, run: Run, match: str, kind: str) -> Path:
        return self.server.folder / run.folder / f"{match}{_FILES[kind]}"

    async def show_faults(self, request: Request) -> Response:
        """Show the faults of the user's bots, page by page."""
        require_user(request)
        title = "Faults of your bots"
        faults, following = read_rows(partial(self._read_faults, request), lambda row: row[1].id)
        document = Document(title, sections=(Section(title, (_faults_part(faults),)),))
        return self.site.document(request, document, crumbs=CRUMBS, pages=next_page_links(request, following))

    def _read_faults(self, request: Request, limit: int) -> list[tuple[str, Fault]]:
        """Return the latest faults with the names of their bots, after those of earlier pages."""
        store = self.server.store
        before = parse_number(request.query_params.get("after", ""))
        faults = access.faults(store, get_visitor(request).person, before=before, limit=limit)
        names = {}
        for version in {fault.version for fault in faults}:
            bot = records.bot(store, version)
            names[version] = "" if bot is None else bot.name
        return [(names[fault.version], fault) for fault in faults]

    # ---- tokens and the password

    async def create_token(self, request: Request) -> Response:
        """Create a token and show it once."""
        user = require_user(request)
        form = await read_form(request)
        label = form.get("label", "").strip()
        scopes = [scope for scope in _OWNER_SCOPES if form.get(f"scope_{scope.value}")]
        if len(label) > _MAX_LABEL_CHARACTERS or not label.isprintable():
            problem = f"The label of a token must have at most {_MAX_LABEL_CHARACTERS} characters, all printable."
        elif not scopes:
            problem = "Choose at least one permission for the token."
        elif len(read_tokens(self.server.store, user.id)) >= _MAX_TOKENS:
            problem = f"You have {_MAX_TOKENS} tokens. Revoke one first."
        else:
            action = f"made a token for {' '.join(scopes)}"
            token = await self.server.store.write(
                with_audit(user.name, action, lambda db: add_token(db, user.id, scopes, label))
            )
            return self._settings_page(request, status=201, token=token)
        return self._settings_page(request, status=422, problem=problem)

    async def revoke(self, request: Request) -> Response:
        """Revoke a token."""
        user = require_user(request)
        await read_form(request)
        number = request.path_params["token"]
        change = with_audit(user.name, f"revoked the token {number}", lambda db: revoke_token(db, user.id, number))
        if not await self.server.store.write(change):
            raise WebError(404, "You have no such token.")
        return RedirectResponse(f"{_SETTINGS}#tokens", SEE_OTHER)

    async def change_password(self, request: Request) -> Response:
        """Change the password and log out all other browsers."""
        user = require_user(request)
        form = await read_form(request)
        old = form.get("old", "")
        new = form.get("new", "")
        if user.name in dict(self.server.settings.passwords):
            problem = _FIXED
        elif problem := _check_password(new, form.get("again", "")):
            pass
        elif await self.server.accounts.log_in_person(user.name, old, get_visitor(request).address) != user:
            problem = "The current password, or the token in its place, is wrong."
        else:
            await self.server.accounts.change(user, new)
            message = "Your password is changed, and your other browsers are logged out."
            response = self._settings_page(request, message=message)
            set_cookie(request, response, get_visitor(request), await self.sessions.begin(user))
            return response
        return self._settings_page(request, status=422, problem=problem)


def _check_password(password: str, repetition: str) -> str:
    """Return a sentence about the fault of a new password, or an empty text."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        return f"The password must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters."
    if password != repetition:
        return "The two new passwords differ."
    return ""


def _read_job_request(form: Mapping[str, str], game: ServerGame) -> JobRequest:
    """Read the request of a form.

    Raises:
        WebError: a player is missing, a number is invalid or the seating is unknown.
    """
    players = tuple(form.get(f"player{seat}", "") for seat in range(1, game.game.num_players + 1))
    if not all(players):
        raise WebError(422, "Choose a player for each seat.")
    try:
        seating = Seating(form.get("seating") or Seating.ROTATIONS)
    except ValueError:
        raise WebError(422, "There is no such seating.") from None
    runs = parse_form_number(form, "runs", 1, _MAX_DEALS) or 1
    terms = ContestTerms(
        deals=parse_form_number(form, "deals", 1, _MAX_DEALS),
        seating=seating.value,
        stop=form.get("stop", "").strip() or None,
        practice=bool(form.get("practice")),
    )
    return JobRequest(game.name, players, form.get("tag", "").strip(), runs, terms=terms)


def _result_part(run: Run, permissions: Access) -> Part:
    own_names = permissions.own or ()
    rows = []
    for seat in run.seats:
        name = f"{seat.name} (yours)" if seat.name in own_names else seat.name
        rows.append((name, seat.chips, seat.won))
    return Table.of("Result", ("player", Column("chips", CHIPS), Column("won", "+,.0f", "mbb/g")), rows)


def _faults_part(faults: Sequence[tuple[str, Fault]]) -> Part:
    if not faults:
        return "None."
    rows = []
    for bot, fault in faults:
        run = Link(fault.run, f"/account/runs/{fault.run}")
        # Number -1 is a fault before the first hand.
        hand = fault.hand_number if fault.hand_number >= 0 else None
        line = escaped(decode_line(fault.line))
        rows.append((bot, fault.kind, run, fault.match, hand, line, fault.remedy))
    columns = (
        "bot",
        Column("fault"),
        Column("run"),
        Column("match"),
        Column("hand", ","),
        Column("line", CODE),
        Column("remedy"),
    )
    return Table.of("Faults", columns, rows)


def _describe_state(job: Job, forecasts: Mapping[int, Forecast], running: Progress | None) -> str:
    if not job.is_open:
        return f"{job.state.value}: {job.reason}" if job.reason else job.state.value
    if job.state is JobState.RUNNING:
        return "running" if running is None else f"running, {_describe_progress(job, running)}"
    forecast = forecasts.get(job.id)
    if forecast is None:
        return "waiting for a bot that is busy or not connected"
    text = f"waiting, place {forecast.position}"
    if forecast.starts_in_s is not None:
        text += f", starts in about {duration(forecast.starts_in_s)}"
    return text


def _describe_progress(job: Job, progress: Progress) -> str:
    text = f"{progress.deals:,} of {count_of(progress.deals_planned, 'deal')}"
    if job.runs > 1:
        text = f"run {job.started} of {job.runs}, {text}"
    if not progress.hands_per_second:
        return text
    seconds_left = (progress.hands_planned - progress.hands) / progress.hands_per_second
    bound = "at most" if progress.has_stop_rule else "about"
    return f"{text}, {bound} {duration(seconds_left)} left"


def _own_path(text: str) -> str:
    """Return a path of this site, or the first page if the text is anything else."""
    # A browser reads // and /\ as the beginning of another host.
    is_path = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_path else "/"
