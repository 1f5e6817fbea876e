"""Cases of a test as a table in text, where a list of tuples would be mostly quotation marks and brackets."""

from __future__ import annotations

import re


def rows(text: str) -> list[list[str]]:
    """The columns of each line, two or more spaces apart; a remark may follow behind two spaces and a `#`."""
    lines = (re.split(r"(?:^|\s{2,})# ", line)[0].strip() for line in text.splitlines())
    return [re.split(r"\s{2,}", line) for line in lines if line]
