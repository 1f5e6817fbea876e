"""Example and exports of the package."""

from __future__ import annotations

import doctest
import types

import logs


def test_the_example_is_right() -> None:
    examples = doctest.testmod(logs)
    assert examples.attempted
    assert not examples.failed


def test_exactly_these_names_are_exported() -> None:
    names = {name for name, value in vars(logs).items() if name[0] != "_" and not isinstance(value, types.ModuleType)}
    assert names == set(logs.__all__) == {
        "HandRecord", "PlayerComment", "Times",
        "format_header", "format_score_line", "format_state_line", "format_transaction", "parse_transactions",
    }  # fmt: skip
