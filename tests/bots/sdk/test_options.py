"""Options declared by constructors, and the values that they allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from bots.baseline import CallingBot
from bots.sdk.options import FilePath, Interval, Wording, check_options, options_of
from tests.scripts import script

if TYPE_CHECKING:
    from nowhere import Table

Part = Annotated[float, Interval(above=0, high=1)]


@dataclass(frozen=True, slots=True)
class Settings:
    hands: Annotated[int, "hands to play", Interval(1), Wording(group="Play")] = 10
    part: Annotated[Part | None, "part of the pot", Wording(otherwise="all")] = None
    move: Annotated[Literal["call", "fold"], "what to do", Wording(group="More")] = "call"
    unseen: int = 3


def test_declared_options() -> None:
    hands, part, move = options_of(Settings)
    assert (hands.name, hands.kind, hands.default, hands.sentence) == ("hands", int, 10, "Hands to play.")
    assert (hands.group, part.group, move.group) == ("Play", "Play", "More")
    assert (part.kind, part.limits, part.valid) == (float, ("more than 0", "1"), "more than 0 and at most 1")
    assert list(script("docs/reference.py").reference_table(Settings))[2:] == [
        "| `hands` | `10` | 1 |  | hands to play |",
        "| `part` | all | more than 0 | 1 | part of the pot |",
        '| `move` | `"call"` |  |  | what to do |',
    ]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"hands": 0}, "hands must be 1 or more, not 0"),
        ({"part": 0.0}, "part must be more than 0 and at most 1, not 0.0"),
        ({"part": float("nan")}, "part must be more than 0 and at most 1, not nan"),
        ({"move": "raise"}, "move must be call or fold, not raise"),
    ],
)
def test_invalid_values_are_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LookupError) as caught:
        check_options(Settings(**{"part": 0.5} | values), LookupError)
    assert str(caught.value) == sentence


def test_pydantic_reads_the_same_bounds() -> None:
    adapter = TypeAdapter(Settings)
    assert adapter.validate_python({"hands": 1, "part": 1.0}) == Settings(1, 1.0)
    for options in ({"hands": 0}, {"part": 0.0}, {"part": 1.5}, {"move": "raise"}):
        with pytest.raises(ValidationError):
            adapter.validate_python(options)


class OfSomeone(CallingBot):
    def __init__(self, table: Table | None = None, k: float = 1.0, file: str = "", *more: int, raw=True) -> None:  # type: ignore[no-untyped-def]
        """Parameters as other authors write them."""


class Documented(CallingBot):
    def __init__(self, deck: Annotated[FilePath | None, "a file of cards"] = None) -> None:
        """A parameter with its meaning."""


def test_annotations_for_type_checkers_are_tolerated() -> None:
    assert options_of(OfSomeone) == ()
    options = options_of(OfSomeone, all_parameters=True)
    assert [(option.name, option.type_name) for option in options] == [
        ("table", "text"),
        ("k", "number"),
        ("file", "text"),
        ("raw", "true or false"),
    ]
    (deck,) = options_of(Documented)
    assert (deck.type_name, deck.meaning) == ("file", "a file of cards")
