"""The example that the package's documentation opens with, and the names it exports."""

from __future__ import annotations

import doctest

import bots


def test_the_example_of_the_package() -> None:
    found = doctest.testmod(bots)
    assert found.attempted
    assert not found.failed


def test_exported_names_exist_once() -> None:
    assert all(hasattr(bots, name) for name in bots.__all__)
    assert sorted(bots.__all__) == sorted(set(bots.__all__))
