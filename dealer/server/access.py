"""Who may see what of jobs, runs and tables: the one place that decides it, whatever the way in to the server.

Results are public. Secret is what reveals cards that are still to be played: the seed, the hands, what players
sent. From the seed of one run, and with some work from a few of its cards, those of the job's other runs can be
found. So neither is shown to any visitor before nothing of the job is left to play, not even an admin; except who has
known the seed all along: the user who chose it, asked for practice, or got it in the answer to a request on the text
port; none of these ever counts. Who sits at a table sees the own cards, and hands that are over. Finished hands of a
match that goes on are shown to everybody once their deals are not played again, if nothing follows from their cards
(`public_hands`).

What a bot sent or wrote is less public than that: its faulty lines are for its owner and for the user who had the run
played, what a process of the server wrote on its standard error for the latter alone.
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
"""So many hands later are the cards of a hand shown of a match that goes on."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks.

    Attributes:
        user: that has logged in; None for a visitor without a login.
        is_admin: whether the token that was shown is an admin's.
    """

    user: User | None = None
    is_admin: bool = False

    @classmethod
    def of(cls, token: Token) -> Person:
        """Who has shown a token."""
        return cls(token.user, Scope.ADMIN in token.scopes)


def sees_cards(store: Store, job: Job, person: Person) -> bool:
    """Whether a visitor may see the seed and all cards of a job and all of its runs."""
    # A table is closed as a job a moment before its run, and a cancelled job while its run is being stopped.
    is_going = job.is_open or store.read("SELECT 1 FROM runs WHERE job = ? AND state = 'running'", job.id)
    knows_seed = job.user == person.user and not job.is_seed_drawn
    at_table = "SELECT 1 FROM runs JOIN tables ON tables.run = runs.id WHERE job = ?"
    return not is_going or (knows_seed and not store.read(at_table, job.id))


def public_hands(seed: Seed | None, counts: Sequence[int]) -> int:
    """How many hands of a match that goes on, from the first, everybody may see with their cards.

    From the cards of a key nothing follows about others, and a deal that all seatings have played is not played again.

    Args:
        seed: of the run.
        counts: the finished hands of every match that plays the same deals, the match among them.
    """
    return max(0, min(counts) - DELAY_HANDS) if isinstance(seed, DealKey) else 0


def can_manage(job: Job, person: Person) -> bool:
    """Whether a visitor may cancel a job and look into it: its user's, or any to an admin."""
    return person.is_admin or (person.user is not None and person.user == job.user)


@dataclass(frozen=True, slots=True)
class Access:
    """What a visitor may see of a run.

    Attributes:
        sees_cards: whether no card, no hand and no log is kept back.
        is_managed: whether its job is the person's, see `can_manage`.
        own: the names of the players that are the user's bots; None on a machine of one's own, where all are.
    """

    sees_cards: bool = True
    is_managed: bool = True
    own: frozenset[str] | None = None

    @property
    def can_read_output(self) -> bool:
        """Whether what bots of the server wrote on their standard error may be read: it may reveal cards."""
        return self.is_managed and self.sees_cards

    def is_own(self, player: str) -> bool:
        """Whether a player is the user's bot, of which one may learn where it loses."""
        return self.own is None or player in self.own

    def can_read_faults(self, player: str) -> bool:
        """Whether the faults of a player may be read."""
        return self.is_managed or self.is_own(player)

    def reason(self, run: Run) -> str:
        """Why a run ended, as far as it may be read: for most without what its bots sent and wrote."""
        return run.reason_for(shows_output=self.can_read_output)


def access_to(store: Store, run: Run, job: Job, person: Person) -> Access:
    """What a visitor may see of a run of a job."""
    bots = [records.bot(store, seat.version) for seat in run.seats]
    own = frozenset(
        seat.name for seat, bot in zip(run.seats, bots, strict=True) if bot is not None and _is_whose(bot, person)
    )
    return Access(sees_cards(store, job, person), can_manage(job, person), own)


def _is_whose(bot: Bot, person: Person) -> bool:
    return bot.owner is not None and bot.owner == person.user


def reason(store: Store, run: Run, person: Person) -> str:
    """Why a run ended, as far as a visitor may read it; see `Access.reason`."""
    # Other reasons quote nothing, and cost no question.
    job = records.job(store, run.job) if run.state is RunState.FAILED else None
    return run.reason if job is None else Access(sees_cards(store, job, person), can_manage(job, person)).reason(run)


def faults(
    store: Store, person: Person, *, run: int | None = None, before: int | None = None, limit: int = 50
) -> tuple[Fault, ...]:
    """The faults that a visitor may read, the latest first: of the user's bots, and of all players where one manages.

    A line of another user's bot may hold its cards: it is empty as long as these are secret.

    Args:
        run: in this run only; if its job is the person's, of all of its players.
    """
    if person.user is None:
        return ()
    job = None if run is None else records.job_of_run(store, run)
    is_all = person.is_admin or (job is not None and can_manage(job, person))
    owner = person.user.id
    found = records.faults(store, run=run, owner=None if is_all else owner, before=before, limit=limit)
    return _without_secrets(store, person, found) if is_all else found


def _without_secrets(store: Store, person: Person, found: Sequence[Fault]) -> tuple[Fault, ...]:
    is_open = {}
    for number in {fault.run for fault in found}:
        job = records.job_of_run(store, number)
        is_open[number] = job is not None and sees_cards(store, job, person)
    shown = []
    for fault in found:
        bot = records.bot(store, fault.version)
        is_told = is_open[fault.run] or (bot is not None and _is_whose(bot, person))
        shown.append(fault if is_told else replace(fault, line=b""))
    return tuple(shown)
