"""What tests of pages have in common."""

from __future__ import annotations

import pytest

from dealer.server import accounts


@pytest.fixture
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of passwords that cost next to nothing, for tests that are not about what guessing costs."""
    monkeypatch.setattr(accounts, "_COST", {"n": 2**4, "r": 8, "p": 1})
