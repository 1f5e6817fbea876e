"""Everything the bots package can refuse.

    BotsError ├── SpecError      no such bot, or an option it does not have; `spec` is what was asked for ├──
    ConnectError   the dealer cannot be reached ├── DealerError    the dealer says something that is no state of the
    game, or nothing for too long └── IllegalReply   a bot answered with something the rules refuse; `rule`,
    `hand_number` and `state` say what and where

Each error is one sentence that its reader can act on. What a user's own code raises is none of these: it comes
through as it is, with a note that names the state it was looking at.
"""

from __future__ import annotations

from engine import Rule

__all__ = ["BotsError", "ConnectError", "DealerError", "IllegalReply", "SpecError"]


class BotsError(Exception):
    """The root of this package's errors."""


class SpecError(BotsError, ValueError):
    """A text like ``random?fold=0.1`` names no bot, or options that the bot does not take.

    Attributes:
        spec: the text.
    """

    def __init__(self, spec: str, problem: str) -> None:
        self.spec = spec
        super().__init__(f"{spec!r}: {problem}")


class ConnectError(BotsError):
    """The dealer cannot be reached."""


class DealerError(BotsError):
    """The dealer broke the protocol, or speaks another game than the one assumed."""


class IllegalReply(BotsError):
    """A bot's answer is no legal action.

    Attributes:
        rule: the rule that refuses it; None where it is no action at all, or one that cannot be written down.
        hand_number: the hand it was given in.
        state: the match state it was given to, as text.
    """

    def __init__(self, answer: str, problem: str, *, rule: Rule | None, hand_number: int, state: str) -> None:
        self.rule = rule
        self.hand_number = hand_number
        self.state = state
        by_rule = f" (rule {rule.name})" if rule is not None else ""
        super().__init__(f"the bot answered {answer} in hand {hand_number}: {problem}{by_rule}; the state was {state}")
