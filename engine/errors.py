"""Everything the engine can refuse.

    EngineError
    ├── CardError       a text that is not a card
    ├── GameError       a game that cannot be played as defined
    └── IllegalAction   an action the rules refuse; `rule` names the rule

Each message is one sentence that a person can act on.
"""

from __future__ import annotations

import enum

__all__ = ["CardError", "EngineError", "GameError", "IllegalAction", "Rule"]


class EngineError(ValueError):
    """The root of this package's errors."""


class CardError(EngineError):
    """A text is not a card, or not a run of cards."""


class GameError(EngineError):
    """A game definition contradicts itself or exceeds what the protocol can carry."""


class Rule(enum.Enum):
    """The rule that refuses an action; the value is the sentence shown to people."""

    HAND_OVER = "the hand is over, nobody may act"
    NOTHING_TO_FOLD_TO = "there is no bet to fold to: check instead"
    RAISE_CAP = "the round has had all the raises the game allows"
    ACTION_LIMIT = "the round has too many actions for the protocol to carry another raise"
    NOBODY_TO_RAISE = "no other player is able to answer a raise"
    STACK_TOO_SMALL = "the stack does not reach beyond the present bet: call puts it all in"
    BELOW_MINIMUM = "the raise is below the smallest legal size"
    ABOVE_MAXIMUM = "the raise is above the player's stack"


class IllegalAction(EngineError):
    """The rules refuse an action.

    Attributes:
        rule: which rule it was.
        detail: the sizes concerned, in words; empty where the rule says everything.
    """

    def __init__(self, rule: Rule, detail: str = "") -> None:
        self.rule = rule
        self.detail = detail
        super().__init__(rule, detail)

    def __str__(self) -> str:
        return self.rule.value + (f" ({self.detail})" if self.detail else "")
