"""Events of a match, and their receivers.

Events are frozen, equal by content and picklable. A match sends its watchers each event they want, in order, through
one method. A watcher raises only `OSError` (a full disk), which ends that match: the watchers after it are not notified
of an event that cannot be written. Times are microseconds of Unix time.

    class Printer(Watcher):
        def notice(self, event: Event) -> None:
            if isinstance(event, HandFinished):
                print(event.record.hand_number, event.record.values)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from dealer.errors import Cause
from dealer.match.faults import Fault, ReplyProblem, StrayProblem
from dealer.match.setup import MatchSetup
from engine import Action, BettingState, Deal, Seat
from logs import HandRecord, PlayerComment, Times


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """All players have connected and named their versions."""

    setup: MatchSetup
    at_us: int


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand was dealt.

    Attributes:
        seats: by position, the seat that plays it.
        deal: all cards of the hand, hole cards included.
    """

    hand_number: int
    seats: tuple[Seat, ...]
    deal: Deal


@dataclass(frozen=True, slots=True)
class _Line:
    seat: Seat
    at_us: int
    line: bytes


class LineSent(_Line):
    """A state was sent to a player."""

    __slots__ = ()


class LineReceived(_Line):
    """A line of the player to act was read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class VersionDiffers:
    """A player speaks another version of the protocol; the match continues."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class FaultSeen:
    """A fault of a player and its remedy.

    Attributes:
        problem: fault of a reply; None for other faults.
        sent: the action that was refused, where the reply names one.
    """

    fault: Fault
    problem: ReplyProblem | None = None
    sent: Action | None = None


class ActionPlayed(NamedTuple):
    """An action is about to be applied. A tuple, because one is made for every action.

    Attributes:
        betting: the state before the action.
    """

    hand_number: int
    seat: Seat
    betting: BettingState
    action: Action
    sent_us: int
    received_us: int


@dataclass(frozen=True, slots=True)
class HandPlayed:
    """The last action of a hand was applied. For transaction logs; sent before `LogLine`.

    Attributes:
        times: of each action of `betting`.
    """

    hand_number: int
    betting: BettingState
    times: tuple[Times, ...]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A hand is over. For logs; sent before `HandFinished`, whose record takes longer to build.

    Attributes:
        line: its line of the ACPC log, the end included.
    """

    hand_number: int
    line: bytes
    comments: tuple[PlayerComment, ...]


@dataclass(frozen=True, slots=True)
class HandFinished:
    """A hand is over; its final states have not been sent yet."""

    record: HandRecord


@dataclass(frozen=True, slots=True)
class BotWrote:
    """The code of a bot in this process wrote to its standard streams, or failed.

    Attributes:
        stream: ``stdout`` or ``stderr``; empty for the traceback of its failure.
    """

    seat: Seat
    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class HandClosed:
    """The final states of a hand were sent.

    Attributes:
        used_us: by seat, the time used in the match.
    """

    hand_number: int
    used_us: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """The match waits for a player: the moment to print the collected lines."""


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over.

    Attributes:
        cause: why it ended early; None after the last hand.
        totals: net chips by seat over them.
        waited_us: how long the player to act had been waited for when a cause ended the match.
    """

    cause: Cause | None
    hands: int
    totals: tuple[float, ...]
    asked_us: int
    waited_us: int = 0


@dataclass(frozen=True, slots=True)
class StrayConnection:
    """A client connected to the port of a seat and was rejected: it is not recognised as the player.

    Attributes:
        line: how its words began; empty if there were none.
    """

    seat: Seat
    host: str
    problem: StrayProblem
    line: bytes


@dataclass(frozen=True, slots=True)
class SeatOpened:
    """A seat awaits its player.

    Attributes:
        port: where; 0 for a player that is linked.
        open_seat: the `dealer.table.links.OpenSeat` of such a player; None for others.
    """

    seat: Seat
    port: int
    open_seat: Any = None


Event: TypeAlias = (
    MatchStarted
    | SeatOpened
    | VersionDiffers
    | HandStarted
    | LineSent
    | LineReceived
    | FaultSeen
    | StrayConnection
    | ActionPlayed
    | BotWrote
    | LogLine
    | HandPlayed
    | HandFinished
    | HandClosed
    | Settled
    | MatchEnded
)

Notice: TypeAlias = Callable[[Event], None]


class Watcher:
    """A receiver of events; override `notice`.

    Attributes:
        wants: the kinds of events it gets. Those about single actions and lines cost time in every action, so
            they come only to watchers that name them.
    """

    wants: frozenset[type] = frozenset(
        {SeatOpened, MatchStarted, HandStarted, FaultSeen, StrayConnection, HandFinished, HandClosed, MatchEnded}
    )

    def notice(self, event: Event) -> None:
        """Receive an event.

        Raises:
            OSError: the watcher cannot write it, so the match cannot continue.
        """


class Audience:
    """The watchers of one match, notified in the order given."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._notices: dict[type, tuple[Notice, ...]] = {
            kind: tuple(watcher.notice for watcher in watchers if kind in watcher.wants) for kind in Event.__args__
        }

    def wants(self, kind: type) -> bool:
        """Return whether a watcher wants this kind of event; if not, it need not be built."""
        return bool(self._notices[kind])

    def publish(self, event: Event) -> None:
        """Send an event to the watchers that want it.

        Raises:
            OSError: one of them cannot keep it; those after it were not notified.
        """
        for notice in self._notices[type(event)]:
            notice(event)

    def publish_failure(self, event: MatchEnded) -> None:
        """Report that the match has failed, to all watchers even if one cannot write it."""
        for notice in self._notices[MatchEnded]:
            with contextlib.suppress(OSError):
                notice(event)
