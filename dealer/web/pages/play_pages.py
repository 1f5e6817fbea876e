"""Pages on which a person plays against bots, with plain forms or faster with a script.

Every entry names the moment that it answers, so that a repeated entry counts once. An entry that is too late gets the
current table as its response. An open page polls ``/part`` for changes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bots.errors import StaleEntry, UnclearEntry
from dealer.errors import DealerError, WebError
from dealer.person.table_sentences import game_sentence
from dealer.person.table_session import TableSession
from dealer.person.table_settings import HANDS, opponent_in
from dealer.server.db.run_changes import TableRow
from dealer.server.server_settings import ServerGame
from dealer.server.server_tables import connected_bots_in, table_settings
from dealer.server.table_manager import TableManager
from dealer.web.pages.views import table_values
from dealer.web.security import parse_form_number, read_form
from dealer.web.site import Site
from dealer.web.visitor import SEE_OTHER, Visitor, get_visitor, require_user
from engine import DealKey, Seed

LOCAL_OWNER: Final = "owner"
_POLL_S: Final = 20.0
"""Time for which a poll waits for a change, shorter than the time limits of proxies."""
_AFTER_ENTRY_S: Final = 1.5
"""Time for which the response to an entry waits for the next question, so that pages without a script show it."""
_DECISION_S: Final = (15, 30, 60, 120)
_MAX_ENTRY_CHARACTERS: Final = 100


def routes(site: Site, table_manager: TableManager) -> list[BaseRoute]:
    """Return the routes of these pages; without a server, there is one table."""
    play = _PlayPages(site, table_manager)
    table_routes: list[BaseRoute] = [
        Route("/play/{table}", play.show_table, methods=["GET"]),
        Route("/play/{table}", play.enter, methods=["POST"]),
        Route("/play/{table}/part", play.poll),
        Route("/play/{table}/leave", play.leave, methods=["POST"]),
    ]
    if site.server is None:
        return table_routes
    return [
        Route("/play", play.show_form, methods=["GET"]),
        Route("/play", play.open_table, methods=["POST"]),
        Route("/play/{table}/end", play.confirm_end, methods=["GET"]),
        Route("/play/{table}/end", play.end, methods=["POST"]),
        *table_routes,
    ]


def owner_for_visitor(visitor: Visitor) -> str:
    """Return the owner of a visitor's tables, which is a user, the person at this machine, or a guest's browser."""
    if visitor.is_owner:
        return LOCAL_OWNER
    if visitor.user is not None:
        return f"user {visitor.user.id}"
    # A hash, because a reader of the database must not learn the cookie.
    digest = hashlib.sha256(f"table {visitor.cookie}".encode()).hexdigest()
    return f"guest {digest}"


@dataclass(frozen=True)
class _PlayPages:
    site: Site
    table_manager: TableManager

    # ---- new tables

    async def show_form(self, request: Request) -> Response:
        """Show the form of a new table, and the visitor's tables."""
        self._check_guest(request)
        return self._form_page(request, dict(request.query_params))

    async def open_table(self, request: Request) -> Response:
        self._check_guest(request)
        form = await read_form(request)
        server = self.site.server
        assert server is not None
        visitor = get_visitor(request)
        try:
            game = self._find_game(form.get("game", ""))
            guest_bots = [name for name, _ in connected_bots_in(server, game)]
            bots = _read_bots(form, game, guest_bots)
            hands = parse_form_number(form, "hands", 1, HANDS)
            seed_number = parse_form_number(form, "seed", 0, 2**32 - 1)
            seed: Seed = DealKey.new() if seed_number is None else seed_number
            decision_s = parse_form_number(form, "decision_s", 1, 86_400, "Seconds for a decision")
            table = await self.table_manager.open(
                owner_for_visitor(visitor),
                lambda: table_settings(server, game, bots, visitor.user, seed, deals=hands),
                game=game.name,
                players=bots,
                user=None if visitor.user is None else visitor.user.id,
                address=visitor.address,
                seed=seed,
                decision_s=None if decision_s is None else float(decision_s),
            )
        except WebError as error:
            if error.status not in (409, 422, 429):
                raise
            return self._form_page(request, form, str(error), status=error.status)
        except DealerError as error:
            return self._form_page(request, form, f"{error}.")
        return RedirectResponse(f"/play/{table.id}", SEE_OTHER)

    def _check_guest(self, request: Request) -> None:
        assert self.site.server is not None
        if not self.site.server.settings.web.guests_may_play:
            require_user(request)

    def _find_game(self, name: str) -> ServerGame:
        assert self.site.server is not None
        game = self.site.server.settings.find_game(name)
        if game is None or not game.bots:
            raise WebError(422, "Choose a game.")
        return game

    def _form_page(
        self, request: Request, form: Mapping[str, str], problem: str = "", status: int | None = None
    ) -> Response:
        assert self.site.server is not None
        games = [game for game in self.site.server.settings.games if game.bots]
        game = self.site.server.settings.find_game(form.get("game", ""))
        if game not in games:
            game = None
        owner = owner_for_visitor(get_visitor(request))
        return self.site.page(
            request,
            "play.html.jinja",
            status=status or (422 if problem else 200),
            games=games,
            game=game,
            guests=() if game is None else connected_bots_in(self.site.server, game),
            sentence="" if game is None else game_sentence(game.game),
            usual=None if game is None else _default_bot(game),
            form_values=defaultdict(str, form),
            problem=problem,
            clocks=_DECISION_S,
            tables=self.table_manager.table_store.of(owner),
        )

    # ---- at the table

    def _find_table(self, request: Request) -> TableRow:
        table = self.table_manager.table_store.find(request.path_params["table"])
        if table is None or table.owner != owner_for_visitor(get_visitor(request)):
            # The same answer for both, so that nobody learns that another person's table exists.
            raise WebError(404, "You have no such table. It may have been ended.")
        return table

    async def show_table(self, request: Request) -> Response:
        table = self._find_table(request)
        table_session = await self.table_manager.table_session(table)
        await table_session.wait_until_asked(_AFTER_ENTRY_S)
        return self._page(request, table, table_session)

    async def poll(self, request: Request) -> Response:
        """Send the changing part of the page once it is newer than the one that the page shows."""
        table = self._find_table(request)
        table_session = await self.table_manager.table_session(table)
        if request.query_params.get("seen") == _tag(table_session):
            with self.table_manager.visiting(table):
                if not await table_session.wait(table_session.version, _POLL_S):
                    return Response(status_code=204)
        self.table_manager.check_open()
        return self._page(request, table, table_session, is_part=True)

    async def enter(self, request: Request) -> Response:
        """Enter an action, or the request for the next hand."""
        table = self._find_table(request)
        form = await read_form(request)
        table_session = await self.table_manager.table_session(table)
        # A table that was suspended needs time to return to the moment of the page.
        await table_session.wait_until_asked(_AFTER_ENTRY_S)
        entry = form.get("entry", "")[:_MAX_ENTRY_CHARACTERS]
        if entry == "size":
            size = form.get("size", "")[:_MAX_ENTRY_CHARACTERS]
            entry = f"r {size}"
        message = ""
        status = 200
        try:
            await table_session.enter(form.get("moment", ""), entry)
        except StaleEntry as error:
            message = str(error)
            status = 409
        except UnclearEntry as error:
            message = str(error)
            status = 422
        else:
            await table_session.wait_until_asked(_AFTER_ENTRY_S)
        is_part = request.headers.get("x-part") == "1"
        if status == 200 and not is_part:
            # A redirect, so that reloading the page does not send the entry again.
            return RedirectResponse(f"/play/{table.id}", SEE_OTHER)
        return self._page(request, table, table_session, message=message, status=status, is_part=is_part)

    async def leave(self, request: Request) -> Response:
        """Leave the table: suspend it, or end it without a server."""
        table = self._find_table(request)
        await read_form(request)
        if self.site.server is None:
            await self.table_manager.end(table)
        else:
            await self.table_manager.suspend(table)
        return self.site.page(request, "left.html.jinja", table=table, is_local=self.site.server is None)

    async def confirm_end(self, request: Request) -> Response:
        return self.site.page(request, "end.html.jinja", table=self._find_table(request))

    async def end(self, request: Request) -> Response:
        """End a table for good."""
        table = self._find_table(request)
        await read_form(request)
        await self.table_manager.end(table)
        return RedirectResponse("/play", SEE_OTHER)

    def _page(
        self,
        request: Request,
        table: TableRow,
        table_session: TableSession,
        *,
        message: str = "",
        status: int = 200,
        is_part: bool = False,
    ) -> Response:
        template = "table_part.html.jinja" if is_part else "table.html.jinja"
        return self.site.page(
            request,
            template,
            status=status,
            table=table,
            tag=_tag(table_session),
            message=message,
            is_local=self.site.server is None,
            **table_values(table_session),
        )


def _default_bot(game: ServerGame) -> str:
    """Return the bot that is selected unless the person chooses another."""
    bot = opponent_in(game.game)
    return bot if bot in game.bots else next(iter(game.bots))


def _read_bots(form: Mapping[str, str], game: ServerGame, guest_bots: Sequence[str]) -> tuple[str, ...]:
    """Read the opponents by seat; an empty seat gets the first chosen bot of the server, or the default.

    Raises:
        WebError: a bot does not exist, is not connected, or is a user's bot in two seats.
    """
    bots: list[str] = []
    for seat in range(1, game.game.num_players):
        default = next((bot for bot in bots if bot in game.bots), _default_bot(game))
        bot = form.get(f"bot{seat}", "") or default
        if bot not in (*game.bots, *guest_bots):
            raise WebError(422, f"Choose a bot of {game.shown} for seat {seat}. The bot of a user must be connected.")
        if bot not in game.bots and bot in bots:
            raise WebError(422, f"Choose another bot for seat {seat}. The bot of a user can take one seat at a table.")
        bots.append(bot)
    return tuple(bots)


def _tag(table_session: TableSession) -> str:
    """Return a text that changes with the page's content and with a new session of the same table."""
    return f"{id(table_session):x}-{table_session.version}"
