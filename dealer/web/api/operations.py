"""Operations of the HTTP interface: a function for each path and method.

`dealer.server.access` decides about seeds, cards and faults. A path names files only by their number among those of a
run, so that no text of a request becomes a file name.

Events are server-sent (`dealer.server.queue.feed`). A client that reconnects names the last event that it has seen
(``Last-Event-ID``) and receives the later ones. The event `lost` means that some of them are no longer kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from fastapi import Header, Query
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from dealer.errors import WebError
from dealer.server import access
from dealer.server.access import Person
from dealer.server.accounts import Scope, Token
from dealer.server.db import counted_scores, event_records, records
from dealer.server.db.bot_registry import free_name
from dealer.server.db.event_records import ScheduledEvent, add_event, disqualify, edit_event, withdraw_event
from dealer.server.db.records import Fault, Job, JobState, Run, RunState
from dealer.server.db.series_records import add_series, find_series, series_names
from dealer.server.db.teams import accept_team, invite_member, leave_team, team_invitations, teams
from dealer.server.db.users import User
from dealer.server.event_results import event_detail
from dealer.server.event_settings import EventSettings
from dealer.server.queue.feed import Feed
from dealer.server.resources import removal_sentence
from dealer.server.series_results import series_data
from dealer.server.series_settings import SeriesSettings
from dealer.server.server import ServerParts, form_own_team
from dealer.uploads.boxed_bot import FAILURE_NAME
from dealer.uploads.intake import LOG_NAME, Intake
from dealer.uploads.upload_records import Upload, read_reports, uploads
from dealer.web.api import models
from dealer.web.api.calls import PREFIX, Anyone, Organiser, Parts, Player, Reader, describe_errors, router
from dealer.web.pages.live import QUIET_S, EventStreams
from dealer.web.site import download, find_server_game
from engine.text import count_of, shown
from logs.acpc_log.writer import state_text
from logs.conversion import match_file
from logs.errors import LogError, LogsError
from logs.export import FORMATS
from logs.hand_index import open_hands
from logs.hand_source import HandFile
from protocol import format_game_definition

MAX_STREAMS_PER_USER: Final = 20
_STATE = Query(description="in this state only")
_NO_JOB = describe_errors(s404="there is no such job")
_NO_RUN = describe_errors(s404="there is no such run, or no such player in it")
_NO_GAME = describe_errors(s404="there is no such game here")
_MATCH = "/runs/{run:int}/matches/{match:int}"
_NO_MATCH = describe_errors(
    s404="there is no such run or match, or nothing to send",
    s409="the run is still being played, or the format cannot hold the game",
    s410="the files of the run have been removed, or cannot be read",
)


def _find_run(parts: ServerParts, number: int) -> tuple[Run, Job]:
    run = records.run(parts.store, number)
    job = records.job_of_run(parts.store, number)
    if run is None or job is None:
        raise WebError(404, f"There is no run {number}.")
    return run, job


def _make_job(parts: ServerParts, job: Job, caller: Token) -> models.Job:
    """Convert a job, without its seed if that would reveal future cards to the caller."""
    if not access.sees_cards(parts.store, job, Person.of(caller)):
        job = replace(job, seed=None)
    return models.Job.of(job)


def _make_runs(parts: ServerParts, runs: Sequence[Run], caller: Token) -> list[models.Run]:
    person = Person.of(caller)
    return [models.Run.of(replace(run, reason=access.reason(parts.store, run, person))) for run in runs]


def _next_before(rows: Sequence[Job | Run | Fault | ScheduledEvent], limit: int) -> int | None:
    return rows[-1].id if len(rows) == limit else None


def _next_after(rows: Sequence[object], end: int) -> int | None:
    return end if end < len(rows) else None


@router.get("/me", summary="The user and the scopes of the token")
async def me(caller: Reader, parts: Parts) -> models.Caller:
    return models.Caller(
        user=caller.user.name,
        scopes=sorted(caller.scopes),
        team=caller.account.name if caller.account != caller.user else None,
        team_invitations=team_invitations(parts.store, caller.user),
    )


@router.get("/games", summary="The games of this server")
async def games(caller: Anyone, parts: Parts) -> models.Games:
    """Games, in the order of the configuration."""
    rows = [
        models.Game(
            name=game.name,
            players=game.game.num_players,
            deals=game.deals,
            most_runs=game.max_runs,
            definition=format_game_definition(game.game),
        )
        for game in parts.settings.games
    ]
    return models.Games(games=rows)


@router.get("/bots", summary="Bots in their newest versions")
async def bots(
    caller: Reader,
    parts: Parts,
    game: models.OfGame = None,
    mine: models.Mine = False,
    after: models.After = 0,
    limit: models.LongLimit = 1000,
) -> models.Bots:
    """Bots, by game and name."""
    owner = caller.account.id if mine else None
    rows = records.bots(parts.store, game=parts.settings.full_name(game), owner=owner)
    return models.Bots(bots=models.Bot.all_of(rows[after:][:limit]), after=_next_after(rows, after + limit))


@router.delete(
    "/bots/{name}", summary="Free the name of a bot", status_code=204, responses=describe_errors(s422="it is in use")
)
async def free_bot_name(caller: Player, parts: Parts, name: str) -> None:
    """Free the name of a bot of one's own, or of any user as an admin. Its results stay."""
    owner = None if Scope.ADMIN in caller.scopes else caller.account.id
    await parts.store.write(lambda db: free_name(db, caller.user.name, name, owner))


