"""PHH, the poker hand history format of research: written and read."""

from logs.phh.reader import read_phh
from logs.phh.writer import PhhOptions, format_phh, format_phhs

__all__ = ["PhhOptions", "format_phh", "format_phhs", "read_phh"]
