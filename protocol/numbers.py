"""Integers as the reference dealer reads them with the C library.

White space and a sign may precede the digits, and anything may follow them. Values that do not fit wrap around. Some
bots and game files depend on this.
"""

from __future__ import annotations

import re

# The white space of isspace() in the C locale. Python's \s would also match the separators 0x1c to 0x1f.
_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_MAX_DIGITS = 40


def _scan(text: str, start: int) -> tuple[int, int] | None:
    match = _INTEGER.match(text, start)
    if match is None:
        return None
    digits = match.group(1)
    if len(digits) > _MAX_DIGITS:
        # int() refuses more than 4300 digits. Any 40 digits without leading zeros are beyond 64 bits.
        sign = "-" if digits[0] == "-" else ""
        digits = sign + (digits.lstrip("+-0")[:_MAX_DIGITS] or "0")
    return int(digits), match.end()


def scan_integer(text: str, start: int = 0) -> tuple[int, int] | None:
    """Read a signed integer at `start`, like ``strtoll``.

    Returns:
        The value, clamped to 64 bits, and the index after it; None if there is no digit.
    """
    scanned = _scan(text, start)
    if scanned is None:
        return None
    value, end = scanned
    return max(-(2**63), min(2**63 - 1, value)), end


def scan_unsigned(text: str, start: int = 0) -> tuple[int, int] | None:
    """Read an unsigned integer at `start`, like ``strtoull``.

    Returns:
        The value and the index after it; None if there is no digit. A negative number is taken modulo 2**64. A number
        beyond 64 bits is 2**64 - 1, whatever its sign.
    """
    scanned = _scan(text, start)
    if scanned is None:
        return None
    value, end = scanned
    if abs(value) < 2**64:
        return value % 2**64, end
    return 2**64 - 1, end


def wrap_int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def wrap_uint32(value: int) -> int:
    return value & 0xFFFFFFFF


def wrap_uint8(value: int) -> int:
    return value & 0xFF
