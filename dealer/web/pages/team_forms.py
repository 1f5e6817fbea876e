"""Forms of the page Account with which users form teams, invite each other, accept and leave."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.server.db.teams import accept_team, invite_member, leave_team
from dealer.server.db.users import User
from dealer.server.server import ServerParts, form_own_team
from dealer.web.security import read_form
from dealer.web.visitor import SEE_OTHER, require_user


def routes(server: ServerParts) -> list[BaseRoute]:
    """Return the routes of these forms."""
    max_members = server.settings.max_team_members

    async def apply(
        request: Request, make_change: Callable[[User, Mapping[str, str]], Callable[[sqlite3.Connection], None]]
    ) -> Response:
        user = require_user(request)
        change = make_change(user, await read_form(request))
        await server.store.write(change)
        return RedirectResponse("/account#team", SEE_OTHER)

    async def form(request: Request) -> Response:
        return await apply(
            request,
            lambda user, form: partial(form_own_team, user=user, name=form.get("team", ""), max_members=max_members),
        )

    async def invite(request: Request) -> Response:
        return await apply(
            request,
            lambda user, form: partial(
                invite_member, who=user, member=form.get("user", "").strip(), max_members=max_members
            ),
        )

    async def accept(request: Request) -> Response:
        return await apply(request, lambda user, form: partial(accept_team, user=user, team=form.get("team", "")))

    async def leave(request: Request) -> Response:
        return await apply(request, lambda user, _: partial(leave_team, who=user.name, user=user))

    return [
        Route("/account/team", form, methods=["POST"]),
        Route("/account/team/invite", invite, methods=["POST"]),
        Route("/account/team/accept", accept, methods=["POST"]),
        Route("/account/team/leave", leave, methods=["POST"]),
    ]
