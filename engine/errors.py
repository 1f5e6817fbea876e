"""The errors of the engine.

    PortableError           the root of every package's errors
    └── EngineError         the root of this package's (also a ValueError)
        ├── CardError       a text that is not a card
        ├── GameError       a game that cannot be played as defined
        ├── IllegalAction   an action the rules reject; `rule` names the rule
        └── TableError      a table that comes with the package is damaged

Each message is one sentence that a person can act on.
"""

from __future__ import annotations

import enum
from functools import partial

from engine.text import clean


def quoted(value: object, most: int = 120) -> str:
    """Text of others, for a sentence: texts in quotes; after `most` characters, dots."""
    if isinstance(value, bytes):
        return repr(value if len(value) <= most else value[:most] + b"...")
    if isinstance(value, str):
        return repr(clean(value if len(value) <= most else value[:most] + "..."))
    if len(repr(value)) <= most:
        return repr(value)
    return f"{repr(value)[:most]}..."


class PortableError(Exception):
    """An error that is the same in every process: equal, and pickled, by what it was made of."""

    def __new__(cls, *args: object, **kwargs: object) -> PortableError:
        """Remember the arguments of the constructor."""
        self = super().__new__(cls, *args)
        self._made_of = args, kwargs
        return self

    _made_of: tuple[tuple[object, ...], dict[str, object]]

    def __reduce__(self) -> tuple[object, ...]:
        args, kwargs = self._made_of
        return partial(type(self), *args, **kwargs), (), vars(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._made_of == getattr(other, "_made_of", None)

    def __hash__(self) -> int:
        return hash((type(self), str(self)))


class EngineError(PortableError, ValueError):
    """The root of this package's errors."""


class CardError(EngineError):
    """A text is not a card, or not a run of cards."""


class GameError(EngineError):
    """A game definition contradicts itself or exceeds what the protocol can carry."""


class TableError(EngineError):
    """A table of numbers that comes with the package is damaged, or belongs to another version."""


class Rule(enum.Enum):
    """The rule that refuses an action; the value is the sentence shown to people."""

    HAND_OVER = "the hand is over, no player may act"
    NOTHING_TO_FOLD_TO = "there is no bet to fold to: check instead"
    RAISE_CAP = "the round has had all the raises the game allows"
    ACTION_LIMIT = "the round has too many actions for the protocol to carry another raise"
    NOBODY_TO_RAISE = "no other player is able to answer a raise"
    STACK_TOO_SMALL = "the stack does not reach beyond the present bet: call puts it all in"
    BELOW_MINIMUM = "the raise is below the smallest legal size"
    ABOVE_MAXIMUM = "the raise is above the player's stack"


class IllegalAction(EngineError):
    """The rules refuse an action. `detail`: the sizes concerned, in words; empty where the rule says everything."""

    def __init__(self, rule: Rule, detail: str = "") -> None:
        self.rule = rule
        self.detail = detail
        super().__init__(rule, detail)

    @property
    def fact(self) -> str:
        """The sentence without its advice, for an action that was played long ago."""
        return self.rule.value.partition(":")[0] + (f" ({self.detail})" if self.detail else "")

    def __str__(self) -> str:
        return self.rule.value + (f" ({self.detail})" if self.detail else "")
