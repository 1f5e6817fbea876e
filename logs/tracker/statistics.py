"""The statistics: what ``arena stats --json`` prints, and what tables and reports are made of.

Every division and every unit is here. `SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new
fields do not change it. `logs.tracker.definitions` defines each statistic.

No figure is ever "not a number": where it makes no sense (another game than hold'em) its field is null, and where too
little was seen to give it, its value is null and its `text` gives the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from engine import Category, Move
from engine.cards import STARTING_HANDS
from engine.holdem import POSITION_ORDER, SMALL_BLIND, position_names, round_names
from engine.text import clean
from logs.estimation import Bounds, Estimate, RunningMean
from logs.tracker.definitions import STYLES, classify
from logs.tracker.hand_counts import (
    FINAL_HANDS,
    POWERS,
    RIVER_HANDS,
    GameCounts,
    HandCounts,
    PlayerCounts,
    PlayerTotals,
    Sum,
    widest,
)
from logs.tracker.hand_facts import FREQUENCIES, MOVES, ROUNDS, Place

SCHEMA_VERSION: Final = 1

_Parts: TypeAlias = Sequence[tuple[GameCounts, NDArray[np.float64], NDArray[np.int64]]]
"""Sums and counters of one bot in some positions of some games."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_WINNINGS: Final = {
    "value": "the mean over hands",
    "half_width_95": "half the 95 % interval over deals; null with too few of them",
    "standard_error": "of value, over deals; null for fewer than two",
}
"""The fields of winnings in JSON; the units of an interval are deals: hands of the same cards are one."""

Winnings: TypeAlias = Annotated[
    Estimate,
    PlainSerializer(lambda won: dict(zip(_WINNINGS, (won.mean, won.half_width, won.error), strict=True))),
    BeforeValidator(lambda data: Estimate(*data.values()) if isinstance(data, dict) else data),
    WithJsonSchema(
        {
            "type": "object",
            "title": "Winnings",
            "properties": {name: {"type": ["number", "null"], "description": text} for name, text in _WINNINGS.items()},
            "required": list(_WINNINGS),
        }
    ),
]


class Frequency(_Frozen):
    """How often something was done, of the times it could be."""

    times: int
    chances: int

    @property
    def percent(self) -> float | None:
        """The rate; None without a chance."""
        if self.chances:
            return 100 * self.times / self.chances
        return None


class Factor(_Frozen):
    """Bets and raises over calls."""

    raises: int = Field(description="bets and raises")
    calls: int

    @property
    def value(self) -> float | None:
        """The quotient; None without a call."""
        if self.calls:
            return self.raises / self.calls
        return None


class AllInAdjusted(_Frozen):
    """Winnings with all-in hands at their expectation."""

    mbb_per_game: Winnings
    bb_per_100: Winnings
    hands: int = Field(description="all-in showdowns of the bot that count at their expectation")
    luck_chips: float = Field(description="what these hands brought beyond their expectation, in all")


class StreetStatistics(_Frozen):
    """What a bot did in one betting round."""

    street: str = Field(description="preflop, flop, turn, river; 'round 1' and so on in other games")
    seen: int = Field(description="hands in which it had not folded when the cards of the street were dealt")
    folds: int
    checks: int = Field(description="calls that added no chips")
    calls: int
    bets: int = Field(description="first raises of a street without blinds")
    raises: int

    @property
    def aggression_factor(self) -> Factor:
        """AF of the street."""
        return Factor(raises=self.bets + self.raises, calls=self.calls)

    @property
    def aggression_frequency(self) -> Frequency:
        """AFq of the street."""
        raises = self.bets + self.raises
        return Frequency(times=raises, chances=raises + self.calls + self.folds)


