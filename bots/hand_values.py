"""AIVAT of hands by the values of a known player's strategy, as a task of a worker process.

The dealer names the players and passes the hands. Only the process that values them loads the bot `cfr`.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from bots.errors import PolicyError
from engine import Game
from engine.holdem import is_holdem
from logs.record import HandRecord

if TYPE_CHECKING:
    from bots.cfr.value_terms import ValuedHands

_KNOWN_BOT: Final = "cfr"
_NO_COST: Final = frozenset({"seed", "explain"})
"""Options of the known bot that change neither its policy nor the time to value a hand."""
_NO_VALUES: Final = "there are no values of a strategy for this game; 'arena train values' computes them"
_NICENESS: Final = 5
"""A low priority, so that dealer and bots come first. Lower ones get nearly nothing on a busy machine."""


class KnownPlayer(NamedTuple):
    """Player whose policy is known.

    Attributes:
        name: name in the hands.
        text: the bot with its options.
        directory: folder of its files; None for the current one.
    """

    name: str
    text: str
    directory: str | None

    @property
    def is_plain(self) -> bool:
        """The time to value its hands is known."""
        options = self.text.partition("?")[2]
        return all(option.partition("=")[0].strip() in _NO_COST for option in options.split(",") if option)


class ValuationTask(NamedTuple):
    """Everything about a contest that the values of its hands depend on.

    Attributes:
        known: at least one player.
        max_correction: see `bots.cfr.value_terms.ValueTerms`.
    """

    game: Game
    known: tuple[KnownPlayer, ...]
    max_correction: float


def known_player(name: str, text: str, directory: str | None) -> KnownPlayer | None:
    """Return a player if it is a built-in bot whose hands can be valued, else None.

    Args:
        name: name in the hands.
        text: a built-in bot that does not learn, with its options.
        directory: folder of its files; None for the current one.
    """
    return KnownPlayer(name, text, directory) if text.partition("?")[0] == _KNOWN_BOT else None


def value_aside(task: ValuationTask, records: Sequence[HandRecord]) -> array[float]:
    """Value hands at low priority, see `value_hands`."""
    _lower_priority()
    return value_hands(task, records)


@cache
def _lower_priority() -> None:
    # Windows has no such function.
    if hasattr(os, "nice"):
        os.nice(_NICENESS)


def value_hands(task: ValuationTask, records: Sequence[HandRecord]) -> array[float]:
    """Return the estimated chips of hands, by seat, hand after hand.

    Raises:
        BotsError: a policy is unavailable, or is not that of the hands.
    """
    valued = _valued_hands(task)
    group = valued.names.index(tuple([player.name for player in task.known]))
    values = array("d")
    for record in records:
        gains = valued.columns(record)[:, group].tolist()
        chips = [value + gain for value, gain in zip(record.values, gains, strict=True)]
        values.extend(value for _, value in sorted(zip(record.seats, chips, strict=True)))
    return values


@lru_cache(maxsize=1)
def _valued_hands(task: ValuationTask) -> ValuedHands:
    # Loads compiled code.
    from bots.cfr.value_terms import ValuedHands, value_terms
    from bots.sdk.registry import make_bot

    policies = {}
    for player in task.known:
        bot = make_bot(player.text, directory=player.directory)
        bot.prepare(task.game)
        policies[player.name] = bot
    terms = value_terms(task.game, policies, max_correction=task.max_correction)
    if terms is None:
        raise PolicyError(_NO_VALUES)
    return ValuedHands(terms)


def values_refusal(game: Game, known: Sequence[KnownPlayer]) -> str | None:
    """Return the reason that hands of a game have no values, or None if they have, without loading the values."""
    from bots.cfr.bot import CfrBot
    from bots.sdk.registry import make_bot

    if not is_holdem(game):
        return None
    bots = [make_bot(player.text, directory=player.directory) for player in known]
    for bot in [*bots, CfrBot()]:
        if isinstance(bot, CfrBot) and bot.values_path(game) is not None:
            return None
    return _NO_VALUES
