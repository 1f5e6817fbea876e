"""Figures of the statistics as a model, the output of ``arena stats --json``.

`SCHEMA_VERSION` is raised when a field changes its meaning or disappears; new fields do not change it.
`logs.tracker.definitions` defines each statistic. No figure is ever "not a number": a field is null in games in which
it has no meaning, and its value is null where there is too little to compute it.
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

SCHEMA_VERSION: Final = 2

_Parts: TypeAlias = Sequence[tuple[GameCounts, NDArray[np.float64], NDArray[np.int64]]]
"""Game, sums and counters of one bot in one position of one game."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_WINNINGS: Final = {
    "value": "the mean over hands",
    "half_width_95": "half the 95 % interval over deals; null with too few of them",
    "standard_error": "of value, over deals; null for fewer than two",
    "guaranteed_half_width": "half the guaranteed interval over deals; null with too few of them",
}
"""Fields of winnings in JSON."""

Winnings: TypeAlias = Annotated[
    Estimate,
    PlainSerializer(
        lambda won: dict(zip(_WINNINGS, (won.mean, won.half_width, won.error, won.guaranteed_half_width), strict=True))
    ),
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
    """Times that something was done, and chances to do it."""

    times: int
    chances: int

    @property
    def percent(self) -> float | None:
        """Rate in per cent; None without a chance."""
        if self.chances:
            return 100 * self.times / self.chances
        return None


class Factor(_Frozen):
    """Bets and raises over calls."""

    raises: int = Field(description="bets and raises")
    calls: int

    @property
    def value(self) -> float | None:
        """Raises by calls; None without a call."""
        if self.calls:
            return self.raises / self.calls
        return None


class AllInAdjusted(_Frozen):
    """Winnings with all-in hands at their expectation."""

    mbb_per_game: Winnings
    bb_per_100: Winnings
    hands: int = Field(description="all-in showdowns of the bot that count at their expectation")
    luck_chips: float = Field(description="total winnings of these hands above their expectation")


class StreetStatistics(_Frozen):
    """Actions of a bot in one betting round."""

    street: str = Field(description="preflop, flop, turn, river; 'round 1' and so on in other games")
    seen: int = Field(description="hands in which it had not folded when the cards of the street were dealt")
    folds: int
    checks: int = Field(description="calls that added no chips")
    calls: int
    bets: int = Field(description="first raises of a street without blinds")
    raises: int

    @property
    def aggression_factor(self) -> Factor:
        return Factor(raises=self.bets + self.raises, calls=self.calls)

    @property
    def aggression_frequency(self) -> Frequency:
        raises = self.bets + self.raises
        return Frequency(times=raises, chances=raises + self.calls + self.folds)


class PlayStatistics(_Frozen):
    """Statistics of a bot, over all hands or one position; null in games without such a figure."""

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
    """Statistics of a bot in one position."""

    position: str = Field(description="SB, BB, UTG, ..., HJ, CO, BTN; '1st' and so on in other games")


class StartingHand(_Frozen):
    """Results of a bot with a class of hole cards."""

    hand: str = Field(description="AA, AKs, AKo, ...")
    hands: int
    won: Frequency = Field(description="number of hands in which part of the pot was won")
    net_chips: float
    mbb_per_game: float = Field(description="per time it was dealt")


class FinalHand(_Frozen):
    """Results of a bot with a category of hands at the end."""

    category: str = Field(description="high card to straight flush, of all seven cards")
    showdowns: int = Field(description="showdowns with it")
    showdowns_won: int
    showdown_net_chips: float
    rivers: int = Field(description="hands in which the bot held it on the river, shown or not")
    rivers_won: int
    river_net_chips: float


class Style(_Frozen):
    """Class of a bot's play; see `logs.tracker.definitions`."""

    name: str | None = Field(description="fish, telephone, ..., shark; null with too few hands")
    place: int | None = Field(description="of twelve: 1 for the worst of the classes, 12 for the best")
    explanation: str = Field(description="deciding thresholds, or the missing condition")


class Timing(_Frozen):
    """Time that a bot's answers took."""

    actions: int = Field(description="actions with a time")
    mean_ms: float
    longest_ms: float
    total_s: float


class CurvePoint(_Frozen):
    """Winnings up to a hand, in big blinds."""

    hands: int
    net: float
    showdown: float
    no_showdown: float
    adjusted: float | None = Field(description="all-in hands at their expectation; null without any")
    half_width_95: float | None = Field(description="of net, over deals; null with too few of them")
    guaranteed_half_width: float | None = Field(description="of net, over deals; null with too few of them")


class BotStatistics(PlayStatistics):
    """Statistics of a bot."""

    name: Annotated[str, PlainSerializer(clean, return_type=str, when_used="json")]
    vpip_small_blind: Frequency | None
    style: Style | None
    timing: Timing | None = Field(description="null without times")
    comments: int
    positions: list[PositionStatistics] = Field(description="from the small blind to the button")
    starting_hands: list[StartingHand] = Field(description="all hands that were dealt, the most profitable first")
    final_hands: list[FinalHand] = Field(description="all hands that came up, the weakest first")
    curve: list[CurvePoint] = Field(description="at most 1001 points, the last one after all hands")


class Statistics(_Frozen):
    """Statistics of all bots: the output of ``arena stats --json``."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["statistics"] = "statistics"
    hands: int
    bots: list[BotStatistics] = Field(description="the most profitable per hand first")


def statistics_of(counts: HandCounts) -> Statistics:
    """Compute the statistics of all hands counted; more can be counted later."""
    bots = [_bot(name, player, list(counts.by_game(name))) for name, player in counts.players.items()]
    bots.sort(key=lambda bot: -bot.mbb_per_game.mean)
    return Statistics(hands=counts.hands, bots=bots)


def _bot(name: str, player: PlayerTotals, games: Sequence[tuple[GameCounts, PlayerCounts]]) -> BotStatistics:
    parts = []
    parts_by_position: dict[str, list[tuple[GameCounts, NDArray[np.float64], NDArray[np.int64]]]] = {}
    for game, counts in games:
        for position, sums, betting in zip(position_names(game.game), counts.sums, counts.betting, strict=True):
            if sums[Sum.HANDS]:
                part = (game, sums, betting)
                parts.append(part)
                parts_by_position.setdefault(position, []).append(part)
    by_position = {}
    for position in sorted(parts_by_position, key=POSITION_ORDER.index):
        by_position[position] = _play(parts_by_position[position])
    whole = _play(parts, player.sums)
    vpip_small_blind = None
    if whole.vpip is not None:
        small_blind = by_position.get(SMALL_BLIND)
        vpip_small_blind = Frequency(times=0, chances=0) if small_blind is None else small_blind.vpip
    bounds = _bounds([game for game, _ in games])
    *_, comments = player.answers.tolist()
    return BotStatistics(
        **dict(whole),
        name=name,
        vpip_small_blind=vpip_small_blind,
        style=_style(whole),
        timing=_timing(player),
        comments=comments,
        positions=[PositionStatistics(**dict(play), position=position) for position, play in by_position.items()],
        starting_hands=_starting_hands(games),
        final_hands=_final_hands([counts for _, counts in games]),
        curve=[_point(sums, whole, bounds) for sums in player.curve],
    )


def _timing(player: PlayerTotals) -> Timing | None:
    actions, used_us, _ = player.answers.tolist()
    if not actions:
        return None
    return Timing(
        actions=actions,
        mean_ms=used_us / actions / 1000,
        longest_ms=player.longest_us / 1000,
        total_s=used_us / 1e6,
    )


def _play(parts: _Parts, sums: NDArray[np.float64] | None = None) -> PlayStatistics:
    """Compute the statistics of one bot in some positions of some games.

    Args:
        sums: sums over all parts in big blinds. By default those of the parts are added up, where hands of one deal in
            several parts count as several deals.
    """
    if sums is None:
        sums = np.sum([part_sums / float(game.game.big_blind) ** POWERS for game, part_sums, _ in parts], axis=0)
    # In chips, which differ from `sums` if the games have different blinds.
    chips = np.sum([part_sums for _, part_sums, _ in parts], axis=0)
    bounds = _bounds([game for game, *_ in parts])
    hands, net, showdown = sums[[Sum.HANDS, Sum.NET, Sum.SHOWDOWN]].tolist()
    winnings = _winnings(sums, Sum.NET, bounds)
    adjusted = None
    if any(game.has_expectations for game, *_ in parts):
        adjusted_winnings = _winnings(sums, Sum.EXPECTED, bounds)
        adjusted = AllInAdjusted(
            mbb_per_game=adjusted_winnings,
            bb_per_100=adjusted_winnings.times(0.1),
            hands=sums[Sum.ADJUSTED_HANDS],
            luck_chips=chips[Sum.NET] - chips[Sum.EXPECTED],
        )
    showdowns = int(sum(betting[Place.SHOWDOWNS] for *_, betting in parts))
    return PlayStatistics(
        hands=hands,
        deals=sums[Sum.DEALS],
        net_chips=chips[Sum.NET],
        mbb_per_game=winnings,
        bb_per_100=winnings.times(0.1),
        adjusted=adjusted,
        **_holdem_figures([(part_sums, betting) for game, part_sums, betting in parts if game.is_holdem]),
        won_at_showdown=Frequency(times=sums[Sum.SHOWDOWNS_WON], chances=showdowns),
        showdown=1000 * showdown / hands if hands else None,
        no_showdown=1000 * (net - showdown) / hands if hands else None,
        streets=_streets(parts),
    )


def _streets(parts: _Parts) -> list[StreetStatistics]:
    # By name of the street: hands in which it was seen, then actions by `Move`.
    counts: dict[str, NDArray[np.int64]] = {}
    for game, _, betting in parts:
        for round_, street in enumerate(round_names(game.game)):
            # A street was seen in hands of which it or a later one was the last one seen.
            seen = betting[Place.LAST_SEEN + round_ : Place.LAST_SEEN + ROUNDS].sum()
            first_action = Place.ACTIONS + MOVES * round_
            round_counts = np.append(seen, betting[first_action : first_action + MOVES])
            counts[street] = counts.get(street, 0) + round_counts
    streets = []
    for street, street_counts in counts.items():
        seen, *actions = street_counts.tolist()
        streets.append(
            StreetStatistics(
                street=street,
                seen=seen,
                folds=actions[Move.FOLD],
                checks=actions[Move.CHECK],
                calls=actions[Move.CALL],
                bets=actions[Move.BET],
                raises=actions[Move.RAISE],
            )
        )
    return streets


def _holdem_figures(parts: Sequence[tuple[NDArray[np.float64], NDArray[np.int64]]]) -> dict[str, Any]:
    """Return the fields that only hold'em has, from sums and counters; all None without a hand of it."""
    if not parts:
        further_fields = ("aggression_factor", "aggression_frequency", "won_when_saw_flop", "went_to_showdown")
        return dict.fromkeys((*FREQUENCIES, *further_fields))
    row = np.sum([betting for _, betting in parts], axis=0).tolist()
    frequencies = {}
    for index, key in enumerate(FREQUENCIES):
        chances, times = row[2 * index : 2 * index + 2]
        frequencies[key] = Frequency(times=times, chances=chances)
    # Sums over the rounds after the first one.
    later_actions = row[Place.ACTIONS + MOVES :]
    calls = sum(later_actions[Move.CALL :: MOVES])
    folds = sum(later_actions[Move.FOLD :: MOVES])
    raises = sum(later_actions[Move.BET :: MOVES]) + sum(later_actions[Move.RAISE :: MOVES])
    flops = sum(row[Place.LAST_SEEN + 1 : Place.LAST_SEEN + ROUNDS])
    flops_won = row[Place.WON_AFTER_FLOP] + sum(sums[Sum.FLOPS_WON] for sums, _ in parts)
    return {
        **frequencies,
        "aggression_factor": Factor(raises=raises, calls=calls),
        "aggression_frequency": Frequency(times=raises, chances=raises + calls + folds),
        "won_when_saw_flop": Frequency(times=flops_won, chances=flops),
        "went_to_showdown": Frequency(times=row[Place.SHOWDOWNS], chances=flops),
    }


def _winnings(sums: NDArray[np.float64], place: int, bounds: Bounds | None) -> Estimate:
    """Estimate the mean winnings over hands, in mbb.

    Args:
        sums: in big blinds.
        place: the first of the six sums of the winnings.
    """
    hands, deals, sizes, cubed_sizes = sums[: Sum.CUBED_SIZES + 1].tolist()
    net, products, squares, size_products, square_products, cubes = (
        sums[place : place + 6] * (1e3, 1e3, 1e6, 1e3, 1e6, 1e9)
    ).tolist()
    # The mean is a ratio of two sums over deals, of winnings and of hands. Its variance is that of the linearised score
    # of a deal, winnings - mean * hands, times deals / hands (Cochran 1977, "Sampling Techniques", chapter 6). If all
    # deals have equally many hands, that is the variance of the means of the deals.
    mean = net / hands
    scale = deals / hands
    score_squares = (squares - 2 * mean * products + mean**2 * sizes) * scale**2
    score_cubes = (cubes - 3 * mean * square_products + 3 * mean**2 * size_products - mean**3 * cubed_sizes) * scale**3
    return RunningMean.from_moments(int(deals), mean, score_squares, score_cubes, bounds).estimate


def _style(play: PlayStatistics) -> Style | None:
    if play.vpip is None or play.pfr is None or play.aggression_factor is None:
        return None
    factor = play.aggression_factor
    name, explanation = classify(play.hands, play.vpip.percent, play.pfr.percent, factor.raises, factor.calls)
    place = None if name is None else 1 + list(STYLES.values()).index(name)
    return Style(name=name, place=place, explanation=explanation)


def _starting_hands(games: Sequence[tuple[GameCounts, PlayerCounts]]) -> list[StartingHand]:
    starting_hands: list[StartingHand] = []
    for index, name in reversed(list(enumerate(STARTING_HANDS))):
        dealt, won, net = np.sum([player.cards[index] for _, player in games], axis=0).tolist()
        if not dealt:
            continue
        net_blinds = sum(player.cards[index, 2] / game.game.big_blind for game, player in games)
        starting_hands.append(
            StartingHand(
                hand=name,
                hands=dealt,
                won=Frequency(times=won, chances=dealt),
                net_chips=net,
                mbb_per_game=1000 * net_blinds / dealt,
            )
        )
    return sorted(starting_hands, key=lambda hand: -hand.net_chips)


def _final_hands(players: Sequence[PlayerCounts]) -> list[FinalHand]:
    final_hands: list[FinalHand] = []
    for category in Category:
        showdowns, showdowns_won, showdown_net = np.sum(
            [player.cards[FINAL_HANDS + category] for player in players], axis=0
        )
        rivers, rivers_won, river_net = np.sum([player.cards[RIVER_HANDS + category] for player in players], axis=0)
        if not rivers:
            continue
        final_hands.append(
            FinalHand(
                category=category.name.replace("_", " ").lower(),
                showdowns=showdowns,
                showdowns_won=showdowns_won,
                showdown_net_chips=showdown_net,
                rivers=rivers,
                rivers_won=rivers_won,
                river_net_chips=river_net,
            )
        )
    return final_hands


def _bounds(games: Sequence[GameCounts]) -> Bounds | None:
    if games:
        return widest([game.bounds for game in games])
    return None


def _point(sums: NDArray[np.float64], play: PlayStatistics, bounds: Bounds | None) -> CurvePoint:
    hands, net, showdown, expected = sums[[Sum.HANDS, Sum.NET, Sum.SHOWDOWN, Sum.EXPECTED]].tolist()
    interval = _winnings(sums, Sum.NET, bounds).times(hands / 1000)
    return CurvePoint(
        hands=hands,
        net=net,
        showdown=showdown,
        no_showdown=net - showdown,
        adjusted=None if play.adjusted is None else expected,
        half_width_95=interval.half_width,
        guaranteed_half_width=interval.guaranteed_half_width,
    )
