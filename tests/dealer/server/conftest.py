"""A folder with games and bots in which the tests of servers work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.server.servers import write_house


@pytest.fixture
def house_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the games and bots of configurations."""
    folder = tmp_path / "house"
    write_house(folder)
    monkeypatch.chdir(folder)
    return folder
