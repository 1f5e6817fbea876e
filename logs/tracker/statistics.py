"""The statistics: what ``arena stats --json`` prints, and what tables and reports are made of.

Every division and every unit is here. `SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new
fields do not change it. `logs.tracker.definitions` defines each statistic.

No figure is ever "not a number": where it makes no sense (another game than hold'em) its field is null, and where too
little was seen to give it, its value is null and its `text` gives the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from engine import Category, Move
from engine.cards import STARTING_HANDS
from engine.holdem import POSITION_ORDER, SMALL_BLIND, position_names, round_names
from logs.document import ABSENT
from logs.estimation import Bounds
from logs.estimation.mean import signed
from logs.tracker.definitions import CLASSES as STYLES
from logs.tracker.definitions import classify
from logs.tracker.hand_counts import GameCounts, HandCounts, widest
from logs.tracker.hand_facts import FREQUENCIES, MOVES, ROUNDS, Place
from logs.tracker.player_counts import (
    NO_PAIRS,
    CardCounts,
    DealMoments,
    PlayerCounts,
    PositionCounts,
    Sums,
    added_pairs,
    winnings,
)

SCHEMA_VERSION: Final = 1
BEST_HANDS: Final = 20
_WHOLE_FROM: Final = 10
"""Winnings whose half width is smaller are shown with a decimal place."""

_Parts: TypeAlias = Sequence[tuple[GameCounts, PositionCounts]]
"""The counters of one bot in some positions of some games."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Winnings(_Frozen):
    """A mean over hands with its interval, whose units are deals: hands of the same cards are one."""

    value: float | None = Field(description="null without hands")
    half_width_95: float | None = Field(description="half the 95 % interval over deals; null with too few of them")
    standard_error: float | None = Field(description="of value, over deals; null for fewer than two")

    @property
    def texts(self) -> tuple[str, str, str]:
        """For people: the mean, half its interval and its standard error."""
        if self.value is None:
            return ABSENT, ABSENT, ABSENT
        half, error = self.half_width_95, self.standard_error
        digits = 0 if half is None or half >= _WHOLE_FROM else 1
        return (
            signed(self.value, digits),
            "too few" if half is None else f"{half:,.{digits}f}",
            ABSENT if error is None else f"{error:,.{digits}f}",
        )


class Frequency(_Frozen):
    """How often something was done, of the times it could be."""

    times: int
    chances: int

    @property
    def percent(self) -> float | None:
        """The rate; None without a chance."""
        return 100 * self.times / self.chances if self.chances else None

    @property
    def text(self) -> str:
        """For people: ``23.4 %``."""
        return ABSENT if self.percent is None else f"{self.percent:.1f} %"


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
        if self.value is not None:
            return f"{self.value:.2f}"
        return "no calls" if self.raises else ABSENT


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

    @property
    def text(self) -> str:
        """For people."""
        return self.name or ABSENT


class Timing(_Frozen):
    """How long a bot's answers took."""

    actions: int = Field(description="actions with a time")
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
    adjusted: float | None = Field(description="all-in hands at their expectation; null without any")
    half_width_95: float | None = Field(description="of net, over deals; null with too few of them")


class BotStatistics(PlayStatistics):
    """How a bot played."""

    name: str
    vpip_small_blind: Frequency | None
    style: Style | None
    timing: Timing | None = Field(description="null without times")
    comments: int
    positions: list[PositionStatistics] = Field(description="from the small blind to the button")
    starting_hands: list[StartingHand] = Field(description="all that were dealt, the most profitable first")
    final_hands: list[FinalHand] = Field(description="all that came, the weakest first")
    curve: list[CurvePoint] = Field(description="at most 1001 points, the last one after all hands")

    @property
    def best_starting_hands(self) -> list[StartingHand]:
        """The most profitable ones."""
        return self.starting_hands[:BEST_HANDS]