@router.get("/jobs", summary="Requests, the newest first")
async def jobs(
    caller: Reader,
    parts: Parts,
    mine: models.Mine = False,
    state: Annotated[JobState | None, _STATE] = None,
    before: models.Before = None,
    limit: models.Limit = 50,
) -> models.Jobs:
    user = caller.account.id if mine else None
    rows = records.jobs(parts.store, user=user, state=state, before=before, limit=limit)
    return models.Jobs(jobs=[_make_job(parts, row, caller) for row in rows], before=_next_before(rows, limit))


@router.get("/jobs/{job:int}", summary="A job with its runs", responses=_NO_JOB)
async def job(caller: Reader, parts: Parts, job: int) -> models.JobDetail:
    """A job, with its place in the queue while it waits."""
    row = records.job(parts.store, job)
    if row is None:
        raise WebError(404, f"There is no job {job}.")
    forecast = None
    if row.is_open:
        forecasts = await parts.service.queue.forecasts()
        forecast = forecasts.get(job)
    return models.JobDetail(
        job=_make_job(parts, row, caller),
        runs=_make_runs(parts, records.runs_of_job(parts.store, row), caller),
        position=None if forecast is None else forecast.position,
        starts_in_s=None if forecast is None else forecast.starts_in_s,
    )


@router.get("/runs", summary="Running and finished runs, the newest first")
async def runs(
    caller: Reader,
    parts: Parts,
    game: models.OfGame = None,
    state: Annotated[RunState | None, _STATE] = None,
    version: Annotated[models.Number | None, Query(description="with this version of a bot only")] = None,
    pair: Annotated[models.Number | None, Query(description="that count in this pair only")] = None,
    before: models.Before = None,
    limit: models.Limit = 50,
) -> models.Runs:
    rows = records.runs(
        parts.store,
        game=parts.settings.full_name(game),
        state=state,
        version=version,
        pair=pair,
        before=before,
        limit=limit,
    )
    return models.Runs(runs=_make_runs(parts, rows, caller), before=_next_before(rows, limit))


@router.get("/runs/{run:int}", summary="A run with its matches", responses=_NO_RUN)
async def run(caller: Reader, parts: Parts, run: int) -> models.RunDetail:
    row, _ = _find_run(parts, run)
    matches = []
    for index, match in enumerate(records.matches(parts.store, run)):
        log_path = f"{PREFIX}/runs/{run}/matches/{index}/log"
        matches.append(models.Match.of(replace(match, log=log_path)))
    return models.RunDetail(run=_make_runs(parts, [row], caller)[0], matches=matches)


@router.get("/runs/{run:int}/scores/{player:int}", summary="Winnings of a player in each duplicate", responses=_NO_RUN)
async def scores(caller: Reader, parts: Parts, run: int, player: int) -> models.Scores:
    """Winnings in mbb/g, in the order of the deals."""
    row, _ = _find_run(parts, run)
    if player >= len(row.seats):
        raise WebError(404, f"Run {run} has no player {player}; its players are 0 to {len(row.seats) - 1}.")
    return models.Scores(mbb_by_duplicate=list(records.duplicate_scores(parts.store, run, player)))


