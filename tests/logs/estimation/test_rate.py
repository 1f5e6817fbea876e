"""Win rates with their players, and the example of the package's docstring."""

from __future__ import annotations

import doctest
import math
import pickle

import pytest

import logs.estimation
from logs.estimation import Rate, RunningMean
from logs.estimation.mean import signed

RATE = Rate(12.4, 5.2, player="Ann", opponent="Bob")


def test_the_example_of_the_package() -> None:
    examples = doctest.testmod(logs.estimation)
    assert examples.attempted > 5
    assert examples.failed == 0


def test_flipping_changes_the_sign_and_the_names() -> None:
    turned = -RATE
    assert turned == Rate(-12.4, 5.2, player="Bob", opponent="Ann")
    assert -turned == RATE
    level = -Rate(0.0, None, player="Ann", opponent="Bob")
    assert math.copysign(1, level.mean) == 1
    assert (RATE.of("Ann"), RATE.of("Bob")) == (RATE, -RATE)
    with pytest.raises(ValueError, match=r"^a rate of Ann over Bob does not concern Cat$"):
        RATE.of("Cat")


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (RATE, "Ann over Bob +12 ± 5 mbb/g"),
        (-RATE, "Bob over Ann -12 ± 5 mbb/g"),
        (Rate(-1234.5, 20000, player="Ann", opponent="the table"), "Ann over the table -1,234 ± 20,000 mbb/g"),
        (Rate(12.4, None, player="Ann", opponent="Bob"), "Ann over Bob +12 mbb/g"),
        (Rate(-0.3, 5, player="Ann", opponent="Bob"), "Ann over Bob +0 ± 5 mbb/g"),
    ],
)
def test_a_rate_is_a_sentence(rate: Rate, text: str) -> None:
    assert str(rate) == text


def test_two_sides_of_one_sum_show_the_same_figure() -> None:
    high, low = math.nextafter(388.5, 400), math.nextafter(-388.5, 0)
    assert (signed(high), signed(low)) == ("+388", "-388")
    assert (signed(high / 10, 1), signed(low / 10, 1)) == ("+38.9", "-38.9")
    assert signed(-1e-9) == "+0"


def test_a_rate_is_a_value() -> None:
    copy = pickle.loads(pickle.dumps(RATE))
    assert copy == RATE
    assert copy in {RATE}
    with pytest.raises(AttributeError):
        RATE.mean = 0.0  # type: ignore[misc]


def test_the_rate_of_a_running_mean() -> None:
    running = RunningMean()
    assert running.rate("Ann", "Bob") is None
    for score in [10.0, -4.0] * 49:
        running.add(score)
    error = running.standard_error
    assert running.rate("Ann", "Bob") == Rate(3.0, None, error, player="Ann", opponent="Bob")
    for score in [10.0, -4.0] * 51:
        running.add(score)
    assert running.rate("Ann", "Bob") == Rate.from_estimate(running.estimate, "Ann", "Bob")
