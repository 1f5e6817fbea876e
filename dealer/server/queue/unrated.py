"""Decide whether a contest counts in the standings: if it cannot have been chosen or made for its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dealer.run.contest_plan import ContestPlan
from dealer.server.db.records import Bot
from dealer.server.db.users import User
from engine import DealKey


def unrated_reason(
    plan: ContestPlan, bots: Sequence[Bot | None], *, is_practice: bool = False, is_of_event: bool = False
) -> str:
    """Why a contest does not count in the standings, as a clause; empty if it counts.

    Args:
        bots: by player; None for an agent that was brought for this contest only.
        is_practice: whether the server's settings exclude it.
        is_of_event: whether it counts in an event, whose results are apart.
    """
    known = [bot.version for bot in bots if bot is not None]
    reasons = {
        "it counts in an event": is_of_event,
        "only the ladder's contests count here": is_practice,
        "its cards follow from a seed, as in practice, not from a key of the server": not isinstance(
            plan.run.seed, DealKey
        ),
        "it was not played in every seating": plan.seatings == 1,
        "its length depended on who was ahead": plan.is_sequential,
        "a player learned during play": bool(plan.learners),
        "a player is not a registered bot": len(known) < len(bots),
        "a bot played against itself": len(set(known)) < len(known),
        "two of its bots belong to the same user": has_one_owner_twice(bot.owner for bot in bots if bot is not None),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def has_one_owner_twice(owners: Iterable[User | None]) -> bool:
    """Whether two bots are of the same user, who could have one lose to the other; the server's own have no owner."""
    users = [owner for owner in owners if owner is not None]
    return len(set(users)) < len(users)
