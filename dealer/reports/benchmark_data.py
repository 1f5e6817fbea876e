"""Benchmark of a player: fixed deals against cfr, in two seatings, measured by AIVAT with cfr known.

settings = benchmark_settings("./mybot", BenchmarkGame.NOLIMIT)
...                                                        # play a run of these settings
data = measure_benchmark(result, settings)
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dealer.errors import ConfigError
from dealer.reports.winnings_parts import WinningsPart
from dealer.run.choices import Command, Score, Seating
from dealer.run.results import ContestResult
from dealer.run.run_settings import RunSettings, validated
from logs.variance.estimates import Text, WinRateEstimate
from protocol.game_definition import short_name


class BenchmarkGame(enum.StrEnum):
    """Game of a benchmark, by its short name."""

    NOLIMIT = "nolimit"
    """Hold'em without limit for two, with stacks of 200 big blinds."""
    LIMIT = "limit"
    """Limit hold'em for two."""


VERSION: Final = 1
"""Version of the benchmark. Rates of different versions do not compare.

A change of the opponent's strategy, of a game or of the number of deals takes a new version with new seeds.
"""
SEEDS: Final[Mapping[BenchmarkGame, int]] = {BenchmarkGame.NOLIMIT: 20261, BenchmarkGame.LIMIT: 20262}
"""Seeds of the cards of this version."""
DEALS: Final = 500
OPPONENT: Final = "cfr"
SCHEMA_VERSION: Final = 1


class BenchmarkData(BaseModel):
    """Output of ``arena benchmark --json``, and ``benchmark.json`` in the folder of the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    kind: Literal["benchmark"] = "benchmark"
    benchmark: int = Field(description="version of the benchmark; rates of different versions do not compare")
    is_standard: bool = Field(description="whether the deals are those of the version")
    arena: str = Field(description="version of acpc-arena")
    command: Text = Field(description="the command that repeats it")
    strategy: str = Field(description="checksum of the opponent's strategy")
    settings: dict[str, Any] = Field(description="all settings of the run, as in its run.toml")
    result: ContestResult = Field(description="result of the run, with the estimates of all estimators")
    rate: WinRateEstimate | None = Field(description="win rate of the first player by AIVAT; null with a problem")
    problem: Text | None = Field(description="reason why there is no rate by AIVAT; null if there is one")
    streets: list[WinningsPart] = Field(description="winnings by street, which sum to the win rate")
    positions: list[WinningsPart] = Field(description="winnings by position")


def benchmark_settings(player: str, game: BenchmarkGame, options: Mapping[str, Any]) -> RunSettings:
    """Return the settings of the run of a benchmark.

    Args:
        player: the player as a text that a play accepts.
        options: other settings by name, which may replace the deals and the seed of the benchmark.

    Raises:
        ConfigError: a setting is invalid.
    """
    fixed = {
        "command": Command.PLAY,
        "game": game.value,
        "bots": [player, OPPONENT],
        "seating": Seating.ROTATIONS,
        "score": Score.CORRECTED,
    }
    return validated({"deals": DEALS, "seed": SEEDS[game]} | dict(options) | fixed)


def check_benchmark(settings: RunSettings, folder: str) -> None:
    """Check that the run in a folder is a benchmark.

    Args:
        settings: settings of the run.

    Raises:
        ConfigError: it is another run.
    """
    is_benchmark = (
        settings.command is Command.PLAY
        and short_name(settings.games[0]) in [game.value for game in BenchmarkGame]
        and [bot.bot for bot in settings.bots][1:] == [OPPONENT]
        and settings.seating is Seating.ROTATIONS
    )
    if not is_benchmark:
        raise ConfigError(f"the run in {folder} is no benchmark; 'arena resume {folder}' continues it")
