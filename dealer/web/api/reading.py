"""What programs read: games, bots, jobs, runs, standings, as `dealer.server.db.records` tells them.

Who may see seeds, cards and faults is decided in `dealer.server.access`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from fastapi import Query

from dealer.errors import WebError
from dealer.server import access
from dealer.server.access import Sight
from dealer.server.db import crosstable, records
from dealer.server.db.records import BotRecord, FaultRecord, RunRecord
from dealer.server.db.runs import JobRow, JobState
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame
from dealer.web.api import models
from dealer.web.api.calls import PREFIX, Caller, Parts, Reader, answers, new_router
from engine import DealKey, Seed
from protocol import format_game_definition

__all__ = ["job_model", "router", "run_of"]

router = new_router()
_T = TypeVar("_T")
_NO_JOB = answers(s404="there is no such job")
_NO_RUN = answers(s404="there is no such run, or no such player in it")
_NO_GAME = answers(s404="there is no such game here")


def run_of(parts: ServerParts, number: int) -> tuple[RunRecord, JobRow]:
    """A run with its job.

    Raises:
        WebError: there is no such run.
    """
    run = records.run(parts.store, number)
    job = None if run is None else records.job(parts.store, run.job)
    if run is None or job is None:
        raise WebError(404, f"There is no run {number}.")
    return run, job


def job_model(parts: ServerParts, job: JobRow, caller: Caller) -> models.Job:
    """A job as a program sees it."""
    is_told = access.sight(parts.store, job, caller.person) is Sight.EVERYTHING
    return models.Job(
        id=job.id,
        user=job.user.name,
        tag=job.tag,
        game=job.game,
        players=list(job.players),
        runs=job.runs,
        started=job.started,
        state=models.JobState.RUNNING if job.is_running else models.JobState(job.state),
        reason=job.reason,
        seating=job.seating,
        hands=job.hands,
        stop=job.stop,
        seed=_shown(job.seed) if is_told else None,
        submitted_s=job.submitted_s,
        ended_s=job.ended_s,
    )


def _run_model(parts: ServerParts, run: RunRecord, caller: Caller) -> models.Run:
    reason = access.reason(parts.store, run.job, caller.person, run.reason)
    return models.Run.model_validate(replace(run, reason=reason))


def _shown(seed: Seed) -> int | str:
    """A seed that may be seen: a number, or the digits of a key."""
    return seed.secret.hex() if isinstance(seed, DealKey) else seed


def _bot_model(bot: BotRecord) -> models.Bot:
    return models.Bot(
        version=bot.version,
        game=bot.game,
        name=bot.name,
        owner=None if bot.owner is None else bot.owner.name,
        number=bot.number,
        label=bot.label,
        created_s=bot.created_s,
        seen_s=bot.seen_s,
    )


def _fault_model(fault: FaultRecord) -> models.Fault:
    line = fault.line.decode("ascii", "backslashreplace")
    return models.Fault(
        id=fault.id,
        run=fault.run,
        match=fault.match,
        player=fault.player,
        kind=fault.kind,
        hand_number=fault.hand_number,
        line="".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line),
        remedy=fault.remedy,
    )


def _before(found: Sequence[Any], limit: int) -> int | None:
    """What to ask with for the page after this one of a list that goes backwards in time."""
    return found[-1].id if len(found) == limit else None


def _page(found: Sequence[_T], query: models.PageQuery | models.BotsQuery) -> tuple[Sequence[_T], int | None]:
    """A page of a list, and what to ask with for the one after it."""
    end = query.after + query.limit
    return found[query.after : end], end if end < len(found) else None


def _game(parts: ServerParts, name: str) -> ServerGame:
    game = parts.settings.game(name)
    if game is None:
        raise WebError(404, "There is no such game here; /games lists those there are.")
    return game


def _full_name(parts: ServerParts, name: str | None) -> str | None:
    """The name of a game in full; a name that is none stays what it is, and fits nothing."""
    game = None if name is None else parts.settings.game(name)
    return name if game is None else game.name


@router.get("/me", summary="Whose token this is, and what it is good for")
async def me(caller: Reader) -> models.Caller:
    """The caller."""
    return models.Caller(user=caller.user.name, scopes=sorted(caller.scopes))


@router.get("/games", summary="The games that are played here")
async def games(caller: Reader, parts: Parts) -> models.Games:
    """Games, in the order of the configuration."""
    return models.Games(
        games=[
            models.Game(
                name=game.name,
                players=game.game.num_players,
                hands=game.hands,
                most_runs=game.most_runs,
                definition=format_game_definition(game.game),
            )
            for game in parts.settings.games
        ]
    )


@router.get("/bots", summary="The bots, each in its newest version")
async def bots(caller: Reader, parts: Parts, query: Annotated[models.BotsQuery, Query()]) -> models.Bots:
    """Bots, by game and name."""
    owner = caller.user.id if query.mine else None
    found = records.bots(parts.store, game=_full_name(parts, query.game), owner=owner)
    page, after = _page(found, query)
    return models.Bots(bots=list(map(_bot_model, page)), after=after)


@router.get("/jobs", summary="What was asked for, the newest first")
async def jobs(caller: Reader, parts: Parts, query: Annotated[models.JobsQuery, Query()]) -> models.Jobs:
    """Jobs, the newest first."""
    state, is_running = None, None
    if query.state is not None:
        is_running = query.state is models.JobState.RUNNING
        state = JobState.QUEUED if is_running else JobState(query.state)
    found = records.jobs(
        parts.store,
        user=caller.user.id if query.mine else None,
        state=state,
        is_running=is_running,
        before=query.before,
        most=query.limit,
    )
    return models.Jobs(jobs=[job_model(parts, job, caller) for job in found], before=_before(found, query.limit))


@router.get("/jobs/{job:int}", summary="A job with its runs", responses=_NO_JOB)
async def job(caller: Reader, parts: Parts, job: int) -> models.JobDetail:
    """A job; its place in the queue while it waits."""
    row = records.job(parts.store, job)
    if row is None:
        raise WebError(404, f"There is no job {job}.")
    runs = records.runs(parts.store, job=job, most=row.runs + 1)
    waits = (await parts.service.forecasts()).get(job) if row.state is JobState.QUEUED else None
    return models.JobDetail(
        job=job_model(parts, row, caller),
        runs=[_run_model(parts, run, caller) for run in reversed(runs)],
        position=None if waits is None else waits.position,
        starts_in_s=None if waits is None else waits.starts_in_s,
    )


@router.get("/runs", summary="What is played or was, the newest first")
async def runs(caller: Reader, parts: Parts, query: Annotated[models.RunsQuery, Query()]) -> models.Runs:
    """Runs, the newest first."""
    found = records.runs(
        parts.store,
        game=_full_name(parts, query.game),
        state=query.state,
        version=query.version,
        pair=query.pair,
        before=query.before,
        most=query.limit,
    )
    return models.Runs(runs=[_run_model(parts, run, caller) for run in found], before=_before(found, query.limit))


@router.get("/runs/{run:int}", summary="A run with its matches", responses=_NO_RUN)
async def run(caller: Reader, parts: Parts, run: int) -> models.RunDetail:
    """A run."""
    row, _ = run_of(parts, run)
    return models.RunDetail(
        run=_run_model(parts, row, caller),
        matches=[
            models.Match(
                name=match.name,
                first_hand=match.first_hand,
                hands=match.hands,
                log=f"{PREFIX}/runs/{run}/matches/{place}/log",
            )
            for place, match in enumerate(records.matches(parts.store, run))
        ],
    )


@router.get("/runs/{run:int}/scores/{player:int}", summary="What a player won in each duplicate", responses=_NO_RUN)
async def scores(caller: Reader, parts: Parts, run: int, player: int) -> models.Scores:
    """Scores, in the order of the deals."""
    row, _ = run_of(parts, run)
    if player >= len(row.seats):
        raise WebError(404, f"Run {run} has players 0 to {len(row.seats) - 1}.")
    return models.Scores(mbb_by_duplicate=list(records.duplicate_scores(parts.store, run, player)))


@router.get("/faults", summary="What one's own bots did wrong, the latest first", responses=_NO_RUN)
async def faults(caller: Reader, parts: Parts, query: Annotated[models.FaultsQuery, Query()]) -> models.Faults:
    """Faults, the latest first."""
    if query.run is not None:
        run_of(parts, query.run)
    found = access.faults(parts.store, caller.person, run=query.run, before=query.before, most=query.limit)
    return models.Faults(faults=list(map(_fault_model, found)), before=_before(found, query.limit))


@router.get("/games/{game}/standings", summary="The ratings of a game", responses=_NO_GAME)
async def standings(
    caller: Reader, parts: Parts, game: str, query: Annotated[models.PageQuery, Query()]
) -> models.Standings:
    """Ratings: the largest field first, and in it the highest first."""
    page, after = _page(crosstable.standings(parts.store, _game(parts, game).name), query)
    ratings = [
        models.Rating(
            bot=_bot_model(one.bot),
            mbb_per_game=one.mbb_per_game,
            half_width_95=one.half_width_95,
            field=one.field,
            is_provisional=one.is_provisional,
            duplicates=one.duplicates,
        )
        for one in page
    ]
    return models.Standings(ratings=ratings, after=after)


@router.get("/games/{game}/pairs", summary="The crosstable of a game", responses=_NO_GAME)
async def pairs(caller: Reader, parts: Parts, game: str, query: Annotated[models.PageQuery, Query()]) -> models.Pairs:
    """Pairs, or larger tables, of which something counts."""
    page, after = _page(crosstable.pairs(parts.store, _game(parts, game)), query)
    return models.Pairs(pairs=[models.Pair.model_validate(pair) for pair in page], after=after)
