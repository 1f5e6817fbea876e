"""Working folder with games and bots, shared with the tests of servers."""

from tests.dealer.server.conftest import house_folder

__all__ = ["house_folder"]
