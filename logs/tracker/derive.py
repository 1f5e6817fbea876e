"""From counts to figures: every division and every unit is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine import Category
from logs.estimation.mean import Moments
from logs.tracker.betting_facts import (
    ACTIONS,
    BETS,
    CALLS,
    CHECKS,
    FOLDS,
    KINDS,
    LAST_SEEN,
    PFR,
    PFR_CHANCES,
    RAISES,
    ROUNDS,
    SHOWDOWNS,
    THREE_BET_CHANCES,
    THREE_BETS,
    VPIP,
    VPIP_CHANCES,
    WIDTH,
    WON_AFTER_FLOP,
)
from logs.tracker.counters import BotCounts, PositionCounts, Won
from logs.tracker.counts import HandCounts
from logs.tracker.curve import Sums
from logs.tracker.figures import (
    AllInAdjusted,
    BotStatistics,
    CurvePoint,
    Factor,
    FinalHand,
    PlayFigures,
    PositionStatistics,
    Rate,
    StartingHand,
    Statistics,
    StreetStatistics,
    Style,
    Timing,
    Winnings,
)
from logs.tracker.game_counts import GameCounts
from logs.tracker.places import POSITION_ORDER, SMALL_BLIND, position_names, round_names
from logs.tracker.starting_hands import CLASSES
from logs.tracker.style import CLASSES as PLAY_CLASSES
from logs.tracker.style import classify

__all__ = ["statistics_of"]


def statistics_of(counts: HandCounts) -> Statistics:
    """The figures of all that was counted; counting may go on afterwards."""
    counts.settle()
    bots = [_bot(counts, name) for name in counts.names]
    bots.sort(key=lambda bot: -(bot.mbb_per_game.value or 0.0))
    return Statistics(hands=counts.hands, bots=bots)


class _Play:
    """Counts of some positions of some games, added up, in big blinds."""

    def __init__(self) -> None:
        self.net_chips = 0.0
        self.winnings = Moments()
        self.adjusted = Moments()
        self.has_expectations = False
        self.adjusted_hands = 0
        self.luck_chips = 0.0
        self.showdown = 0.0
        self.showdowns_won = 0
        self.showdowns = 0
        self.flops_won = 0
        self.holdem_row: list[int] | None = None
        """The counters of hold'em hands; None without any."""
        self.streets: dict[str, list[int]] = {}
        """By street: hands that saw it, and its actions by kind."""

    def add(self, counts: GameCounts, position: PositionCounts) -> None:
        """Count in one position of one game."""
        blind = counts.game.big_blind
        row = position.row
        self.net_chips += position.net
        self.winnings = self.winnings.plus(position.winnings.times(1 / blind))
        self.adjusted = self.adjusted.plus(position.adjusted.times(1 / blind))
        self.has_expectations |= counts.has_expectations
        self.adjusted_hands += position.adjusted_hands
        self.luck_chips += position.luck
        self.showdown += position.showdown_net / blind
        self.showdowns += row[SHOWDOWNS]
        self.showdowns_won += position.showdowns_won
        if counts.is_holdem:
            before = self.holdem_row or [0] * WIDTH
            self.holdem_row = [one + more for one, more in zip(before, row, strict=True)]
            self.flops_won += position.flops_won
        for round_, street in enumerate(round_names(counts.game)):
            of_street = self.streets.setdefault(street, [0] * (1 + KINDS))
            of_street[0] += sum(row[LAST_SEEN + round_ : LAST_SEEN + ROUNDS])
            for kind in range(KINDS):
                of_street[1 + kind] += row[ACTIONS + KINDS * round_ + kind]

    def figures(self) -> PlayFigures:
        """The figures."""
        hands = self.winnings.hands
        row = self.holdem_row
        aggression: tuple[Factor, Rate] | None = None
        if row is not None:
            folds, calls, bets, raises = (
                sum(row[ACTIONS + KINDS * round_ + kind] for round_ in range(1, ROUNDS))
                for kind in (FOLDS, CALLS, BETS, RAISES)
            )
            active = bets + raises
            aggression = Factor(raises=active, calls=calls), Rate(times=active, chances=active + calls + folds)
        flops = 0 if row is None else sum(row[LAST_SEEN + 1 : LAST_SEEN + ROUNDS])
        return PlayFigures(
            hands=hands,
            net_chips=self.net_chips,
            mbb_per_game=_winnings(self.winnings, 1000),
            bb_per_100=_winnings(self.winnings, 100),
            adjusted=self._adjusted() if self.has_expectations else None,
            vpip=_rate(row, VPIP, VPIP_CHANCES),
            pfr=_rate(row, PFR, PFR_CHANCES),
            three_bet=_rate(row, THREE_BETS, THREE_BET_CHANCES),
            aggression_factor=aggression and aggression[0],
            aggression_frequency=aggression and aggression[1],
            won_when_saw_flop=None if row is None else Rate(times=row[WON_AFTER_FLOP] + self.flops_won, chances=flops),
            went_to_showdown=None if row is None else Rate(times=row[SHOWDOWNS], chances=flops),
            won_at_showdown=Rate(times=self.showdowns_won, chances=self.showdowns),
            showdown=1000 * self.showdown / hands if hands else None,
            no_showdown=1000 * (self.winnings.total - self.showdown) / hands if hands else None,
            streets=[
                StreetStatistics(
                    street=street,
                    seen=seen,
                    folds=kinds[FOLDS],
                    checks=kinds[CHECKS],
                    calls=kinds[CALLS],
                    bets=kinds[BETS],
                    raises=kinds[RAISES],
                )
                for street, (seen, *kinds) in self.streets.items()
            ],
        )

    def _adjusted(self) -> AllInAdjusted:
        return AllInAdjusted(
            mbb_per_game=_winnings(self.adjusted, 1000),
            bb_per_100=_winnings(self.adjusted, 100),
            hands=self.adjusted_hands,
            luck_chips=self.luck_chips,
        )


