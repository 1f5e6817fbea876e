"""Results of an event, as standings and as a document."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from operator import call
from typing import Any, NamedTuple

from dealer.reports.result_documents import crosstable, rankings
from dealer.run.choices import Seating
from dealer.run.results import GameStandings, read_standings
from dealer.run.results.summary import first_places, standings_of
from dealer.server.db import records
from dealer.server.db.event_records import EventState, ScheduledEvent, event_contests
from dealer.server.db.records import JobState, Run, RunSeat, RunState
from dealer.server.db.run_changes import seconds_per_hand
from dealer.server.db.store import Store
from engine.text import capitalized, count_of, duration
from logs.document import DATE, NAME, TEXT, Column, Document, Fact, Link, Section, Table
from logs.estimation import RankedContest, Rate, score_bounds
from protocol.game_definition import parse_game_definition, short_name


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContest:
    """A contest of an event.

    Attributes:
        players: by seat of the first seating.
        reason: of its cancellation; empty if it was or will be played.
        run: None before it starts.
    """

    job: int
    players: tuple[str, ...]
    state: JobState
    reason: str
    run: Run | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetail:
    """An event with its results.

    Attributes:
        seconds_left: until it opens, closes or finishes; None if unknown.
        standings: of the contests so far; None before it closes.
    """

    event: ScheduledEvent
    seconds_left: float | None
    standings: GameStandings | None
    contests: tuple[EventContest, ...]


def event_detail(store: Store, event: ScheduledEvent, compute: Callable[..., Any] = call) -> EventDetail:
    """Read the results of an event. Places have confidences only in final standings.

    Args:
        compute: calls a function, possibly in another process.
    """
    contests = tuple(
        EventContest(
            job=job.id,
            players=job.players,
            state=job.state,
            reason=job.reason,
            run=run,
        )
        for job, run in event_contests(store, event)
    )
    standings = None
    if event.standings:
        standings = read_standings(event.standings)
    elif event.definition:
        standings = _standings_so_far(store, event, compute)
    return EventDetail(
        event=event, seconds_left=_seconds_left(store, event, contests), standings=standings, contests=contests
    )


@lru_cache(maxsize=16)
def _standings_so_far(store: Store, event: ScheduledEvent, compute: Callable[..., Any]) -> GameStandings:
    standings: GameStandings = compute(event_standings, event, played_contests(store, event), False)
    return standings


class PlayedContest(NamedTuple):
    """A contest of an event that has scores.

    Attributes:
        scores: by player, in mbb/g by deal.
    """

    players: tuple[str, ...]
    scores: tuple[array[float], ...]
    is_finished: bool


def played_contests(store: Store, event: ScheduledEvent) -> tuple[PlayedContest, ...]:
    """Read the contests of an event that have scores."""
    played = []
    for job, run in event_contests(store, event):
        seats = () if run is None else run.results
        scores = [records.duplicate_scores(store, run.id, seat.player) for seat in seats if run is not None]
        if run is not None and any(scores):
            played.append(PlayedContest(job.players, tuple(scores), run.state is RunState.FINISHED))
    return tuple(played)


def event_standings(
    event: ScheduledEvent, played: Sequence[PlayedContest], has_confidence: bool = True
) -> GameStandings:
    """Rank the entrants of a closed event by its contests so far."""
    import numpy as np

    game = parse_game_definition(event.definition)
    names = event.entrants
    contests = []
    finished: set[str] = set()
    for contest in played:
        players = tuple(map(names.index, contest.players))
        contests.append(RankedContest(players, np.array(contest.scores).T))
        if contest.is_finished:
            finished.update(contest.players)
    return standings_of(
        event.game,
        contests,
        names,
        score_bounds(game),
        seatings=Seating.ROTATIONS.order_count(game.num_players),
        seed=event.id,
        unfinished=[name for name in names if name not in finished],
        has_confidence=has_confidence,
    )


def _seconds_left(store: Store, event: ScheduledEvent, contests: tuple[EventContest, ...]) -> float | None:
    match event.state:
        case EventState.ANNOUNCED:
            return max(0.0, event.opens_s - time.time())
        case EventState.OPEN:
            return max(0.0, event.closes_s - time.time())
        case EventState.RUNNING:
            num_running = sum(contest.state is JobState.RUNNING for contest in contests)
            per_hand_s = seconds_per_hand(store, event.game)
            if not num_running or per_hand_s is None:
                return None
            game = parse_game_definition(event.definition)
            num_left = sum(contest.state in (JobState.QUEUED, JobState.RUNNING) for contest in contests)
            # Each deal is played in every seating: num_players hands.
            return num_left * (event.deals or 0) * game.num_players * per_hand_s / num_running
        case _:
            return None


# ---- documents
_SHARE = (
    "The share is that of bootstrap samples, with deals drawn anew from those played, in which the bot has this place: "
    "the closer to 100 %, the less the place depends on the cards."
)


def event_document(
    store: Store,
    detail: EventDetail,
    contest_path: Callable[[Run], str] | None = None,
    bot_paths: Mapping[str, str] | None = None,
) -> Document:
    """Make the document of an event.

    Args:
        contest_path: returns the address of a contest's page; None for no links.
        bot_paths: addresses of the pages of bots, by name; None for no links.
    """
    event, standings = detail.event, detail.standings
    sentences = [_state_sentence(detail)]
    sections = []
    if standings is not None and standings.total_bankroll:
        if event.state is EventState.FINISHED:
            sentences.insert(0, first_places(standings))
        ranking, results = (
            _with_links(table, bot_paths or {}) for table in (rankings(standings), crosstable(standings))
        )
        share = (_SHARE,) if standings.total_bankroll[0].confidence is not None else ()
        sections.append(Section("Standings", (ranking, *share, results)))
    if event.note:
        sentences.append(f"{capitalized(event.note)}.")
    facts = (
        Fact("game", short_name(event.game), NAME),
        Fact("deals of a contest, each in every seating", event.deals),
        Fact("bots of a user", event.entries_per_user or "any number"),
        Fact("ranking", "the mean of a bot's winnings over its contests, all against the same opponents", TEXT),
        Fact("opens", event.opens_s, DATE, "UTC"),
        Fact("closes", event.closes_s, DATE, "UTC"),
        *([] if event.named is None else [Fact("may enter", ", ".join(event.named), NAME)]),
    )
    tables = _contests_table(detail, contest_path), _entrants_table(store, event), _disqualified_table(event)
    sections += [Section(table.title, (table,)) for table in tables if table.rows]
    known = tuple(fact for fact in facts if fact.value is not None)
    return Document(f"Event {event.name}", tuple(sentences), known, tuple(sections), data=event_data(detail))


def _with_links(table: Table, paths: Mapping[str, str]) -> Table:
    """Return a table whose names of bots are links to their pages."""
    rows = []
    for row in table.rows:
        rows.append(tuple(Link(cell, paths[cell]) if isinstance(cell, str) and cell in paths else cell for cell in row))
    return replace(table, rows=tuple(rows))


def event_data(detail: EventDetail) -> dict[str, Any]:
    """Make the JSON data of an event, the same as in the HTTP interface."""
    contests = []
    for contest in detail.contests:
        run = contest.run
        data = _row_data(contest)
        if run is not None:
            hidden = ("seed", "folder", "cause", "kept_reason")
            data["run"] = _row_data(run, hidden) | {
                "seats": [_seat_data(seat) for seat in run.seats],
                "started_at": run.started_at,
                "ended_at": run.ended_at,
            }
        contests.append(data)
    event = detail.event
    times = {"opens_at": event.opens_at, "closes_at": event.closes_at}
    return {
        "event": _row_data(event, ("id", "definition", "standings")) | times,
        "seconds_left": detail.seconds_left,
        "standings": detail.standings,
        "contests": contests,
        # Number of the next page in the interface; here are all contests.
        "after": None,
    }


def _seat_data(seat: RunSeat) -> dict[str, Any]:
    mean, half_width = records.estimate_values(seat.won)
    adjusted_mean, adjusted_half_width = records.estimate_values(seat.adjusted)
    return _row_data(seat, ("won", "adjusted")) | {
        "mbb_per_game": mean,
        "half_width_95": half_width,
        "adjusted_mbb": adjusted_mean,
        "adjusted_half_width_95": adjusted_half_width,
    }


def _row_data(row: Any, hidden: Sequence[str] = ()) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row) if field.name not in hidden}


def _state_sentence(detail: EventDetail) -> str:
    event, left_s = detail.event, detail.seconds_left
    contests = count_of(event.contests, "contest")
    match event.state:
        case EventState.ANNOUNCED:
            return f"The event opens in {duration(left_s or 0.0)}."
        case EventState.OPEN:
            return (
                f"The event is open, and {count_of(len(event.entrants), 'bot')} would enter now. "
                f"It closes in {duration(left_s or 0.0)}; then the versions of its bots are frozen."
            )
        case EventState.CLOSED:
            return f"The event is closed, and play is about to begin: {contests}."
        case EventState.RUNNING:
            left = "" if left_s is None else f", about {duration(left_s)} left"
            return f"The event is running: {event.contests_ended:,} of {contests} ended{left}."
        case EventState.FINISHED:
            return f"The event is finished: {contests}."
        case EventState.WITHDRAWN:
            return f"The event was withdrawn when {event.contests_ended:,} of {contests} had ended."


def events_table(title: str, events: tuple[ScheduledEvent, ...], path: Callable[[ScheduledEvent], str]) -> Table:
    """Make a table with a row per event."""
    rows = [
        (
            Link(event.name, path(event)),
            short_name(event.game),
            event.state.value,
            event.opens_s,
            event.closes_s,
            len(event.entrants) or None,
            (f"{event.contests_ended:,} of {event.contests:,}") if event.contests else "",
        )
        for event in events
    ]
    columns = (
        Column("event"),
        Column("game"),
        Column("state"),
        Column("opens", DATE, "UTC"),
        Column("closes", DATE, "UTC"),
        Column("bots", ","),
        Column("contests"),
    )
    return Table.of(title, columns, rows).without_empty()


def _contests_table(detail: EventDetail, path: Callable[[Run], str] | None) -> Table:
    rows = []
    for contest in detail.contests:
        run = contest.run
        title: str | Link = " - ".join(contest.players)
        state: str = contest.state
        reason = contest.reason
        won = None
        if run is not None:
            if contest.state is not JobState.CANCELLED:
                state = run.state
            if not reason and run.state is not RunState.FINISHED:
                reason = run.reason
            if run.results:
                won = _first_rate(contest, run)
                if path is not None:
                    title = Link(" - ".join(contest.players), path(run))
        duplicates = None if run is None else run.duplicates
        rows.append((title, won, duplicates, "" if state == RunState.FINISHED else state, reason))
    columns = (
        Column("contest"),
        Column("won", "+,.0f", "mbb/g", meaning="winnings of the first bot, with half the 95 % interval"),
        Column("deals", ","),
        Column("state"),
        Column("reason", TEXT),
    )
    return Table.of("Contests", columns, rows).without_empty()


def _first_rate(contest: EventContest, run: Run) -> Rate | None:
    won = run.results[0].won
    if won is None:
        return None
    opponent = contest.players[1] if len(contest.players) == 2 else "the table"
    return Rate(won.mean, won.half_width, player=contest.players[0], opponent=opponent)


def _entrants_table(store: Store, event: ScheduledEvent) -> Table:
    rows = [
        (bot.name, bot.label or str(bot.number), "" if bot.owner is None else bot.owner.name)
        for bot in records.bots_of_event(store, event.id)
    ]
    title = "Bots that enter if it closes now" if event.state is EventState.OPEN else "Entrants"
    return Table.of(title, (Column("bot"), Column("version"), Column("owner")), rows).without_empty()


def _disqualified_table(event: ScheduledEvent) -> Table:
    rows = [(known.bot, known.reason) for known in event.disqualified]
    return Table.of("Disqualified", (Column("bot"), Column("reason", TEXT)), rows)