class PlayStatistics(_Frozen):
    """How a bot played, in all hands or those of one position; null is what games other than hold'em lack."""

    hands: int
    deals: int = Field(description="different deals among these hands")
    net_chips: float
    mbb_per_game: Winnings
    bb_per_100: Winnings
    adjusted: AllInAdjusted | None
    vpip: Frequency | None
    pfr: Frequency | None
    three_bet: Frequency | None
    four_bet: Frequency | None
    squeeze: Frequency | None
    cold_call: Frequency | None
    steal: Frequency | None
    fold_to_steal: Frequency | None
    continuation_bet: Frequency | None = Field(description="on the flop")
    fold_to_continuation_bet: Frequency | None = Field(description="on the flop")
    turn_continuation_bet: Frequency | None
    fold_to_turn_continuation_bet: Frequency | None
    check_raise: Frequency | None
    donk_bet: Frequency | None
    aggression_factor: Factor | None
    aggression_frequency: Frequency | None
    won_when_saw_flop: Frequency | None
    went_to_showdown: Frequency | None
    won_at_showdown: Frequency
    showdown: float | None = Field(description="mbb per hand dealt, from hands with a showdown the bot was in")
    no_showdown: float | None = Field(description="mbb per hand dealt, from all others")
    streets: list[StreetStatistics]


class PositionStatistics(PlayStatistics):
    """A bot in one position."""

    position: str = Field(description="SB, BB, UTG, ..., HJ, CO, BTN; '1st' and so on in other games")


class StartingHand(_Frozen):
    """A class of hole cards."""

    hand: str = Field(description="AA, AKs, AKo, ...")
    hands: int
    won: Frequency = Field(description="how often part of the pot was won")
    net_chips: float
    mbb_per_game: float = Field(description="per time it was dealt")


class FinalHand(_Frozen):
    """A category of hands at the end."""

    category: str = Field(description="high card to straight flush, of all seven cards")
    showdowns: int = Field(description="showdowns with it")
    showdowns_won: int
    showdown_net_chips: float
    rivers: int = Field(description="hands in which the bot held it on the river, shown or not")
    rivers_won: int
    river_net_chips: float


class Style(_Frozen):
    """What the play is called; see `logs.tracker.definitions`."""

    name: str | None = Field(description="fish, telephone, ..., shark; null where too little was seen")
    place: int | None = Field(description="of twelve: 1 for the worst of the classes, 12 for the best")
    explanation: str = Field(description="the thresholds that decided, or what is missing")


class Timing(_Frozen):
    """How long a bot's answers took."""

    actions: int = Field(description="actions with a time")
    mean_ms: float
    longest_ms: float
    total_s: float


class CurvePoint(_Frozen):
    """The winnings up to a hand, in big blinds."""

    hands: int
    net: float
    showdown: float
    no_showdown: float
    adjusted: float | None = Field(description="all-in hands at their expectation; null without any")
    half_width_95: float | None = Field(description="of net, over deals; null with too few of them")


class BotStatistics(PlayStatistics):
    """How a bot played."""

    name: Annotated[str, PlainSerializer(clean, return_type=str, when_used="json")]
    vpip_small_blind: Frequency | None
    style: Style | None
    timing: Timing | None = Field(description="null without times")
    comments: int
    positions: list[PositionStatistics] = Field(description="from the small blind to the button")
    starting_hands: list[StartingHand] = Field(description="all that were dealt, the most profitable first")
    final_hands: list[FinalHand] = Field(description="all that came, the weakest first")
    curve: list[CurvePoint] = Field(description="at most 1001 points, the last one after all hands")


