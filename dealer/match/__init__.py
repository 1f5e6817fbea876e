"""Play one match: rules, clocks, faults and events, without sockets, files or processes.

    match = Match(MatchSetup(game, "demo", hands=100, seed=1, names=("Ann", "Bob")), [watcher])
    match.connect(Seat(0), write)          # a player has connected; write(data, is_asked) sends to it
    match.receive(Seat(0), data)           # bytes from the player
    match.check_time(time.monotonic_ns())  # call when match.deadline_ns has passed

Watchers receive every event of the match. `dealer.match.in_process` plays bot objects of this process instead.
"""

from dealer.errors import Cause
from dealer.match.causes import Limit, MatchCause, PlayerCause
from dealer.match.events import (
    ActionPlayed,
    Event,
    FaultSeen,
    HandClosed,
    HandFinished,
    HandStarted,
    LineReceived,
    LineSent,
    MatchEnded,
    MatchStarted,
    Settled,
    StrayConnection,
    VersionDiffers,
    Watcher,
)
from dealer.match.faults import Fault, FaultKind, FaultPolicy, Remedy, ReplyProblem, StrayProblem
from dealer.match.match import Match
from dealer.match.seats import Write
from dealer.match.setup import (
    DEFAULT_LIMITS,
    NO_EARLIER_HANDS,
    EarlierHands,
    LostPlayer,
    MatchSetup,
    Phase,
    Question,
    TimeLimits,
)

__all__ = [
    "DEFAULT_LIMITS",
    "NO_EARLIER_HANDS",
    "ActionPlayed",
    "Cause",
    "EarlierHands",
    "Event",
    "Fault",
    "FaultKind",
    "FaultPolicy",
    "FaultSeen",
    "HandClosed",
    "HandFinished",
    "HandStarted",
    "Limit",
    "LineReceived",
    "LineSent",
    "LostPlayer",
    "Match",
    "MatchCause",
    "MatchEnded",
    "MatchSetup",
    "MatchStarted",
    "Phase",
    "PlayerCause",
    "Question",
    "Remedy",
    "ReplyProblem",
    "Settled",
    "StrayConnection",
    "StrayProblem",
    "TimeLimits",
    "VersionDiffers",
    "Watcher",
    "Write",
]
