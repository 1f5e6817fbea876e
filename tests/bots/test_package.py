"""The package's documented example and its exported names."""

from __future__ import annotations

import doctest
from importlib.metadata import version

import pytest

import bots
import dealer


def test_the_example_of_the_package() -> None:
    examples = doctest.testmod(bots)
    assert examples.attempted
    assert not examples.failed


def test_exported_names_exist_once() -> None:
    assert all(hasattr(bots, name) for name in bots.__all__)
    assert sorted(bots.__all__) == sorted(set(bots.__all__))


def test_the_version_is_that_of_the_distribution() -> None:
    assert bots.__version__ == dealer.__version__ == version("acpc-arena")
    with pytest.raises(AttributeError, match="has no attribute 'strength'"):
        bots.strength  # noqa: B018
