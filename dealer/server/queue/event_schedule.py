"""Plan an event when it closes: freeze the versions of its entrants and make a contest for every table of them.

Contests are those that the ladder would play, in every seating and with cards from a key of their own. Bots of one
user, if an event admits several, meet like all others: only then do all bots have the same opponents, so that equal
bots have equal bankrolls.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from dealer.server.capacity import Limits
from dealer.server.db import records
from dealer.server.db.event_records import MAX_CONTESTS, ScheduledEvent
from dealer.server.db.records import Bot, JobRequest
from dealer.server.db.store import Store
from dealer.server.queue.fair_queue import never_fits
from dealer.server.queue.ladder import MAX_TAG_LENGTH, learns, rated_terms
from dealer.server.server_settings import ServerGame, capacity_share
from engine.text import listed, shown
from protocol import format_game_definition
from protocol.game_definition import short_name

Contest: TypeAlias = tuple[JobRequest, tuple[int, ...]]
"""Request of a contest, and the versions of its players by seat."""


def plan_event(
    store: Store,
    event: ScheduledEvent,
    game: ServerGame | None,
    limits: Limits,
    version: Callable[[str, str], int | None],
) -> tuple[ScheduledEvent, tuple[Bot, ...], list[Contest]]:
    """Plan an event that closes now.

    Args:
        game: None if the server no longer has it.
        version: returns the number of a bot's version by game and name; None for one that is not connected.

    Returns:
        the event with the values decided, its entrants, its contests.
    """
    if game is None or not game.deals:
        note = f"the server no longer plays the game {short_name(event.game)}"
        return replace(event, note=note), (), []
    entrants = find_entrants(store, event, game, version)
    disqualified = [known.bot for known in event.disqualified]
    missing = sorted(set(event.named or ()) - {bot.name for bot in entrants} - {*disqualified})
    notes = []
    if missing:
        notes.append(f"no bot with this name can enter: {listed([shown(name) for name in missing])}")
    deals = event.deals or game.deals
    contests = []
    for bots in itertools.combinations(entrants, game.game.num_players):
        share = capacity_share(game, [bot.name for bot in bots], user=0, at_once=1)
        if not never_fits(share, limits):
            contests.append((_request(event, game, bots, deals), tuple(bot.version for bot in bots)))
    if len(contests) > MAX_CONTESTS:
        notes.append(f"of {len(contests):,} contests, only the first {MAX_CONTESTS:,} are played")
    definition = format_game_definition(game.game)
    decided = replace(event, note="; ".join(notes), deals=deals, definition=definition)
    return decided, entrants, contests[:MAX_CONTESTS]


def find_entrants(
    store: Store, event: ScheduledEvent, game: ServerGame, version: Callable[[str, str], int | None]
) -> tuple[Bot, ...]:
    """Return the bots that enter an event if it closes now, by name; see `plan_event`."""
    entrants = []
    excluded = {known.bot for known in event.disqualified}
    for newest in records.bots(store, game=game.name):
        number = version(game.name, newest.name)
        own = game.bots.get(newest.name)
        if own is not None:
            can_enter = not learns(own.bot)
        else:
            # A bot of a user has to be connected now, or since the event opened, unless the organiser has named it.
            was_connected = number is not None or (newest.seen_s is not None and newest.seen_s >= event.opens_s)
            can_enter = newest.owner is not None and (was_connected or event.named is not None)
        is_wanted = event.named is None or newest.name in event.named
        if can_enter and is_wanted and newest.name not in excluded:
            # The version that is connected, which can be older than the newest one.
            bot = newest if number is None else records.bot(store, number)
            assert bot is not None
            entrants.append(bot)
    if event.named is None and event.entries_per_user:
        entrants = _last_connected(entrants, event.entries_per_user)
    return tuple(sorted(entrants, key=lambda bot: bot.name))


def _last_connected(bots: Sequence[Bot], max_entries: int) -> list[Bot]:
    """Return the bots without those of users with too many: of these, the ones that were connected last."""
    kept = []
    entries: Counter[str] = Counter()
    for bot in sorted(bots, key=lambda bot: (bot.seen_s or 0.0, bot.created_s), reverse=True):
        owner = None if bot.owner is None else bot.owner.name
        if owner is None or entries[owner] < max_entries:
            kept.append(bot)
        if owner is not None:
            entries[owner] += 1
    return kept


def _request(event: ScheduledEvent, game: ServerGame, bots: tuple[Bot, ...], deals: int) -> JobRequest:
    players = tuple(bot.name for bot in bots)
    return JobRequest(
        game.name,
        players,
        # Owners of bots see the tag, so it names the players.
        f"{event.name}.{'-'.join(players)}"[:MAX_TAG_LENGTH],
        terms=rated_terms(deals),
    )
