from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.numbers import scan_integer, scan_unsigned, wrap_int32, wrap_uint8, wrap_uint32


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("300", (300, 3)),
        ("0x1F4", (0, 1)),
        (" 300", (300, 4)),
        ("\t\n\v\f\r 7", (7, 7)),
        ("-5", (-5, 2)),
        ("9223372036854775808", (2**63 - 1, 19)),
        ("-9223372036854775809", (-(2**63), 20)),
        ("9" * 40, (2**63 - 1, 40)),
        ("-" + "9" * 41, (-(2**63), 42)),
        ("0" * 50 + "12", (12, 52)),
        ("", None),
        ("+", None),
        ("+-5", None),
        ("٣", None),
        ("\xa05", None),
    ],
)
def test_numbers_are_read_as_by_the_c_library(text: str, result: tuple[int, int] | None) -> None:
    assert scan_integer(text) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("300.9", (300, 3)),
        (" +5", (5, 3)),
        ("-1", (2**64 - 1, 2)),
        ("18446744073709551616", (2**64 - 1, 20)),
        ("-18446744073709551615", (1, 21)),
        ("-18446744073709551616", (2**64 - 1, 21)),
        ("9" * 5000, (2**64 - 1, 5000)),
        ("-" + "9" * 5000, (2**64 - 1, 5001)),
        ("0" * 5000 + "7", (7, 5001)),
        ("", None),
        ("-", None),
    ],
)
def test_unsigned_numbers_are_read_as_by_the_c_library(text: str, result: tuple[int, int] | None) -> None:
    assert scan_unsigned(text) == result


@given(st.text(max_size=20), st.integers(0, 25))
def test_signed_and_unsigned_readers_end_at_the_same_place(text: str, start: int) -> None:
    signed, unsigned = scan_integer(text, start), scan_unsigned(text, start)
    assert (signed is None) == (unsigned is None)
    if signed is not None and unsigned is not None:
        assert signed[1] == unsigned[1]
        assert (signed[0] - unsigned[0]) % 2**64 == 0 or abs(int(text[start : signed[1]])) >= 2**63


def test_reading_starts_at_the_given_index() -> None:
    assert scan_integer("r300:5", 1) == (300, 4)
    assert scan_integer("r300:5", 4) is None
    assert scan_integer("r300:5", 5) == (5, 6)
    assert scan_integer("5", 1) is None
    assert scan_integer("5", 9) is None


@given(st.integers(-(2**70), 2**70))
def test_wrapping_keeps_the_low_bits(value: int) -> None:
    for wrap, bits in ((wrap_uint8, 8), (wrap_uint32, 32), (wrap_int32, 32)):
        assert (wrap(value) - value) % 2**bits == 0
    assert 0 <= wrap_uint8(value) < 256
    assert 0 <= wrap_uint32(value) < 2**32
    assert -(2**31) <= wrap_int32(value) < 2**31


def test_wrapping_examples() -> None:
    assert wrap_int32(99999999999) == 1215752191
    assert wrap_int32(4294967396) == 100
    assert wrap_int32(2**63 - 1) == -1
    assert wrap_int32(2**31) == -(2**31)
    assert wrap_uint32(-1) == 4294967295
    assert wrap_uint32(4294967297) == 1
    assert wrap_uint8(258) == 2
