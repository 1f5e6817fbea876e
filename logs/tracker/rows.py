"""The statistics as tables: texts for people, flat rows for CSV.

Both go by the one list of definitions (`logs.tracker.definitions.STATISTICS`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from logs.tracker.definitions import STATISTICS
from logs.tracker.figures import (
    AllInAdjusted,
    BotStatistics,
    Factor,
    PlayFigures,
    Rate,
    Statistics,
    Style,
    Timing,
    Winnings,
)

__all__ = ["ABSENT", "ALL_POSITIONS", "COLUMNS", "Cell", "rows", "text_of"]

Cell: TypeAlias = str | int | float | None

ABSENT: Final = "-"
"""Shown where a figure makes no sense."""

ALL_POSITIONS: Final = "all"
"""In the column ``position``: the bot's figures over all positions."""


def text_of(figures: PlayFigures, key: str) -> str:
    """A figure for people.

    Args:
        figures: of a bot, over all its hands or in one position.
        key: of a statistic.
    """
    value = getattr(figures, key, None)
    match value:
        case None:
            return ABSENT
        case int():
            return f"{value:,}"
        case float():
            # Chips are shown as they are, mbb to a tenth.
            return f"{value:+,.10g}" if key == "net_chips" else f"{value:+,.1f}"
        case _:
            return str(value.text)


def _cells(key: str, value: object) -> dict[str, Cell]:
    """The columns of one figure: plain numbers, percent for rates."""
    match value:
        case Winnings():
            return {key: value.value, f"{key}_half_width_95": value.half_width_95}
        case Rate():
            return {key: value.percent, f"{key}_times": value.times, f"{key}_chances": value.chances}
        case Factor():
            return {key: value.value, f"{key}_raises": value.raises, f"{key}_calls": value.calls}
        case AllInAdjusted():
            cells = _cells("adjusted_mbb_per_game", value.mbb_per_game)
            return cells | {"adjusted_hands": value.hands, "luck_chips": value.luck_chips}
        case Style():
            return {"style": value.name, "style_explanation": value.explanation}
        case Timing():
            return {"timing_mean_ms": value.mean_ms, "timing_longest_ms": value.longest_ms}
        case int() | float():
            return {key: value}
    return {}


_NO_RATE: Final = Rate(times=0, chances=0)
_NO_WINNINGS: Final = Winnings(value=None, half_width_95=None)
_EMPTY: Final[dict[str, object]] = {
    "mbb_per_game": _NO_WINNINGS,
    "bb_per_100": _NO_WINNINGS,
    "adjusted": AllInAdjusted(mbb_per_game=_NO_WINNINGS, bb_per_100=_NO_WINNINGS, hands=0, luck_chips=0.0),
    "aggression_factor": Factor(raises=0, calls=0),
    "style": Style(name=None, place=None, explanation=""),
    "timing": Timing(actions=0, mean_ms=0.0, longest_ms=0.0, total_s=0.0),
}
"""One figure of each kind, for the names of its columns; all others are rates or numbers."""
_NUMBERS: Final = frozenset({"hands", "net_chips", "showdown", "no_showdown", "comments"})

COLUMNS: Final = (
    "name",
    "position",
    *[
        column
        for statistic in STATISTICS
        for column in _cells(statistic.key, _EMPTY.get(statistic.key, 0 if statistic.key in _NUMBERS else _NO_RATE))
    ],
)
"""The columns of `rows`, always all of them and in this order."""


def rows(statistics: Statistics) -> Iterator[dict[str, Cell]]:
    """One row for each bot and, after it, for each of its positions; None where a figure is absent."""
    for bot in statistics.bots:
        yield _row(bot, bot, ALL_POSITIONS)
        for position in bot.positions:
            yield _row(bot, position, position.position)


def _row(bot: BotStatistics, figures: PlayFigures, position: str) -> dict[str, Cell]:
    row: dict[str, Cell] = dict.fromkeys(COLUMNS)
    row |= {"name": bot.name, "position": position}
    for statistic in STATISTICS:
        row |= _cells(statistic.key, getattr(figures, statistic.key, None))
    return row
