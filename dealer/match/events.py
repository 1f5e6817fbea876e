"""Events of a match, and their receivers.

Events are frozen, comparable and picklable. Their times are microseconds of Unix time. A match sends each watcher the
events that it wants, in order. A watcher may raise `OSError`, for example when the disk is full, which ends the match.

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
    """A state was sent to a player; `line` is the whole line."""

    __slots__ = ()


class LineReceived(_Line):
    """A line of the player to act was read; `line` is the whole line."""

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
        sent: the illegal action, if the reply contains one.
    """

    fault: Fault
    problem: ReplyProblem | None = None
    sent: Action | None = None


class ActionPlayed(NamedTuple):
    """An action is about to be applied.

    Attributes:
        betting: the state before the action.
        sent_us: time of the question.
        received_us: time of the reply.
    """

    # A named tuple: one is built for every action, and a frozen dataclass takes several times as long.

    hand_number: int
    seat: Seat
    betting: BettingState
    action: Action
    sent_us: int
    received_us: int


@dataclass(frozen=True, slots=True)
class HandPlayed:
    """The last action of a hand was applied. Published before `LogLine`, for transaction logs.

    Attributes:
        betting: the final state.
        times: times of its actions.
    """

    hand_number: int
    betting: BettingState
    times: tuple[Times, ...]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A hand is over. Published before `HandFinished`, for logs.

    Attributes:
        line: line of the hand in the ACPC log, with its end.
    """

    # Apart from HandFinished because a record takes much longer to build than the line.

    hand_number: int
    line: bytes
    comments: tuple[PlayerComment, ...]


@dataclass(frozen=True, slots=True)
class HandFinished:
    """A hand is over.

    Published before the final states are sent: as with the reference dealer, a hand that a player has seen to its end
    is in the log.
    """

    record: HandRecord


@dataclass(frozen=True, slots=True)
class BotWrote:
    """The code of a bot in this process wrote to a standard stream, or failed.

    Attributes:
        stream: ``stdout`` or ``stderr``; empty for the traceback of a failure.
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
    """The match waits for a player, so watchers may print the lines that they have collected."""


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over.

    Attributes:
        cause: cause of an early end; None after the last hand.
        hands: number of finished hands.
        totals: net chips by seat over the finished hands.
        asked_us: time of the last question.
        waited_us: time since the open question when a cause ended the match.
    """

    cause: Cause | None
    hands: int
    totals: tuple[float, ...]
    asked_us: int
    waited_us: int = 0


@dataclass(frozen=True, slots=True)
class StrayConnection:
    """A client that connected to the port of a seat was rejected.

    Attributes:
        host: address of the client.
        line: first bytes that it sent; empty if it sent none.
    """

    seat: Seat
    host: str
    problem: StrayProblem
    line: bytes


@dataclass(frozen=True, slots=True)
class SeatOpened:
    """A seat awaits its player.

    Attributes:
        port: the port to connect to; 0 for a linked player.
        open_seat: `dealer.table.links.OpenSeat` of a linked player, otherwise None.
    """

    seat: Seat
    port: int
    # Any: dealer.table imports this package, not the reverse.
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

_Notice: TypeAlias = Callable[[Event], None]


class Watcher:
    """Receiver of events; override `notice`.

    Attributes:
        wants: types of events to receive.
    """

    # Without the events of single actions and lines. Each of these costs time in every action of a match, so a match
    # builds them only for watchers that name them.
    wants: frozenset[type] = frozenset(
        {SeatOpened, MatchStarted, HandStarted, FaultSeen, StrayConnection, HandFinished, HandClosed, MatchEnded}
    )

    def notice(self, event: Event) -> None:
        """Receive an event.

        Raises:
            OSError: the event cannot be written; the match ends.
        """


class Audience:
    """Watchers of one match, notified in their order."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        # Bound methods by type of event, so that publishing is one look-up and the calls.
        self._notices: dict[type, tuple[_Notice, ...]] = {}
        for kind in Event.__args__:
            self._notices[kind] = tuple([watcher.notice for watcher in watchers if kind in watcher.wants])

    def wants(self, kind: type) -> bool:
        """Return whether a watcher wants this type of event. Do not build it otherwise."""
        return bool(self._notices[kind])

    def publish(self, event: Event) -> None:
        """Send an event to the watchers that want it.

        Raises:
            OSError: a watcher cannot write it; later watchers have not been notified.
        """
        for notice in self._notices[type(event)]:
            notice(event)

    def publish_failure(self, event: MatchEnded) -> None:
        """Send the end of a failed match to all watchers, even if some of them cannot write it."""
        for notice in self._notices[MatchEnded]:
            with contextlib.suppress(OSError):
                notice(event)
