"""What programs read: games, bots, jobs, runs, standings, as `dealer.server.records` tells them.

What came out of a run is everybody's; seeds and cards are, once nothing of the job is left to play. From the seed of
one run those of the next can be found; so before, not even the owner sees them, unless the owner has chosen the seed.
Faults, with the lines that bots sent, are for the owner of the job or of the bot.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Field

from dealer.errors import WebError
from dealer.server import crosstable, records
from dealer.server.accounts import Scope
from dealer.server.ledger import JobRow, JobState, RunState
from dealer.server.records import BotRecord, FaultRecord, RunRecord
from dealer.server.server import ServerParts
from dealer.server.settings import HouseGame
from dealer.web.api import models
from dealer.web.api.callers import Caller
from dealer.web.api.operations import PREFIX, Call, Operation, Parameter
from engine import DealKey, Seed
from protocol import format_game_definition
from protocol.benchmark import OWN_SEAT

__all__ = ["Reading", "job_model", "may_see_cards", "run_of"]

_Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
_Limit: TypeAlias = Annotated[int, Field(ge=1, le=200)]
_BEFORE = Parameter("before", _Number | None, "of the page before, for the next page")
_LIMIT = Parameter("limit", _Limit, "entries of a page", 50)
_GAME = Parameter("game", str | None, "of this game only")


def may_see_cards(parts: ServerParts, caller: Caller, job: JobRow) -> bool:
    """Whether somebody may see the seeds and the cards of a job's runs."""
    is_chosen = not job.is_seed_drawn and OWN_SEAT not in job.players
    if job.user.id == caller.user.id and is_chosen and job.state is JobState.QUEUED:
        return True
    # Whoever sits at a table, or plays in Slumbot's interface, must not know the cards to come.
    going = parts.store.read("SELECT 1 FROM runs WHERE job = ? AND state = 'running'", job.id)
    return job.state is not JobState.QUEUED and not going


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
    return models.Job(
        id=job.id,
        user=job.user.name,
        tag=job.tag,
        game=job.game,
        players=list(job.players),
        runs=job.runs,
        started=job.started,
        state=job.state,
        reason=job.reason,
        seating=job.seating,
        hands=job.hands,
        stop=job.stop,
        seed=_shown(job.seed) if may_see_cards(parts, caller, job) else None,
        submitted_s=job.submitted_s,
        ended_s=job.ended_s,
    )


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
    shown = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)
    return models.Fault(
        id=fault.id,
        run=fault.run,
        match=fault.match,
        player=fault.player,
        kind=fault.kind,
        hand_number=fault.hand_number,
        line=shown,
        remedy=fault.remedy,
    )


def _next(entries: tuple[Any, ...], limit: int) -> int | None:
    """The number to go on before; None after the last page."""
    return entries[-1].id if len(entries) == limit else None


