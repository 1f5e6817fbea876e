"""Amounts as card rooms write them; ambiguous ones are refused."""

from __future__ import annotations

import re

import pytest

from logs.errors import HandError
from logs.pokerstars.amounts import AMOUNT, Amounts


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("0.5", 50),
        ("0,5", 50),
        ("146.77", 14677),
        ("1,000", 100_000),
        ("1.000", 100_000),
        ("1'000", 100_000),
        ("1 000", 100_000),
        ("1\u00a0000", 100_000),
        ("1,250.10", 125_010),
        ("1.250,10", 125_010),
        ("12,345,678.90", 1_234_567_890),
        ("1250,10", 125_010),
    ],
)
def test_an_amount_is_read(text: str, cents: int) -> None:
    assert re.fullmatch(AMOUNT, text)
    assert Amounts("").cents(text, 0) == cents
    for symbol in ("$", "€", "\udc80"):
        assert re.fullmatch(AMOUNT, f"{symbol}{text}")
        assert Amounts(symbol).cents(f"{symbol}{text}", 0) == cents
    assert Amounts("€").cents(f"€\u00a0{text}", 0) == cents


@pytest.mark.parametrize(
    "text", ["1,0000", "1,00,000", "1.000.00.000", "0,001", "0.000", "1'000 000", "1,000'000", "12.3456", "1234,567"]
)
def test_other_numbers_are_no_amounts(text: str) -> None:
    with pytest.raises(HandError) as caught:
        Amounts("").cents(text, 7)
    assert str(caught.value) == f"{text!r} is not an amount of money"
    assert caught.value.line == 7


@pytest.mark.parametrize(
    ("first", "second", "sign"),
    [("0.50", "1.000", "a point"), ("1,000", "0,50", "a comma"), ("1.250,10", "1,000", "a comma")],
)
def test_a_sign_has_one_use_in_a_hand(first: str, second: str, sign: str) -> None:
    amounts = Amounts("$")
    amounts.cents(f"${first}", 0)
    with pytest.raises(HandError) as caught:
        amounts.cents(f"${second}", 4)
    assert str(caught.value) == (
        f"'${second}' is ambiguous: the amounts of this hand have {sign} before decimals and between thousands"
    )


def test_amounts_are_in_the_currency_of_the_stakes() -> None:
    with pytest.raises(HandError, match="'€5' is not in \\$, as the stakes of the hand are"):
        Amounts("$").cents("€5", 0)
    with pytest.raises(HandError, match="'5' is not in \\$, as"):
        Amounts("$").cents("5", 0)
    with pytest.raises(HandError, match="'\\$5' is not without a currency, as"):
        Amounts("").cents("$5", 0)
