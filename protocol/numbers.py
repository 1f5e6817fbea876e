"""Numbers as the reference reads them.

The reference reads every number with the C library: blanks and a sign may precede the digits, what follows them is
ignored, and a value that does not fit wraps around. Some bots and game files depend on it, so this module does the
same.
"""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_MOST_DIGITS = 40


def _scan(text: str, start: int) -> tuple[int, int] | None:
    match = _INTEGER.match(text, start)
    if match is None:
        return None
    digits = match.group(1)
    if len(digits) > _MOST_DIGITS:
        # Every number with that many digits is beyond 64 bits, unless it begins with zeros.
        digits = digits[0] * (digits[0] == "-") + (digits.lstrip("+-0")[:_MOST_DIGITS] or "0")
    return int(digits), match.end()


def scan_integer(text: str, start: int = 0) -> tuple[int, int] | None:
    """Read a signed integer at `start`: its value, held to 64 bits, and the index after it; None without a digit."""
    scanned = _scan(text, start)
    if scanned is None:
        return None
    return (max(-(2**63), min(2**63 - 1, scanned[0])), scanned[1])


def scan_unsigned(text: str, start: int = 0) -> tuple[int, int] | None:
    """Read an unsigned integer at `start` and the index after it; None without a digit.

    A minus counts modulo 2**64; a number beyond 64 bits is 2**64 - 1 whatever its sign.
    """
    scanned = _scan(text, start)
    if scanned is None:
        return None
    value, end = scanned
    return (value % 2**64 if abs(value) < 2**64 else 2**64 - 1), end


def wrap_int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def wrap_uint32(value: int) -> int:
    return value & 0xFFFFFFFF


def wrap_uint8(value: int) -> int:
    return value & 0xFF