class Statistics(_Frozen):
    """How each bot played: what ``arena stats --json`` prints."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["statistics"] = "statistics"
    hands: int
    bots: list[BotStatistics] = Field(description="the one that won most per hand first")


def statistics_of(counts: HandCounts) -> Statistics:
    """The statistics of all that was counted; counting may continue afterwards."""
    bots = [_bot(name, player, list(counts.by_game(name))) for name, player in counts.players.items()]
    bots.sort(key=lambda bot: -bot.mbb_per_game.mean)
    return Statistics(hands=counts.hands, bots=bots)


def _bot(name: str, player: PlayerTotals, games: Sequence[tuple[GameCounts, PlayerCounts]]) -> BotStatistics:
    parts = [
        (place, (game, sums, betting))
        for game, counts in games
        for place, sums, betting in zip(position_names(game.game), counts.sums, counts.betting, strict=True)
        if sums[Sum.HANDS]
    ]
    by_position = {
        place: _play([part for other, part in parts if other == place])
        for place in sorted({place for place, _ in parts}, key=POSITION_ORDER.index)
    }
    whole = _play([part for _, part in parts], player.sums)
    small_blind = by_position.get(SMALL_BLIND)
    vpip_small_blind = Frequency(times=0, chances=0) if small_blind is None else small_blind.vpip
    bounds = _bounds([game for game, _ in games])
    actions, used_us, comments = player.answers.tolist()
    return BotStatistics(
        **dict(whole),
        name=name,
        vpip_small_blind=None if whole.vpip is None else vpip_small_blind,
        style=_style(whole),
        timing=Timing(
            actions=actions,
            mean_ms=used_us / actions / 1000,
            longest_ms=player.longest_us / 1000,
            total_s=used_us / 1e6,
        )
        if actions
        else None,
        comments=comments,
        positions=[PositionStatistics(**dict(play), position=place) for place, play in by_position.items()],
        starting_hands=_starting_hands(games),
        final_hands=_final_hands([counts for _, counts in games]),
        curve=[_point(sums, whole, bounds) for sums in player.curve],
    )


def _play(parts: _Parts, sums: NDArray[np.float64] | None = None) -> PlayStatistics:
    """The statistics of one bot from its counters in some positions of some games; without `sums` in big blinds, these
    are added up with the deals of each part for themselves.
    """
    if sums is None:
        sums = np.sum([row / float(game.game.big_blind) ** POWERS for game, row, _ in parts], axis=0)
    streets: dict[str, NDArray[np.int64]] = {}
    for game, _, betting in parts:
        for round_, street in enumerate(round_names(game.game)):
            actions = Place.ACTIONS + MOVES * round_
            seen = betting[Place.LAST_SEEN + round_ : Place.LAST_SEEN + ROUNDS].sum()
            streets[street] = streets.get(street, 0) + np.append(seen, betting[actions : actions + MOVES])
    bounds = _bounds([game for game, *_ in parts])
    hands, net, showdown = sums[[Sum.HANDS, Sum.NET, Sum.SHOWDOWN]].tolist()
    chips = np.sum([row for _, row, _ in parts], axis=0)
    won, adjusted = (_winnings(sums, place, bounds) for place in (Sum.NET, Sum.EXPECTED))
    return PlayStatistics(
        hands=hands,
        deals=sums[Sum.DEALS],
        net_chips=chips[Sum.NET],
        mbb_per_game=won,
        bb_per_100=won.times(0.1),
        adjusted=AllInAdjusted(
            mbb_per_game=adjusted,
            bb_per_100=adjusted.times(0.1),
            hands=sums[Sum.ADJUSTED_HANDS],
            luck_chips=chips[Sum.NET] - chips[Sum.EXPECTED],
        )
        if any(game.has_expectations for game, *_ in parts)
        else None,
        **_holdem_figures([(row, betting) for game, row, betting in parts if game.is_holdem]),
        won_at_showdown=Frequency(
            times=sums[Sum.SHOWDOWNS_WON], chances=int(sum(betting[Place.SHOWDOWNS] for *_, betting in parts))
        ),
        showdown=1000 * showdown / hands if hands else None,
        no_showdown=1000 * (net - showdown) / hands if hands else None,
        streets=[
            StreetStatistics(
                street=street,
                seen=seen,
                folds=kinds[Move.FOLD],
                checks=kinds[Move.CHECK],
                calls=kinds[Move.CALL],
                bets=kinds[Move.BET],
                raises=kinds[Move.RAISE],
            )
            for street, counted in streets.items()
            for seen, *kinds in [counted.tolist()]
        ],
    )


def _holdem_figures(parts: Sequence[tuple[NDArray[np.float64], NDArray[np.int64]]]) -> dict[str, Any]:
    """The statistics that only hold'em has; empty ones without a hand of it."""
    if not parts:
        others = ("aggression_factor", "aggression_frequency", "won_when_saw_flop", "went_to_showdown")
        return dict.fromkeys((*FREQUENCIES, *others))
    row = np.sum([betting for _, betting in parts], axis=0).tolist()
    calls, folds, bets, raises = (
        sum(row[Place.ACTIONS + MOVES + kind :: MOVES]) for kind in (Move.CALL, Move.FOLD, Move.BET, Move.RAISE)
    )
    flops = sum(row[Place.LAST_SEEN + 1 : Place.LAST_SEEN + ROUNDS])
    flops_won = row[Place.WON_AFTER_FLOP] + sum(sums[Sum.FLOPS_WON] for sums, _ in parts)
    return {
        **{key: Frequency(times=row[2 * i + 1], chances=row[2 * i]) for i, key in enumerate(FREQUENCIES)},
        "aggression_factor": Factor(raises=bets + raises, calls=calls),
        "aggression_frequency": Frequency(times=bets + raises, chances=bets + raises + calls + folds),
        "won_when_saw_flop": Frequency(times=flops_won, chances=flops),
        "went_to_showdown": Frequency(times=row[Place.SHOWDOWNS], chances=flops),
    }


