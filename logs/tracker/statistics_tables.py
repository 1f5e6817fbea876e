"""The statistics shown: a document for people, flat rows for CSV.

All of them go by the one list of definitions (`logs.tracker.definitions.STATISTICS`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
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

_BEST_HANDS: Final = 20
_IN_POSITION: Final = (
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
    """A figure by the key of a statistic; winnings with their interval."""
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
    """One row for each bot (its position is "all") and, after it, for each of its positions.

    A figure that is absent is None.
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
    """The columns of one figure: plain numbers, percent for frequencies."""
    match value:
        case Estimate(mean, half_width, error):
            return {key: mean, f"{key}_half_width_95": half_width, f"{key}_standard_error": error}
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

COLUMNS: Final = (
    "name",
    "position",
    *[
        column
        for statistic in STATISTICS
        for column in _columns(statistic.key, _EXAMPLES.get(statistic.key, _FREQUENCY))
    ],
)
"""The columns of `rows`, always all of them and in this order."""


# ---- tables


def statistics_document(statistics: Statistics, *, is_whole: bool) -> Document:
    """The overview, the whole with all tables."""
    tables = statistics_tables(statistics)
    more = "" if is_whole else "; --full adds positions, streets and hands"
    has_few = any(bot.mbb_per_game.half_width is None for bot in statistics.bots)
    return Document(
        "Statistics",
        sections=tuple(Section(table.title, (table,)) for table in (tables if is_whole else tables[:1])),
        notes=(
            *(["Winnings without ± are of too few deals for an interval."] if has_few else []),
            f"arena stats --help defines the statistics{more}.",
        ),
        data=statistics,
    )


def statistics_tables(statistics: Statistics) -> list[Table]:
    """The tables, the overview first; others that would be empty are left out."""
    bots = statistics.bots
    others = (
        _styles(bots),
        _positions(bots),
        _streets(bots),
        _starting_hands(bots),
        _final_hands(bots),
        _tracker_names(bots),
    )
    return [_overview(bots), *(table for table in others if table.rows)]


def _overview(bots: Sequence[BotStatistics]) -> Table:
    rows: list[tuple[str, Spec, str, Sequence[Value]]] = []
    for one in STATISTICS:
        values = [figure(bot, one.key) for bot in bots]
        if one.key != "comments" and any(getattr(bot, one.key) is not None for bot in bots):
            rows.append((one.short, one.format, one.definition, values))
            if one.key in ("mbb_per_game", "adjusted"):
                errors = [value.error if isinstance(value, Estimate) else None for value in values]
                rows.append(("SE", ",.1f", "The standard error of the row above, over deals.", errors))
    return Table.of(
        "Statistics",
        ("statistic", *(Column(bot.name, ",", rank=at) for at, bot in enumerate(bots))),
        ((short, *values) for short, _, _, values in rows),
        formats=tuple(spec for _, spec, _, _ in rows),
        meanings=tuple(meaning for _, _, meaning, _ in rows),
    )


def _styles(bots: Sequence[BotStatistics]) -> Table:
    styles = ((bot.name, bot.style.name, bot.style.explanation) for bot in bots if bot.style is not None)
    columns = ("bot", _column("style"), Column("because", format=TEXT, rank=3))
    return Table.of("Style of play", columns, styles)


def _positions(bots: Sequence[BotStatistics]) -> Table:
    positions = (
        (bot.name, play.position, *(figure(play, key) for key in _IN_POSITION))
        for bot in bots
        for play in bot.positions
    )
    columns = (_column(key, 1 if key == "hands" else max(0, at - 2)) for at, key in enumerate(_IN_POSITION))
    return Table.of(
        "By position", ("bot", Column("position", format=NAME), *columns), positions, is_grouped=True
    ).without_empty()


def _streets(bots: Sequence[BotStatistics]) -> Table:
    counts = {"seen": 3, "folds": 1, "checks": 4, "calls": 2, "bets": 1, "raises": 0}
    factors = ("aggression_factor", "aggression_frequency")
    streets = (
        (bot.name, street.street, *(figure(street, key) for key in (*counts, *factors)))
        for bot in bots
        for street in bot.streets
    )
    columns = (
        Column("bot"),
        Column("street", format=NAME),
        *(Column(name, ",", rank=rank) for name, rank in counts.items()),
        *(_column(key, 5) for key in factors),
    )
    return Table.of("By street", columns, streets, is_grouped=True).without_empty()


def _starting_hands(bots: Sequence[BotStatistics]) -> Table:
    columns = [
        column
        for at, bot in enumerate(bots)
        for column in (
            Column(bot.name, format=NAME, rank=at),
            Column("dealt", ",", rank=len(bots)),
            Column("net", CHIPS, "chips", rank=at),
        )
    ]
    best = [[(one.hand, one.hands, one.net_chips) for one in bot.starting_hands[:_BEST_HANDS]] for bot in bots]
    places = (
        (place, *(value for hand in hands for value in hand))
        for place, hands in enumerate(zip_longest(*best, fillvalue=("", None, None)), 1)
    )
    return Table.of("Most profitable starting hands", ("place", *columns), places, is_open=False)


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
    finals = (
        (
            *(bot.name, final.category, final.showdowns, final.showdowns_won, final.showdown_net_chips),
            *(final.rivers, final.river_net_chips),
        )
        for bot in bots
        for final in bot.final_hands
    )
    return Table.of("Hands at the end", columns, finals, is_open=False, is_grouped=True)


def _tracker_names(bots: Sequence[BotStatistics]) -> Table:
    names = ((bot.name, name) for bot in bots for name in screen_names([bot.name]) if name != bot.name)
    note = "PokerStars histories have names of at most twelve letters; equal names at a table get numbers."
    return Table.of("Names in trackers", ("bot", Column("in PokerStars histories", format=NAME)), names, note)


def _column(key: str, rank: int = 0) -> Column:
    """The column of a statistic."""
    statistic = STATISTIC_OF_KEY[key]
    return Column(
        statistic.short, statistic.format, meaning=statistic.definition, rank=rank, is_drawn=key == "mbb_per_game"
    )


# ---- charts


_START: Final = CurvePoint(hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None)


def winnings_charts(statistics: Statistics) -> tuple[Chart, ...]:
    """The winnings of all bots over their hands, then of each bot where they come from.

    Between two bots one wins what the other loses, of every kind: the second has no chart of its own.
    """
    bots = statistics.bots
    total = tuple(_series(bot.name, bot.curve, "net") for bot in bots)
    parts = [
        _chart(
            f"Winnings of {bot.name}",
            (
                _series("all hands", bot.curve, "net"),
                _series("with showdown", bot.curve, "showdown"),
                _series("without showdown", bot.curve, "no_showdown"),
                *(
                    [_series("all-in adjusted", bot.curve, "adjusted", is_dashed=True)]
                    if bot.adjusted is not None and bot.adjusted.hands
                    else []
                ),
            ),
        )
        for bot in bots[: 1 if len(bots) == 2 else None]
    ]
    return (_chart("Winnings, with 95 % intervals", total), *parts)


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
    """What the figures mean."""
    rows = ((one.short if one.short == one.name else f"{one.short}: {one.name}", one.definition) for one in STATISTICS)
    return Table.of("What the figures mean", ("figure", Column("meaning", TEXT)), rows)
