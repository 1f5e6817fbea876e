"""Money in a PokerStars history: amounts, the stakes of the header, and the stakes that importers accept."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

from engine import Game
from logs.formats.card_room_games import usual_blinds
from logs.formats.export_format import ExportOptions, ExportWarning
from logs.formats.money import Scale, amount_text

FORMAT_NAME: Final = "PokerStars hand history"

CURRENCY_SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£", None: ""}
"""Symbols by the code of the currency; play money has neither."""

_CENT: Final = Decimal("0.01")

# FPDB identifies a limit game by its big bet alone. It drops every hand of a game that is not in its list.
_FPDB_BIG_BETS_CENTS: Final = (
    *(4, 8, 10, 20, 40, 50, 100, 200, 400, 600, 800, 1000, 1600, 2000, 3000, 4000, 5000, 6000, 8000),
    *(10_000, 15_000, 20_000, 40_000, 50_000, 60_000, 80_000),
    *(100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000),
)


class Money:
    """Format of chips as money of a history.

    Attributes:
        scale: converts chips to cents.
        symbol: symbol of the currency; empty for play money.
        code: code of the currency; None for play money.
    """

    def __init__(self, options: ExportOptions) -> None:
        """Take the value of a chip and the currency.

        Raises:
            ValueError: PokerStars histories have no such currency, or a chip is not worth whole cents.
        """
        if options.currency not in CURRENCY_SYMBOLS:
            raise ValueError(f"the money is USD, EUR, GBP or none, not {options.currency!r}")
        self.scale = Scale(options.chip_value)
        if self.scale.unit != _CENT:
            raise ValueError(f"a chip is worth whole cents, not {options.chip_value}: trackers misread a third decimal")
        self.symbol = CURRENCY_SYMBOLS[options.currency]
        self.code = options.currency
        self._cents_per_chip = self.scale.units(1)

    def text(self, cents: int) -> str:
        """Format cents without decimals or with two, as ``$5`` or ``$0.50``."""
        whole, rest = divmod(cents, 100)
        if rest:
            return f"{self.symbol}{whole}.{rest:02}"
        return f"{self.symbol}{whole}"

    def chips(self, chips: int) -> str:
        if self._cents_per_chip == 100:
            return f"{self.symbol}{chips}"
        return self.text(chips * self._cents_per_chip)

    def stakes(self, game: Game) -> tuple[str, str]:
        """Format both blinds of a no-limit game, or both bets of a limit game."""
        small_chips, big_chips = _stakes_chips(game)
        small = self.scale.units(small_chips)
        big = self.scale.units(big_chips)
        if small % 100 or big % 100:
            # Genuine headers have the same number of decimals in both.
            return self._text_with_cents(small), self._text_with_cents(big)
        return self.text(small), self.text(big)

    def header_stakes(self, game: Game) -> str:
        """Format the stakes of the first line, as ``$10/$20 USD``."""
        stakes = "/".join(self.stakes(game))
        if self.code:
            stakes += f" {self.code}"
        return stakes

    def _text_with_cents(self, cents: int) -> str:
        return f"{self.symbol}{cents // 100}.{cents % 100:02}"


def _stakes_chips(game: Game) -> tuple[int, int]:
    if game.is_limit:
        return game.raise_sizes[0], game.raise_sizes[2]
    blinds = usual_blinds(game, FORMAT_NAME)
    return game.blinds[blinds.small], game.blinds[blinds.big]


def stakes_warning(game: Game, options: ExportOptions) -> ExportWarning | None:
    """Return a warning about stakes for which FPDB drops the hands.

    Raises:
        UnsupportedGameError: the format cannot express the game.
    """
    usual_blinds(game, FORMAT_NAME)
    if not game.is_limit:
        return None
    small_chips, bet_chips = _stakes_chips(game)
    value = Fraction(Decimal(str(options.chip_value)))
    if bet_chips * value * 100 in _FPDB_BIG_BETS_CENTS:
        return None
    small, big = Money(options).stakes(game)
    problem = f"FPDB does not recognise a limit table of {small}/{big} and drops its hands"
    nearest = _nearest_accepted_value(value, bet_chips)
    if nearest is None:
        return ExportWarning(f"{problem}, and no other stakes of this game would change that", None)
    return ExportWarning(problem, f"{amount_text(small_chips * nearest)}/{amount_text(bet_chips * nearest)}")


def _nearest_accepted_value(value: Fraction, bet_chips: int) -> Fraction | None:
    """Return the value of a chip, in whole cents, nearest by ratio to `value` among those that FPDB accepts."""
    accepted: list[Fraction] = []
    for bet_cents in _FPDB_BIG_BETS_CENTS:
        if bet_chips and bet_cents % bet_chips == 0:
            accepted.append(Fraction(bet_cents // bet_chips, 100))
    if not accepted:
        return None
    return min(accepted, key=lambda other: (max(other / value, value / other), other))
