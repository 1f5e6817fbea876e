"""The statistics as tables of texts, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from logs.text import clean
from logs.tracker.definitions import STATISTIC_OF_KEY, STATISTICS
from logs.tracker.figures import BotStatistics, PlayFigures, Statistics
from logs.tracker.rows import ABSENT, text_of

__all__ = ["TableView", "statistics_tables"]

_OF_POSITIONS: Final = (
    "hands",
    "mbb_per_game",
    "vpip",
    "pfr",
    "three_bet",
    "aggression_factor",
    "aggression_frequency",
    "won_when_saw_flop",
    "went_to_showdown",
    "won_at_showdown",
)
_MOST_SIDE_BY_SIDE: Final = 5
"""More bots than this are told one below the other."""
_FACTORS: Final = ("aggression_factor", "aggression_frequency")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table.

    Attributes:
        title: above it.
        columns: the heads, with the sentence that explains each; empty where none is needed.
        rows: texts; the first column is a name, the others are figures.
        note: a sentence below it.
        is_open: whether its rows are shown without a click.
        meanings: a sentence for each row, where the rows need it more than the columns.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    is_open: bool = True
    meanings: tuple[str, ...] = ()

    def is_words(self, column: int) -> bool:
        """Whether a column holds words rather than figures."""
        cells = [row[column] for row in self.rows if row[column] not in ("", ABSENT)]
        return column == 0 or (bool(cells) and all(cell[0].isalpha() and not cell[-1].isdigit() for cell in cells))


def statistics_tables(statistics: Statistics) -> list[TableView]:
    """The tables, the overview first; tables that would be empty are left out."""
    bots = statistics.bots
    tables = [_overview(bots)]
    styles = [
        (clean(bot.name), bot.style.name or ABSENT, bot.style.explanation) for bot in bots if bot.style is not None
    ]
    if styles:
        columns = (("bot", ""), ("style", STATISTIC_OF_KEY["style"].definition), ("because", ""))
        tables.append(TableView("Style of play", columns, tuple(styles)))
    positions = [
        (clean(bot.name), of_position.position, *_cells(of_position, _OF_POSITIONS))
        for bot in bots
        for of_position in bot.positions
    ]
    heads = (("bot", ""), ("position", ""), *_heads(_OF_POSITIONS))
    tables.append(_pruned(TableView("By position", heads, tuple(positions))))
    streets = [
        (
            clean(bot.name),
            street.street,
            *(f"{count:,}" for count in (street.seen, street.folds, street.checks, street.calls, street.bets)),
            f"{street.raises:,}",
            street.aggression_factor.text if street.aggression_factor.value is not None else ABSENT,
            _percent(street.aggression_frequency.percent),
        )
        for bot in bots
        for street in bot.streets
    ]
    words = ("bot", "street", "seen", "folds", "checks", "calls", "bets", "raises")
    heads = (*((word, "") for word in words), *_heads(_FACTORS))
    tables.append(_pruned(TableView("By street", heads, tuple(streets))))
    if any(bot.starting_hands for bot in bots):
        tables.append(_starting_hands(bots))
    if any(bot.final_hands for bot in bots):
        tables.append(_final_hands(bots))
    return tables


def _overview(bots: Sequence[BotStatistics]) -> TableView:
    """A row per statistic and a column per bot; a row per bot where there are many."""
    shown = [
        statistic
        for statistic in STATISTICS
        if any(getattr(bot, statistic.key) is not None for bot in bots) and statistic.key != "comments"
    ]
    keys = [statistic.key for statistic in shown]
    if len(bots) > _MOST_SIDE_BY_SIDE:
        rows = tuple((clean(bot.name), *_cells(bot, keys)) for bot in bots)
        return TableView("Statistics", (("bot", ""), *_heads(keys)), rows)
    columns = (("", ""), *((clean(bot.name), "") for bot in bots))
    turned = zip([statistic.short for statistic in shown], *(_cells(bot, keys) for bot in bots), strict=True)
    meanings = tuple(statistic.definition for statistic in shown)
    return TableView("Statistics", columns, tuple(turned), meanings=meanings)


def _heads(keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((STATISTIC_OF_KEY[key].short, STATISTIC_OF_KEY[key].definition) for key in keys)


def _cells(figures: PlayFigures, keys: Iterable[str]) -> list[str]:
    return [_short(text_of(figures, key)) for key in keys]


def _short(text: str) -> str:
    return ABSENT if text in ("no chance", "no bets, raises or calls") else text


def _percent(percent: float | None) -> str:
    return ABSENT if percent is None else f"{percent:.1f} %"


def _pruned(view: TableView) -> TableView:
    """The table without the columns that a game lacks."""
    kept = [column for column in range(len(view.columns)) if any(row[column] != ABSENT for row in view.rows)]
    columns = tuple(view.columns[column] for column in kept)
    return replace(view, columns=columns, rows=tuple(tuple(row[column] for column in kept) for row in view.rows))


def _starting_hands(bots: Sequence[BotStatistics]) -> TableView:
    """The best of each bot side by side."""
    columns: list[tuple[str, str]] = [("place", "")]
    for bot in bots:
        columns += [(clean(bot.name), ""), ("dealt", ""), ("net", "")]
    most = max(len(bot.best_starting_hands) for bot in bots)
    rows = []
    for place in range(most):
        row = [str(place + 1)]
        for bot in bots:
            best = bot.best_starting_hands
            if place < len(best):
                row += [best[place].hand, f"{best[place].hands:,}", f"{best[place].net_chips:+,.0f}"]
            else:
                row += ["", "", ""]
        rows.append(tuple(row))
    return TableView("Most profitable starting hands", tuple(columns), tuple(rows), is_open=False)


def _final_hands(bots: Sequence[BotStatistics]) -> TableView:
    columns = (
        ("bot", ""),
        ("hand at the end", ""),
        ("showdowns", "showdowns to which it was brought"),
        ("won", "showdowns in which part of the pot was won"),
        ("net", "chips from these showdowns"),
        ("rivers", "hands in which the bot held it on the river, shown or not"),
        ("net of all", "chips from these hands"),
    )
    rows = tuple(
        (
            clean(bot.name),
            final.category,
            f"{final.showdowns:,}",
            f"{final.showdowns_won:,}",
            f"{final.showdown_net_chips:+,.0f}",
            f"{final.rivers:,}",
            f"{final.river_net_chips:+,.0f}",
        )
        for bot in bots
        for final in bot.final_hands
    )
    return TableView("Hands at the end", columns, rows, is_open=False)
