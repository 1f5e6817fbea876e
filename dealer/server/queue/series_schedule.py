"""Draw the groups of a series, and choose who enters its final."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dealer.run.results import read_standings
from dealer.server.db import counted_scores
from dealer.server.db.records import Bot
from dealer.server.db.series_records import Series
from dealer.server.db.store import Store

_MIN_BOTS_OF_GROUP = 2


def draw_groups(store: Store, series: Series, entrants: Sequence[Bot]) -> list[list[str]]:
    """Spread entrants over the groups of a series; the last groups are empty if there are too few entrants.

    In the order of their ratings they are dealt to the groups forwards, then backwards, and so on, so that no group has
    all strong bots. Bots without a rating come last. By chance, the order is drawn.
    """
    assert series.settings.groups is not None
    names = [bot.name for bot in entrants]
    if series.settings.draw == "chance":
        random.SystemRandom().shuffle(names)
    elif entrants:
        ratings = {rating.bot.name: rating.mbb_per_game for rating in counted_scores.standings(store, entrants[0].game)}
        names.sort(key=lambda name: (name not in ratings, -ratings.get(name, 0.0), name))
    count = max(1, min(series.settings.groups, len(names) // _MIN_BOTS_OF_GROUP))
    groups: list[list[str]] = [[] for _ in series.groups]
    for index, name in enumerate(names):
        lap, place = divmod(index, count)
        groups[place if lap % 2 == 0 else count - 1 - place].append(name)
    return groups


def qualified_bots(series: Series) -> list[str]:
    """Best bots of each group, by total bankroll; empty until all groups are ranked."""
    qualified: list[str] = []
    for event in series.groups:
        if not event.standings:
            return []
        ranked = [rank.player for rank in read_standings(event.standings).total_bankroll]
        qualified += (ranked or event.entrants)[: series.settings.advance]
    return qualified
