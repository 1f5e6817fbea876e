"""A user's account: logging in and out, the page Account with the user's bots, requests and faults, and its settings.

Wrong logins count by address and by name, shared with the text port (`dealer.server.accounts.GuessLimit`). Everything
that changes something is a form of its own. A token is shown on the page that answers the form, once.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from dealer.server.db.counted_scores import standings
from dealer.server.db.records import Fault, Job, JobRequest, JobState, Run
from dealer.server.db.users import User
from dealer.server.queue.fair_queue import Forecast
from dealer.server.resources import removal_sentence
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.server.server_tables import connected_bots_in
from dealer.web.pages.shown_runs import bot_path, run_path
from dealer.web.security import as_web_error, parse_form_number, parse_number, read_form, set_cookie
from dealer.web.site import Site
from dealer.web.visitor import SEE_OTHER, Sessions, get_visitor, require_user
from engine.text import ago, count_of, duration, escaped
from logs.document import CHIPS, CODE, NAME, Column, Document, Fact, Link, Part, Section, Table, Tone, Toned
from logs.estimation import Estimate
from protocol.game_definition import short_name
from protocol.joining import TABLE_TAG, ContestTerms

_MOST_JOBS: Final = 30
_MOST_DEALS: Final = 999_999_999
_MOST_FAULTS: Final = 30
_MOST_TOKENS: Final = 50
_MOST_LABEL_LETTERS: Final = 64
_FILES: Final = {"log": ".log", "times": ".tlog", "faults": ".faults", "comments": ".comments"}
"""What can be downloaded of a match, and how the names of these files end."""
_OWNER_SCOPES: Final = (Scope.READ, Scope.PLAY)
CRUMBS: Final = (Link("Account", "/account"),)
_SETTINGS: Final = "/account/settings"
_FIXED: Final = "Your password is in the configuration of the server; its operator can change it."
_NO_INVITATION: Final = (
    "This invitation has been used, has expired or was replaced by a newer one; "
    "ask whoever runs the server for another."
)
_NO_BOTS: Final = (
    "You have no bots on this server yet. A bot is registered when it connects: arena join connects it from any "
    "machine with one of your tokens."
)


def routes(site: Site, server: ServerParts, sessions: Sessions) -> list[BaseRoute]:
    """The pages of this room."""
    account = _Account(site, server, sessions)
    return [
        Route("/login", account.show_login, methods=["GET"]),
        Route("/login", account.log_in, methods=["POST"]),
        Route("/logout", account.log_out, methods=["POST"]),
        Route("/invitation/{secret}", account.show_invitation, methods=["GET"]),
        Route("/invitation/{secret}", account.accept, methods=["POST"]),
        Route("/account", account.show),
        Route("/account/request", account.ask, methods=["GET"]),
        Route("/account/request", account.submit, methods=["POST"]),
        Route("/account/jobs/{job:int}/cancel", account.cancel, methods=["POST"]),
        Route("/account/runs/{run:int}", account.run),
        Route("/account/runs/{run:int}/{match}/{kind}", account.file),
        Route("/account/faults", account.faults),
        Route("/account/settings", account.settings),
        Route("/account/tokens", account.make_token, methods=["POST"]),
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
        name, secret = form.get("name", "").strip(), form.get("secret", "").strip()
        user = await self.server.accounts.log_in_person(name, secret, visitor.address)
        token = self.server.accounts.find_token(secret)
        target = _own_path(form.get("next", ""))
        if user is None:
            return self.site.page(request, "login.html.jinja", status=403, next=target, name=name, problem=True)
        await self.sessions.end(visitor.cookie)
        answer = RedirectResponse(target, SEE_OTHER)
        set_cookie(request, answer, visitor, await self.sessions.begin(user, token))
        return answer

    async def log_out(self, request: Request) -> Response:
        await read_form(request)
        await self.sessions.end(get_visitor(request).cookie)
        answer = RedirectResponse("/", SEE_OTHER)
        set_cookie(request, answer, get_visitor(request), "")
        return answer

    async def show_invitation(self, request: Request) -> Response:
        """Where somebody who was invited chooses a password."""
        return self._invitation(request, self._invited(request))

    async def accept(self, request: Request) -> Response:
        """The password is chosen; the token is shown once, and the browser is logged in."""
        user, form = self._invited(request), await read_form(request)
        problem = _password_problem(form.get("new", ""), form.get("again", ""))
        if problem:
            return self._invitation(request, user, problem=problem)
        accepted = await self.server.accounts.accept(request.path_params["secret"], form["new"])
        if accepted is None:
            raise WebError(404, _NO_INVITATION)
        user, token = accepted
        visitor = get_visitor(request)
        await self.sessions.end(visitor.cookie)
        answer = self._invitation(request, user, token=token)
        set_cookie(request, answer, visitor, await self.sessions.begin(user))
        return answer

    def _invited(self, request: Request) -> User:
        guesses, address = self.server.accounts.guesses, get_visitor(request).address
        if wait_s := guesses.wait_s(address):
            raise WebError(
                429, f"There were too many attempts; try again in {count_of(wait_s, 'second')}.", "login", wait_s
            )
        user = find_invited_user(self.server.store, request.path_params["secret"])
        if user is None:
            guesses.record_failure(address)
            raise WebError(404, _NO_INVITATION)
        if user.name in dict(self.server.settings.passwords):
            raise WebError(409, _FIXED)
        return user

    def _invitation(self, request: Request, user: User, *, problem: str = "", token: str = "") -> Response:
        return self.site.page(
            request,
            "invitation.html.jinja",
            status=422 if problem else 200,
            name=user.name,
            problem=problem,
            token=token,
            least_letters=MIN_PASSWORD_LENGTH,
            most_letters=MAX_PASSWORD_LENGTH,
        )

    # ---- everything at a glance

    async def show(self, request: Request) -> Response:
        """The page."""
        user = require_user(request)
        store, manager = self.server.store, self.site.table_manager
        forecasts = await self.server.service.queue.forecasts()
        jobs = [job for job in records.jobs(store, user=user.id, limit=_MOST_JOBS) if job.tag != TABLE_TAG]
        faults = self._faults(request)
        sections = (
            Section("Requests", (self._jobs_part(jobs, forecasts),)),
            Section("Bots", (self._bots_part(user),)),
            Section("What your bots did wrong", (_faults_part(faults),)),
        )
        every = Fact("all faults", Link("page by page", "/account/faults"), NAME)
        ask = Fact("new request", Link("have a contest played", "/account/request"), NAME)
        settings = Fact("settings", Link("tokens and password", _SETTINGS), NAME)
        uploads = Fact("uploads", Link("bots that run on this server", "/account/uploads"), NAME)
        more = () if self.server.settings.uploads is None else (uploads,)
        return self.site.document(
            request,
            Document(user.name, (), (ask, *([every] if faults else []), *more, settings), sections),
            "account.html.jinja",
            open_jobs=[job for job in jobs if job.is_open],
            tables=[] if manager is None else manager.table_store.of(f"user {user.id}"),
        )

    async def settings(self, request: Request) -> Response:
        """The page of tokens and the password."""
        return self._settings_page(request)

    def _settings_page(
        self, request: Request, *, status: int = 200, problem: str = "", made: str = "", token: str = ""
    ) -> Response:
        user = require_user(request)
        return self.site.document(
            request,
            Document("Settings"),
            "settings.html.jinja",
            crumbs=CRUMBS,
            status=status,
            problem=problem,
            made=made,
            token=token,
            tokens=read_tokens(self.server.store, user.id),
            is_fixed=user.name in dict(self.server.settings.passwords),
            least_letters=MIN_PASSWORD_LENGTH,
            most_letters=MAX_PASSWORD_LENGTH,
        )

    def _jobs_part(self, jobs: Sequence[Job], forecasts: Mapping[int, Forecast]) -> Part:
        rows, progress = [], self.server.service.queue.progress()
        for job in jobs:
            runs = records.runs(self.server.store, job=job.id, limit=10)
            links = tuple(Link(f"{run.id} {run.state}", f"/account/runs/{run.id}") for run in runs)
            now = next((progress[run.id] for run in runs if run.id in progress), None)
            state = _state_words(job, forecasts, now)
            rows.append((job.id, job.tag, short_name(job.game), job.players, state, links))
        columns = ("number", Column("name"), Column("game"), Column("players"), Column("state"), Column("runs"))
        return Table.of("Requests", columns, rows).without_empty() if rows else "You have no requests yet."

    def _bots_part(self, user: User) -> Part:
        store = self.server.store
        is_here = {guest.name for guest in self.server.service.presence.bots if guest.owner == user}
        bots = records.bots(store, owner=user.id)
        ratings = {rating.bot.version: rating for bot in bots for rating in standings(store, bot.game, bot.name)}
        rows = []
        for bot in bots:
            rating, seen = ratings.get(bot.version), "" if bot.seen_s is None else ago(bot.seen_s, time.time())
            state = Toned("online", Tone.GOOD) if bot.name in is_here else seen
            name = Link(bot.name, bot_path(bot))
            estimate = None if rating is None else Estimate(rating.mbb_per_game, rating.half_width_95)
            remark = "provisional" if rating is not None and rating.is_provisional else ""
            rows.append((name, short_name(bot.game), bot.number, bot.label, state, estimate, remark))
        columns = (
            "bot",
            Column("game"),
            Column("version"),
            Column("label"),
            Column("last seen"),
            Column("rating", "+,.0f", "mbb/g"),
            Column("", meaning="provisional: based on few deals"),
        )
        return Table.of("Bots", columns, rows).without_empty() if rows else _NO_BOTS

    # ---- requests

    async def ask(self, request: Request) -> Response:
        """The form of a request."""
        require_user(request)
        return self._request_page(request, dict(request.query_params))

    def _request_page(self, request: Request, given: Mapping[str, str], problem: str = "") -> Response:
        game = self.server.settings.find_game(given.get("game", ""))
        guests = () if game is None else connected_bots_in(self.server, game)
        return self.site.page(
            request,
            "request.html.jinja",
            status=422 if problem else 200,
            games=self.server.settings.games,
            game=game,
            guests=[name for name, _ in guests],
            given=defaultdict(str, given),
            seatings=list(Seating),
            problem=problem,
        )

    async def submit(self, request: Request) -> Response:
        """A request to have a contest played."""
        user = require_user(request)
        form = await read_form(request)
        game = self.server.settings.find_game(form.get("game", ""))
        if game is None:
            return self._request_page(request, form, "Choose a game.")
        try:
            await self.server.service.submit(user, _request_of(form, game))
        except (RefusedError, WebError) as error:
            return self._request_page(request, form, as_web_error(error).sentence)
        return RedirectResponse("/account", SEE_OTHER)

    async def cancel(self, request: Request) -> Response:
        """Cancel a request."""
        user = require_user(request)
        await read_form(request)
        if not await self.server.service.queue.cancel_job(user, request.path_params["job"]):
            raise WebError(404, "You have no such request of which something is left to play.")
        return RedirectResponse("/account", SEE_OTHER)

    # ---- runs and faults

    def _own_run(self, request: Request) -> tuple[Run, Access]:
        """A run that the user asked for or in which its bots played, with what the user may see of it."""
        require_user(request)
        store, number = self.server.store, request.path_params["run"]
        run, job = records.run(store, number), records.job_of_run(store, number)
        if run is not None and job is not None:
            seen = access.access_to(store, run, job, get_visitor(request).person)
            if seen.is_managed or seen.own:
                return run, seen
        raise WebError(404, "You have no such run.")

    async def run(self, request: Request) -> Response:
        """A run of the user's, with the files of its matches and the faults of the user's bots."""
        run, seen = self._own_run(request)
        store = self.server.store
        title, reason = f"Run {run.id}", seen.reason(run)
        ended = f"{run.state.capitalize()}: {reason}" if reason else f"{run.state.capitalize()}."
        unrated = (f"This contest does not count in the standings: {run.unrated}.",) if run.unrated else ()
        seats = [
            (f"{seat.name or 'you'}{' (yours)' if seat.name in (seen.own or ()) else ''}", seat.chips, seat.won)
            for seat in run.seats
        ]
        columns = ("player", Column("chips", CHIPS), Column("won", "+,.0f", "mbb/g"))
        faults = [
            (run.seats[fault.player].name, fault)
            for fault in records.faults(store, run=run.id, limit=500)
            if seen.is_own(run.seats[fault.player].name)
        ]
        where = f"The run hand by hand{', and where your bots lose' if seen.own else ''}"
        document = Document(
            title,
            (ended, *unrated),
            (Fact("game", short_name(run.game), NAME), Fact("page", Link(where, run_path(str(run.id))), NAME)),
            (
                Section("Result", (Table.of("Result", columns, seats),)),
                Section("Files", self._files_parts(run, seen)),
                Section("What your bots did wrong", (_faults_part(faults),)),
            ),
            ("The standard error of your bot stays on the machine on which you started it.",),
        )
        return self.site.document(request, document, crumbs=CRUMBS)

    def _files_parts(self, run: Run, seen: Access) -> tuple[Part, ...]:
        if removed := removal_sentence(self.server.folder / run.folder):
            return (removed,)
        matches = records.matches(self.server.store, run.id)
        if not matches:
            return ("There are none before the run has ended.",)
        rows = []
        for match in matches:
            here = f"/account/runs/{run.id}/{quote(match.name, safe='')}"
            kinds = [kind for kind in self._kinds(seen) if self._path(run, match.name, kind).is_file()]
            rows.append((match.name, match.hands, tuple(Link(kind, f"{here}/{kind}") for kind in kinds)))
        table = Table.of("Files", ("match", "hands", Column("files")), rows)
        return table, *(() if seen.sees_cards else ("They are available when nothing of the request is left to play.",))

    async def file(self, request: Request) -> Response:
        """A file of a match of the user's."""
        run, seen = self._own_run(request)
        name, kind = request.path_params["match"], request.path_params["kind"]
        # Names of files come from the store, never from an address.
        match = next((match for match in records.matches(self.server.store, run.id) if match.name == name), None)
        if match is None or kind not in _FILES or not self._path(run, match.name, kind).is_file():
            raise WebError(404, "There is no such file.")
        if kind not in self._kinds(seen):
            raise WebError(
                403, "The files contain cards: they are available when nothing of the request is left to play."
            )
        path = self._path(run, match.name, kind)
        return FileResponse(path, filename=f"run{run.id}-{path.name}", media_type="text/plain; charset=utf-8")

    @staticmethod
    def _kinds(seen: Access) -> list[str]:
        """The files of a match for a visitor; that of its faults has those of all players."""
        return [kind for kind in _FILES if seen.sees_cards and (kind != "faults" or seen.is_managed)]

    def _path(self, run: Run, match: str, kind: str) -> Path:
        return self.server.folder / run.folder / f"{match}{_FILES[kind]}"

    async def faults(self, request: Request) -> Response:
        """What the user's bots did wrong, page by page."""
        require_user(request)
        title = "What your bots did wrong"
        faults = self._faults(request)
        document = Document(title, sections=(Section(title, (_faults_part(faults),)),))
        earlier = [Link("Earlier ones", f"?before={faults[-1][1].id}")] if len(faults) == _MOST_FAULTS else []
        return self.site.document(request, document, crumbs=CRUMBS, pages=earlier)

    def _faults(self, request: Request) -> list[tuple[str, Fault]]:
        """The names of bots, and what each did wrong."""
        before, store = parse_number(request.query_params.get("before", "")), self.server.store
        found = access.faults(store, get_visitor(request).person, before=before, limit=_MOST_FAULTS)
        bots = {version: records.bot(store, version) for version in {fault.version for fault in found}}
        return [("" if (bot := bots[fault.version]) is None else bot.name, fault) for fault in found]

    # ---- tokens and the password

    async def make_token(self, request: Request) -> Response:
        """A new token, shown once."""
        user = require_user(request)
        form = await read_form(request)
        label = form.get("label", "").strip()
        scopes = [scope for scope in _OWNER_SCOPES if form.get(f"scope_{scope.value}")]
        if len(label) > _MOST_LABEL_LETTERS or not label.isprintable():
            problem = f"What a token is for has at most {_MOST_LABEL_LETTERS} letters that can be printed."
        elif not scopes:
            problem = "A token is good for something: choose what."
        elif len(read_tokens(self.server.store, user.id)) >= _MOST_TOKENS:
            problem = f"You have {_MOST_TOKENS} tokens; revoke one first."
        else:
            what = f"made a token for {' '.join(scopes)}"
            token = await self.server.store.write(
                with_audit(user.name, what, lambda db: add_token(db, user.id, scopes, label))
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
        """Another password; all browsers but this one have to log in again."""
        user = require_user(request)
        form = await read_form(request)
        old, new = form.get("old", ""), form.get("new", "")
        if user.name in dict(self.server.settings.passwords):
            problem = _FIXED
        elif problem := _password_problem(new, form.get("again", "")):
            pass
        elif await self.server.accounts.log_in_person(user.name, old, get_visitor(request).address) != user:
            problem = "The present password, or a token in its place, is another."
        else:
            await self.server.accounts.change(user, new)
            made = "Your password is changed, and your other browsers are logged out."
            answer = self._settings_page(request, made=made)
            set_cookie(request, answer, get_visitor(request), await self.sessions.begin(user))
            return answer
        return self._settings_page(request, status=422, problem=problem)


def _password_problem(new: str, again: str) -> str:
    if not MIN_PASSWORD_LENGTH <= len(new) <= MAX_PASSWORD_LENGTH:
        return f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} letters."
    return "" if new == again else "The new password was not typed the same twice."


