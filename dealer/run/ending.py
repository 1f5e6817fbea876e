"""How a contest ended, and whom it was waiting for."""

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
    """A match waits for a player.

    Attributes:
        hand_number: the hand in which it is to act; None: it is to connect.
    """

    waited_s: float
    player: str
    hand_number: int | None

    def __str__(self) -> str:
        what = "to connect" if self.hand_number is None else f"(hand {self.hand_number})"
        return f"waiting for {self.player} for {self.waited_s:.0f} s {what}"


@dataclass(frozen=True, slots=True)
class AwaitedPlayer:
    """A player that has not connected yet.

    Attributes:
        is_remote: whether it is started outside the dealer.
    """

    name: str
    host: str
    port: int
    is_remote: bool

    @property
    def address(self) -> str:
        """Where it is awaited, as HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Outcome(enum.StrEnum):
    """How a contest ended, in a word."""

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
        """Whether nothing is left to play."""
        return self in (Outcome.FINISHED, Outcome.STOPPED)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a contest ended.

    Attributes:
        reason: a sentence for everybody; empty where it has failed.
        failure: why it has failed; None for every other outcome.
        error: what kept it from starting: a bot, a socket or a folder that is unavailable.
        is_dealer_lost: whether a dealer process has ended; resumed, the contest goes on.
    """

    outcome: Outcome
    reason: str = ""
    failure: Failure | None = None
    error: DealerError | None = None
    is_dealer_lost: bool = False

    @classmethod
    def failed(cls, cause: Cause, error: DealerError | None = None, *, is_dealer_lost: bool = False) -> Ending:
        """The ending by a cause that is about no match."""
        return cls(Outcome.FAILED, failure=Failure(cause), error=error, is_dealer_lost=is_dealer_lost)

    @property
    def sentence(self) -> str:
        """Why it ended, for its owner: what players wrote is quoted."""
        return self.reason if self.failure is None else failure_sentence(self.failure, shows_output=True)


INTERRUPTED = Ending(Outcome.INTERRUPTED, "it was interrupted.")


def stop_reason(rule: StopRule, verdict: Verdict | None, player: str, opponent: str) -> str:
    """Why a stop rule has ended a contest, as a sentence.

    Args:
        verdict: of ``better:``.
    """
    match rule:
        case FixedDeals():
            return f"it has completed {count_of(rule.deals, 'deal')}."
        case IntervalWidth():
            return f"the 95 % interval is within ± {rule.half_width_mbb:.12g} mbb/g."
        case Better():
            if verdict is Verdict.BETTER:
                decision, bound, rate = "better: {} wins more than", rule.low_mbb, rule.alpha
            else:
                decision, bound, rate = "not better: {} wins less than", rule.high_mbb, rule.beta
            return f"{decision.format(player)} {bound:.12g} mbb/g from {opponent} (error rate {100 * rate:g} %)."
