"""Errors of the engine.

    PortableError           base class of the errors of all packages
    └── EngineError         base class of this package's errors (also a ValueError)
        ├── CardError       a text is not a card
        ├── GameError       a game cannot be played as defined
        ├── IllegalAction   the rules reject an action
        └── TableError      a table shipped with the package is damaged

Each message is a clause that can be shown to a user.
"""

from __future__ import annotations

import enum
from functools import partial

from engine.text import clean


def quoted(value: object, max_chars: int = 120) -> str:
    """Return the repr of a value that came from outside, for use in a message; dots replace the end of a long one."""
    if isinstance(value, bytes):
        if len(value) > max_chars:
            value = value[:max_chars] + b"..."
        return repr(value)
    if isinstance(value, str):
        if len(value) > max_chars:
            value = value[:max_chars] + "..."
        return repr(clean(value))
    text = repr(value)
    if len(text) > max_chars:
        return f"{text[:max_chars]}..."
    return text


class PortableError(Exception):
    """Error that can be pickled and compared by the arguments of its constructor.

    An ordinary exception is pickled by its message, which constructors with other arguments cannot take.
    """

    _arguments: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, *args: object, **kwargs: object) -> PortableError:
        self = super().__new__(cls, *args)
        self._arguments = (args, kwargs)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        args, kwargs = self._arguments
        return partial(type(self), *args, **kwargs), (), vars(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._arguments == getattr(other, "_arguments", None)

    def __hash__(self) -> int:
        return hash((type(self), str(self)))


class EngineError(PortableError, ValueError):
    """Base class of this package's errors."""


class CardError(EngineError):
    """Text that is not a card, or cards that cannot be in one hand."""


class GameError(EngineError):
    """Game definition that contradicts itself or exceeds a limit of the protocol."""


class TableError(EngineError):
    """Table of the package that is damaged or belongs to another version."""


class Rule(enum.Enum):
    """Rule that rejects an action. The value states it as a clause."""

    HAND_OVER = "no player may act because the hand is over"
    NOTHING_TO_FOLD_TO = "there is no bet to fold to"
    RAISE_CAP = "the round has had all the raises the game allows"
    ACTION_LIMIT = "the round has too many actions for the protocol to carry another raise"
    NOBODY_TO_RAISE = "no other player is able to answer a raise"
    STACK_TOO_SMALL = "the stack does not reach beyond the current bet"
    BELOW_MINIMUM = "the raise is below the smallest legal size"
    ABOVE_MAXIMUM = "the raise is above the player's stack"


_ADVICE = {
    Rule.NOTHING_TO_FOLD_TO: "check instead",
    Rule.STACK_TOO_SMALL: "a call puts it all in",
}


class IllegalAction(EngineError):
    """Action that the rules reject.

    Attributes:
        rule: the rule that rejects it.
        detail: the sizes concerned; may be empty.
    """

    def __init__(self, rule: Rule, detail: str = "") -> None:
        self.rule = rule
        self.detail = detail
        super().__init__(rule, detail)

    @property
    def fact(self) -> str:
        """The message without its advice, for an action in a log."""
        if self.detail:
            return f"{self.rule.value} ({self.detail})"
        return self.rule.value

    def __str__(self) -> str:
        advice = _ADVICE.get(self.rule)
        if advice is not None:
            return f"{self.fact}; {advice}"
        return self.fact
