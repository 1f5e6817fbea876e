"""Win rates by several estimators side by side, as `arena luck` prints them.

`SCHEMA_VERSION` is raised when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

import enum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from engine.text import clean
from logs.document import NAME, Column, Document, Section, Table, Value
from logs.estimation import Estimate

SCHEMA_VERSION: Final = 2

Text: TypeAlias = Annotated[str, PlainSerializer(clean, return_type=str, when_used="json")]
"""Text that may contain bytes that are not UTF-8, which JSON has as U+FFFD."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Estimator(enum.StrEnum):
    """Estimator of a win rate."""

    RAW = "raw"
    """Chips won in the first hand played of each deal."""
    DUPLICATE = "duplicate"
    """Mean over the seatings in which a deal was played."""
    ALL_IN = "all-in adjusted"
    """Duplicate, with hands without further betting replaced by their expectation."""
    CHANCE = "chance-corrected"
    """Duplicate, corrected for the cards of each round."""
    AIVAT = "AIVAT"
    """Chance-corrected, and corrected for the random choices of players whose policy is known."""
    RANGES = "AIVAT over ranges"
    """AIVAT, as a mean over all hole cards that these players could have held."""


class WinRateEstimate(_Frozen):
    """A player's win rate by one estimator."""

    estimator: Estimator
    known: list[Text] = Field(description="players whose policies were used, for AIVAT")
    is_fitted: bool = Field(
        description="whether the weights of the corrections were fitted, each on other deals; such an estimate is "
        "listed if its standard error is the smaller one"
    )
    mbb_per_game: float
    half_width_95: float | None = Field(description="half the 95 % interval over deals; null with too few deals")
    guaranteed_half_width: float | None = Field(
        default=None, description="half the guaranteed interval over deals; null with too few deals"
    )
    standard_error: float | None = Field(description="of mbb_per_game; null for fewer than two deals")
    hands: int
    deals: int = Field(description="the units of the interval")
    worth_raw_hands: float | None = Field(
        description="number of raw hands with the same standard error; null if it is 0 or unknown"
    )
    warning: Text | None = Field(
        default=None, description="reason for a possible bias; null if the estimate is unbiased"
    )

    @property
    def name(self) -> str:
        """Name of the estimator for people, with the known players."""
        name = self.estimator.value
        if self.known:
            name += f", {' and '.join(self.known)} known"
        if self.is_fitted:
            name += ", fitted"
        return name

    @property
    def factor(self) -> float | None:
        """Raw hands per hand that have the same standard error."""
        if self.worth_raw_hands is None or not self.hands:
            return None
        return self.worth_raw_hands / self.hands

    @property
    def cells(self) -> tuple[Value, ...]:
        """Cells of the table for people, without the player."""
        worth: Value = self.worth_raw_hands
        if worth is None:
            is_exact = self.standard_error == 0 or self.deals > 1
            worth = "any number" if is_exact else "too few"
        rate = Estimate(self.mbb_per_game, self.half_width_95, self.standard_error)
        return self.name, rate, self.deals, worth, self.factor


class PlayerEstimates(_Frozen):
    """Win rate of a player by all estimators that its hands allow."""

    player: Text
    estimates: list[WinRateEstimate]


class Omission(_Frozen):
    """An estimator that these hands do not allow."""

    estimator: str
    reason: Text


class GameEstimates(_Frozen):
    """Win rates of all players of one game."""

    game: str = Field(description="betting, number of players and blinds")
    hands: int
    deals: int
    players: list[PlayerEstimates]
    omitted: list[Omission]


class Estimates(_Frozen):
    """Output of ``arena luck --json``."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["estimates"] = "estimates"
    games: list[GameEstimates]


_COLUMNS: Final = (
    "player",
    Column("estimator", format=NAME),
    Column("mbb/g ± 95 %", "+,.1f"),
    Column("deals", ",", rank=3),
    Column("worth raw hands", ",.0f", rank=2),
    Column("times", ",.1f", rank=1),
)
_NOTE: Final = (
    "Worth raw hands is the number of raw hands with the same standard error, and times is its ratio to the hands "
    "played."
)


def estimates_document(estimates: Estimates) -> Document:
    """Build a document with a table for each game."""
    sections = []
    notes = []
    for game in estimates.games:
        is_heads_up = len(game.players) == 2
        # By all of these estimators, one of two players wins as much as the other loses.
        players = game.players[:1] if is_heads_up else game.players
        rows = []
        warnings = []
        for player in players:
            for index, estimate in enumerate(player.estimates):
                # The player is named in its first row only.
                name = player.player if index == 0 else ""
                rows.append((name, *estimate.cells))
                if estimate.warning is not None:
                    warnings.append(f"{player.player}, {estimate.name}: {estimate.warning}")
        sections.append(Section(game.game, (Table.of(game.game, _COLUMNS, rows, _NOTE),)))
        if is_heads_up:
            notes.append(f"{game.players[1].player}: the same with the other sign")
        notes += warnings
        notes += [f"{omission.estimator} not shown: {omission.reason}" for omission in game.omitted]
    return Document("Win rates", sections=tuple(sections), notes=tuple(notes), data=estimates)
