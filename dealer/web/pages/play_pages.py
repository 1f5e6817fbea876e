"""The page Play: a person sits down against bots, in a browser; by plain forms, and faster with a script.

Every entry names the moment that it answers, so that one that comes twice, from two tabs or after a break counts
once; the answer to a stale one is the table as it is. A page that is open waits for what happens at `part`.
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
"""So long an answer waits for something new: less than proxies do."""
_AFTER_ENTRY_S: Final = 1.5
"""So long the answer to an entry waits for the next question, so that pages without a script need no reload."""
_DECISION_S: Final = (15, 30, 60, 120)
_MOST_ENTRY_LETTERS: Final = 100
_NOT_THERE: Final = "choose one of the bots of {game}; a user's bot is there only while it is connected."


def routes(site: Site, table_manager: TableManager) -> list[BaseRoute]:
    """The pages of this room."""
    play = _PlayPages(site, table_manager)
    of_server = [
        Route("/play", play.ask, methods=["GET"]),
        Route("/play", play.sit_down, methods=["POST"]),
        Route("/play/{table}/end", play.ask_to_end, methods=["GET"]),
        Route("/play/{table}/end", play.end, methods=["POST"]),
    ]
    return [
        *([] if site.server is None else of_server),
        Route("/play/{table}", play.show, methods=["GET"]),
        Route("/play/{table}", play.enter, methods=["POST"]),
        Route("/play/{table}/part", play.part),
        Route("/play/{table}/leave", play.leave, methods=["POST"]),
    ]


def owner_for_visitor(visitor: Visitor) -> str:
    """Who sits down, as tables know it: a user, the person at this machine, or the browser of a guest."""
    if visitor.is_owner:
        return LOCAL_OWNER
    if visitor.user is not None:
        return f"user {visitor.user.id}"
    return f"guest {hashlib.sha256(f'table {visitor.cookie}'.encode()).hexdigest()}"


@dataclass(frozen=True)
class _PlayPages:
    """The page.

    Attributes:
        site: whose page it is.
        table_manager: of its tables.
    """

    site: Site
    table_manager: TableManager

    # ---- sitting down

    async def ask(self, request: Request) -> Response:
        """The form of a new table, and the tables at which the visitor sits."""
        self._check_welcome(request)
        return self._form_page(request, dict(request.query_params))

    async def sit_down(self, request: Request) -> Response:
        """A new table."""
        self._check_welcome(request)
        form = await read_form(request)
        server = self.site.server
        assert server is not None
        visitor = get_visitor(request)
        try:
            game = self._game(form.get("game", ""))
            bots = _bots_of(form, game, [name for name, _ in connected_bots_in(server, game)])
            hands = parse_form_number(form, "hands", 1, HANDS)
            seed = parse_form_number(form, "seed", 0, 2**32 - 1)
            decision_s = parse_form_number(form, "decision_s", 1, 86_400, "Seconds for a decision")
            cards: Seed = DealKey.new() if seed is None else seed
            table = await self.table_manager.open(
                owner_for_visitor(visitor),
                lambda: table_settings(server, game, bots, visitor.user, cards, deals=hands),
                game=game.name,
                players=bots,
                user=None if visitor.user is None else visitor.user.id,
                address=visitor.address,
                seed=cards,
                decision_s=None if decision_s is None else float(decision_s),
            )
        except WebError as error:
            if error.status not in (409, 422, 429):
                raise
            return self._form_page(request, form, str(error), status=error.status)
        except DealerError as error:
            return self._form_page(request, form, f"{error}.")
        return RedirectResponse(f"/play/{table.id}", SEE_OTHER)

    def _check_welcome(self, request: Request) -> None:
        assert self.site.server is not None
        if not self.site.server.settings.web.guests_may_play:
            require_user(request)

    def _game(self, name: str) -> ServerGame:
        assert self.site.server is not None
        game = self.site.server.settings.find_game(name)
        if game is None or not game.bots:
            raise WebError(422, "Choose a game.")
        return game

    def _form_page(
        self, request: Request, given: Mapping[str, str], problem: str = "", status: int | None = None
    ) -> Response:
        assert self.site.server is not None
        games = [game for game in self.site.server.settings.games if game.bots]
        chosen = self.site.server.settings.find_game(given.get("game", ""))
        game = chosen if chosen in games else None
        owner = owner_for_visitor(get_visitor(request))
        return self.site.page(
            request,
            "play.html.jinja",
            status=status or (422 if problem else 200),
            games=games,
            game=game,
            guests=() if game is None else connected_bots_in(self.site.server, game),
            sentence="" if game is None else game_sentence(game.game),
            usual=None if game is None else _usual(game),
            given=defaultdict(str, given),
            problem=problem,
            clocks=_DECISION_S,
            tables=self.table_manager.table_store.of(owner),
        )

    # ---- at the table

    def _table(self, request: Request) -> TableRow:
        table = self.table_manager.table_store.find(request.path_params["table"])
        if table is None or table.owner != owner_for_visitor(get_visitor(request)):
            # The existence of another person's table is not revealed.
            raise WebError(404, "You do not sit at such a table; it may have been ended.")
        return table

    async def show(self, request: Request) -> Response:
        """The table as it is."""
        table = self._table(request)
        table_session = await self.table_manager.table_session(table)
        await table_session.wait_until_asked(_AFTER_ENTRY_S)
        return self._page(request, table, table_session)

    async def part(self, request: Request) -> Response:
        """What changes on the page, as soon as it is newer than what the page has."""
        table = self._table(request)
        table_session = await self.table_manager.table_session(table)
        if request.query_params.get("seen") == _tag(table_session):
            with self.table_manager.visiting(table):
                if not await table_session.wait(table_session.version, _POLL_S):
                    return Response(status_code=204)
        self.table_manager.check_open()
        return self._page(request, table, table_session, is_part=True)

    async def enter(self, request: Request) -> Response:
        """Something that the person does."""
        table = self._table(request)
        form = await read_form(request)
        table_session = await self.table_manager.table_session(table)
        # A table that has just been woken is at the same moment soon.
        await table_session.wait_until_asked(_AFTER_ENTRY_S)
        entry = form.get("entry", "")[:_MOST_ENTRY_LETTERS]
        if entry == "size":
            entry = f"r {form.get('size', '')[:_MOST_ENTRY_LETTERS]}"
        message, status = "", 200
        try:
            await table_session.enter(form.get("moment", ""), entry)
        except StaleEntry as error:
            message, status = str(error), 409
        except UnclearEntry as error:
            message, status = str(error), 422
        else:
            await table_session.wait_until_asked(_AFTER_ENTRY_S)
        is_part = request.headers.get("x-part") == "1"
        if status == 200 and not is_part:
            return RedirectResponse(f"/play/{table.id}", SEE_OTHER)
        return self._page(request, table, table_session, message=message, status=status, is_part=is_part)

    async def leave(self, request: Request) -> Response:
        """The person leaves; the table waits."""
        table = self._table(request)
        await read_form(request)
        if self.site.server is None:
            await self.table_manager.end(table)
        else:
            await self.table_manager.suspend(table)
        return self.site.page(request, "left.html.jinja", table=table, is_local=self.site.server is None)

    async def ask_to_end(self, request: Request) -> Response:
        """Ask whether the table is to be ended."""
        return self.site.page(request, "end.html.jinja", table=self._table(request))

    async def end(self, request: Request) -> Response:
        """The person plays no more at this table."""
        table = self._table(request)
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


def _usual(game: ServerGame) -> str:
    """The bot that is chosen unless the person chooses another."""
    usual = opponent_in(game.game)
    return usual if usual in game.bots else next(iter(game.bots))


def _bots_of(form: Mapping[str, str], game: ServerGame, guests: Sequence[str]) -> tuple[str, ...]:
    """The names of the bots that were chosen, by seat: the server's own, or users' bots, which sit once.

    A seat without a choice gets the server's own bot that was chosen first, or the usual one.
    """
    chosen: list[str] = []
    for seat in range(1, game.game.num_players):
        first = next((bot for bot in chosen if bot in game.bots), _usual(game))
        bot = form.get(f"bot{seat}", "") or first
        if bot not in (*game.bots, *guests):
            raise WebError(422, f"Seat {seat}: {_NOT_THERE.format(game=game.shown)}")
        if bot not in game.bots and bot in chosen:
            raise WebError(422, f"Seat {seat}: {bot} sits there already; a user's bot has one seat at a table.")
        chosen.append(bot)
    return tuple(chosen)


def _tag(table_session: TableSession) -> str:
    """Names what a page shows: another table session at the same table has another name."""
    return f"{id(table_session):x}-{table_session.version}"
