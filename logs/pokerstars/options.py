"""How hands are written: what can be chosen, and what follows from it for the money."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from engine import Game
from logs.holdem import usual_blinds
from logs.money import Scale
from logs.rake import RakeFunction

__all__ = ["FORMAT_NAME", "Money", "PokerStarsOptions", "stakes_warning"]

FORMAT_NAME: Final = "PokerStars hand history"

_SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£", None: ""}
_CENT: Final = Decimal("0.01")
_SECOND_US: Final = 1_000_000

_FPDB_BIG_BETS: Final = [
    *(Fraction(cents, 100) for cents in (4, 8, 10, 20, 40, 50)),
    *(Fraction(bet) for bet in (1, 2, 4, 6, 8, 10, 16, 20, 30, 40, 50, 60, 80, 100, 150, 200, 400, 500, 600, 800)),
    *(Fraction(bet) for bet in (1000, 2000, 4000, 10000, 20000, 40000)),
]
"""Big bets of limit games that FPDB knows; it drops every hand of any other."""


@dataclass(frozen=True, slots=True)
class PokerStarsOptions:
    """How hands are written.

    Attributes:
        hero: a player's name: his cards are dealt face up, the others' appear at the showdown. None deals none.
        chip_value: what a chip is worth in money, in whole cents: of the ACPC's limit games (blinds 5/10, bets 10/20)
            1 makes a table of $10/$20. `stakes_warning` tells whether a value is wise.
        currency: USD, EUR or GBP; None is play money, which several importers refuse. FPDB takes euros for another
            site's, so that a player of both is two.
        rake: what the house takes, in chips; None takes nothing. See `logs.rake`.
        table: name of the table; None is the name of the match.
        started_us: when the match began, microseconds of Unix time: hands whose times are not known are taken to
            follow each other by one second from then on.
        match_id: what tells the match from others of its name, players and game, such as its seed; None takes the
            first hand that is written. See `logs.pokerstars.hand_numbers`.
        crlf: end lines as Windows does, which is what genuine files have; else as Unix does.

    Raises:
        ValueError: a value is out of its range; the sentence names it.
    """

    hero: str | None = None
    chip_value: Decimal | float | str = 1
    currency: str | None = "USD"
    rake: RakeFunction | None = None
    table: str | None = None
    started_us: int = 946_684_800 * _SECOND_US  # The first second of the year 2000.
    match_id: str | None = None
    crlf: bool = True

    def __post_init__(self) -> None:
        if self.currency not in _SYMBOLS:
            raise ValueError(f"the money is USD, EUR, GBP or none, not {self.currency!r}")
        if Scale(self.chip_value).unit != _CENT:
            raise ValueError(f"a chip is worth whole cents, not {self.chip_value}: trackers misread a third decimal")


class Money:
    """Chips as a hand history writes them.

    Attributes:
        scale: what chips are worth; its units are cents.
        symbol: what stands before an amount; empty for play money.
        code: the code of the money; None for play money.
    """

    def __init__(self, options: PokerStarsOptions) -> None:
        self.scale = Scale(options.chip_value)
        self.symbol = _SYMBOLS[options.currency]
        self.code = options.currency

    def text(self, cents: int) -> str:
        """An amount without decimals or with two: ``$5``, ``$0.50``."""
        whole, rest = divmod(cents, 100)
        return f"{self.symbol}{whole}.{rest:02}" if rest else f"{self.symbol}{whole}"

    def chips(self, chips: int) -> str:
        """An amount of chips."""
        return self.text(self.scale.units(chips))

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


def stakes_warning(game: Game, options: PokerStarsOptions) -> str | None:
    """A sentence where importers would drop the hands for their stakes, with what to do; None where all is well.

    FPDB knows limit games by their big bet, and only those of genuine tables.

    Raises:
        UnsupportedGameError: the format does not hold the game.
    """
    usual_blinds(game, FORMAT_NAME)
    if not game.is_limit:
        return None
    bet_chips = game.raise_sizes[2]
    value = Fraction(Decimal(str(options.chip_value)))
    if bet_chips * value in _FPDB_BIG_BETS:
        return None
    wise = [bet / bet_chips for bet in _FPDB_BIG_BETS if bet_chips and (bet / bet_chips * 100).denominator == 1]
    small, big = Money(options).stakes(game)
    problem = f"FPDB knows no limit table of {small}/{big} and drops its hands"
    if not wise:
        return f"{problem}, and no value of a chip would change that"
    nearest = min(wise, key=lambda other: (max(other / value, value / other), other))
    return f"{problem}: a chip value of {_plain(nearest)} would help"


def _plain(value: Fraction) -> str:
    return re.sub(r"\.?0+$", "", f"{float(value):.2f}") if value.denominator > 1 else str(value.numerator)
