"""Option for the folder of a server, access to the server's database, and files that announce something on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from bots.sdk.options import Wording
from dealer.errors import ConfigError
from dealer.run.run_settings import read_toml
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.server_settings import setting_problem

ServerData: TypeAlias = Annotated[Path, "Folder of everything the server keeps.", Wording("DIR")]
SERVER_DATA: Final = Path("arena-server")
_Settings = TypeVar("_Settings", bound=BaseModel)


def open_store(data: Path) -> Store:
    """Open the database of a server.

    Raises:
        ConfigError: no server was started with this folder.
    """
    if not (data / DATABASE_NAME).is_file():
        raise ConfigError(f"{data} holds no server; start one with 'arena serve', or name its folder with --data")
    return Store(data / DATABASE_NAME)


def read_settings(settings: type[_Settings], path: Path) -> _Settings:
    """Read the settings of an event or a series from a TOML file.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or has invalid settings.
    """
    try:
        return settings.model_validate(read_toml(path))
    except ValidationError as error:
        raise ConfigError(*map(setting_problem, error.errors(include_url=False)), source=str(path)) from None