@router.get("/faults", summary="Faults of your bots, the latest first", responses=_NO_RUN)
async def faults(
    caller: Reader,
    parts: Parts,
    run: Annotated[
        models.Number | None, Query(description="faults of this run, of all players if the run is yours")
    ] = None,
    before: models.Before = None,
    limit: models.Limit = 50,
) -> models.Faults:
    if run is not None:
        _find_run(parts, run)
    rows = access.faults(parts.store, Person.of(caller), run=run, before=before, limit=limit)
    return models.Faults(faults=models.Fault.all_of(rows), before=_next_before(rows, limit))


@router.get("/games/{game}/standings", summary="The ratings of a game", responses=_NO_GAME)
async def standings(
    caller: Anyone, parts: Parts, game: str, after: models.After = 0, limit: models.LongLimit = 1000
) -> models.Standings:
    """Ratings, by size of their field and then by rating."""
    rows = counted_scores.standings(parts.store, find_server_game(parts, game).name)
    ratings = models.Rating.all_of(rows[after:][:limit])
    return models.Standings(ratings=ratings, after=_next_after(rows, after + limit))


@router.get("/games/{game}/pairs", summary="The crosstable of a game", responses=_NO_GAME)
async def pairs(
    caller: Anyone, parts: Parts, game: str, after: models.After = 0, limit: models.LongLimit = 1000
) -> models.Pairs:
    """Results between the same versions, at tables of two or more, where something counts."""
    rows = counted_scores.pairs(parts.store, find_server_game(parts, game))
    return models.Pairs(pairs=models.Pair.all_of(rows[after:][:limit]), after=_next_after(rows, after + limit))


# ---- teams
@router.get("/teams", summary="Teams of users")
async def list_teams(caller: Reader, parts: Parts) -> models.Teams:
    """Teams by name, with their members."""
    return models.Teams(
        teams=[models.Team(name=team.account.name, members=team.members) for team in teams(parts.store)]
    )


@router.post("/teams", summary="Form a team", status_code=204)
async def form_team(caller: Player, parts: Parts, team: models.NewTeam) -> None:
    """Form a team with the caller as its only member."""
    max_members = parts.settings.max_team_members
    await parts.store.write(lambda db: form_own_team(db, caller.user, team.name, max_members))


@router.post("/team/invitations", summary="Invite a user into your team", status_code=204)
async def invite_into_team(caller: Player, parts: Parts, invited: models.Invited) -> None:
    """Invite a user, who may accept."""
    max_members = parts.settings.max_team_members
    await parts.store.write(lambda db: invite_member(db, caller.user, invited.user, max_members))


@router.post("/teams/{name}/join", summary="Accept an invitation into a team", status_code=204)
async def join_team(caller: Player, parts: Parts, name: str) -> None:
    """Join a team; the caller's bots are the team's from then on."""
    await parts.store.write(lambda db: accept_team(db, caller.user, name))


@router.delete("/team", summary="Leave your team", status_code=204)
async def leave_own_team(caller: Player, parts: Parts) -> None:
    """Leave the team, which keeps the bots; the last member takes them along, and the team ends."""
    await parts.store.write(lambda db: leave_team(db, caller.user.name, caller.user))


# ---- scheduled events
@router.get("/scheduled-events", summary="Events: round robins between frozen versions of bots")
async def scheduled_events(
    caller: Anyone, parts: Parts, before: models.Before = None, limit: models.Limit = 50
) -> models.ScheduledEvents:
    rows = event_records.events(parts.store, before=before, limit=limit)
    return models.ScheduledEvents(events=models.ScheduledEvent.all_of(rows), before=_next_before(rows, limit))


_NO_EVENT = describe_errors(s404="there is no such event")


@router.get("/scheduled-events/{name}", summary="An event with its standings and contests", responses=_NO_EVENT)
async def scheduled_event(
    caller: Anyone, parts: Parts, name: str, after: models.After = 0, limit: models.LongLimit = 1000
) -> models.EventDetail:
    """An event and its results so far, with a page of its contests."""
    event = _find_event(parts, name)
    detail = await asyncio.to_thread(event_detail, parts.store, event, parts.service.computing.wait)
    page = models.EventDetail.of(replace(detail, contests=detail.contests[after:][:limit]))
    return page.model_copy(update={"after": _next_after(detail.contests, after + limit)})


