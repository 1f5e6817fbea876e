"""Cases of a test as a table in text, to save the quotation marks and brackets of a list of tuples."""

from __future__ import annotations

import re


def rows(text: str) -> list[list[str]]:
    """Columns of each line, two or more spaces apart, without comments after two spaces and a ``#``."""
    lines = (re.split(r"(?:^|\s{2,})# ", line)[0].strip() for line in text.splitlines())
    return [re.split(r"\s{2,}", line) for line in lines if line]
