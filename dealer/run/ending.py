"""Endings of contests, and waits for players."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from dealer.errors import Cause, DealerError
from dealer.match.causes import Failure
from dealer.match.ending_sentences import failure_sentence
from engine.text import count_of
from logs.estimation import Better, FixedDeals, IntervalWidth, StopRule, Verdict


@dataclass(frozen=True, slots=True, order=True)
class Wait:
    """Wait of a match for a player.

    Attributes:
        hand_number: hand in which the player has to act; None if it has to connect.
    """

    waited_s: float
    player: str
    hand_number: int | None

    def __str__(self) -> str:
        purpose = "to connect" if self.hand_number is None else f"(hand {self.hand_number})"
        return f"waiting for {self.player} for {self.waited_s:.0f} s {purpose}"


@dataclass(frozen=True, slots=True)
class AwaitedPlayer:
    """Player that is not connected.

    Attributes:
        host: address of its port.
        port: port that the dealer listens on for it.
        is_remote: whether it is started outside the dealer.
    """

    name: str
    host: str
    port: int
    is_remote: bool

    @property
    def address(self) -> str:
        """Address to connect to, as HOST:PORT."""
        # IPv6 addresses have colons of their own.
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Outcome(enum.StrEnum):
    """Kind of the ending of a contest."""

    FINISHED = "finished"
    """All deals were played."""
    STOPPED = "stopped"
    """The stop rule ended it."""
    FAILED = "failed"
    """A fault or an error ended it."""
    INTERRUPTED = "interrupted"
    """A person or a signal ended it."""

    @property
    def is_complete(self) -> bool:
        """There is nothing left to play."""
        return self in (Outcome.FINISHED, Outcome.STOPPED)


@dataclass(frozen=True, slots=True)
class Ending:
    """Ending of a contest.

    Attributes:
        reason: public sentence; empty if the contest failed.
        failure: cause of a failure; None for other outcomes.
        error: error that prevented the start, such as a bot, socket or folder that is unavailable.
        is_dealer_lost: a dealer process ended. The contest can be resumed.
    """

    outcome: Outcome
    reason: str = ""
    failure: Failure | None = None
    error: DealerError | None = None
    is_dealer_lost: bool = False

    @classmethod
    def failed(cls, cause: Cause, error: DealerError | None = None, *, is_dealer_lost: bool = False) -> Ending:
        """Create the ending for a cause outside the matches."""
        return cls(Outcome.FAILED, failure=Failure(cause), error=error, is_dealer_lost=is_dealer_lost)

    @property
    def sentence(self) -> str:
        """Sentence for the owner of the contest; it quotes the output of players."""
        if self.failure is None:
            return self.reason
        return failure_sentence(self.failure, shows_output=True)


INTERRUPTED = Ending(Outcome.INTERRUPTED, "it was interrupted.")


def stop_reason(rule: StopRule, verdict: Verdict | None, player: str, opponent: str) -> str:
    """Compose the sentence for a contest that a stop rule ended.

    Args:
        verdict: verdict of a ``better:`` rule.
    """
    match rule:
        case FixedDeals():
            return f"it has completed {count_of(rule.deals, 'deal')}."
        case IntervalWidth():
            return f"the guaranteed interval is within ± {rule.half_width_mbb:.12g} mbb/g."
        case Better():
            if verdict is Verdict.BETTER:
                claim = f"better: {player} wins more than {rule.low_mbb:.12g}"
                error_rate = rule.alpha
            else:
                claim = f"not better: {player} wins less than {rule.high_mbb:.12g}"
                error_rate = rule.beta
            return f"{claim} mbb/g from {opponent} (error rate {100 * error_rate:g} %)."


def policy_doubt(player: str, faults: int) -> str:
    """Compose the reason for which the hands of a player with faults may not follow its policy, without a full stop."""
    return f"{player} had {count_of(faults, 'fault')}, and the actions played for it do not follow its policy"
