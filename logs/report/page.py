"""The page itself: what it shows, and its HTML."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from logs.page.table import TableView
from logs.page.templates import page_template
from logs.report.plots import LEGEND
from logs.report.replay import ReplayedHand
from logs.tracker.definitions import STATISTICS
from logs.tracker.tables import chips_text

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Plot", "ReportData", "format_report"]

_SUITS = {"c": ("♣", "clubs"), "d": ("♦", "diamonds"), "h": ("♥", "hearts"), "s": ("♠", "spades")}


@dataclass(frozen=True, slots=True)
class Plot:
    """A curve.

    Attributes:
        title: above it.
        svg: an ``<svg>`` element, made by `logs.report.plots`.
    """

    title: str
    svg: str


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
    tables: tuple[TableView, ...]
    hands: tuple[ReplayedHand, ...]
    legend: tuple[tuple[str, str], ...] = LEGEND
    definitions: tuple[tuple[str, str, str], ...] = tuple((one.short, one.name, one.definition) for one in STATISTICS)


def format_report(data: ReportData) -> str:
    """The page as HTML."""
    return _template().render(data=data)


@cache
def _template() -> Template:
    from markupsafe import Markup

    def card(text: str) -> Markup:
        glyph, suit = _SUITS[text[1]]
        return Markup('<span class="card {}" title="{}">{}<i>{}</i></span>').format(suit, text, text[0], glyph)

    return page_template("logs.report/page.html.jinja", card=card, chips=chips_text)
