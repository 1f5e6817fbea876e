"""The money of a PokerStars history: amounts, the stakes of the header, and the stakes that importers accept."""

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
"""By the code of the currency; play money has neither."""

_CENT: Final = Decimal("0.01")

_FPDB_BIG_BETS: Final = [
    *(Fraction(cents, 100) for cents in (4, 8, 10, 20, 40, 50)),
    *(Fraction(bet) for bet in (1, 2, 4, 6, 8, 10, 16, 20, 30, 40, 50, 60, 80, 100, 150, 200, 400, 500, 600, 800)),
    *(Fraction(bet) for bet in (1000, 2000, 4000, 10000, 20000, 40000)),
]
"""Big bets of limit games that FPDB accepts; it drops every hand of any other."""


class Money:
    """Chips as a hand history writes them, with a scale whose units are cents; the currency has no symbol and no code
    for play money.
    """

    def __init__(self, options: ExportOptions) -> None:
        """Take the value of a chip and the currency; raises `ValueError` with the reason where a PokerStars history
        cannot have them.
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
        """An amount without decimals or with two: ``$5``, ``$0.50``."""
        whole, rest = divmod(cents, 100)
        if rest:
            return f"{self.symbol}{whole}.{rest:02}"
        return f"{self.symbol}{whole}"

    def chips(self, chips: int) -> str:
        if self._cents_per_chip == 100:
            return f"{self.symbol}{chips}"
        return self.text(chips * self._cents_per_chip)

    def stakes(self, game: Game) -> tuple[str, str]:
        """The stakes in the header: both blinds of a no-limit game, both bets of a limit game."""
        both = [self.scale.units(chips) for chips in _stakes_chips(game)]
        if any(cents % 100 for cents in both):
            small, big = (f"{self.symbol}{cents // 100}.{cents % 100:02}" for cents in both)
        else:
            small, big = (self.text(cents) for cents in both)
        return small, big

    def header_stakes(self, game: Game) -> str:
        """The stakes as the first line has them: ``$10/$20 USD``."""
        return "/".join(self.stakes(game)) + (f" {self.code}" if self.code else "")


def _stakes_chips(game: Game) -> tuple[int, int]:
    if game.is_limit:
        return game.raise_sizes[0], game.raise_sizes[2]
    blinds = usual_blinds(game, FORMAT_NAME)
    return game.blinds[blinds.small], game.blinds[blinds.big]


def stakes_warning(game: Game, options: ExportOptions) -> ExportWarning | None:
    """Stakes for which importers would drop the hands; None where all is well.

    FPDB identifies limit games by their big bet, and only those of genuine tables.

    Raises:
        UnsupportedGameError: the format does not hold the game.
    """
    usual_blinds(game, FORMAT_NAME)
    if not game.is_limit:
        return None
    small_chips, bet_chips = _stakes_chips(game)
    value = Fraction(Decimal(str(options.chip_value)))
    if bet_chips * value in _FPDB_BIG_BETS:
        return None
    wise = [bet / bet_chips for bet in _FPDB_BIG_BETS if bet_chips and (bet / bet_chips * 100).denominator == 1]
    small, big = Money(options).stakes(game)
    problem = f"FPDB does not recognise a limit table of {small}/{big} and drops its hands"
    if not wise:
        return ExportWarning(f"{problem}, and no other stakes of this game would change that", None)
    nearest = min(wise, key=lambda other: (max(other / value, value / other), other))
    return ExportWarning(problem, f"{amount_text(small_chips * nearest)}/{amount_text(bet_chips * nearest)}")
