"""Names and comments as text that every reader accepts."""

from __future__ import annotations

__all__ = ["clean"]


def clean(text: str) -> str:
    """The text, with U+FFFD in place of bytes that are not UTF-8 (they come as surrogate escapes)."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
