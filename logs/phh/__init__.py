"""PHH, the poker hand history format of research."""

from typing import Final

from logs.formats.export_format import ExportFormat
from logs.phh.reader import read_phh
from logs.phh.writer import FORMAT_NAME, check_game, format_phh, format_phhs, rake_warning, start_match

__all__ = ["PHH", "format_phh", "format_phhs", "read_phh"]

PHH: Final = ExportFormat(
    "phh", FORMAT_NAME, check_game, start_match, rake_warning, endings=(".phh", ".phhs"), read=read_phh
)
