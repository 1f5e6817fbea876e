"""Decide whether a contest counts in the standings, so that no user can choose or arrange results that do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dealer.run.contest_plan import ContestPlan
from dealer.server.db.records import Bot
from dealer.server.db.users import User
from engine import DealKey


def unrated_reason(
    plan: ContestPlan, bots: Sequence[Bot | None], *, is_practice: bool = False, is_of_event: bool = False
) -> str:
    """Reason that a contest does not count in the standings, as a clause; empty if it counts.

    Args:
        bots: by player; None for an unregistered agent.
        is_practice: whether the server's settings exclude it.
        is_of_event: whether it counts in an event, whose results are separate.
    """
    registered = [bot for bot in bots if bot is not None]
    versions = {bot.version for bot in registered}
    if is_of_event:
        return "it counts in an event"
    if is_practice:
        return "only the ladder's contests count here"
    if not isinstance(plan.run.seed, DealKey):
        return "its cards follow from a seed, as in practice, not from a key of the server"
    if plan.seatings == 1:
        return "it was not played in every seating"
    if plan.is_sequential:
        return "its length depended on the score"
    if plan.learners:
        return "a player learned during play"
    if len(registered) < len(bots):
        return "a player is not a registered bot"
    if len(versions) < len(registered):
        return "a bot played against itself"
    if has_one_owner_twice(bot.owner for bot in registered):
        return "two of its bots belong to the same user"
    return ""


def has_one_owner_twice(owners: Iterable[User | None]) -> bool:
    """Return whether two bots have the same owner, who could let one lose to the other."""
    # The server's own bots have no owner.
    users = [owner for owner in owners if owner is not None]
    return len(set(users)) < len(users)
