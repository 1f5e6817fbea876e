"""The statistics as data: what JSON files hold and what tables and reports are made of.

`SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new fields do not change it. What a figure
means stands in `logs.tracker.definitions`.

Nothing here is ever "not a number": where a figure makes no sense (another game than hold'em) its field is null, and
where too little was seen to tell it, its value is null and its `text` says so.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from logs.estimation.mean import FEWEST_UNITS

__all__ = [
    "BEST_HANDS",
    "SCHEMA_VERSION",
    "AllInAdjusted",
    "BotStatistics",
    "CurvePoint",
    "Factor",
    "FinalHand",
    "PlayFigures",
    "PositionStatistics",
    "Rate",
    "StartingHand",
    "Statistics",
    "StreetStatistics",
    "Style",
    "Timing",
    "Winnings",
]

SCHEMA_VERSION = 1
BEST_HANDS: Final = 20


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Winnings(_Frozen):
    """A mean over hands with its interval."""

    value: float | None = Field(description="null without hands")
    half_width_95: float | None = Field(description="half the normal 95 % interval over hands; null below 100 hands")

    @property
    def text(self) -> str:
        """For people: ``+12.3 ± 4.5``."""
        if self.value is None:
            return "no hands"
        if self.half_width_95 is None:
            return f"{self.value:+,.1f} (± from {FEWEST_UNITS} hands on)"
        return f"{self.value:+,.1f} ± {self.half_width_95:,.1f}"


class Rate(_Frozen):
    """How often something was done where it could be."""

    times: int
    chances: int

    @property
    def percent(self) -> float | None:
        """The rate; None without a chance."""
        return 100 * self.times / self.chances if self.chances else None

    @property
    def text(self) -> str:
        """For people: ``23.4 %``."""
        percent = self.percent
        return "no chance" if percent is None else f"{percent:.1f} %"


class Factor(_Frozen):
    """Bets and raises over calls."""

    raises: int = Field(description="bets and raises")
    calls: int

    @property
    def value(self) -> float | None:
        """The quotient; None without a call."""
        return self.raises / self.calls if self.calls else None

    @property
    def text(self) -> str:
        """For people: ``1.34``."""
        if self.calls:
            return f"{self.raises / self.calls:.2f}"
        return f"no calls, {self.raises:,} bets and raises" if self.raises else "no bets, raises or calls"


class AllInAdjusted(_Frozen):
    """Winnings with all-in hands at their expectation."""

    mbb_per_game: Winnings
    bb_per_100: Winnings
    hands: int = Field(description="all-in showdowns the bot was in that count at their expectation")
    luck_chips: float = Field(description="what these hands brought beyond their expectation, in all")

    @property
    def text(self) -> str:
        """For people."""
        return self.mbb_per_game.text


class StreetStatistics(_Frozen):
    """What a bot did in one betting round."""

    street: str = Field(description="preflop, flop, turn, river; 'round 1' and so on in other games")
    seen: int = Field(description="hands in which it had not folded when the cards of the street were dealt")
    folds: int
    checks: int = Field(description="calls that added no chips")
    calls: int
    bets: int = Field(description="first raises of a street in which no blind lies")
    raises: int

    @property
    def aggression_factor(self) -> Factor:
        """AF of the street."""
        return Factor(raises=self.bets + self.raises, calls=self.calls)

    @property
    def aggression_frequency(self) -> Rate:
        """AFq of the street."""
        raises = self.bets + self.raises
        return Rate(times=raises, chances=raises + self.calls + self.folds)


class PlayFigures(_Frozen):
    """How a bot played, over all hands or those of one position; null is what another game than hold'em lacks."""

    hands: int
    net_chips: float
    mbb_per_game: Winnings
    bb_per_100: Winnings
    adjusted: AllInAdjusted | None
    vpip: Rate | None
    pfr: Rate | None
    three_bet: Rate | None
    aggression_factor: Factor | None
    aggression_frequency: Rate | None
    won_when_saw_flop: Rate | None
    went_to_showdown: Rate | None
    won_at_showdown: Rate
    showdown: float | None = Field(description="mbb per hand dealt, from hands with a showdown the bot was in")
    no_showdown: float | None = Field(description="mbb per hand dealt, from all others")
    streets: list[StreetStatistics]


class PositionStatistics(PlayFigures):
    """A bot in one position."""

    position: str = Field(description="SB, BB, UTG, ..., HJ, CO, BTN; '1st' and so on in other games")


class StartingHand(_Frozen):
    """A class of hole cards."""

    hand: str = Field(description="AA, AKs, AKo, ...")
    hands: int
    won: Rate = Field(description="how often part of the pot was won")
    net_chips: float
    mbb_per_game: float = Field(description="per time it was dealt")


class FinalHand(_Frozen):
    """A category of hands at the end."""

    category: str = Field(description="high card to straight flush, of all seven cards")
    showdowns: int = Field(description="showdowns to which it was brought")
    showdowns_won: int
    showdown_net_chips: float
    rivers: int = Field(description="hands in which the bot held it on the river, shown or not")
    rivers_won: int
    river_net_chips: float


class Style(_Frozen):
    """What the play is called; see `logs.tracker.style`."""

    name: str | None = Field(description="fish, telephone, ..., shark; null where too little was seen")
    place: int | None = Field(description="of twelve: 1 for the worst of the classes, 12 for the best")
    explanation: str = Field(description="the thresholds that decided, or what is missing")

    @property
    def text(self) -> str:
        """For people."""
        return self.name or self.explanation


class Timing(_Frozen):
    """How long a bot took."""

    actions: int = Field(description="whose time is known")
    mean_ms: float
    longest_ms: float
    total_s: float

    @property
    def text(self) -> str:
        """For people: milliseconds."""
        return f"{self.mean_ms:,.3g}"


class CurvePoint(_Frozen):
    """The winnings up to a hand, in big blinds."""

    hands: int
    net: float
    showdown: float
    no_showdown: float
    adjusted: float | None = Field(description="all-in hands at their expectation; null where none is known")
    half_width_95: float | None = Field(description="of net; null below 100 hands")


class BotStatistics(PlayFigures):
    """How a bot played."""

    name: str
    vpip_small_blind: Rate | None
    style: Style | None
    timing: Timing | None = Field(description="null where no times are known")
    comments: int
    positions: list[PositionStatistics] = Field(description="from the small blind to the button")
    starting_hands: list[StartingHand] = Field(description="all that were dealt, the most profitable first")
    final_hands: list[FinalHand] = Field(description="all that came, the weakest first")
    curve: list[CurvePoint] = Field(description="a thousand points at most, the last one after all hands")

    @property
    def best_starting_hands(self) -> list[StartingHand]:
        """The most profitable ones."""
        return self.starting_hands[:BEST_HANDS]


class Statistics(_Frozen):
    """How each bot played: what ``arena stats --json`` prints."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["statistics"] = "statistics"
    hands: int
    bots: list[BotStatistics] = Field(description="who won most per hand first")
