"""One page about many hands: from statistics to curves of winnings as SVG, tables and hands, and its HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.text import shown
from logs.document import Table
from logs.page.drawing import MARK, TONES, drawn, plain_number, thinned
from logs.page.templates import page_template
from logs.poker_table.faces import TABLE_FILTERS, static_text
from logs.tracker.definitions import STATISTICS
from logs.tracker.hand_counts import BigPot
from logs.tracker.statistics import CurvePoint, Statistics
from logs.tracker.tables import statistics_tables
from logs.view import HandView, views_of

if TYPE_CHECKING:
    from jinja2 import Template

_TOTAL, _SHOWDOWN, _OTHER, _ADJUSTED = TONES[:4]
"""As in trackers: green for all hands, blue with showdown, red without, yellow all-in adjusted."""
LEGEND = (
    *(("total, with its 95 % interval", _TOTAL), ("with showdown", _SHOWDOWN), ("without showdown", _OTHER)),
    ("all-in adjusted (dashed)", _ADJUSTED),
)
"""What the lines of all plots are, with their colours: the legend of all plots of a page."""


def winnings_plot(points: Sequence[CurvePoint], name: str, *, width: float = 4.4, height: float = 2.7) -> str:
    """One player's winnings over its hands, with the interval of the total as a band.

    Args:
        points: the winnings along the way, in big blinds.
        name: the player, for the label that screen readers read.
        width: in inches of 72 points.
        height: in inches of 72 points.

    Returns:
        an ``<svg>`` element.
    """

    def paint(axes: Any) -> None:
        start = CurvePoint(hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None)
        shown = [start, *thinned(points)]
        hands = [point.hands for point in shown]
        band = [(point.hands, point.net, point.half_width_95) for point in shown if point.half_width_95 is not None]
        axes.fill_between(
            [at for at, _, _ in band],
            [net - half for _, net, half in band],
            [net + half for _, net, half in band],
            color=_TOTAL,
            alpha=0.18,
            linewidth=0,
        )
        axes.axhline(0, color=MARK, linewidth=0.6, alpha=0.5)
        axes.plot(hands, [point.showdown for point in shown], color=_SHOWDOWN, linewidth=1)
        axes.plot(hands, [point.no_showdown for point in shown], color=_OTHER, linewidth=1)
        adjusted = [(point.hands, point.adjusted) for point in shown if point.adjusted is not None]
        if len(adjusted) > 1:
            axes.plot(*zip(*adjusted, strict=True), color=_ADJUSTED, linestyle="--", linewidth=1)
        axes.plot(hands, [point.net for point in shown], color=_TOTAL, linewidth=1.8)
        axes.set_xlabel("hands")
        axes.set_ylabel("big blinds")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(plain_number)
        axes.margins(x=0.01)
        axes.locator_params(axis="x", nbins=5)

    return drawn(paint, f"winnings of {name} over hands", width=width, height=height)


@dataclass(frozen=True, slots=True)
class Plot:
    """A curve.

    Attributes:
        title: above it.
        svg: an ``<svg>`` element, made by `logs.report.page`.
    """

    title: str
    svg: str


@dataclass(frozen=True, slots=True)
class ReportedHand:
    """A hand to be replayed.

    Attributes:
        pot_in_blinds: how big the pot was, in big blinds.
        hole_cards: how many each player has.
    """

    match_name: str
    number: int
    pot_in_blinds: float
    hole_cards: int
    scenes: tuple[HandView, ...]


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything a page shows.

    Attributes:
        title: of the page.
        sentences: the results in words.
        facts: what was played: pairs of a name and a value.
        plots: curves of winnings.
        tables: in the order shown.
        hands: the replays, the biggest pot first.
        legend: what the lines of the curves are, each with its colour.
        definitions: the short name, the name and the definition of each statistic.
    """

    title: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    plots: tuple[Plot, ...]
    tables: tuple[Table, ...]
    hands: tuple[ReportedHand, ...]
    legend: tuple[tuple[str, str], ...] = LEGEND
    definitions: tuple[tuple[str, str, str], ...] = tuple((one.short, one.name, one.definition) for one in STATISTICS)


def format_report(data: ReportData) -> str:
    """The page as HTML."""
    return _template().render(data=data)


@cache
def _template() -> Template:
    return page_template("logs.report/page.html.jinja", static_text=static_text, **TABLE_FILTERS)


def report_data(
    title: str,
    statistics: Statistics,
    pots: Sequence[BigPot],
    *,
    sentences: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    more_tables: Sequence[Table] = (),
) -> ReportData:
    """Everything a page shows.

    Args:
        title: of the page.
        statistics: of all hands.
        pots: the biggest pots, the biggest first.
        sentences: the results in words.
        facts: what was played.
        more_tables: shown after the overview: what the statistics lack, such as faults.
    """
    plots = tuple(
        Plot(shown(bot.name), winnings_plot(bot.curve, shown(bot.name))) for bot in statistics.bots if bot.curve
    )
    overview, *others = statistics_tables(statistics)
    return ReportData(
        shown(title),
        tuple(map(shown, sentences)),
        tuple((word, shown(value)) for word, value in facts),
        plots,
        (overview, *more_tables, *others),
        tuple(_reported(pot) for pot in pots),
    )


def _reported(pot: BigPot) -> ReportedHand:
    record = pot.record
    return ReportedHand(
        shown(record.match_name), record.hand_number, pot.blinds, record.game.num_hole_cards, views_of(record)
    )
