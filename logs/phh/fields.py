"""The fields of a PHH table, read as what they should be, and the game they define."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from engine import BettingType, Game, GameError
from engine.errors import quoted
from engine.game import DEFAULT_STACK
from engine.holdem import NO_CAP, holdem_game
from logs.errors import HandError
from logs.money import Scale

__all__ = ["Fields", "game_of"]

_VARIANTS: Final = {"FT": BettingType.LIMIT, "NT": BettingType.NO_LIMIT}
_MOST_DIGITS: Final = 15


class Fields:
    """The fields of a table, read as what they should be."""

    def __init__(self, table: dict[str, Any], scale: Scale) -> None:
        self.table = table
        self._scale = scale

    def text(self, key: str) -> str | None:
        """A field that may be missing."""
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            raise HandError(f"{key} is not a text")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        values = self.table.get(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise HandError(f"{key} is missing" if values is None else f"{key} is not a list of texts")
        return values

    def amounts(self, key: str) -> list[int]:
        """A list of amounts of money, in chips."""
        values = self.table.get(key)
        if not isinstance(values, list):
            raise HandError(f"{key} is missing" if values is None else f"{key} is not a list")
        return [self._chips(key, value) for value in values]

    def amount(self, key: str) -> int:
        """An amount of money, in chips."""
        if key not in self.table:
            raise HandError(f"{key} is missing")
        return self._chips(key, self.table[key])

    def amount_of(self, text: str) -> int:
        """The amount in an action, in chips."""
        whole, _, fraction = text.partition(".")
        if not (text.isascii() and (whole + fraction).isdigit() and len(text) <= _MOST_DIGITS):
            raise HandError(f"{quoted(text, 20)} is not an amount")
        return self._chips("it", Decimal(text))

    def _chips(self, key: str, value: object) -> int:
        if isinstance(value, Decimal) and value == Decimal("Infinity"):
            return DEFAULT_STACK
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise HandError(f"{key} holds {quoted(str(value), 20)}, which is not an amount")
        amount = Decimal(value)
        if not amount.is_finite() or (amount and not -_MOST_DIGITS < amount.adjusted() < _MOST_DIGITS):
            raise HandError(f"{key} holds {str(value)[:20]}, which is not an amount of chips")
        chips = self._scale.chips(amount)
        if chips is None:
            problem = f"{key} holds {value}, which is not a whole number of chips of {self._scale.chip_value:f}"
            raise HandError(f"{problem}: give a smaller chip value")
        if chips < 0:
            raise HandError(f"{key} holds {value}, which is below 0")
        return chips

    def money(self, key: str) -> list[float] | None:
        """A list of amounts that may be missing, in chips and parts of chips; None too where one is unknown."""
        values = self.table.get(key)
        if not isinstance(values, list):
            return None
        amounts = []
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
                return None
            amounts.append(float(Decimal(value) / self._scale.chip_value))
        return amounts


def game_of(fields: Fields) -> Game:
    """The game a table defines."""
    variant = fields.text("variant")
    if variant not in _VARIANTS:
        what = "there is no variant" if variant is None else f"the variant is {variant!r}"
        raise HandError(f"{what}; FT and NT are read, limit and no-limit hold'em")
    stacks = fields.amounts("starting_stacks")
    blinds = fields.amounts("blinds_or_straddles")
    antes = fields.amounts("antes")
    if not 2 <= len(stacks) <= 10 or len(blinds) != len(stacks) or len(antes) != len(stacks):
        raise HandError(
            f"{len(stacks)} stacks, {len(blinds)} blinds and {len(antes)} antes do not make a table of 2 to 10 players"
        )
    if any(antes):
        raise HandError("there are antes, which no game of the ACPC has")
    if len(stacks) == 2:
        # Heads-up the specification lists the blinds the other way round than they are posted.
        blinds.reverse()
    raise_sizes: tuple[int, ...] = ()
    if variant == "FT":
        if fields.table.get("_has_stacks") is False:
            stacks = [DEFAULT_STACK] * len(stacks)
        small, big = fields.amount("small_bet"), fields.amount("big_bet")
        raise_sizes = small, small, big, big
    max_raises = fields.table.get("_max_raises")
    if not isinstance(max_raises, list) or not all(type(cap) is int for cap in max_raises):
        max_raises = [NO_CAP] * 4
    try:
        return holdem_game(_VARIANTS[variant], tuple(stacks), tuple(blinds), raise_sizes, tuple(max_raises))
    except GameError as error:
        raise HandError(f"this game cannot be played: {error}") from None