class Statistics(_Frozen):
    """How each bot played: what ``arena stats --json`` prints."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["statistics"] = "statistics"
    hands: int
    bots: list[BotStatistics] = Field(description="the one that won most per hand first")


def statistics_of(counts: HandCounts) -> Statistics:
    """The statistics of all that was counted; counting may continue afterwards."""
    bots = [_bot(counts, name) for name in counts.names]
    bots.sort(key=lambda bot: -(bot.mbb_per_game.value or 0.0))
    return Statistics(hands=counts.hands, bots=bots)


def _bot(counts: HandCounts, name: str) -> BotStatistics:
    games = list(counts.by_game(name))
    parts = [
        (place, (game, position))
        for game, player in games
        for place, position in zip(position_names(game.game), player.positions, strict=True)
        if position.hands
    ]
    by_position = {
        place: _play([part for other, part in parts if other == place])
        for place in sorted({place for place, _ in parts}, key=POSITION_ORDER.index)
    }
    whole = _play([part for _, part in parts], counts.sums(name))
    small_blind = by_position.get(SMALL_BLIND)
    vpip_small_blind = Frequency(times=0, chances=0) if small_blind is None else small_blind.vpip
    answers, bounds = counts.answers(name), _bounds([game for game, _ in games])
    return BotStatistics(
        **dict(whole),
        name=name,
        vpip_small_blind=None if whole.vpip is None else vpip_small_blind,
        style=_style(whole),
        timing=Timing(
            actions=answers.actions,
            mean_ms=answers.used_us / answers.actions / 1000,
            longest_ms=answers.longest_us / 1000,
            total_s=answers.used_us / 1e6,
        )
        if answers.actions
        else None,
        comments=answers.comments,
        positions=[PositionStatistics(**dict(play), position=place) for place, play in by_position.items()],
        starting_hands=_starting_hands(games),
        final_hands=_final_hands([player for _, player in games]),
        curve=[_point(sums, whole, bounds) for sums in counts.curve(name)],
    )


def _play(parts: _Parts, sums: Sums | None = None) -> PlayStatistics:
    """The statistics of one bot from its counters in some positions of some games; without `sums`, the winnings are
    added up with the deals of each part for themselves.
    """
    if sums is None:
        pairs = reduce(added_pairs, [position.pairs for _, position in parts], NO_PAIRS)
        sums = winnings([(game.game.big_blind, position) for game, position in parts], pairs)
    streets: dict[str, list[int]] = {}
    for game, position in parts:
        for round_, street in enumerate(round_names(game.game)):
            actions = Place.ACTIONS + MOVES * round_
            seen = sum(position.row[Place.LAST_SEEN + round_ : Place.LAST_SEEN + ROUNDS])
            counted = [seen, *position.row[actions : actions + MOVES]]
            before = streets.get(street, [0] * len(counted))
            streets[street] = [one + more for one, more in zip(before, counted, strict=True)]
    bounds = _bounds([game for game, _ in parts])
    return PlayStatistics(
        hands=sums.hands,
        deals=sums.all.deals,
        net_chips=sum(position.net for _, position in parts),
        mbb_per_game=_winnings(sums.all, bounds),
        bb_per_100=_winnings(sums.all, bounds, 10),
        adjusted=AllInAdjusted(
            mbb_per_game=_winnings(sums.adjusted, bounds),
            bb_per_100=_winnings(sums.adjusted, bounds, 10),
            hands=sum(position.adjusted_hands for _, position in parts),
            luck_chips=sum(position.luck for _, position in parts),
        )
        if any(game.has_expectations for game, _ in parts)
        else None,
        **_holdem_figures([position for game, position in parts if game.is_holdem]),
        won_at_showdown=Frequency(
            times=sum(position.showdowns_won for _, position in parts),
            chances=sum(position.row[Place.SHOWDOWNS] for _, position in parts),
        ),
        showdown=1000 * sums.showdown / sums.hands if sums.hands else None,
        no_showdown=1000 * (sums.net - sums.showdown) / sums.hands if sums.hands else None,
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
            for street, (seen, *kinds) in streets.items()
        ],
    )


def _holdem_figures(positions: Sequence[PositionCounts]) -> dict[str, Any]:
    """The statistics that only hold'em has; empty ones without a hand of it."""
    if not positions:
        others = ("aggression_factor", "aggression_frequency", "won_when_saw_flop", "went_to_showdown")
        return dict.fromkeys((*FREQUENCIES, *others))
    row = [sum(counts) for counts in zip(*(position.row for position in positions), strict=True)]
    calls, folds, bets, raises = (
        sum(row[Place.ACTIONS + MOVES + kind :: MOVES]) for kind in (Move.CALL, Move.FOLD, Move.BET, Move.RAISE)
    )
    flops = sum(row[Place.LAST_SEEN + 1 : Place.LAST_SEEN + ROUNDS])
    flops_won = row[Place.WON_AFTER_FLOP] + sum(position.flops_won for position in positions)
    return {
        **{key: Frequency(times=row[2 * i + 1], chances=row[2 * i]) for i, key in enumerate(FREQUENCIES)},
        "aggression_factor": Factor(raises=bets + raises, calls=calls),
        "aggression_frequency": Frequency(times=bets + raises, chances=bets + raises + calls + folds),
        "won_when_saw_flop": Frequency(times=flops_won, chances=flops),
        "went_to_showdown": Frequency(times=row[Place.SHOWDOWNS], chances=flops),
    }


