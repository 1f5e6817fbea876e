"""Examples, exports and the tree of errors of the package."""

from __future__ import annotations

import doctest
import inspect
import types

import pytest

import engine
from engine import cards, equity, parse_cards


@pytest.mark.parametrize("module", [engine, cards, equity], ids=lambda module: module.__name__)
def test_examples_print_their_comments(module: types.ModuleType) -> None:
    examples = doctest.testmod(module, extraglobs={"parse_cards": parse_cards})
    assert examples.attempted > 0
    assert examples.failed == 0


def test_all_that_is_imported_is_exported() -> None:
    public = {name for name, value in vars(engine).items() if name[0] != "_" and not inspect.ismodule(value)}
    assert set(engine.__all__) == public
    assert len(engine.__all__) == len(public)