@router.post("/scheduled-events", summary="Announce an event", status_code=201)
async def announce(caller: Organiser, parts: Parts, settings: EventSettings) -> models.ScheduledEvent:
    """Store an event; it is on disk when the response arrives."""
    game = find_server_game(parts, settings.game)
    await parts.store.write(lambda db: add_event(db, caller.user.name, settings, game.name))
    return models.ScheduledEvent.of(_find_event(parts, settings.name))


@router.put("/scheduled-events/{name}", summary="Edit an event", responses=_NO_EVENT)
async def edit(caller: Organiser, parts: Parts, name: str, settings: EventSettings) -> models.ScheduledEvent:
    """Replace all settings of an event that has not closed."""
    event = _find_event(parts, name)
    game = find_server_game(parts, settings.game)
    await parts.store.write(lambda db: edit_event(db, caller.user.name, event, settings, game.name))
    return models.ScheduledEvent.of(_find_event(parts, settings.name))


@router.delete("/scheduled-events/{name}", summary="Withdraw an event", status_code=204, responses=_NO_EVENT)
async def withdraw(caller: Organiser, parts: Parts, name: str) -> None:
    """Remove an event that has not closed, or cancel the contests of one that is not finished."""
    event = _find_event(parts, name)
    await parts.store.write(lambda db: withdraw_event(db, caller.user.name, event))


@router.post("/scheduled-events/{name}/disqualified", summary="Disqualify a bot", responses=_NO_EVENT)
async def disqualify_bot(
    caller: Organiser, parts: Parts, name: str, disqualification: models.Disqualification
) -> models.ScheduledEvent:
    """Exclude a bot from an event: its contests do not count, and the standings are made anew."""
    event = _find_event(parts, name)
    bot, reason = disqualification.bot, disqualification.reason
    await parts.store.write(lambda db: disqualify(db, caller.user.name, event, bot, reason))
    return models.ScheduledEvent.of(_find_event(parts, name))


@router.get("/series", summary="Series of events")
async def all_series(caller: Anyone, parts: Parts) -> models.AllSeries:
    """Names of all series, the latest first."""
    return models.AllSeries(series=series_names(parts.store))


@router.get("/series/{name}", summary="A series with its table", responses=describe_errors(s404="there is none"))
async def one_series(caller: Anyone, parts: Parts, name: str) -> models.Series:
    """A series with its events and its table."""
    series = find_series(parts.store, name)
    if series is None:
        raise WebError(404, f"There is no series {shown(name)}.")
    return models.Series.model_validate(await asyncio.to_thread(series_data, series))


@router.post("/series", summary="Announce a series", status_code=201)
async def announce_series(caller: Organiser, parts: Parts, settings: SeriesSettings) -> models.Series:
    """Store a series and announce its first events."""
    game = find_server_game(parts, settings.game)
    await parts.store.write(lambda db: add_series(db, caller.user.name, settings, game.name))
    return await one_series(None, parts, settings.name)


def _find_event(parts: ServerParts, name: str) -> ScheduledEvent:
    event = event_records.event(parts.store, name)
    if event is None:
        raise WebError(404, f"There is no event {shown(name)}.")
    return event


# ---- files
def _describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {"schema": {"type": "string"}}}}, **_NO_MATCH}


def _find_log(parts: ServerParts, caller: Token, run: int, match: int) -> Path:
    row, job = _find_run(parts, run)
    if row.state is RunState.RUNNING:
        raise WebError(409, "The run is still being played.")
    if not access.sees_cards(parts.store, job, Person.of(caller)):
        raise WebError(403, "The cards of this job are available after its last run.")
    matches = records.matches(parts.store, run)
    if match >= len(matches):
        number = count_of(len(matches), "match", "matches")
        raise WebError(404, f"Run {run} has {number} with hands, numbered from 0.")
    path = parts.folder / row.folder / matches[match].log
    if removed := removal_sentence(path.parent):
        raise WebError(410, removed)
    if not path.is_file():
        raise WebError(410, "The files of this run have been removed.")
    return path


@router.get(
    f"{_MATCH}/log",
    summary="The ACPC log of a match",
    response_class=Response,
    responses=_describe_file("text/plain"),
)
async def log(caller: Reader, parts: Parts, run: int, match: int) -> Response:
    """The log as the dealer wrote it."""
    path = _find_log(parts, caller, run, match)
    # With the status of the file, the response has its tag now, as the routes need it to answer 304.
    return FileResponse(path, media_type="text/plain", filename=f"run{run}-{match}.log", stat_result=path.stat())


