"""Where the players of a contest lose, on a page: found from its logs, with links to the hands.

    /runs/RUN/leaks?contest=CONTEST&player=NAME

The page shows hole cards, so it waits until all of a run may be seen; on a server it is for those whose run it is, and
tells of their own bots. Hands are compared by a process that computes for the server, one contest after the other, and
what was found is kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.reports.leak_report import leaks_document
from dealer.watching import WatchedContest
from dealer.web.pages.shown_runs import Library, ShownRun, run_path
from dealer.web.pages.views import contest_path, find_contest, hand_path, practice_facts, practice_path, read_run
from dealer.web.site import Site
from engine.text import capitalized, shown
from logs.document import Document, Fact, Link, Value
from logs.errors import LeaksRefused, LogsError
from logs.hand_source import find

if TYPE_CHECKING:
    from logs.leaks import Leaks

MAX_HANDS: Final = 50_000
"""Hands of a contest that are compared for a page: some ten seconds."""

_MAX_KEPT: Final = 32


def routes(site: Site, library: Library) -> list[BaseRoute]:
    """The pages of this room."""
    turn = asyncio.Lock()
    kept = OrderedDict[tuple[tuple[str, ...], int, str], "Leaks"]()

    async def leaks_in(paths: tuple[str, ...], hands: int, player: str) -> Leaks:
        """What the hands of logs show; of logs that have grown since, another number of them is asked for."""
        async with turn:
            found = kept.get((paths, hands, player))
            if found is None:
                compute = run_in_threadpool if site.server is None else site.server.service.computing.run
                found = kept[paths, hands, player] = await compute(_leaks_of, paths, player)
                while len(kept) > _MAX_KEPT:
                    kept.popitem(last=False)
        return found

    async def show(request: Request) -> Response:
        """The leaks of a player."""
        run, player = request.path_params["run"], request.query_params.get("player", "")

        def read(found: ShownRun) -> tuple[dict[str, str], int, Link, tuple[Fact, ...]]:
            contest = _contest_of(found, request.query_params.get("contest", ""), player)
            matches = contest.matches.values()
            path = contest_path(run, contest.key) if contest.key else run_path(run)
            return (
                {str(Path(match.path)): match.key for match in matches},
                sum(match.hands.count for match in matches),
                Link(" - ".join(map(shown, contest.players)), path),
                practice_facts(practice_path(found, contest)),
            )

        def linked(paths: tuple[str, ...], number: int) -> Value:
            matches = [keys[str(Path(path))] for path in paths]
            return tuple(Link(match, hand_path(run, match, number)) for match in matches)

        keys, hands, crumb, practice = await read_run(library, request, read)
        try:
            if hands > MAX_HANDS:
                raise LeaksRefused(
                    f"there are {hands:,} hands, and a page compares at most {MAX_HANDS:,}: `arena leaks` takes "
                    "any number"
                )
            found = await leaks_in(tuple(sorted(keys)), hands, player)
            document = leaks_document(found, linked=linked)
        except LeaksRefused as error:
            sentence = f"{capitalized(str(error), [player])}."
            document = Document(f"Leaks of {shown(player)}", (sentence,), practice)
        except (LogsError, OSError):
            raise WebError(500, "A log of the run cannot be read.") from None
        return site.document(request, document, crumbs=(Link("Runs", "/runs"), crumb))

    return [Route("/runs/{run}/leaks", show)]


def _contest_of(found: ShownRun, key: str, player: str) -> WatchedContest:
    """A contest of a run, if the visitor may know the leaks of a player in it.

    Raises:
        WebError: there is none, the player is not in it, or the visitor may not.
    """
    if not found.access.is_own(player):
        raise WebError(403, "Leaks are visible to the owner of the bot: log in, and choose a bot of yours.")
    if not found.sees_cards:
        raise WebError(403, "Leaks show all cards: they are available when everything with the same seed is over.")
    contest = find_contest(found, key)
    if player not in contest.players:
        raise WebError(404, "The contest has no such player.")
    return contest


def _leaks_of(paths: tuple[str, ...], player: str) -> Leaks:
    """What the hands of logs show.

    Raises:
        LeaksRefused: these hands show no leaks.
        LogsError: a log cannot be read.
        OSError: a log cannot be read.
    """
    from logs.leaks import deals_in, leaks_of

    return leaks_of(deals_in(find(paths, on_problem=lambda problem: None)), player)
