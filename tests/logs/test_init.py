"""Example and exports of the package."""

from __future__ import annotations

import doctest
import types

import logs


def test_package_example_is_correct() -> None:
    examples = doctest.testmod(logs)
    assert examples.attempted
    assert not examples.failed


def test_exported_names_are_pinned() -> None:
    names = {name for name, value in vars(logs).items() if name[0] != "_" and not isinstance(value, types.ModuleType)}
    assert names == set(logs.__all__) == {
        "HandRecord", "PlayerComment", "Times",
        "format_header", "format_score_line", "format_state_line", "format_transaction", "parse_transactions",
    }  # fmt: skip
