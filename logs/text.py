"""Names and comments as text that every reader accepts, and that a page can show."""

from __future__ import annotations

import unicodedata


def is_text(text: str) -> bool:
    """Whether something is text, and not bytes that were read as text."""
    return not any(char < " " and char not in "\t\n\r\f" for char in text)


def clean(text: str) -> str:
    """The text, with U+FFFD in place of bytes that are not UTF-8 (they come as surrogate escapes)."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shown(text: str) -> str:
    """The text for people: as `clean`, with U+FFFD also in place of control characters and of marks that turn text."""
    return "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cf") else letter for letter in clean(text))
