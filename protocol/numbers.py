"""Numbers as the reference reads them.

The reference reads every number with the C library: blanks and a sign may stand before the digits, what follows them is
left alone, and a value that does not fit wraps around. Bots and game files depend on it in places, so we read alike.
"""

from __future__ import annotations

import re

__all__ = ["scan_integer", "wrap_int32", "wrap_uint8", "wrap_uint32"]

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_MOST, _LEAST = 2**63 - 1, -(2**63)
_MOST_DIGITS = 40


def scan_integer(text: str, start: int = 0) -> tuple[int, int] | None:
    """Read an integer at `start`: its value, held to 64 bits, and the index behind it. None where there is no digit."""
    match = _INTEGER.match(text, start)
    if match is None:
        return None
    digits = match.group(1)
    if len(digits) > _MOST_DIGITS:
        stripped = digits.lstrip("+-0")
        value = int(digits[0] * (digits[0] == "-") + (stripped[:_MOST_DIGITS] or "0"))
    else:
        value = int(digits)
    return max(_LEAST, min(_MOST, value)), match.end()


def wrap_int32(value: int) -> int:
    """The low 32 bits as a signed number."""
    return (value + 2**31) % 2**32 - 2**31


def wrap_uint32(value: int) -> int:
    """The low 32 bits as an unsigned number."""
    return value & 0xFFFFFFFF


def wrap_uint8(value: int) -> int:
    """The low 8 bits as an unsigned number."""
    return value & 0xFF
