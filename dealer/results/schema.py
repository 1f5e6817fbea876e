"""Results as data: what ``--json`` prints and ``result.json`` holds. `docs/results.md` describes the fields.

`SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dealer.contest.ending import Outcome

__all__ = [
    "SCHEMA_VERSION",
    "ContestResult",
    "CrosstableCell",
    "DealerReport",
    "GameStandings",
    "MatchSummary",
    "PlayerResult",
    "Rank",
    "TournamentResult",
]

SCHEMA_VERSION = 2


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PlayerResult(_Frozen):
    """One player of a contest, over all seats he had."""

    name: str
    player: str = Field(description="as given: built-in bot, command or tcp")
    chips: float = Field(description="net chips over the hands counted")
    mbb_per_game: float | None = Field(description="thousandths of a big blind per hand, against the whole table")
    half_width_95: float | None = Field(
        description="half the 95 % interval of mbb_per_game, over duplicates; null with too few"
    )
    standard_deviation: float | None = Field(description="of one duplicate's score, in mbb/g; null with fewer than two")
    faults: dict[str, int] = Field(description="how often this player did what wrong")
    first_fault: str | None = Field(description="the first thing this player did wrong, in words, with the line")
    restarts: int = Field(description="how often its process was started again")
    actions: int = Field(description="answers given")
    thinking_s: float = Field(description="time its answers took, in all")
    median_us: float | None = Field(description="median time of an answer, in microseconds")
    p99_us: float | None = Field(description="the time that 99 % of the answers did not exceed, in microseconds")
    exit_code: int | None = Field(description="of the process that failed; a signal is negative; null where none did")


class MatchSummary(_Frozen):
    """One match of a contest: one seating over one slice of the hands."""

    name: str = Field(description="of its files: NAME.log, NAME.tlog, ...")
    seats: list[str] = Field(description="names by seat")
    first_hand: int
    hands: int = Field(description="hands finished")
    chips: list[float] = Field(description="by seat, over all hands finished")


class DealerReport(_Frozen):
    """What the dealer itself cost."""

    actions: int = Field(description="questions asked after an answer")
    us_per_action: float | None = Field(
        description="mean time from reading an answer to having sent the next question; null without any, or in process"
    )
    timeouts_per_million_actions: float | None


class ContestResult(_Frozen):
    """Some players, one game, the same cards in every seating: what ``arena play`` leaves."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["contest"] = "contest"
    game: str
    seed: int
    seating: Literal["single", "rotations", "permutations"]
    seatings: int = Field(description="how many seatings each deal is played in")
    hands_asked: int = Field(description="deals asked for, each to be played once in every seating")
    duplicates: int = Field(description="deals that were played in every seating: the units of the statistics")
    hands_counted: int = Field(description="duplicates times seatings")
    hands_played: int = Field(description="hands finished, counted or not")
    outcome: Outcome
    reason: str = Field(description="why it ended, in words")
    stop: str = Field(description="the stop rule, as given")
    verdict: Literal["better", "not better"] | None = Field(description="of a sequential test, about the first player")
    interval: Literal["fixed", "any time"] = Field(
        description="whether half_width_95 holds for a number of hands set beforehand, or at every moment"
    )
    seconds: float = Field(description="wall time of the last run, without earlier interrupted ones")
    hands_per_second: float
    folder: str | None = Field(description="where the files are")
    resume: str | None = Field(description="the command that goes on; null when there is nothing left to do")
    players: list[PlayerResult]
    matches: list[MatchSummary]
    dealer: DealerReport
    sentence: str = Field(description="the result in words")


class CrosstableCell(_Frozen):
    """What one bot won in contests that another sat in too."""

    player: str
    opponent: str
    mbb_per_game: float
    half_width_95: float | None
    hands: int


class Rank(_Frozen):
    """One place of a ranking."""

    place: int
    player: str
    confidence: float | None = Field(description="share of bootstrap samples in which this player has this place")


class GameStandings(_Frozen):
    """Who stands where in one game."""

    game: str
    mbb_per_game: dict[str, float] = Field(description="mean over a player's contests, each counted once")
    half_width_95: dict[str, float | None]
    crosstable: list[CrosstableCell]
    total_bankroll: list[Rank]
    instant_runoff: list[Rank]


class TournamentResult(_Frozen):
    """Several contests: what ``arena tournament`` leaves."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["tournament"] = "tournament"
    format: Literal["round-robin", "gauntlet"]
    outcome: Outcome
    reason: str
    players: list[str]
    contests: list[ContestResult]
    standings: list[GameStandings]
    seconds: float
    folder: str | None
    resume: str | None
    sentence: str
