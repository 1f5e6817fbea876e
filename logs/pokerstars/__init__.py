"""PokerStars hand histories: the text that every tracker reads."""

from typing import Final

from logs.formats.export_format import ExportFormat
from logs.pokerstars.hand_text import FIRST_WORDS
from logs.pokerstars.reader import read_pokerstars
from logs.pokerstars.stakes import FORMAT_NAME, stakes_warning
from logs.pokerstars.writer import (
    PokerStarsWriter,
    check_game,
    format_pokerstars,
    format_pokerstars_file,
    start_match,
)

__all__ = [
    "POKERSTARS",
    "PokerStarsWriter",
    "format_pokerstars",
    "format_pokerstars_file",
    "read_pokerstars",
    "stakes_warning",
]

POKERSTARS: Final = ExportFormat(
    "pokerstars",
    FORMAT_NAME,
    check_game,
    start_match,
    stakes_warning,
    endings=(".txt",),
    first_words=FIRST_WORDS,
    read=read_pokerstars,
    wants_hero=True,
)
