"""PokerStars hand histories: the text that every tracker reads."""

from logs.pokerstars.options import FORMAT_NAME, PokerStarsOptions, stakes_warning
from logs.pokerstars.writer import PokerStarsWriter, format_pokerstars, format_pokerstars_file

__all__ = [
    "FORMAT_NAME",
    "PokerStarsOptions",
    "PokerStarsWriter",
    "format_pokerstars",
    "format_pokerstars_file",
    "stakes_warning",
]
