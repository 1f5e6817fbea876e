"""Pages on which organisers manage users and requests and write texts for all visitors.

/organiser/users                users, and the form that invites people
/organiser/users/NAME           a user
    /link                       makes a link at which the user chooses a password
    /disable, /enable           refuses or accepts the user's logins
    /disconnect                 disconnects the user's bots
    /free                       frees the name of a bot
    /remove                     removes the user
/organiser/jobs/NUMBER/cancel   cancels a request, or ends it if it is being played
/organiser/texts                message of the day and rules
/rules                          the rules, for everyone
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import ConfigError, RefusedError, WebError
from dealer.server.accounts import (
    DEFAULT_SCOPES,
    Scope,
    add_invitation,
    describe_logins,
    disable_user,
    read_accounts,
    remove_user,
)
from dealer.server.db import records
from dealer.server.db.audit import with_audit
from dealer.server.db.bot_registry import free_name, used_names
from dealer.server.db.teams import account_of, place_members
from dealer.server.db.texts import TextName, read_text, write_text
from dealer.server.db.users import User, add_person
from dealer.server.roster import assign_logins, members_by_team, read_roster
from dealer.server.server import ServerParts, is_reserved
from dealer.uploads.intake import Intake
from dealer.uploads.upload_records import uploads
from dealer.web.security import as_web_error, read_form
from dealer.web.site import Site, page_of
from dealer.web.visitor import SEE_OTHER, require_organiser
from engine.text import capitalized
from logs.document import DATE, NAME, Column, Document, Fact, Link, Section, Table

PATH: Final = "/organiser"
TABS: Final = (
    Link("Overview", PATH),
    Link("Users", f"{PATH}/users"),
    Link("Message and rules", f"{PATH}/texts"),
    Link("Changes", f"{PATH}/changes"),
)
_LINK_DAYS: Final = 14
_MAX_MESSAGE_CHARACTERS: Final = 500
_MAX_RULES_CHARACTERS: Final = 50_000
# Without HTML, so that a text can contain neither scripts nor forms.
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


def routes(site: Site, server: ServerParts, intake: Intake) -> list[BaseRoute]:
    """Return the routes of these pages."""
    acts = _Acts(site, server, intake)
    user = f"{PATH}/users/{{name}}"
    return [
        Route(f"{PATH}/users", acts.show_users, methods=["GET"]),
        Route(f"{PATH}/users", acts.invite, methods=["POST"]),
        Route(user, acts.show_user, methods=["GET"]),
        Route(f"{user}/link", acts.make_link, methods=["POST"]),
        Route(f"{user}/disable", acts.disable, methods=["POST"]),
        Route(f"{user}/enable", acts.enable, methods=["POST"]),
        Route(f"{user}/disconnect", acts.disconnect, methods=["POST"]),
        Route(f"{user}/free", acts.free, methods=["POST"]),
        Route(f"{user}/remove", acts.remove, methods=["POST"]),
        Route(f"{PATH}/jobs/{{job:int}}/cancel", acts.cancel, methods=["POST"]),
        Route(f"{PATH}/texts", acts.show_texts, methods=["GET"]),
        Route(f"{PATH}/texts", acts.write_texts, methods=["POST"]),
        Route("/rules", acts.show_rules),
    ]


@dataclass(frozen=True)
class _Acts:
    site: Site
    server: ServerParts
    intake: Intake

    # ---- users

    async def show_users(self, request: Request) -> Response:
        require_organiser(request)
        return await self._users_page(request)

    async def _users_page(
        self, request: Request, *, problem: str = "", text: str = "", links: tuple[tuple[str, str, str], ...] = ()
    ) -> Response:
        """Show a page of the users.

        Args:
            text: people in the form.
            links: names, logins and new links, which are shown once.
        """
        rows = []
        for account in await run_in_threadpool(read_accounts, self.server.store):
            if is_reserved(account["name"]):
                continue
            name = Link(account["name"], _user_path(account["name"]))
            role = "organiser" if account["is_organiser"] else ""
            bots = account["bots"] or ""
            rows.append((name, account["person"], describe_logins(account), role, bots, account["created_s"]))
        columns = (
            "login",
            Column("person"),
            Column("logs in with"),
            Column("role"),
            Column("bots"),
            Column("created", DATE, "UTC"),
        )
        table = Table.of("Users", columns, rows).without_empty()
        document, pages = page_of(request, Document("Users", (), (), (Section("Users", (table,)),)))
        status = 200
        if problem:
            status = 422
        elif links:
            status = 201
        return self.site.document(
            request,
            document,
            "organiser_users.html.jinja",
            tabs=TABS,
            tabs_label="Organiser",
            pages=pages,
            problems=[problem] if problem else [],
            status=status,
            text=text,
            new_links=links,
            days=_LINK_DAYS,
        )

    async def invite(self, request: Request) -> Response:
        """Create the users of a roster, and show a link for each that has no password."""
        organiser = require_organiser(request)
        form = await read_form(request)
        text = form.get("people", "")
        is_organiser = bool(form.get("organiser"))
        try:
            people = read_roster(text, "The list")
        except ConfigError as error:
            return await self._users_page(request, problem=f"{capitalized(error.problems[0].problem)}.", text=text)
        accounts = {account["name"]: account for account in read_accounts(self.server.store)}
        logins = assign_logins(people, {login: account["person"] for login, account in accounts.items()})
        names = {}
        for person, login in logins.items():
            if is_organiser or login not in accounts or not accounts[login]["has_password"]:
                names[login] = person.name
        teams = members_by_team(logins)
        if not names and not teams:
            return await self._users_page(request, problem="All of these have a password already.", text=text)
        scopes = (*DEFAULT_SCOPES, Scope.ADMIN) if is_organiser else DEFAULT_SCOPES

        def add_all(db: sqlite3.Connection) -> list[str]:
            numbers = [add_person(db, login, name) for login, name in names.items()]
            place_members(db, organiser.name, teams)
            return [add_invitation(db, number, 86_400 * _LINK_DAYS, scopes) for number in numbers]

        note = f"invited {', '.join(names) or 'nobody'}{' as organisers' if is_organiser else ''}"
        try:
            secrets = await self.server.store.write(with_audit(organiser.name, note, add_all))
        except RefusedError as error:
            return await self._users_page(request, problem=as_web_error(error).sentence, text=text)
        links = []
        for (login, name), secret in zip(names.items(), secrets, strict=True):
            links.append((name, login, f"{self.site.address(request)}/invitation/{secret}"))
        return await self._users_page(request, links=tuple(links))

    def _find_account(self, request: Request) -> sqlite3.Row:
        name = request.path_params["name"]
        for account in read_accounts(self.server.store):
            if account["name"] == name and not is_reserved(name):
                return account
        raise WebError(404, "There is no such user.")

    async def show_user(self, request: Request) -> Response:
        require_organiser(request)
        return self._user_page(request)

    def _user_page(self, request: Request, *, problem: str = "", link: str = "") -> Response:
        account = self._find_account(request)
        user = User(account["id"], account["name"])
        online = [bot.name for bot in self.server.service.presence.bots if bot.owner == user]
        facts = (
            Fact("person", account["person"] or None, NAME),
            Fact("logs in with", describe_logins(account) or "nothing yet", NAME),
            Fact("role", "organiser" if account["is_organiser"] else "user", NAME),
            Fact("tokens", account["tokens"]),
            Fact("bots", account["bots"] or "none", NAME),
            Fact("connected bots", ", ".join(online) or "none", NAME),
            Fact("created", account["created_s"], DATE, "UTC"),
        )
        return self.site.document(
            request,
            Document(user.name, (), facts),
            "organiser_user.html.jinja",
            crumbs=(Link("Organiser", PATH), Link("Users", f"{PATH}/users")),
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            account=account,
            online=online,
            names=used_names(self.server.store, user.id),
            user_path=_user_path(user.name),
            link=link,
            days=_LINK_DAYS,
        )

    async def _read_act(self, request: Request) -> tuple[User, User, dict[str, str]]:
        """Return the organiser, the user of the path, and the form.

        Raises:
            WebError: the visitor is no organiser, or it is the user.
        """
        organiser = require_organiser(request)
        form = dict(await read_form(request))
        account = self._find_account(request)
        user = User(account["id"], account["name"])
        if user == organiser:
            raise WebError(403, "Organisers cannot change themselves here. Another organiser can.")
        return organiser, user, form

    async def make_link(self, request: Request) -> Response:
        """Show a link at which the user chooses a password."""
        organiser, user, _ = await self._read_act(request)
        secret = await self.server.store.write(
            with_audit(
                organiser.name, f"invited {user.name}", lambda db: add_invitation(db, user.id, 86_400 * _LINK_DAYS)
            )
        )
        return self._user_page(request, link=f"{self.site.address(request)}/invitation/{secret}")

    async def disable(self, request: Request) -> Response:
        """Refuse the user's logins, and disconnect the bots if the form says so."""
        organiser, user, form = await self._read_act(request)
        await self._change(organiser, f"disabled {user.name}", lambda db: disable_user(db, user.name, is_disabled=True))
        if form.get("disconnect"):
            await self._expel(organiser, user)
        return RedirectResponse(_user_path(user.name), SEE_OTHER)

    async def enable(self, request: Request) -> Response:
        """Accept the user's logins again."""
        organiser, user, _ = await self._read_act(request)
        note = f"let {user.name} in again"
        await self._change(organiser, note, lambda db: disable_user(db, user.name, is_disabled=False))
        return RedirectResponse(_user_path(user.name), SEE_OTHER)

    async def disconnect(self, request: Request) -> Response:
        """Disconnect the user's bots."""
        organiser, user, _ = await self._read_act(request)
        await self._expel(organiser, user)
        return RedirectResponse(_user_path(user.name), SEE_OTHER)

    async def free(self, request: Request) -> Response:
        """Free the name of a bot of the user."""
        organiser, user, form = await self._read_act(request)
        change = partial(free_name, who=organiser.name, name=form.get("name", ""), owner=user.id)
        try:
            await self.server.store.write(change)
        except RefusedError as error:
            return self._user_page(request, problem=as_web_error(error).sentence)
        return RedirectResponse(_user_path(user.name), SEE_OTHER)

    async def remove(self, request: Request) -> Response:
        """Remove the user, and disconnect the bots."""
        organiser, user, form = await self._read_act(request)
        if form.get("again", "").strip() != user.name:
            return self._user_page(request, problem=f"Type {user.name} to remove the user.")
        await self._expel(organiser, user)
        await self._change(organiser, f"removed {user.name}", lambda db: remove_user(db, user.name))
        return RedirectResponse(f"{PATH}/users", SEE_OTHER)

    async def _change(self, organiser: User, note: str, change: Callable[[sqlite3.Connection], object]) -> None:
        await self.server.store.write(with_audit(organiser.name, note, change))

    async def _expel(self, organiser: User, user: User) -> None:
        """Disconnect the bots of the user's clients, and remove uploaded ones."""
        for bot in {upload.bot for upload in uploads(self.server.store, user=user.id)}:
            await self.intake.withdraw(user, bot)
        # Clients of a team are not told apart by member; those of the others may connect again.
        account = account_of(self.server.store, user)
        self.server.service.presence.expel(account, "an organiser has disconnected the bots of this user")
        await self._change(organiser, f"disconnected the bots of {user.name}", lambda db: None)

    # ---- requests

    async def cancel(self, request: Request) -> Response:
        """Cancel a request of any user; what is being played ends."""
        organiser = require_organiser(request)
        await read_form(request)
        number = request.path_params["job"]
        job = records.job(self.server.store, number)
        if job is None or not await self.server.service.queue.cancel_job(job.user, number, organiser):
            raise WebError(404, "There is no unfinished request of this number.")
        return RedirectResponse(PATH, SEE_OTHER)

    # ---- texts

    async def show_texts(self, request: Request) -> Response:
        require_organiser(request)
        return self._texts_page(request, self._read_texts())

    def _read_texts(self) -> dict[TextName, str]:
        return {name: read_text(self.server.store, name) for name in (TextName.MESSAGE, TextName.RULES)}

    def _texts_page(self, request: Request, texts: dict[TextName, str], problem: str = "") -> Response:
        return self.site.document(
            request,
            Document("Message and rules"),
            "organiser_texts.html.jinja",
            tabs=TABS,
            tabs_label="Organiser",
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            message=texts[TextName.MESSAGE],
            rules=texts[TextName.RULES],
            max_message=_MAX_MESSAGE_CHARACTERS,
            max_rules=_MAX_RULES_CHARACTERS,
        )

    async def write_texts(self, request: Request) -> Response:
        """Replace the message of the day and the rules."""
        organiser = require_organiser(request)
        form = await read_form(request)
        message = " ".join(form.get("message", "").split())
        rules = form.get("rules", "").replace("\r\n", "\n").strip()
        if len(message) > _MAX_MESSAGE_CHARACTERS or len(rules) > _MAX_RULES_CHARACTERS:
            texts = {TextName.MESSAGE: message, TextName.RULES: rules}
            limits = f"A message has at most {_MAX_MESSAGE_CHARACTERS} characters, rules {_MAX_RULES_CHARACTERS:,}."
            return self._texts_page(request, texts, limits)
        earlier = self._read_texts()
        if message != earlier[TextName.MESSAGE]:
            note = f"wrote the message of the day: {message}" if message else "removed the message of the day"
            await self._change(organiser, note, lambda db: write_text(db, TextName.MESSAGE, message))
        if rules != earlier[TextName.RULES]:
            note = "wrote the rules" if rules else "removed the rules"
            await self._change(organiser, note, lambda db: write_text(db, TextName.RULES, rules))
        return RedirectResponse("/", SEE_OTHER)

    async def show_rules(self, request: Request) -> Response:
        """Show the rules to everyone."""
        text = read_text(self.server.store, TextName.RULES)
        if not text:
            raise WebError(404, "The organisers have written no rules.")
        # The renderer escapes the text, and leaves out links to scripts.
        rules = await run_in_threadpool(_MARKDOWN.render, text)
        return self.site.document(request, Document("Rules"), "rules.html.jinja", rules=Markup(rules))


def _user_path(name: str) -> str:
    return f"{PATH}/users/{quote(name, safe='')}"
