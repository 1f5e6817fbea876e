"""Win rates by several estimators, side by side: what `arena luck` shows and prints as JSON.

`SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

import enum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from engine.text import clean
from logs.document import NAME, Column, Document, Section, Table, Value
from logs.estimation import Estimate

SCHEMA_VERSION: Final = 1

Text: TypeAlias = Annotated[str, PlainSerializer(clean, return_type=str, when_used="json")]
"""Text of a model that may hold bytes that are no UTF-8, such as a name or a path; JSON has U+FFFD in their place."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Estimator(enum.StrEnum):
    """What a win rate is estimated by."""

    RAW = "raw"
    """The chips won in the first hand played of each deal."""
    DUPLICATE = "duplicate"
    """The mean over the seatings in which a deal was played."""
    ALL_IN = "all-in adjusted"
    """The same, with hands without further betting at their expectation."""
    CHANCE = "chance-corrected"
    """The same, less what the cards of each round brought beyond their expectation."""
    AIVAT = "AIVAT"
    """The same, less what the draws of players whose policy is known brought beyond their expectation."""
    RANGES = "AIVAT over ranges"
    """The same, at the mean over all cards that these players might have held."""


class WinRateEstimate(_Frozen):
    """A player's win rate by one estimator."""

    estimator: Estimator
    known: list[Text] = Field(description="the players whose policies were used, for AIVAT")
    is_fitted: bool = Field(description="whether the weights of the corrections were fitted, each on other deals")
    mbb_per_game: float
    half_width_95: float | None = Field(description="half the 95 % interval over deals; null with too few of them")
    standard_error: float | None = Field(description="of mbb_per_game; null for fewer than two deals")
    hands: int
    deals: int = Field(description="the units of the interval")
    worth_raw_hands: float | None = Field(
        description="how many raw hands have the same standard error; null where that is 0 or not known"
    )
    warning: Text | None = Field(default=None, description="why the estimate may be biased; null where it cannot be")

    @property
    def name(self) -> str:
        """The estimator in words."""
        known = f", {' and '.join(self.known)} known" if self.known else ""
        return f"{self.estimator.value}{known}{', fitted' * self.is_fitted}"

    @property
    def factor(self) -> float | None:
        """How many times fewer hands than raw ones have the same standard error."""
        if self.worth_raw_hands is None or not self.hands:
            return None
        return self.worth_raw_hands / self.hands

    @property
    def cells(self) -> tuple[Value, ...]:
        """For people, by the columns of the table."""
        worth: Value = self.worth_raw_hands
        if worth is None:
            worth = "any number" if self.standard_error == 0 or self.deals > 1 else "too few"
        rate = Estimate(self.mbb_per_game, self.half_width_95, self.standard_error)
        return self.name, rate, self.deals, worth, self.factor


class PlayerEstimates(_Frozen):
    """A player's win rate by all estimators that its hands allow."""

    player: Text
    estimates: list[WinRateEstimate]


class Omission(_Frozen):
    """An estimator that these hands do not allow."""

    estimator: str
    reason: Text


class GameEstimates(_Frozen):
    """All players of one game."""

    game: str = Field(description="its kind, players and blinds")
    hands: int
    deals: int
    players: list[PlayerEstimates]
    omitted: list[Omission]


class Estimates(_Frozen):
    """What ``arena luck --json`` prints."""

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
    "Worth raw hands: so many hands dealt one by one have the same standard error; times: that, over the hands played."
)


def estimates_document(found: Estimates) -> Document:
    """A table for each game."""
    sections = []
    notes = []
    for game in found.games:
        # Between two, what one wins the other loses, by all of these estimators.
        players = game.players[:1] if len(game.players) == 2 else game.players
        rows = [
            (player.player if not at else "", *one.cells)
            for player in players
            for at, one in enumerate(player.estimates)
        ]
        sections.append(Section(game.game, (Table.of(game.game, _COLUMNS, rows, _NOTE),)))
        if len(players) < len(game.players):
            notes.append(f"{game.players[1].player}: the same with the other sign")
        notes += [
            f"{player.player}, {one.name}: {one.warning}"
            for player in players
            for one in player.estimates
            if one.warning is not None
        ]
        notes += [f"not shown: {omission.estimator}: {omission.reason}" for omission in game.omitted]
    return Document("Win rates", sections=tuple(sections), notes=tuple(notes), data=found)
