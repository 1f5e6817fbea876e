"""Option for the folder of a server, and access to the server's database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, TypeAlias

from bots.sdk.options import Wording
from dealer.errors import ConfigError
from dealer.server.db.store import DATABASE_NAME, Store

ServerData: TypeAlias = Annotated[Path, "Folder of everything the server keeps.", Wording("DIR")]
SERVER_DATA: Final = Path("arena-server")


def open_store(data: Path) -> Store:
    """Open the database of a server.

    Raises:
        ConfigError: no server was started with this folder.
    """
    if not (data / DATABASE_NAME).is_file():
        raise ConfigError(f"{data} holds no server; start one with 'arena serve', or name its folder with --data")
    return Store(data / DATABASE_NAME)
