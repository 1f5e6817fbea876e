"""Page of a player's leaks in a contest, found from the logs, with links to hands.

    /runs/RUN/leaks?contest=CONTEST&player=NAME

The page shows hole cards, so it waits until all of the run is visible. On a server it is for owners of bots only. The
hands of one contest at a time are compared, in a worker process of the server, and the latest results are cached.
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
"""Hands of a contest that a page compares, which takes about ten seconds."""

_MAX_CACHED: Final = 32


def routes(site: Site, library: Library) -> list[BaseRoute]:
    """Return the route of the page."""
    lock = asyncio.Lock()
    cache = OrderedDict[tuple[tuple[str, ...], int, str], "Leaks"]()

    async def compute_leaks(paths: tuple[str, ...], hand_count: int, player: str) -> Leaks:
        # The count is part of the key because logs of a running contest grow.
        key = (paths, hand_count, player)
        async with lock:
            leaks = cache.get(key)
            if leaks is None:
                compute = run_in_threadpool if site.server is None else site.server.service.computing.run
                leaks = await compute(_find_leaks, paths, player)
                cache[key] = leaks
                while len(cache) > _MAX_CACHED:
                    cache.popitem(last=False)
        return leaks

    async def show(request: Request) -> Response:
        run = request.path_params["run"]
        player = request.query_params.get("player", "")

        def read(shown_run: ShownRun) -> tuple[dict[str, str], int, Link, tuple[Fact, ...]]:
            contest = _check_contest(shown_run, request.query_params.get("contest", ""), player)
            matches = contest.matches.values()
            path = contest_path(run, contest.key) if contest.key else run_path(run)
            return (
                {str(Path(match.path)): match.key for match in matches},
                sum(match.hands.count for match in matches),
                Link(" - ".join(map(shown, contest.players)), path),
                practice_facts(practice_path(shown_run, contest)),
            )

        def link_hand(paths: tuple[str, ...], number: int) -> Value:
            matches = [keys[str(Path(path))] for path in paths]
            return tuple(Link(match, hand_path(run, match, number)) for match in matches)

        keys, hand_count, crumb, practice = await read_run(library, request, read)
        try:
            if hand_count > MAX_HANDS:
                limit = f"a page compares at most {MAX_HANDS:,}"
                raise LeaksRefused(f"there are {hand_count:,} hands, and {limit}; use arena leaks instead")
            leaks = await compute_leaks(tuple(sorted(keys)), hand_count, player)
            # Loads numpy, which a server does without until its first page of leaks.
            from dealer.reports.leak_report import leaks_document

            document = leaks_document(leaks, linked=link_hand)
        except LeaksRefused as error:
            sentence = f"{capitalized(str(error), [player])}."
            document = Document(f"Leaks of {shown(player)}", (sentence,), practice)
        except (LogsError, OSError):
            raise WebError(500, "A log of the run cannot be read.") from None
        return site.document(request, document, crumbs=(Link("Runs", "/runs"), crumb))

    return [Route("/runs/{run}/leaks", show)]


def _check_contest(shown_run: ShownRun, key: str, player: str) -> WatchedContest:
    """Return a contest of a run if the visitor may see the leaks of a player in it.

    Raises:
        WebError: the contest or the player does not exist, or the visitor may not see the leaks.
    """
    if not shown_run.access.is_own(player):
        raise WebError(403, "Leaks are visible to the owner of a bot only. Log in and choose one of your bots.")
    if not shown_run.sees_cards:
        raise WebError(403, "Leaks show all cards. They are available when everything with the same seed is over.")
    contest = find_contest(shown_run, key)
    if player not in contest.players:
        raise WebError(404, "The contest has no such player.")
    return contest


def _find_leaks(paths: tuple[str, ...], player: str) -> Leaks:
    """Compare the hands of logs; runs in a worker process.

    Raises:
        LeaksRefused: the hands do not allow a comparison.
        LogsError: a log is damaged.
        OSError: a log cannot be read.
    """
    from logs.leaks import deals_in, leaks_of

    return leaks_of(deals_in(find(paths, on_problem=lambda problem: None)), player)