class Reading:
    """The operations that read."""

    def __init__(self, parts: ServerParts) -> None:
        """Read from a server."""
        self._parts = parts
        self._store = parts.store

    def operations(self) -> list[Operation]:
        """All of them."""
        read = Scope.READ
        return [
            Operation("GET", "/me", "me", "For whom the token calls", read, models.Caller, self._me),
            Operation("GET", "/games", "games", "The games that are played here", read, models.Games, self._games),
            Operation(
                *("GET", "/bots", "bots", "The bots, each in its newest version", read, models.Bots, self._bots),
                query=(_GAME, Parameter("mine", bool, "only one's own", False)),
            ),
            Operation(
                *("GET", "/jobs", "jobs", "What was asked for, the newest first", read, models.Jobs, self._jobs),
                query=(
                    Parameter("mine", bool, "only one's own", False),
                    Parameter("state", JobState | None, "in this state only"),
                    _BEFORE,
                    _LIMIT,
                ),
            ),
            Operation("GET", "/jobs/{job:int}", "job", "A job with its runs", read, models.JobDetail, self._job),
            Operation(
                *("GET", "/runs", "runs", "What is played or was, the newest first", read, models.Runs, self._runs),
                query=(
                    _GAME,
                    Parameter("state", RunState | None, "in this state only"),
                    Parameter("version", _Number | None, "with this version of a bot only"),
                    Parameter("pair", _Number | None, "that count in this pair only"),
                    _BEFORE,
                    _LIMIT,
                ),
            ),
            Operation("GET", "/runs/{run:int}", "run", "A run with its matches", read, models.RunDetail, self._run),
            Operation(
                *("GET", "/runs/{run:int}/scores/{player:int}", "scores", "What a player won in each duplicate"),
                *(read, models.Scores, self._scores),
            ),
            Operation(
                *("GET", "/faults", "faults", "What one's own bots did wrong, the latest first"),
                *(read, models.Faults, self._faults),
                query=(
                    Parameter("run", _Number | None, "in this run, of all players if it is one's own"),
                    _BEFORE,
                    _LIMIT,
                ),
            ),
            Operation(
                *("GET", "/games/{game}/standings", "standings", "The ratings of a game"),
                *(read, models.Standings, self._standings),
            ),
            Operation(
                *("GET", "/games/{game}/pairs", "pairs", "The crosstable of a game"),
                *(read, models.Pairs, self._pairs),
            ),
        ]

    async def _me(self, call: Call) -> models.Caller:
        return models.Caller(user=call.caller.user.name, scopes=sorted(call.caller.scopes))

    async def _games(self, call: Call) -> models.Games:
        return models.Games(
            games=[
                models.Game(
                    name=game.name,
                    players=game.game.num_players,
                    hands=game.hands,
                    most_runs=game.most_runs,
                    definition=format_game_definition(game.game),
                )
                for game in self._parts.settings.games
            ]
        )

    async def _bots(self, call: Call) -> models.Bots:
        owner = call.caller.user.id if call.query["mine"] else None
        found = records.bots(self._store, game=call.query["game"], owner=owner)
        return models.Bots(bots=list(map(_bot_model, found)))

    async def _jobs(self, call: Call) -> models.Jobs:
        query = call.query
        owner = call.caller.user.id if query["mine"] else None
        found = records.jobs(self._store, user=owner, state=query["state"], before=query["before"], most=query["limit"])
        return models.Jobs(
            jobs=[job_model(self._parts, job, call.caller) for job in found], before=_next(found, query["limit"])
        )

    async def _job(self, call: Call) -> models.JobDetail:
        number = call.path["job"]
        job = records.job(self._store, number)
        if job is None:
            raise WebError(404, f"There is no job {number}.")
        runs = records.runs(self._store, job=number, most=job.runs + 1)
        waits = (await self._parts.service.forecasts()).get(number) if job.state is JobState.QUEUED else None
        return models.JobDetail(
            job=job_model(self._parts, job, call.caller),
            runs=[models.Run.model_validate(run) for run in reversed(runs)],
            position=None if waits is None else waits.position,
            starts_in_s=None if waits is None else waits.starts_in_s,
        )

    async def _runs(self, call: Call) -> models.Runs:
        query = dict(call.query)
        limit = query.pop("limit")
        found = records.runs(self._store, **query, most=limit)
        return models.Runs(runs=[models.Run.model_validate(run) for run in found], before=_next(found, limit))

    async def _run(self, call: Call) -> models.RunDetail:
        run, _ = run_of(self._parts, call.path["run"])
        return models.RunDetail(
            run=models.Run.model_validate(run),
            matches=[
                models.Match(
                    name=match.name,
                    first_hand=match.first_hand,
                    hands=match.hands,
                    log=f"{PREFIX}/runs/{run.id}/matches/{place}/log",
                )
                for place, match in enumerate(records.matches(self._store, run.id))
            ],
        )

    async def _scores(self, call: Call) -> models.Scores:
        run, _ = run_of(self._parts, call.path["run"])
        if call.path["player"] >= len(run.seats):
            raise WebError(404, f"Run {run.id} has players 0 to {len(run.seats) - 1}.")
        found = records.duplicate_scores(self._store, run.id, call.path["player"])
        return models.Scores(mbb_by_duplicate=list(found))

    async def _faults(self, call: Call) -> models.Faults:
        query, owner = call.query, None if call.caller.is_admin else call.caller.user.id
        if query["run"] is not None:
            _, job = run_of(self._parts, query["run"])
            owner = None if job.user.id == call.caller.user.id else owner
        found = records.faults(self._store, run=query["run"], owner=owner, before=query["before"], most=query["limit"])
        return models.Faults(faults=list(map(_fault_model, found)), before=_next(found, query["limit"]))

    def _game(self, call: Call) -> HouseGame:
        game = self._parts.settings.game(call.path["game"])
        if game is None:
            raise WebError(404, "There is no such game here; /games lists those there are.")
        return game

    async def _standings(self, call: Call) -> models.Standings:
        return models.Standings(
            ratings=[
                models.Rating(
                    bot=_bot_model(one.bot),
                    mbb_per_game=one.mbb_per_game,
                    half_width_95=one.half_width_95,
                    field=one.field,
                    is_provisional=one.is_provisional,
                    duplicates=one.duplicates,
                )
                for one in crosstable.standings(self._store, self._game(call).name)
            ]
        )

    async def _pairs(self, call: Call) -> models.Pairs:
        found = crosstable.pairs(self._store, self._game(call))
        return models.Pairs(pairs=[models.Pair.model_validate(pair) for pair in found])
