"""Money options and the stakes derived from them."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Game
from logs.formats.export_format import ExportOptions, ExportWarning
from logs.pokerstars import stakes_warning
from logs.pokerstars.stakes import Money
from protocol import find_game

LIMIT, NO_LIMIT = find_game("limit")[1], find_game("nolimit6")[1]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"currency": "usd"}, "the money is USD, EUR, GBP or none, not 'usd'"),
        ({"chip_value": "0.001"}, "a chip is worth whole cents, not 0.001"),
        ({"chip_value": 0}, "the value of a chip must be above 0, not 0"),
    ],
)
def test_impossible_options_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Money(ExportOptions(**fields))


@pytest.mark.parametrize(
    ("game", "chip_value", "currency", "stakes"),
    [
        (LIMIT, 1, "USD", "$10/$20 USD"),
        (LIMIT, "0.05", "EUR", "€0.50/€1.00 EUR"),
        (LIMIT, "0.1", "GBP", "£1/£2 GBP"),
        (LIMIT, 1, None, "10/20"),
        (NO_LIMIT, 1, "USD", "$50/$100 USD"),
        (NO_LIMIT, "0.02", "USD", "$1/$2 USD"),
    ],
)
def test_the_stakes_of_the_header(game: Game, chip_value: Any, currency: str | None, stakes: str) -> None:
    options = ExportOptions(chip_value=chip_value, currency=currency)
    assert Money(options).header_stakes(game) == stakes


def test_amounts_have_no_decimals_or_two() -> None:
    money = Money(ExportOptions())
    assert [money.text(cents) for cents in (0, 1, 50, 100, 1001, 123456789)] == [
        "$0", "$0.01", "$0.50", "$1", "$10.01", "$1234567.89",
    ]  # fmt: skip
    assert Money(ExportOptions(chip_value="2.5", currency=None)).chips(3) == "7.50"


def test_known_stakes_have_no_warning() -> None:
    for name in ("limit", "limit3", "limit6", "limit10"):
        assert stakes_warning(find_game(name)[1], ExportOptions()) is None
        assert stakes_warning(find_game(name)[1], ExportOptions(chip_value="0.01")) is None
    for chip_value in (1, "0.37"):
        assert stakes_warning(NO_LIMIT, ExportOptions(chip_value=chip_value)) is None


def test_stakes_unknown_to_importers_are_reported() -> None:
    problem = "FPDB does not recognise a limit table of {} and drops its hands"
    assert stakes_warning(LIMIT, ExportOptions(chip_value="0.15")) == ExportWarning(
        problem.format("$1.50/$3.00"), "2/4"
    )
    three = LIMIT._replace(blinds=(3, 1), raise_sizes=(3, 3, 6, 6))
    assert stakes_warning(three, ExportOptions()) is None
    assert stakes_warning(three, ExportOptions(chip_value=400)) == ExportWarning(
        problem.format("$1200/$2400"), "300/600"
    )
    seven = LIMIT._replace(blinds=(7, 3), raise_sizes=(7, 7, 14, 14))
    assert stakes_warning(seven, ExportOptions()) == ExportWarning(
        problem.format("$7/$14") + ", and no other stakes of this game would change that", None
    )
