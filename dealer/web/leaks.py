"""Where the players of a contest lose, on a page: found from its logs, with links to the hands.

    /runs/RUN/leaks?contest=CONTEST&player=NAME

The page shows hole cards, so it waits until all of a run may be seen; on a server it is for those whose run it is, and
tells of their own bots. Hands are compared in a worker thread, one contest after the other, and what was found is kept.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.reports.leaks import leaks_document
from dealer.web.library import Library, ShownRun, run_path
from dealer.web.site import Site
from dealer.web.views import contest_of, contest_path, hand_path, open_run, practice_facts, practice_path
from dealer.web.visitor import visitor_of
from engine.text import shown
from logs.document import Document, Link, Value
from logs.errors import LeaksRefused, LogsError
from logs.hand_source import find

if TYPE_CHECKING:
    from logs.leaks import Leaks

MOST_HANDS: Final = 50_000
"""Hands of a contest that are compared for a page: some ten seconds."""

_MOST_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be compared.

    Attributes:
        run: key of the run.
        contest: key of the contest; empty where it is the only one.
        title: of the contest.
        player: whose leaks.
        hands: how many hands there are.
        matches: by path of the log, the key of the match.
        practice_path: see `practice_path`.
    """

    run: str
    contest: str
    title: str
    player: str
    hands: int
    matches: tuple[tuple[str, str], ...]
    practice_path: str


class _Pages:
    """The pages of leaks of a library of runs."""

    def __init__(self, site: Site, library: Library) -> None:
        self._site = site
        self._library = library
        self._turn = asyncio.Lock()
        self._kept: OrderedDict[_Wanted, Leaks] = OrderedDict()
        self._lock = threading.Lock()

    async def show(self, request: Request) -> Response:
        """The leaks of a player."""
        wanted = await run_in_threadpool(self._wanted, request)
        async with self._turn:
            try:
                found = await run_in_threadpool(self._find, wanted)
            except LeaksRefused as error:
                return self._page(request, wanted, None, str(error))
            except (LogsError, OSError):
                raise WebError(500, "A log of the run cannot be read.") from None
        return self._page(request, wanted, found)

    def _wanted(self, request: Request) -> _Wanted:
        """What a request asks for, if the visitor may know it.

        Raises:
            WebError: it cannot be had.
        """
        player = request.query_params.get("player", "")
        try:
            found = open_run(self._library, request.path_params["run"], visitor_of(request))
        except (LogsError, OSError):
            raise WebError(500, "A log of the run cannot be read.") from None
        if not found.access.is_own(player):
            raise WebError(403, "Leaks are visible to the owner of the bot: log in, and choose a bot of yours.")
        if not found.sees_cards:
            raise WebError(403, "Leaks show all cards: they are available when everything with the same seed is over.")
        with found.run.lock:
            return _of_contest(found, request.query_params.get("contest", ""), player)

    def _find(self, wanted: _Wanted) -> Leaks:
        """What the hands show.

        Raises:
            LeaksRefused: these hands show no leaks.
            LogsError: a log cannot be read.
            OSError: a log cannot be read.
        """
        from logs.leaks import deals_in, leaks_of

        with self._lock:
            if wanted in self._kept:
                self._kept.move_to_end(wanted)
                return self._kept[wanted]
        if wanted.hands > MOST_HANDS:
            raise LeaksRefused(
                f"there are {wanted.hands:,} hands, and a page compares at most {MOST_HANDS:,}: `arena leaks` takes "
                "any number"
            )
        source = find([path for path, _ in wanted.matches], on_problem=lambda problem: None)
        found = leaks_of(deals_in(source), wanted.player)
        with self._lock:
            self._kept[wanted] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def _page(self, request: Request, wanted: _Wanted, found: Leaks | None, refusal: str = "") -> Response:
        keys = {str(Path(path)): key for path, key in wanted.matches}

        def linked(paths: tuple[str, ...], number: int) -> Value:
            matches = [keys[str(Path(path))] for path in paths]
            return tuple(Link(match, hand_path(wanted.run, match, number)) for match in matches)

        if found is not None:
            document = leaks_document(found, linked=linked)
        else:
            practice = practice_facts(wanted.practice_path)
            document = Document(f"Leaks of {shown(wanted.player)}", (f"{refusal[:1].upper()}{refusal[1:]}.",), practice)
        contest = contest_path(wanted.run, wanted.contest) if wanted.contest else run_path(wanted.run)
        return self._site.document(request, document, crumbs=(Link("Runs", "/runs"), Link(wanted.title, contest)))


def _of_contest(found: ShownRun, key: str, player: str) -> _Wanted:
    """A contest of a run.

    Raises:
        WebError: there is none, or the player is not in it.
    """
    contest = contest_of(found, key)
    if player not in contest.players:
        raise WebError(404, "The contest has no such player.")
    matches = sorted((match.path, match.key) for match in contest.matches.values())
    hands = sum(match.hands.count for match in contest.matches.values())
    title = " - ".join(map(shown, contest.players))
    practice = practice_path(found, contest)
    return _Wanted(found.run.key, contest.key, title, player, hands, tuple(matches), practice_path=practice)


def routes(site: Site, library: Library) -> list[BaseRoute]:
    """The pages of this room."""
    return [Route("/runs/{run}/leaks", _Pages(site, library).show)]