def _winnings(blinds: DealMoments, bounds: Bounds | None, unit_mbb: int = 1) -> Winnings:
    mbb = blinds.by_deal.times(1000)
    half_width, error = mbb.half_width(bounds), mbb.standard_error
    return Winnings(
        value=None if mbb.mean is None else mbb.mean / unit_mbb,
        half_width_95=None if half_width is None else half_width / unit_mbb,
        standard_error=None if error is None else error / unit_mbb,
    )


def _style(play: PlayStatistics) -> Style | None:
    if play.vpip is None or play.pfr is None or play.aggression_factor is None:
        return None
    factor = play.aggression_factor
    verdict = classify(play.hands, play.vpip.percent, play.pfr.percent, factor.raises, factor.calls)
    found = verdict.play_class
    return Style(
        name=None if found is None else found.name,
        place=None if found is None else 1 + STYLES.index(found),
        explanation=verdict.explanation,
    )


def _starting_hands(games: Sequence[tuple[GameCounts, PlayerCounts]]) -> list[StartingHand]:
    holdem = [(game.game.big_blind, player.starting_hands) for game, player in games if game.is_holdem]
    found: list[StartingHand] = []
    for index, name in reversed(list(enumerate(STARTING_HANDS))):
        dealt = _summed([hands[index] for _, hands in holdem])
        if dealt.hands:
            blinds = sum(hands[index].net / blind for blind, hands in holdem)
            found.append(
                StartingHand(
                    hand=name,
                    hands=dealt.hands,
                    won=Frequency(times=dealt.won, chances=dealt.hands),
                    net_chips=dealt.net,
                    mbb_per_game=1000 * blinds / dealt.hands,
                )
            )
    return sorted(found, key=lambda hand: -hand.net_chips)


def _final_hands(players: Sequence[PlayerCounts]) -> list[FinalHand]:
    found: list[FinalHand] = []
    for category in Category:
        shown = _summed([player.final_hands[category] for player in players if player.final_hands])
        held = _summed([player.river_hands[category] for player in players if player.river_hands])
        if held.hands:
            found.append(
                FinalHand(
                    category=category.name.replace("_", " ").lower(),
                    showdowns=shown.hands,
                    showdowns_won=shown.won,
                    showdown_net_chips=shown.net,
                    rivers=held.hands,
                    rivers_won=held.won,
                    river_net_chips=held.net,
                )
            )
    return found


def _summed(counts: Sequence[CardCounts]) -> CardCounts:
    found = CardCounts()
    for one in counts:
        found.merge(one)
    return found


def _bounds(games: Sequence[GameCounts]) -> Bounds | None:
    return widest([game.bounds for game in games]) if games else None


def _point(sums: Sums, play: PlayStatistics, bounds: Bounds | None) -> CurvePoint:
    half_width = _winnings(sums.all, bounds, 1000).half_width_95
    return CurvePoint(
        hands=sums.hands,
        net=sums.net,
        showdown=sums.showdown,
        no_showdown=sums.net - sums.showdown,
        adjusted=None if play.adjusted is None else sums.adjusted.hands.total,
        half_width_95=None if half_width is None else half_width * sums.hands,
    )
