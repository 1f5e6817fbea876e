"""The folder with games and bots in which the tests of servers work."""

from __future__ import annotations

from tests.dealer.server.conftest import house_folder

__all__ = ["house_folder"]
