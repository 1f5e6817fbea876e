"""Text for people: counts and durations, and foreign text made safe for pages, terminals and protocol lines.

Names, paths and output of bots can contain any bytes. They are decoded with surrogate escapes, and one of `clean`,
`shown`, `escaped` or `printable` prepares them for the place where they leave the program.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

# Lone surrogates that are no surrogate escapes. Encoding them would fail.
_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def count_of(number: float, word: str, plural: str = "") -> str:
    """Return a number with its noun, as in ``1 hand`` and ``1,250 hands``.

    Args:
        plural: plural of the noun; empty if it ends in s.
    """
    digits = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    if number == 1:
        return f"{digits} {word}"
    return f"{digits} {plural or f'{word}s'}"


def times_of(number: int) -> str:
    """Return a number of times, as in ``once`` and ``1,250 times``."""
    if number == 1:
        return "once"
    return f"{number:,} times"


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence, as in ``A, B and C``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def capitalized(clause: str, names: Iterable[str] = ()) -> str:
    """Capitalize a clause, unless it begins with one of the names."""
    for name in names:
        if f"{clause} ".startswith((f"{name} ", f"{name},", f"{name}:", f"{name}'")):
            return clause
    return f"{clause[:1].upper()}{clause[1:]}"


def closest_word(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that a misspelt one resembles, or None."""
    from difflib import get_close_matches

    matches = get_close_matches(word.lower(), list(known), n=1, cutoff=0.75)
    if matches:
        return matches[0]
    return None


def is_text(text: str) -> bool:
    """Return whether a decoded file is text, that is, has no control characters but white space."""
    return not any(char < " " and char not in "\t\n\r\f" for char in text)


def clean(text: str) -> str:
    """Replace bytes that are not UTF-8, which are surrogate escapes, by U+FFFD.

    Foreign text passes this function on its way to streams, JSON, pages and exports.
    """
    if text.isascii():
        return text
    return _LONE_SURROGATES.sub("\ufffd", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shown(text: str, kept: str = "") -> str:
    """Replace characters that a page must not show by U+FFFD, besides those that `clean` replaces.

    These are control characters, characters that XML cannot contain, and marks that reverse the direction of text.

    Args:
        kept: control characters to keep, such as line ends.
    """
    if text.isprintable():
        return text
    chars = []
    for char in clean(text):
        chars.append("\ufffd" if _is_hidden(char) and char not in kept else char)
    return "".join(chars)


def _is_hidden(char: str) -> bool:
    return char in ("\ufffe", "\uffff") or unicodedata.category(char) in ("Cc", "Cf")


def escaped(text: str, kept: str = "", *, max_chars: int | None = None) -> str:
    """Escape characters that a terminal must not print, as Python does in its literals.

    Args:
        kept: unprintable characters to keep, such as line ends.
        max_chars: number of characters of the text to use.
    """
    chars = []
    for char in text[:max_chars]:
        chars.append(char if char.isprintable() or char in kept else ascii(char)[1:-1])
    return "".join(chars)


def escaped_bytes(data: bytes) -> str:
    """Escape bytes for a terminal, with backslashes escaped, too, so that different bytes look different."""
    return data.decode("latin-1").encode("unicode_escape").decode()


def printable(text: str, max_chars: int | None = None) -> str:
    """Replace characters that cannot be printed by ``?``, for a line of a protocol."""
    return "".join([char if char.isprintable() else "?" for char in text[:max_chars]])


def duration(seconds: float) -> str:
    """Format a duration, as in ``5 s``, ``2 min 05 s`` and ``1 h 20 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {rest:02} s"
    return f"{rest} s"


def ago(then_s: float, now_s: float) -> str:
    """Format the time between two Unix times to the minute, or the date in UTC after a day."""
    minutes = max(0, int(now_s - then_s)) // 60
    if minutes >= 24 * 60:
        date = datetime.fromtimestamp(then_s, UTC)
        return f"{date:%Y-%m-%d}"
    if minutes >= 60:
        return f"{minutes // 60} h ago"
    if minutes:
        return f"{minutes} min ago"
    return "now"