def _winnings(blinds: Moments, factor: float) -> Winnings:
    scaled = blinds.times(factor)
    return Winnings(value=scaled.mean, half_width_95=scaled.half_width_95)


def _rate(row: Sequence[int] | None, times: int, chances: int) -> Rate | None:
    return None if row is None else Rate(times=row[times], chances=row[chances])


def _bot(counts: HandCounts, name: str) -> BotStatistics:
    """The figures of one bot."""
    whole = _Play()
    by_position: dict[str, _Play] = {}
    parts = list(counts.of_bot(name))
    for of_game, bot in parts:
        for position_name, position in zip(position_names(of_game.game), bot.positions, strict=True):
            if position.hands:
                whole.add(of_game, position)
                by_position.setdefault(position_name, _Play()).add(of_game, position)
    figures = whole.figures()
    vpip_small_blind = None
    if figures.vpip is not None:
        small_blind = by_position.get(SMALL_BLIND)
        vpip_small_blind = Rate(times=0, chances=0) if small_blind is None else small_blind.figures().vpip
    return BotStatistics(
        **_fields(figures),
        name=name,
        vpip_small_blind=vpip_small_blind,
        style=_style(figures),
        timing=_timing(counts, name),
        comments=counts.timing(name).comments,
        positions=[
            PositionStatistics(**_fields(by_position[position_name].figures()), position=position_name)
            for position_name in sorted(by_position, key=POSITION_ORDER.index)
        ],
        starting_hands=_starting_hands(parts),
        final_hands=_final_hands(parts),
        curve=[_point(sums, has_expectations=whole.has_expectations) for sums in counts.curve(name)],
    )


def _fields(figures: PlayFigures) -> dict[str, Any]:
    return {field: getattr(figures, field) for field in PlayFigures.model_fields}


def _style(figures: PlayFigures) -> Style | None:
    if figures.vpip is None or figures.pfr is None or figures.aggression_factor is None:
        return None
    factor = figures.aggression_factor
    verdict = classify(figures.hands, figures.vpip.percent, figures.pfr.percent, factor.raises, factor.calls)
    found = verdict.play_class
    return Style(
        name=None if found is None else found.name,
        place=None if found is None else 1 + PLAY_CLASSES.index(found),
        explanation=verdict.explanation,
    )


def _timing(counts: HandCounts, name: str) -> Timing | None:
    timing = counts.timing(name)
    if not timing.actions:
        return None
    return Timing(
        actions=timing.actions,
        mean_ms=timing.used_us / timing.actions / 1000,
        longest_ms=timing.longest_us / 1000,
        total_s=timing.used_us / 1e6,
    )


def _starting_hands(parts: list[tuple[GameCounts, BotCounts]]) -> list[StartingHand]:
    """The classes of hole cards that were dealt, the most profitable first."""
    found: list[StartingHand] = []
    for index, name in enumerate(CLASSES):
        dealt = [(counts, bot.starting_hands[index]) for counts, bot in parts if bot.starting_hands]
        hands = sum(won.hands for _, won in dealt)
        if hands:
            blinds = sum(won.net / counts.game.big_blind for counts, won in dealt)
            found.append(
                StartingHand(
                    hand=name,
                    hands=hands,
                    won=Rate(times=sum(won.won for _, won in dealt), chances=hands),
                    net_chips=sum(won.net for _, won in dealt),
                    mbb_per_game=1000 * blinds / hands,
                )
            )
    return sorted(found, key=lambda hand: -hand.net_chips)


def _final_hands(parts: list[tuple[GameCounts, BotCounts]]) -> list[FinalHand]:
    """The categories of hands that were held on the river."""
    found: list[FinalHand] = []
    for category in Category:
        shown, held = Won(), Won()
        for _, bot in parts:
            if bot.final_hands:
                shown.merge(bot.final_hands[category])
                held.merge(bot.river_hands[category])
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


def _point(sums: Sums, *, has_expectations: bool) -> CurvePoint:
    return CurvePoint(
        hands=sums.hands,
        net=sums.net,
        showdown=sums.showdown,
        no_showdown=sums.net - sums.showdown,
        adjusted=sums.adjusted if has_expectations else None,
        half_width_95=sums.half_width,
    )
