"""Blocks of pages that scripts write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
"""The pages."""
APPENDIX: Final = Path(__file__).resolve().parent / "tables"
"""The pages of the appendix."""


def with_blocks(page: str, blocks: Mapping[str, str]) -> str:
    """Replace the blocks of a page between their markers, ``<!-- NAME -->`` and ``<!-- end of NAME -->``."""
    for name, block in blocks.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}{block}{end}{rest.split(end)[1]}"
    return page
