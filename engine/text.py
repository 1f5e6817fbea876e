"""Words of others as text that every reader accepts and that a page, a terminal or a line of a protocol can show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of surrogate pairs that do not stand for a byte."""


def count_of(number: float, word: str, plural: str = "") -> str:
    """A number with its noun: ``1 hand``, ``1,250 hands``; `plural` is that of the noun, if not with an s."""
    digits = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{digits} {word if number == 1 else plural or f'{word}s'}"


def times_of(number: int) -> str:
    """A number of times: ``once``, ``1,250 times``."""
    if number == 1:
        return "once"
    return f"{number:,} times"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: A, B and C."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def capitalized(clause: str, names: Iterable[str] = ()) -> str:
    """The clause with a capital at its start, unless one of these names stands there."""
    begins_with_name = f"{clause} ".startswith(tuple(f"{name}{mark}" for name in names for mark in " ,:'"))
    if begins_with_name:
        return clause
    return f"{clause[:1].upper()}{clause[1:]}"


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word that a misspelt one is closest to; None where none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.lower(), list(known), 1, 0.75)), None)


def is_text(text: str) -> bool:
    """Whether something is text, and not bytes that were read as text."""
    return not any(char < " " and char not in "\t\n\r\f" for char in text)


def clean(text: str) -> str:
    """The text, with U+FFFD in place of bytes that are not UTF-8 (they come as surrogate escapes).

    Text of others leaves the program through this function: to streams, JSON, pages and exports.
    """
    if text.isascii():
        return text
    return _HALVES.sub("\ufffd", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shown(text: str, kept: str = "") -> str:
    """The text for people: as `clean`, with U+FFFD also in place of what XML cannot hold and of marks that turn text.

    Control characters are replaced too, unless they are `kept`.
    """
    if text.isprintable():
        return text
    return "".join(["\ufffd" if _is_hidden(letter) and letter not in kept else letter for letter in clean(text)])


def _is_hidden(letter: str) -> bool:
    return letter in ("\ufffe", "\uffff") or unicodedata.category(letter) in ("Cc", "Cf")


def escaped(text: str, kept: str = "", *, most: int | None = None) -> str:
    """At most so many characters in a line of a terminal: as Python writes what cannot be printed and is not `kept`."""
    return "".join([char if char.isprintable() or char in kept else ascii(char)[1:-1] for char in text[:most]])


def escaped_bytes(data: bytes) -> str:
    """Bytes in a line of a terminal, no two alike: as Python writes what is not printable ASCII, and backslashes."""
    return data.decode("latin-1").encode("unicode_escape").decode()


def printable(text: str, most: int | None = None) -> str:
    """The text in a line of a protocol: ``?`` in place of what cannot be printed, at most `most` characters."""
    return "".join(char if char.isprintable() else "?" for char in text[:most])


def duration(seconds: float) -> str:
    """A time in words: ``5 s``, ``2 min 05 s``, ``1 h 20 min``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {rest:02} s"
    return f"{rest} s"


def ago(then_s: float, now_s: float) -> str:
    """The time since then in words, to the minute; of more than a day the date, in UTC. Both are seconds since 1970."""
    minutes = max(0, int(now_s - then_s)) // 60
    if minutes >= 24 * 60:
        return f"{datetime.fromtimestamp(then_s, UTC):%Y-%m-%d}"
    if minutes >= 60:
        return f"{minutes // 60} h ago"
    if minutes:
        return f"{minutes} min ago"
    return "now"
