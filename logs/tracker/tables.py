"""The statistics shown: texts and tables for people, flat rows for CSV.

All of them go by the one list of definitions (`logs.tracker.definitions.STATISTICS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from engine.text import shown
from logs.document import ABSENT, NAME, TEXT, Axis, Chart, Column, Series, Table
from logs.estimation.mean import signed
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
    Winnings,
)

Cell: TypeAlias = str | int | float | None

_WITH_INTERVALS: Final = ("mbb_per_game", "adjusted")
_INTERVAL: Final = (
    ("± 95 %", "Half the 95 % interval of the row above it or the column before it, over deals."),
    ("SE", "Its standard error."),
)
"""What stands with a rate."""
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


def texts_of(play: PlayStatistics, key: str) -> tuple[str, ...]:
    """A figure for people, by the key of a statistic: winnings with their interval and standard error."""
    value = getattr(play, key, None)
    match value:
        case None:
            return (ABSENT,) * len(_names_of(key))
        case Winnings() if key in _WITH_INTERVALS:
            return value.texts
        case Winnings():
            return value.texts[:1]
        case AllInAdjusted():
            return value.mbb_per_game.texts
        case int():
            return (f"{value:,}",)
        case float():
            return (chips_text(value) if key == "net_chips" else signed(value),)
        case _:
            return (str(value.text),)


def _names_of(key: str) -> tuple[tuple[str, str], ...]:
    """The name of each text of a statistic, with the sentence that explains it."""
    statistic = STATISTIC_OF_KEY[key]
    found = (statistic.short, statistic.definition)
    return (found, *_INTERVAL) if key in _WITH_INTERVALS else (found,)


def chips_text(chips: float) -> str:
    """Chips won or lost for people: parts of a split pot to a hundredth."""
    return signed(chips, 2).removesuffix(".00")


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
        case Winnings():
            return {
                key: value.value,
                f"{key}_half_width_95": value.half_width_95,
                f"{key}_standard_error": value.standard_error,
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


_NO_WINNINGS: Final = Winnings(value=None, half_width_95=None, standard_error=None)
_EXAMPLES: Final[dict[str, object]] = {
    **dict.fromkeys(("hands", "net_chips", "showdown", "no_showdown", "comments"), 0),
    "mbb_per_game": _NO_WINNINGS,
    "bb_per_100": _NO_WINNINGS,
    "adjusted": AllInAdjusted(mbb_per_game=_NO_WINNINGS, bb_per_100=_NO_WINNINGS, hands=0, luck_chips=0.0),
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
    kept = [
        statistic
        for statistic in STATISTICS
        if any(getattr(bot, statistic.key) is not None for bot in bots) and statistic.key != "comments"
    ]
    names = [name for statistic in kept for name in _names_of(statistic.key)]
    columns = [[text for statistic in kept for text in texts_of(bot, statistic.key)] for bot in bots]
    return Table.of(
        "Statistics",
        ("statistic", *(Column(shown(bot.name), ",", rank=at) for at, bot in enumerate(bots))),
        zip([short for short, _ in names], *columns, strict=True),
        meanings=tuple(meaning for _, meaning in names),
    )


def _styles(bots: Sequence[BotStatistics]) -> Table:
    styles = (
        (shown(bot.name), bot.style.name or ABSENT, bot.style.explanation) for bot in bots if bot.style is not None
    )
    style = Column("style", meaning=STATISTIC_OF_KEY["style"].definition, format=NAME)
    return Table.of("Style of play", ("bot", style, Column("because", format=TEXT, rank=3)), styles)


def _positions(bots: Sequence[BotStatistics]) -> Table:
    positions = (
        (shown(bot.name), play.position, *_texts(play, _IN_POSITION)) for bot in bots for play in bot.positions
    )
    columns = (Column("bot", format=NAME), Column("position", format=NAME), *_explained(_IN_POSITION))
    return Table.of("By position", columns, positions, is_grouped=True).without_empty()


def _streets(bots: Sequence[BotStatistics]) -> Table:
    columns: tuple[str | Column, ...] = (
        "bot",
        Column("street", format=NAME),
        Column("seen", ",", rank=3),
        Column("folds", ",", rank=1),
        Column("checks", ",", rank=4),
        Column("calls", ",", rank=2),
        Column("bets", ",", rank=1),
        "raises",
        *(Column(*_names_of(key)[0], ",", rank=5) for key in ("aggression_factor", "aggression_frequency")),
    )
    streets = (
        (
            shown(bot.name),
            street.street,
            *(f"{count:,}" for count in (street.seen, street.folds, street.checks, street.calls, street.bets)),
            f"{street.raises:,}",
            street.aggression_factor.text,
            street.aggression_frequency.text,
        )
        for bot in bots
        for street in bot.streets
    )
    return Table.of("By street", columns, streets, is_grouped=True).without_empty()


def _starting_hands(bots: Sequence[BotStatistics]) -> Table:
    columns = [
        column
        for at, bot in enumerate(bots)
        for column in (
            Column(shown(bot.name), format=NAME, rank=at),
            Column("dealt", ",", rank=len(bots)),
            Column("net", ",", rank=at),
        )
    ]
    places = []
    for place in range(max((len(bot.best_starting_hands) for bot in bots), default=0)):
        row = [str(place + 1)]
        for bot in bots:
            best = bot.best_starting_hands[place : place + 1]
            row += [best[0].hand, f"{best[0].hands:,}", signed(best[0].net_chips)] if best else ["", "", ""]
        places.append(row)
    return Table.of("Most profitable starting hands", ("place", *columns), places, is_open=False)


def _final_hands(bots: Sequence[BotStatistics]) -> Table:
    columns = (
        "bot",
        Column("hand at the end", format=NAME),
        Column("showdowns", ",", meaning="showdowns with it", rank=1),
        Column("won", ",", meaning="showdowns in which it won part of the pot", rank=2),
        Column("net", ",", meaning="chips from these showdowns"),
        Column("rivers", ",", meaning="hands in which the bot held it on the river, shown or not", rank=4),
        Column("net of all", ",", meaning="chips from these hands", rank=3),
    )
    finals = (
        (
            shown(bot.name),
            final.category,
            f"{final.showdowns:,}",
            f"{final.showdowns_won:,}",
            signed(final.showdown_net_chips),
            f"{final.rivers:,}",
            signed(final.river_net_chips),
        )
        for bot in bots
        for final in bot.final_hands
    )
    return Table.of("Hands at the end", columns, finals, is_open=False, is_grouped=True)


def _tracker_names(bots: Sequence[BotStatistics]) -> Table:
    names = ((shown(bot.name), name) for bot in bots for name in screen_names([bot.name]) if name != bot.name)
    note = "PokerStars histories have names of at most twelve letters; equal names at a table get numbers."
    return Table.of("Names in trackers", ("bot", Column("in PokerStars histories", format=NAME)), names, note)


def _explained(keys: Iterable[str]) -> tuple[Column, ...]:
    """The columns of statistics, the most important first; standard errors are more dispensable than all others."""
    names = [name for key in keys for name in _names_of(key)]
    return tuple(
        Column(short, ",", meaning=meaning, rank=len(names) if short == _INTERVAL[1][0] else max(0, at - 2))
        for at, (short, meaning) in enumerate(names)
    )


def _texts(play: PlayStatistics, keys: Iterable[str]) -> list[str]:
    return [text for key in keys for text in texts_of(play, key)]


# ---- charts


_START: Final = CurvePoint(hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None)


def winnings_charts(statistics: Statistics) -> tuple[Chart, ...]:
    """The winnings of all bots over their hands, then of each bot where they come from.

    Between two bots one wins what the other loses, of every kind: the second has no chart of its own.
    """
    bots = statistics.bots
    total = tuple(_series(shown(bot.name), bot.curve, "net") for bot in bots)
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
