"""The folder with games and bots, as for the tests of the server."""

from tests.dealer.server.conftest import house_folder

__all__ = ["house_folder"]