def _request_of(form: Mapping[str, str], game: ServerGame) -> JobRequest:
    """The request of a form.

    Raises:
        WebError: a field is no number, or an unknown seating.
    """
    players = tuple(form.get(f"player{seat}", "") for seat in range(1, game.game.num_players + 1))
    if not all(players):
        raise WebError(422, "Choose a player for each seat.")
    try:
        seating = Seating(form.get("seating") or Seating.ROTATIONS)
    except ValueError:
        raise WebError(422, "There is no such seating.") from None
    runs = parse_form_number(form, "runs", 1, _MOST_DEALS) or 1
    terms = ContestTerms(
        deals=parse_form_number(form, "deals", 1, _MOST_DEALS),
        seating=seating.value,
        stop=form.get("stop", "").strip() or None,
        practice=bool(form.get("practice")),
    )
    return JobRequest(game.name, players, form.get("tag", "").strip(), runs, terms=terms)


def _faults_part(faults: Sequence[tuple[str, Fault]]) -> Part:
    rows = []
    for bot, fault in faults:
        run, hand = Link(fault.run, f"/account/runs/{fault.run}"), fault.hand_number if fault.hand_number >= 0 else None
        rows.append((bot, fault.kind, run, fault.match, hand, escaped(decode_line(fault.line)), fault.remedy))
    columns = (
        "bot",
        Column("fault"),
        Column("run"),
        Column("match"),
        Column("hand", ","),
        Column("line", CODE),
        Column("remedy"),
    )
    return Table.of("Faults", columns, rows) if rows else "Nothing."


def _state_words(job: Job, forecasts: Mapping[int, Forecast], now: Progress | None) -> str:
    if not job.is_open:
        return job.state.value + (f": {job.reason}" if job.reason else "")
    if job.state is JobState.RUNNING:
        return "being played" + ("" if now is None else f", {_progress_words(job, now)}")
    forecast = forecasts.get(job.id)
    if forecast is None:
        return "waiting for a bot that is not connected or busy"
    starts = "" if forecast.starts_in_s is None else f", starts in about {duration(forecast.starts_in_s)}"
    return f"waiting, place {forecast.position}{starts}"


def _progress_words(job: Job, now: Progress) -> str:
    run = f"run {job.started} of {job.runs}, " if job.runs > 1 else ""
    deals = f"{run}{now.deals:,} of {count_of(now.deals_planned, 'deal')}"
    if not now.hands_per_second:
        return deals
    most = "at most" if now.has_stop_rule else "about"
    return f"{deals}, {most} {duration((now.hands_planned - now.hands) / now.hands_per_second)} left"


def _own_path(text: str) -> str:
    """A path of this site to go to; the first page in place of anything else."""
    is_path = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and "\\" not in text
    return text if is_path else "/"
