"""Permissions of visitors to see jobs, runs and tables, for every port of the server.

Results are public. Secret is whatever reveals cards still to be played: the seed, the hands, and the lines of players.
The seed of one run, or with some work a few of its cards, reveals those of the job's other runs, so all stay secret
until nothing of the job is left, even from admins. A user who has known the seed all along may see them: it was chosen,
requested for practice or returned by the text port, and none of these runs counts. A person at a table sees their own
cards and finished hands. `public_hands` says which hands of a running match are public.

Faulty lines of a bot are for its owner and the user who requested the run. Standard error of the server's processes is
for the latter alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from dealer.server.accounts import Scope, Token
from dealer.server.db import records
from dealer.server.db.records import Bot, Fault, Job, Run, RunState
from dealer.server.db.store import Store
from dealer.server.db.users import User
from engine import DealKey, Seed

DELAY_HANDS: Final = 10
"""Number of hands between a finished hand and its publication while the match runs."""


@dataclass(frozen=True, slots=True)
class Person:
    """A visitor.

    Attributes:
        user: account for which the visitor acts; None without a login.
        is_admin: whether the login was by a token with the scope ADMIN.
    """

    user: User | None = None
    is_admin: bool = False

    @classmethod
    def of(cls, token: Token) -> Person:
        """Visitor who has logged in with a token."""
        return cls(token.account, Scope.ADMIN in token.scopes)


def sees_cards(store: Store, job: Job, person: Person) -> bool:
    """Return whether a visitor may see the seed and all cards of a job and its runs."""
    # A closed job can have a running run: of a table that is being closed, or while a cancelled run is stopped.
    is_running = job.is_open or store.read("SELECT 1 FROM runs WHERE job = ? AND state = 'running'", job.id)
    if not is_running:
        return True
    if job.user != person.user or job.is_seed_drawn:
        return False
    return not store.read("SELECT 1 FROM runs JOIN tables ON tables.run = runs.id WHERE job = ?", job.id)


def public_hands(seed: Seed | None, counts: Sequence[int]) -> int:
    """Count the hands of a running match, from the first, whose cards are public.

    Args:
        seed: of the run.
        counts: numbers of finished hands of all matches that play the same deals.
    """
    # Cards of a key reveal no others, and a deal that all seatings have played is not played again.
    return max(0, min(counts) - DELAY_HANDS) if isinstance(seed, DealKey) else 0


def can_manage(job: Job, person: Person) -> bool:
    """Return whether a visitor may cancel a job and see its details: its user, or an admin."""
    return person.is_admin or (person.user is not None and person.user == job.user)


@dataclass(frozen=True, slots=True)
class Access:
    """Permissions of a visitor for a run.

    Attributes:
        sees_cards: whether all cards, hands and logs are visible.
        is_managed: whether the visitor can manage its job, see `can_manage`.
        own: names of the players that are the visitor's bots; None outside of a server, for all players.
    """

    sees_cards: bool = True
    is_managed: bool = True
    own: frozenset[str] | None = None

    @property
    def can_read_output(self) -> bool:
        # Standard error may reveal cards.
        return self.is_managed and self.sees_cards

    def is_own(self, player: str) -> bool:
        """Return whether a player is the visitor's own, so that leaks may be shown."""
        return self.own is None or player in self.own

    def can_read_faults(self, player: str) -> bool:
        return self.is_managed or self.is_own(player)

    def reason(self, run: Run) -> str:
        """Reason of a run's end, with output of bots only if the visitor may read it."""
        return run.reason_for(shows_output=self.can_read_output)


def access_to(store: Store, run: Run, job: Job, person: Person) -> Access:
    """Permissions of a visitor for a run of a job."""
    own = {seat.name for seat in run.seats if _is_owned(records.bot(store, seat.version), person)}
    return Access(sees_cards(store, job, person), can_manage(job, person), frozenset(own))


def _is_owned(bot: Bot | None, person: Person) -> bool:
    return bot is not None and bot.owner is not None and bot.owner == person.user


def reason(store: Store, run: Run, person: Person) -> str:
    """Reason of a run's end as far as a visitor may read it, see `Access.reason`."""
    # Only reasons of failures quote output; the others need no query.
    job = records.job(store, run.job) if run.state is RunState.FAILED else None
    return run.reason if job is None else Access(sees_cards(store, job, person), can_manage(job, person)).reason(run)


def faults(
    store: Store, person: Person, *, run: int | None = None, before: int | None = None, limit: int = 50
) -> tuple[Fault, ...]:
    """Read the faults that a visitor may see, the latest first.

    These are the faults of the visitor's bots. An admin, or the user of the run's job, sees those of all players, with
    the lines of other users' bots left out while cards are secret.
    """
    if person.user is None:
        return ()
    job = None if run is None else records.job_of_run(store, run)
    if person.is_admin or (job is not None and can_manage(job, person)):
        return _without_secrets(store, person, records.faults(store, run=run, before=before, limit=limit))
    return records.faults(store, run=run, owner=person.user.id, before=before, limit=limit)


def _without_secrets(store: Store, person: Person, faults: Sequence[Fault]) -> tuple[Fault, ...]:
    are_cards_visible = {}
    for number in {fault.run for fault in faults}:
        job = records.job_of_run(store, number)
        are_cards_visible[number] = job is not None and sees_cards(store, job, person)
    visible_faults = []
    for fault in faults:
        is_own = _is_owned(records.bot(store, fault.version), person)
        is_line_visible = are_cards_visible[fault.run] or is_own
        visible_faults.append(fault if is_line_visible else replace(fault, line=b""))
    return tuple(visible_faults)