def _winnings(sums: NDArray[np.float64], place: int, bounds: Bounds | None) -> Estimate:
    """The mean over hands; `place` is that of the first of three sums.

    The mean is a ratio of two sums over deals, winnings and hands. Its interval is that of the linearised scores of
    such a ratio (Cochran 1977, "Sampling Techniques", chapter 6): where all deals have the same number of hands, of the
    means of the deals.
    """
    hands, deals, sizes = sums[: Sum.SIZES + 1].tolist()
    net, products, squares = (sums[place : place + 3] * (1000, 1000, 1e6)).tolist()
    mean = net / hands
    spread = (squares - 2 * mean * products + mean * mean * sizes) * (deals / hands) ** 2
    return RunningMean.from_moments(int(deals), mean, spread, bounds).estimate


def _style(play: PlayStatistics) -> Style | None:
    if play.vpip is None or play.pfr is None or play.aggression_factor is None:
        return None
    factor = play.aggression_factor
    found, explanation = classify(play.hands, play.vpip.percent, play.pfr.percent, factor.raises, factor.calls)
    return Style(
        name=found,
        place=None if found is None else 1 + list(STYLES.values()).index(found),
        explanation=explanation,
    )


def _starting_hands(games: Sequence[tuple[GameCounts, PlayerCounts]]) -> list[StartingHand]:
    found: list[StartingHand] = []
    for index, name in reversed(list(enumerate(STARTING_HANDS))):
        dealt, won, net = np.sum([player.cards[index] for _, player in games], axis=0).tolist()
        if dealt:
            blinds = sum(player.cards[index, 2] / game.game.big_blind for game, player in games)
            found.append(
                StartingHand(
                    hand=name,
                    hands=dealt,
                    won=Frequency(times=won, chances=dealt),
                    net_chips=net,
                    mbb_per_game=1000 * blinds / dealt,
                )
            )
    return sorted(found, key=lambda hand: -hand.net_chips)


def _final_hands(players: Sequence[PlayerCounts]) -> list[FinalHand]:
    found: list[FinalHand] = []
    for category in Category:
        shown, held = (
            np.sum([player.cards[at + category] for player in players], axis=0) for at in (FINAL_HANDS, RIVER_HANDS)
        )
        if held[0]:
            found.append(
                FinalHand(
                    category=category.name.replace("_", " ").lower(),
                    showdowns=shown[0],
                    showdowns_won=shown[1],
                    showdown_net_chips=shown[2],
                    rivers=held[0],
                    rivers_won=held[1],
                    river_net_chips=held[2],
                )
            )
    return found


def _bounds(games: Sequence[GameCounts]) -> Bounds | None:
    if games:
        return widest([game.bounds for game in games])
    return None


def _point(sums: NDArray[np.float64], play: PlayStatistics, bounds: Bounds | None) -> CurvePoint:
    hands, net, showdown, expected = sums[[Sum.HANDS, Sum.NET, Sum.SHOWDOWN, Sum.EXPECTED]].tolist()
    return CurvePoint(
        hands=hands,
        net=net,
        showdown=showdown,
        no_showdown=net - showdown,
        adjusted=None if play.adjusted is None else expected,
        half_width_95=_winnings(sums, Sum.NET, bounds).times(hands / 1000).half_width,
    )
