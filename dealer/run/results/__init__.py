"""Results of contests and tournaments: the library's return values and the content of ``result.json``.

- `result_values`: results as values, from which JSON and its documentation are generated
- `result_files`: reading results, also those of earlier versions
- `summary`: the result of a contest or tournament from the counts of its matches
- `result_sentences`: results in words, also while a contest is played
"""

from dealer.run.results.result_files import read_contest, read_result, read_standings
from dealer.run.results.result_values import (
    SCHEMA_VERSION,
    AnyResult,
    ContestResult,
    CrosstableCell,
    DealerReport,
    FailureReport,
    GameStandings,
    MatchSummary,
    ModelUse,
    PlayerResult,
    PlayerWinnings,
    Rank,
    TournamentResult,
    TrainingReport,
    Winnings,
    public_sentence,
    winnings_columns,
)

__all__ = [
    "SCHEMA_VERSION",
    "AnyResult",
    "ContestResult",
    "CrosstableCell",
    "DealerReport",
    "FailureReport",
    "GameStandings",
    "MatchSummary",
    "ModelUse",
    "PlayerResult",
    "PlayerWinnings",
    "Rank",
    "TournamentResult",
    "TrainingReport",
    "Winnings",
    "public_sentence",
    "read_contest",
    "read_result",
    "read_standings",
    "winnings_columns",
]
