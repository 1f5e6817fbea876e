"""What a run is asked to do, as data: the command line, a TOML file, and the file that every run leaves to repeat it.

    # run.toml
    command = "play"
    game = "nolimit"
    bots = ["New=./new.py", "Old=./old.py"]
    hands = 5000
    seed = 7
    seating = "rotations"
    stop = "better:0,30"

The keys are the long options of `arena play` and `arena tournament`, with underscores and their units. A game that is
not shipped is a path, looked for beside the file first. Commands are started in `directory`.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dealer.errors import ConfigError
from dealer.match.clocks import TimeLimits
from logs.estimation import StopRuleError, parse_stop_rule
from logs.export import parse_formats
from protocol import GameDefinitionError, find_game

__all__ = ["RunConfig", "read_config", "validated"]

DEFAULT_HANDS = 3000
DEFAULT_MOST_HANDS = 1_000_000
"""Where a stop rule is to end the run."""


class RunConfig(BaseModel):
    """Everything a run is asked to do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Literal["play", "tournament"] = "play"
    games: list[str] = Field(default=["limit"], min_length=1)
    bots: list[str] = Field(default=[], max_length=1000)
    format: Literal["round-robin", "gauntlet"] = "round-robin"
    hands: int | None = Field(default=None, ge=1, le=2**32 - 1)
    seed: int | None = Field(default=None, ge=0, le=2**32 - 1)
    seating: Literal["single", "rotations", "permutations"] | None = None
    workers: int | None = Field(default=None, ge=1, le=1000)
    stop: str | None = None
    on_fault: Literal["end", "forfeit", "restart"] = "end"
    in_process: bool = False
    fixed_seats: bool = False
    host: str = Field(default="127.0.0.1", min_length=1)
    ports: list[int] = Field(default=[])
    t_response_s: float = Field(default=600.0, ge=0.001, le=1e9)
    t_hand_s: float = Field(default=600.0, ge=0.001, le=1e9)
    t_per_hand_s: float = Field(default=7.0, ge=0.001, le=1e9)
    start_timeout_s: float = Field(default=30.0, le=1e9)
    coalesce_ms: float | None = Field(default=None, ge=0, le=1000)
    export: list[str] | None = None
    directory: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_game(cls, data: Any) -> Any:
        """One game may be called `game`."""
        if isinstance(data, dict) and "game" in data:
            if "games" in data:
                raise ValueError("name the game with 'game', or several with 'games', not both")
            data = {**data, "games": [data["game"]]}
            del data["game"]
        return data

    @field_validator("export", mode="before")
    @classmethod
    def _are_formats(cls, formats: Any) -> Any:
        """The names of formats, given as a list or as one text with commas."""
        words = formats if isinstance(formats, list) else [formats]
        if formats is None or not all(isinstance(word, str) for word in words):
            return formats
        return [format_.name for format_ in parse_formats(",".join(words))]

    @field_validator("ports")
    @classmethod
    def _are_ports(cls, ports: list[int]) -> list[int]:
        for port in ports:
            if not 0 <= port <= 65535:
                raise ValueError(f"{port} is no port; ports are 0 (any free one) to 65535")
        return ports

    @field_validator("stop")
    @classmethod
    def _is_stop_rule(cls, stop: str | None) -> str | None:
        if stop is not None:
            try:
                parse_stop_rule(stop)
            except StopRuleError as error:
                raise ValueError(str(error)) from None
        return stop

    @property
    def limits(self) -> TimeLimits:
        """The players' clocks; a start timeout of 0 or less waits for ever."""
        return TimeLimits(
            response_us=round(self.t_response_s * 1e6),
            hand_us=round(self.t_hand_s * 1e6),
            per_hand_us=round(self.t_per_hand_s * 1e6),
            start_us=round(self.start_timeout_s * 1e6) if self.start_timeout_s > 0 else None,
        )

    def to_toml(self) -> str:
        """The file that repeats this run: all settings, also those left at their defaults."""
        data = self.model_dump(exclude_none=True, mode="json")
        if self.command == "play":
            data["game"] = data.pop("games")[0]
            data.pop("format")
        order = ["command", "game", "games", "bots", "format"]
        arranged = {key: data[key] for key in order if key in data} | data
        return tomli_w.dumps(arranged, multiline_strings=False)


def validated(data: dict[str, Any], source: str) -> RunConfig:
    """The settings as an object.

    Args:
        data: settings by name.
        source: where they come from, for messages.

    Raises:
        ConfigError: a setting is unknown or out of range.
    """
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        problems = [_in_words(problem) for problem in error.errors(include_url=False)]
        raise ConfigError(f"{source}: " + "; ".join(problems)) from None


def _in_words(problem: Any) -> str:
    where = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        return f"there is no setting {where!r} (there are: {', '.join(RunConfig.model_fields)})"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    shown = "" if problem["type"] == "value_error" else f", not {problem['input']!r}"
    return f"{where}: {message}{shown}" if where else message


def read_config(path: Path) -> dict[str, Any]:
    """The settings of a TOML file, not validated yet; paths of games made good.

    Raises:
        ConfigError: it cannot be read, or is no TOML.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start + 1} is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    if isinstance(data.get("game"), str):
        data["game"] = _found_beside(data["game"], path)
    if isinstance(data.get("games"), list):
        data["games"] = [_found_beside(game, path) if isinstance(game, str) else game for game in data["games"]]
    return data


def _found_beside(game: str, path: Path) -> str:
    """The path of a game that lies beside the file naming it."""
    try:
        beside = path.parent / game
        if os.path.dirname(game) or game.endswith(".game"):
            return str(beside) if beside.is_file() else game
        find_game(game)
    except GameDefinitionError:
        return game
    return game
