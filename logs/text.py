"""Names and remarks as text that every reader takes."""

from __future__ import annotations

__all__ = ["clean"]


def clean(text: str) -> str:
    """The text, with bytes that are no UTF-8 (they come as surrogate escapes) replaced by a question mark sign."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
