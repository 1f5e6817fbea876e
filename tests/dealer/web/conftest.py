"""Fixtures of the tests of pages."""

from __future__ import annotations

import pytest

from dealer.server import accounts


@pytest.fixture
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make hashes of passwords cheap, for tests that do not measure their cost."""
    monkeypatch.setattr(accounts, "_COST", {"n": 2**4, "r": 8, "p": 1})
