"""Working folder of the tests of servers, with games and bots."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dealer.server.servers import write_house


@pytest.fixture
def house_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with the games and bots that configurations name."""
    folder = tmp_path / "house"
    write_house(folder)
    monkeypatch.chdir(folder)
    return folder
