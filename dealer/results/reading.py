"""Results read back from the files that runs leave."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dealer.errors import ResultError
from dealer.results.schema import SCHEMA_VERSION, ContestResult, TournamentResult
from dealer.run.folder import CONFIG_NAME, RESULT_NAME
from dealer.run.settings import problem_in_words
from engine.errors import quoted


def read_result(source: Path) -> ContestResult | TournamentResult:
    """The result of a run.

    Args:
        source: the run's folder, or the file.

    Raises:
        ResultError: there is none, or none that this version reads.
    """
    is_folder = os.path.isdir(source)
    path = source / RESULT_NAME if is_folder else source
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        missing = "there is no such file"
        if is_folder:
            is_run = (source / CONFIG_NAME).exists()
            missing = f"there is no result: {'the run has not ended' if is_run else 'this is not the folder of a run'}"
        raise ResultError(path, missing) from None
    except OSError as error:
        raise ResultError(path, f"it cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(path, f"it is not JSON: {error}") from None
    if not isinstance(data, dict) or "schema_version" not in data:
        raise ResultError(path, "it is not a result: it names no schema_version")
    if data["schema_version"] != SCHEMA_VERSION:
        found = quoted(data["schema_version"])
        raise ResultError(path, f"it has schema version {found}, but this program reads version {SCHEMA_VERSION}")
    try:
        kind = TournamentResult if data.get("kind") == "tournament" else ContestResult
        return kind.model_validate(data)
    except ValidationError as error:
        where, what = problem_in_words(error.errors(include_url=False)[0])
        raise ResultError(path, f"it is not a result: {where}: {what}") from None


def read_contest(source: Path) -> ContestResult:
    """The result of a contest; like `read_result`, and a tournament is refused."""
    result = read_result(source)
    if isinstance(result, TournamentResult):
        raise ResultError(source, "it is a tournament: name the folder of one of its contests")
    return result
