"""The statistics as a document for people and as flat rows for CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final, TypeAlias

from logs.document import ABSENT, CHIPS, NAME, TEXT, Axis, Chart, Column, Document, Section, Series, Spec, Table, Value
from logs.estimation import Estimate
from logs.pokerstars.names import screen_names
from logs.tracker.definitions import STATISTIC_OF_KEY, STATISTICS
from logs.tracker.statistics import (
    AllInAdjusted,
    BotStatistics,
    CurvePoint,
    Factor,
    Frequency,
    PlayStatistics,
    Statistics,
    Style,
    Timing,
)

Cell: TypeAlias = str | int | float | None

_MAX_STARTING_HANDS: Final = 20
_POSITION_KEYS: Final = (
    "hands",
    "mbb_per_game",
    "vpip",
    "pfr",
    "three_bet",
    "steal",
    "fold_to_steal",
    "continuation_bet",
    "aggression_factor",
    "aggression_frequency",
    "won_when_saw_flop",
    "went_to_showdown",
    "won_at_showdown",
)


def figure(play: object, key: str) -> Value:
    """Return a figure as a value of a table, by the key of a statistic."""
    match getattr(play, key, None):
        case AllInAdjusted(mbb_per_game=won):
            return won
        case Frequency(percent=percent):
            if percent is None:
                return None
            return percent / 100
        case Factor(raises=raises, value=value):
            if raises and value is None:
                return "no calls"
            return value
        case Style(name=name):
            return name or ABSENT
        case Timing(mean_ms=mean_ms):
            return mean_ms
        case value:
            return value


# ---- flat rows


def rows(statistics: Statistics) -> Iterator[dict[str, Cell]]:
    """Yield a row for each bot, with "all" as its position, and after it one for each of its positions.

    None replaces figures that do not exist.
    """
    for bot in statistics.bots:
        yield _row(bot, bot, "all")
        for position in bot.positions:
            yield _row(bot, position, position.position)


def _row(bot: BotStatistics, play: PlayStatistics, position: str) -> dict[str, Cell]:
    row: dict[str, Cell] = dict.fromkeys(COLUMNS)
    row |= {"name": bot.name, "position": position}
    for statistic in STATISTICS:
        row |= _columns(statistic.key, getattr(play, statistic.key, None))
    return row


def _columns(key: str, value: object) -> dict[str, Cell]:
    """Return the columns of one figure: plain numbers, per cent for frequencies."""
    match value:
        case Estimate(mean, half_width, error, guaranteed_half_width):
            return {
                key: mean,
                f"{key}_half_width_95": half_width,
                f"{key}_standard_error": error,
                f"{key}_guaranteed_half_width": guaranteed_half_width,
            }
        case Frequency():
            return {key: value.percent, f"{key}_times": value.times, f"{key}_chances": value.chances}
        case Factor():
            return {key: value.value, f"{key}_raises": value.raises, f"{key}_calls": value.calls}
        case AllInAdjusted():
            columns = _columns("adjusted_mbb_per_game", value.mbb_per_game)
            return columns | {"adjusted_hands": value.hands, "luck_chips": value.luck_chips}
        case Style():
            return {"style": value.name, "style_explanation": value.explanation}
        case Timing():
            return {"timing_mean_ms": value.mean_ms, "timing_longest_ms": value.longest_ms}
        case int() | float():
            return {key: value}
    return {}


_EXAMPLES: Final[dict[str, object]] = {
    **dict.fromkeys(("hands", "net_chips", "showdown", "no_showdown", "comments"), 0),
    "mbb_per_game": Estimate(0),
    "bb_per_100": Estimate(0),
    "adjusted": AllInAdjusted(mbb_per_game=Estimate(0), bb_per_100=Estimate(0), hands=0, luck_chips=0.0),
    "aggression_factor": Factor(raises=0, calls=0),
    "style": Style(name=None, place=None, explanation=""),
    "timing": Timing(actions=0, mean_ms=0.0, longest_ms=0.0, total_s=0.0),
}
"""A figure of each kind, for the names of its columns; all others are frequencies."""
_FREQUENCY: Final = Frequency(times=0, chances=0)


def _all_columns() -> tuple[str, ...]:
    columns = ["name", "position"]
    for statistic in STATISTICS:
        columns += _columns(statistic.key, _EXAMPLES.get(statistic.key, _FREQUENCY))
    return tuple(columns)


COLUMNS: Final = _all_columns()
"""Columns of `rows`, always all of them and in this order."""


# ---- tables


def statistics_document(statistics: Statistics, *, is_whole: bool) -> Document:
    """Build the document, of all tables or of the overview only."""
    tables = statistics_tables(statistics)
    notes = []
    if any(bot.mbb_per_game.half_width is None for bot in statistics.bots):
        notes.append("Winnings without ± are of too few deals for an interval, or the same in all deals.")
    if is_whole:
        notes.append("arena stats --help defines the statistics.")
    else:
        tables = tables[:1]
        notes.append("arena stats --help defines the statistics; --full adds positions, streets and hands.")
    sections = tuple(Section(table.title, (table,)) for table in tables)
    return Document("Statistics", sections=sections, notes=tuple(notes), data=statistics)


def statistics_tables(statistics: Statistics) -> list[Table]:
    """Build the tables, the overview first; others are left out if they are empty."""
    bots = statistics.bots
    further_tables = (
        _styles(bots),
        _positions(bots),
        _streets(bots),
        _starting_hands(bots),
        _final_hands(bots),
        _tracker_names(bots),
    )
    return [_overview(bots), *(table for table in further_tables if table.rows)]


def _overview(bots: Sequence[BotStatistics]) -> Table:
    rows: list[tuple[Value, ...]] = []
    formats: list[Spec] = []
    meanings: list[str] = []
    for statistic in STATISTICS:
        key = statistic.key
        if key == "comments" or all(getattr(bot, key) is None for bot in bots):
            continue
        values = [figure(bot, key) for bot in bots]
        rows.append((statistic.short, *values))
        formats.append(statistic.format)
        meanings.append(statistic.definition)
        if key in ("mbb_per_game", "adjusted"):
            errors = [value.error if isinstance(value, Estimate) else None for value in values]
            rows.append(("SE", *errors))
            formats.append(",.1f")
            meanings.append("The standard error of the row above, over deals.")
    columns = [Column(bot.name, ",", rank=index) for index, bot in enumerate(bots)]
    return Table.of("Statistics", ("statistic", *columns), rows, formats=tuple(formats), meanings=tuple(meanings))


def _styles(bots: Sequence[BotStatistics]) -> Table:
    rows = [(bot.name, bot.style.name, bot.style.explanation) for bot in bots if bot.style is not None]
    columns = ("bot", _column("style"), Column("because", format=TEXT, rank=3))
    return Table.of("Style of play", columns, rows)


def _positions(bots: Sequence[BotStatistics]) -> Table:
    rows = []
    for bot in bots:
        for play in bot.positions:
            rows.append((bot.name, play.position, *(figure(play, key) for key in _POSITION_KEYS)))
    columns: list[str | Column] = ["bot", Column("position", format=NAME)]
    for index, key in enumerate(_POSITION_KEYS):
        rank = 1 if key == "hands" else max(0, index - 2)
        columns.append(_column(key, rank))
    return Table.of("By position", columns, rows, is_grouped=True).without_empty()


def _streets(bots: Sequence[BotStatistics]) -> Table:
    ranks = {"seen": 3, "folds": 1, "checks": 4, "calls": 2, "bets": 1, "raises": 0}
    factors = ("aggression_factor", "aggression_frequency")
    rows = []
    for bot in bots:
        for street in bot.streets:
            rows.append((bot.name, street.street, *(figure(street, key) for key in (*ranks, *factors))))
    columns = (
        Column("bot"),
        Column("street", format=NAME),
        *(Column(name, ",", rank=rank) for name, rank in ranks.items()),
        *(_column(key, 5) for key in factors),
    )
    return Table.of("By street", columns, rows, is_grouped=True).without_empty()


def _starting_hands(bots: Sequence[BotStatistics]) -> Table:
    """Build a table with three columns for each bot and a row for each place."""
    columns: list[str | Column] = ["place"]
    best_hands = []
    for index, bot in enumerate(bots):
        columns += [
            Column(bot.name, format=NAME, rank=index),
            Column("dealt", ",", rank=len(bots)),
            Column("net", CHIPS, "chips", rank=index),
        ]
        best_hands.append(
            [(hand.hand, hand.hands, hand.net_chips) for hand in bot.starting_hands[:_MAX_STARTING_HANDS]]
        )
    rows = []
    for place, hands in enumerate(zip_longest(*best_hands, fillvalue=("", None, None)), 1):
        rows.append((place, *chain.from_iterable(hands)))
    return Table.of("Most profitable starting hands", columns, rows, is_open=False)


def _final_hands(bots: Sequence[BotStatistics]) -> Table:
    columns = (
        "bot",
        Column("hand at the end", format=NAME),
        Column("showdowns", ",", meaning="showdowns with it", rank=1),
        Column("won", ",", meaning="showdowns in which it won part of the pot", rank=2),
        Column("net", CHIPS, "chips", meaning="from these showdowns"),
        Column("rivers", ",", meaning="hands in which the bot held it on the river, shown or not", rank=4),
        Column("net of all", CHIPS, "chips", meaning="from these hands", rank=3),
    )
    rows = []
    for bot in bots:
        for final in bot.final_hands:
            rows.append(
                (
                    bot.name,
                    final.category,
                    final.showdowns,
                    final.showdowns_won,
                    final.showdown_net_chips,
                    final.rivers,
                    final.river_net_chips,
                )
            )
    return Table.of("Hands at the end", columns, rows, is_open=False, is_grouped=True)


def _tracker_names(bots: Sequence[BotStatistics]) -> Table:
    """Build a table of the names that PokerStars histories change."""
    rows = []
    for bot in bots:
        (name,) = screen_names([bot.name])
        if name != bot.name:
            rows.append((bot.name, name))
    note = "PokerStars histories have names of at most twelve letters; equal names at a table get numbers."
    return Table.of("Names in trackers", ("bot", Column("in PokerStars histories", format=NAME)), rows, note)


def _column(key: str, rank: int = 0) -> Column:
    """Return the column of a statistic."""
    statistic = STATISTIC_OF_KEY[key]
    is_drawn = key == "mbb_per_game"
    return Column(statistic.short, statistic.format, meaning=statistic.definition, rank=rank, is_drawn=is_drawn)


# ---- charts


_START: Final = CurvePoint(
    hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None, guaranteed_half_width=None
)


def winnings_charts(statistics: Statistics) -> tuple[Chart, ...]:
    """Build a chart of all bots' winnings, then one for each bot by their source."""
    bots = statistics.bots
    totals = tuple(_series(bot.name, bot.curve, "net") for bot in bots)
    charts = [_chart("Winnings, with 95 % intervals", totals)]
    # One of two bots wins what the other loses, from every source.
    shown_bots = bots[:1] if len(bots) == 2 else bots
    for bot in shown_bots:
        series = [
            _series("all hands", bot.curve, "net"),
            _series("with showdown", bot.curve, "showdown"),
            _series("without showdown", bot.curve, "no_showdown"),
        ]
        if bot.adjusted is not None and bot.adjusted.hands:
            series.append(_series("all-in adjusted", bot.curve, "adjusted", is_dashed=True))
        charts.append(_chart(f"Winnings of {bot.name}", tuple(series)))
    return tuple(charts)


def _chart(title: str, series: tuple[Series, ...]) -> Chart:
    return Chart(title, Axis("hands"), Axis("winnings", "big blinds"), series)


def _series(name: str, curve: Sequence[CurvePoint], key: str, *, is_dashed: bool = False) -> Series:
    points = [_START, *curve]
    half_widths = tuple(point.half_width_95 for point in points) if key == "net" else ()
    return Series(
        name,
        tuple(point.hands for point in points),
        tuple(getattr(point, key) for point in points),
        half_widths,
        is_dashed=is_dashed,
    )


def definitions_table() -> Table:
    """Build the table of the definitions."""
    rows = []
    for statistic in STATISTICS:
        name = statistic.short
        if name != statistic.name:
            name += f": {statistic.name}"
        rows.append((name, statistic.definition))
    return Table.of("Definitions", ("figure", Column("meaning", TEXT)), rows)