@router.get(f"{_MATCH}/hands", summary="The hands of a match, in their order", responses=_NO_MATCH)
async def hands(
    caller: Reader,
    parts: Parts,
    run: int,
    match: int,
    after: Annotated[models.Number, Query(description="number of hands to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="hands of a page")] = 100,
) -> models.Hands:
    """Finished hands, page by page."""
    return await asyncio.to_thread(_read_hands, _find_log(parts, caller, run, match), after, limit)


@router.get(
    _MATCH + "/export/{format}",
    summary=f"A match as a hand history: {', '.join(FORMATS)}",
    response_class=Response,
    responses=_describe_file("application/octet-stream"),
)
async def export(caller: Reader, parts: Parts, run: int, match: int, format: str) -> Response:
    """The match in a format of `arena export`."""
    format_ = FORMATS.get(format)
    if format_ is None:
        raise WebError(404, f"There is no format {shown(format)}; the formats are {', '.join(FORMATS)}.")
    path = _find_log(parts, caller, run, match)
    try:
        texts = await asyncio.to_thread(match_file, str(path), format_)
    except LogsError as error:
        raise WebError(409, f"{error}.") from None
    # The first text shows whether there are hands, while a status can still be sent.
    first = await asyncio.to_thread(next, texts, None)
    if first is None:
        raise WebError(404, "The match has no hands.")
    return download(chain([first], texts), f"run{run}-{match}{format_.endings[-1]}", "application/octet-stream")


def _read_hands(path: Path, after: int, limit: int) -> models.Hands:
    end = after + limit
    try:
        with open_hands(HandFile(str(path))) as index:
            # The log of a match contains no other match.
            match = index.matches[0]
            hands = []
            for number in match.page(after, limit):
                record = match.hand(number)
                hand = models.Hand(
                    number=record.hand_number,
                    names=list(record.names),
                    state=state_text(record),
                    values=list(record.values),
                )
                hands.append(hand)
            return models.Hands(hands=hands, after=end if end < match.count else None)
    except (LogError, OSError) as error:
        raise WebError(410, f"The log of this match cannot be read: {error}.") from None


# ---- events
async def _stream_events(feed: Feed, last: int | None) -> AsyncGenerator[bytes]:
    """Format the events after number `last`, or the events from now on, as server-sent events."""
    position = feed.last if last is None else last
    yield f": events after {position}\nretry: 2000\n\n".encode()
    while True:
        for number, (kind, fields) in feed.after(position):
            yield f"id: {number}\nevent: {kind}\ndata: {json.dumps(fields)}\n\n".encode()
            position = number
        if not await feed.wait(position, QUIET_S):
            # A comment keeps proxies from closing the connection, and fails if the client is gone.
            yield b": \n\n"


_Last: TypeAlias = Annotated[str, Header(description="the number of the last event that you have seen")]


@router.get(
    "/events",
    summary="Changes, as server-sent events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(request: Request, caller: Reader, parts: Parts, last_event_id: _Last = "") -> Response:
    """Events of the queue. They contain nothing secret."""
    is_number = last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 20
    if last_event_id and not is_number:
        raise WebError(422, "Last-Event-ID must be the number of an event.")
    streams: EventStreams = request.app.state.streams
    last = int(last_event_id) if last_event_id else None
    return streams.response(caller.user.name, _stream_events(parts.service.feed, last))


_KEY = "Idempotency-Key"
_MAX_KEY_CHARACTERS = 200
_MAX_KEYS_PER_USER = 1000
_Locks: TypeAlias = "WeakValueDictionary[tuple[int, str], asyncio.Lock]"
"""A lock for each user and key: the same request sent twice at once must create one job."""
_Key: TypeAlias = Annotated[
    str,
    Header(
        alias=_KEY, description="idempotency key; a request that is repeated with the same key returns the same job"
    ),
]
_CREATED: Final[dict[int | str, dict[str, Any]]] = {
    201: {"headers": {"Location": {"description": "the address of the job", "schema": {"type": "string"}}}}
}


@router.post("/jobs", summary="Submit a contest", status_code=201, responses=_CREATED)
async def submit(
    request: Request, caller: Player, parts: Parts, new_job: models.NewJob, answer: Response, key: _Key = ""
) -> models.Job:
    """Submit a job; it is on disk when the response arrives."""
    if len(key) > _MAX_KEY_CHARACTERS or not key.isprintable():
        raise WebError(422, f"{_KEY} must have at most {_MAX_KEY_CHARACTERS} characters, all printable.")
    if key:
        locks: _Locks = request.app.state.locks
        async with locks.setdefault((caller.account.id, key), asyncio.Lock()):
            job = await _submit_once(parts, caller.account, new_job, key)
    else:
        job, _ = await parts.service.submit(caller.account, new_job.request())
    answer.headers["location"] = f"{PREFIX}/jobs/{job.id}"
    return _make_job(parts, job, caller)


async def _submit_once(parts: ServerParts, user: User, new_job: models.NewJob, key: str) -> Job:
    """Submit a job, or return the job that an earlier request with the same key created."""
    fingerprint = hashlib.sha256(new_job.model_dump_json().encode()).digest()

    def note(db: sqlite3.Connection, job: int) -> None:
        db.execute("INSERT INTO submissions VALUES (?, ?, ?, ?)", (user.id, key, fingerprint, job))
        db.execute(
            "DELETE FROM submissions WHERE user = ?1 AND job NOT IN "
            "(SELECT job FROM submissions WHERE user = ?1 ORDER BY job DESC LIMIT ?2)",
            (user.id, _MAX_KEYS_PER_USER),
        )

    query = "SELECT fingerprint, job FROM submissions WHERE user = ? AND key = ?"
    for row in parts.store.read(query, user.id, key):
        known = records.job(parts.store, row["job"])
        if row["fingerprint"] != fingerprint or known is None:
            raise WebError(422, f"You have sent a different request with this {_KEY}.")
        return known
    job, _ = await parts.service.submit(user, new_job.request(), note=note)
    return job


@router.delete(
    "/jobs/{job:int}",
    summary="Cancel a job and its running matches",
    responses=describe_errors(s404="there is no such job"),
)
async def cancel(caller: Player, parts: Parts, job: int) -> models.Cancelled:
    """Cancel a job of one's own, or any as an admin."""
    row = records.job(parts.store, job)
    if row is None:
        raise WebError(404, f"There is no job {job}.")
    if not access.can_manage(row, Person.of(caller)):
        raise WebError(403, "This job belongs to another user.")
    return models.Cancelled(is_cancelled=await parts.service.queue.cancel_job(row.user, job, caller.user))


# ---- uploads
_MAX_UPLOADS = 200
_NO_UPLOAD = describe_errors(s404="you have no such upload")
_ARCHIVE: Final = {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}, "required": True}


def _find_upload(parts: ServerParts, caller: Token, number: int) -> Upload:
    rows = uploads(parts.store, user=caller.account.id, number=number)
    if not rows:
        raise WebError(404, f"You have no upload {number}.")
    return rows[0]


@router.post(
    "/uploads",
    summary="Upload a bot, to be examined and then played here",
    status_code=201,
    openapi_extra={"requestBody": {"description": "a zip with bot.toml", **_ARCHIVE}},
)
async def upload(request: Request, caller: Player) -> models.Upload:
    """Accept an archive; it is on disk when the response arrives."""
    intake: Intake = request.app.state.intake
    return models.Upload.of(await intake.take(caller.account, await request.body()))


@router.get("/uploads", summary="Your uploads, the latest first")
async def own_uploads(caller: Reader, parts: Parts) -> models.Uploads:
    rows = uploads(parts.store, user=caller.account.id, limit=_MAX_UPLOADS)
    return models.Uploads(uploads=models.Upload.all_of(rows))


@router.get("/uploads/{upload:int}", summary="One of your uploads, with its findings", responses=_NO_UPLOAD)
async def own_upload(request: Request, caller: Reader, parts: Parts, upload: int) -> models.UploadDetail:
    intake: Intake = request.app.state.intake
    row = _find_upload(parts, caller, upload)
    return models.UploadDetail(
        upload=models.Upload.of(row),
        reports=read_reports(parts.store, row),
        log=intake.printed(row, LOG_NAME),
        failure=intake.printed(row, FAILURE_NAME),
    )


@router.delete("/uploads/{upload:int}", summary="Remove an uploaded bot", responses=_NO_UPLOAD)
async def remove_upload(request: Request, caller: Player, parts: Parts, upload: int) -> models.Cancelled:
    """Remove all versions of an uploaded bot."""
    intake: Intake = request.app.state.intake
    row = _find_upload(parts, caller, upload)
    return models.Cancelled(is_cancelled=await intake.withdraw(caller.account, row.bot))
