"""Read ``result.json`` and kept standings, also those of schema versions 2 and 3."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from dealer.errors import ResultError
from dealer.run.folder import CONFIG_NAME, RESULT_NAME
from dealer.run.results.result_values import (
    SCHEMA_VERSION,
    AnyResult,
    ContestResult,
    GameStandings,
    TournamentResult,
    winnings_columns,
)
from dealer.run.run_settings import problem_in_words
from engine.errors import quoted

_FLAT_VERSION: Final = 2
"""Version in which estimates were fields of players, cells and standings, see `_nested_estimates`."""
_ONE_INTERVAL_VERSION: Final = 3
"""Version in which the 95 % interval was the guaranteed one, see `_with_guaranteed_intervals`."""


def read_result(source: Path) -> AnyResult:
    """Read the result of a run.

    Args:
        source: folder of the run, or file of the result.

    Raises:
        ResultError: there is no result, or its version is not supported.
    """
    is_folder = os.path.isdir(source)
    path = source / RESULT_NAME if is_folder else source
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if not is_folder:
            problem = "there is no such file"
        elif (source / CONFIG_NAME).exists():
            problem = "there is no result, because the run has not ended"
        else:
            problem = "there is no result, because this is not the folder of a run"
        raise ResultError(path, problem) from None
    except OSError as error:
        raise ResultError(path, f"it cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(path, f"not valid JSON ({error})") from None
    if not isinstance(data, dict) or "schema_version" not in data:
        raise ResultError(path, "not a result, because it names no schema_version")
    if data["schema_version"] == _FLAT_VERSION:
        data = _nested_estimates(data)
    if data["schema_version"] == _ONE_INTERVAL_VERSION:
        data = _with_guaranteed_intervals(data)
    if data["schema_version"] != SCHEMA_VERSION:
        version = quoted(data["schema_version"])
        raise ResultError(
            path,
            f"it has schema version {version}, but this program reads versions {_FLAT_VERSION} to {SCHEMA_VERSION}",
        )
    try:
        kind = TournamentResult if data.get("kind") == "tournament" else ContestResult
        return kind.model_validate(data)
    except ValidationError as error:
        field, problem = problem_in_words(error.errors(include_url=False)[0])
        raise ResultError(path, f"not a result ({field}: {problem})") from None


def read_contest(source: Path) -> ContestResult:
    """Read the result of a contest, as `read_result` does, and reject a tournament."""
    result = read_result(source)
    if isinstance(result, TournamentResult):
        raise ResultError(source, "it is a tournament; name the folder of one of its contests")
    return result


def read_standings(text: str) -> GameStandings:
    """Parse standings that this version or an earlier one has stored as JSON.

    Raises:
        ValidationError: the text is not that of standings.
    """
    data = _upgraded_standings(json.loads(text))
    if '"guaranteed_half_width"' not in text:
        data = _with_guaranteed_intervals(data)
    return GameStandings.model_validate(data)


def _with_guaranteed_intervals(value: Any) -> Any:
    """Convert a part of a result of version 3, whose intervals hold for any distribution of winnings."""
    if isinstance(value, list):
        return [_with_guaranteed_intervals(item) for item in value]
    if not isinstance(value, dict):
        return value
    upgraded = {name: _with_guaranteed_intervals(item) for name, item in value.items()}
    if "half_width_95" in upgraded:
        upgraded["guaranteed_half_width"] = upgraded["half_width_95"]
    if upgraded.get("interval") == "fixed":
        upgraded["interval"] = "guaranteed"
    if upgraded.get("schema_version") == _ONE_INTERVAL_VERSION:
        upgraded["schema_version"] = SCHEMA_VERSION
    return upgraded


# ---- version 2, in which estimates were fields of players, cells and standings
#
# Values of a wrong type are left as they are, so that validation names them.


def _nested_estimates(data: dict[str, Any]) -> dict[str, Any]:
    """Convert a result of version 2 to version 3."""
    upgraded = data | {"schema_version": _ONE_INTERVAL_VERSION}
    if isinstance(data.get("players"), list) and data.get("kind") != "tournament":
        upgraded["players"] = [_upgraded_player(player) for player in data["players"]]
    if isinstance(data.get("contests"), list):
        upgraded["contests"] = [
            _nested_estimates(contest) if isinstance(contest, dict) else contest for contest in data["contests"]
        ]
    if isinstance(data.get("standings"), list):
        upgraded["standings"] = [_upgraded_standings(standings) for standings in data["standings"]]
    return upgraded


def _upgraded_player(player: Any) -> Any:
    if not isinstance(player, dict) or "mbb_per_game" not in player:
        return player
    rest = dict(player)
    half_width = rest.pop("half_width_of_best_95", None)
    corrected_half_width = rest.pop("corrected_half_width_of_best_95", None)
    won = _nested(rest)
    if won is not None:
        won["best"] = won["raw"] | {"half_width_95": half_width}
        if won["corrected"] is not None:
            won["corrected_best"] = won["corrected"] | {"half_width_95": corrected_half_width}
    return rest | {"won": won}


def _upgraded_standings(standings: Any) -> Any:
    if not isinstance(standings, dict) or "mbb_per_game" not in standings:
        return standings
    rest = dict(standings)
    by_field = {name: rest.pop(name, {}) for name in winnings_columns(None)}
    if not all(isinstance(by_name, dict) for by_name in by_field.values()):
        return standings
    rest["won"] = {
        name: _nested({field: by_name.get(name) for field, by_name in by_field.items()})
        for name in by_field["mbb_per_game"]
    }
    if isinstance(rest.get("crosstable"), list):
        rest["crosstable"] = [_upgraded_cell(cell) for cell in rest["crosstable"]]
    return rest


def _upgraded_cell(cell: Any) -> Any:
    if not isinstance(cell, dict) or "mbb_per_game" not in cell:
        return cell
    rest = dict(cell)
    won = _nested(rest)
    return rest | {"won": won}


def _nested(fields: dict[str, Any]) -> dict[str, Any] | None:
    """Remove the fields of winnings; return them as nested estimates, or None without a mean."""
    raw = _removed_estimate(fields, "")
    corrected = _removed_estimate(fields, "corrected_")
    if raw is None:
        return None
    return {"raw": raw, "corrected": corrected}


def _removed_estimate(fields: dict[str, Any], prefix: str) -> dict[str, Any] | None:
    mean = fields.pop(f"{prefix}mbb_per_game", None)
    half_width = fields.pop(f"{prefix}half_width_95", None)
    error = fields.pop(f"{prefix}standard_error", None)
    if mean is None:
        return None
    return {"mean": mean, "half_width_95": half_width, "standard_error": error}
