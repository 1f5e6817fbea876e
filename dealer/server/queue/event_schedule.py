"""What an event plays when it closes: its entrants in frozen versions, and a contest for every table of them.

The contests are those that the ladder would play: in every seating, with cards of a key of their own, and a bot that
fails does not escape what it would have lost. Two bots of one user, who could have one lose to the other, do not meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from dealer.server.capacity import Limits
from dealer.server.db import records
from dealer.server.db.event_records import ScheduledEvent
from dealer.server.db.records import Bot, JobRequest
from dealer.server.db.store import Store
from dealer.server.queue.fair_queue import never_fits
from dealer.server.queue.ladder import MAX_TAG_LENGTH, learns, rated_terms
from dealer.server.queue.unrated import has_one_owner_twice
from dealer.server.server_settings import ServerGame, capacity_share
from engine.text import listed, shown
from protocol import format_game_definition
from protocol.game_definition import short_name

_MOST_CONTESTS = 20_000


Contest: TypeAlias = tuple[JobRequest, tuple[int, ...]]
"""The request of a contest, and the versions of its players, by seat."""


def plan_event(
    store: Store,
    event: ScheduledEvent,
    game: ServerGame | None,
    limits: Limits,
    version: Callable[[str, str], int | None],
) -> tuple[ScheduledEvent, tuple[Bot, ...], list[Contest]]:
    """What an event plays that closes now: the event with everything that was decided, its entrants, its contests.

    Args:
        game: None if the server has it no more.
        version: the number of a bot's version by the names of game and bot; None for one that is not there.
    """
    if game is None or not game.deals:
        note = f"the game {short_name(event.game)} is not played here any more"
        return replace(event, note=note), (), []
    entrants = tuple(sorted(_entrants(store, event, game, version), key=lambda bot: bot.name))
    missing = sorted(set(event.named or ()) - {bot.name for bot in entrants})
    notes = [f"no bot of this name can enter: {listed([shown(name) for name in missing])}"] if missing else []
    deals = event.deals or game.deals
    tables = [
        (request, tuple(bot.version for bot in bots))
        for bots in itertools.combinations(entrants, game.game.num_players)
        if not has_one_owner_twice(bot.owner for bot in bots)
        and not never_fits(capacity_share(game, [bot.name for bot in bots], user=0, at_once=1), limits)
        for request in [_request(event, game, bots, deals)]
    ]
    if len(tables) > _MOST_CONTESTS:
        notes.append(f"{len(tables):,} contests would be too many: the first {_MOST_CONTESTS:,} are played")
    definition = format_game_definition(game.game)
    decided = replace(event, note="; ".join(notes), deals=deals, definition=definition)
    return decided, entrants, tables[:_MOST_CONTESTS]


def _entrants(
    store: Store, event: ScheduledEvent, game: ServerGame, version: Callable[[str, str], int | None]
) -> Iterator[Bot]:
    for newest in records.bots(store, game=game.name):
        number = version(game.name, newest.name)
        own = game.bots.get(newest.name)
        if own is not None:
            may_enter = not learns(own.bot)
        else:
            is_here = number is not None or (newest.seen_s is not None and newest.seen_s >= event.opens_s)
            may_enter = newest.owner is not None and (is_here or event.named is not None)
        if may_enter and (event.named is None or newest.name in event.named):
            bot = newest if number is None else records.bot(store, number)
            assert bot is not None
            yield bot


def _request(event: ScheduledEvent, game: ServerGame, bots: tuple[Bot, ...], deals: int) -> JobRequest:
    players = tuple(bot.name for bot in bots)
    return JobRequest(
        game.name,
        players,
        # Those who bring the bots read there who plays whom.
        f"{event.name}.{'-'.join(players)}"[:MAX_TAG_LENGTH],
        terms=rated_terms(deals),
    )
