"""The learner beside the text of its work: what it wins, how it learns, whom it beats and who beats it."""

from __future__ import annotations

from collections.abc import Sequence

from bots.findings import ABSENT, Comparison, Comparisons, Line, LineChart, Report, Section, TableView, Verdict
from bots.learner.cells import level
from bots.learner.constants import RANGES
from bots.learner.experiments import FULL_TABLES, MIXED, TWO_PLAYERS, Experiments, Outcome, ReportSettings, Rival
from bots.learner.intervals import Spread

__all__ = ["learner_report"]

_VALUES: int = 5
_SOME = ("constant 2", "random", "MFS k=2", "RH k=8", MIXED)
_OVER_SEEDS = (
    "Each ± is half the 95 % interval of Student's t over the {seeds} seeds: it covers the luck of cards, training and "
    "test."
)


def learner_report(settings: ReportSettings, played: Experiments) -> Report:
    """The report.

    Args:
        settings: how much was played.
        played: what came of it.
    """
    won = [one for one in played.outcomes if Spread.of(one.mbb[:, -1].tolist()).low > 0]
    lost = [one for one in played.outcomes if Spread.of(one.mbb[:, -1].tolist()).high < 0]
    return Report(
        "The learner, beside its work",
        (
            "The part of the work that is legible describes the player and its opponents and prints no result: there "
            "is no figure to reach, and what is measured here stands by itself.",
            f"The learner wins from {len(won)} of {len(played.outcomes)} fields that it learnt on"
            + (f", and loses to {_list(lost)}." if lost else "; it loses to none."),
            _rivals_in_words(played.rivals),
        ),
        (
            ("training", f"{settings.hands:,} hands"),
            ("test", f"{settings.test:,} hands"),
            ("seeds", str(settings.seeds)),
            ("matches", f"{settings.matches:,} hands"),
            ("trials", f"{settings.trials:,}"),
            ("first seed", str(settings.seed)),
        ),
        (
            Section("What the text says", (), (_claims(),)),
            *[_experiments(settings, played, games) for games in (TWO_PLAYERS, FULL_TABLES)],
            Section("Against everything built in", (_counter_words(played, settings),), (_crosstable(played.rivals),)),
        ),
    )


def _claims() -> Comparisons:
    """What the text states that can be computed."""
    return Comparisons(
        "Statements of the text",
        (
            _stated("the level of a POT of 29, of 7 levels of 13.3", level(29, 13.3, 7) + 1, 3),
            _stated("the level of a POT of 1,000, beyond all of these", level(1000, 13.3, 7) + 1, 7),
            _stated("constants of the player", len(RANGES), 10),
            Comparison(
                quantity=f"tests of {_VALUES} values for each constant",
                ours=f"{_VALUES ** len(RANGES):,}",
                why="the number is missing in the text",
            ),
            Comparison(quantity="winnings of any player", ours="below", why="the pages with results are missing"),
        ),
    )


def _stated(quantity: str, ours: int, printed: int) -> Comparison:
    is_same = ours == printed
    return Comparison(
        quantity=quantity,
        ours=str(ours),
        printed=str(printed),
        verdict=Verdict.REPRODUCED if is_same else Verdict.NOT_REPRODUCED,
        why="" if is_same else "another number follows from its rule",
    )


def _experiments(settings: ReportSettings, played: Experiments, games: Sequence[str]) -> Section:
    outcomes = [one for one in played.outcomes if one.game in games]
    names = list(dict.fromkeys(one.opponents for one in outcomes))
    by_key = {(one.game, one.opponents): one for one in outcomes}
    rows = []
    for name in names:
        row = [name]
        for game in games:
            one = by_key[game, name]
            row += [Spread.of(one.mbb[:, -1].tolist()).words, f"{sum(one.cells) / len(one.cells):,.0f}"]
        rows.append(tuple(row))
    heads = [(name, about) for game in games for name, about in ((game, "mbb/g, frozen"), ("cells", "met, on average"))]
    table = TableView(
        "Winnings from the field it learnt on, mbb/g",
        (("learnt on", ""), *heads),
        tuple(rows),
        _OVER_SEEDS.format(seeds=settings.seeds),
    )
    charts = [
        LineChart(
            title=f"How it learns: {game}",
            x_label="hands learnt",
            y_label="mbb/g, frozen, on unseen deals",
            lines=tuple(_line(by_key[game, name]) for name in names if name in _SOME),
            note=_OVER_SEEDS.format(seeds=settings.seeds),
            is_log=True,
        )
        for game in games
    ]
    title = "Two players" if games is TWO_PLAYERS else "Ten players, all kinds at one table"
    return Section(title, (), (table, *charts))


def _line(outcome: Outcome) -> Line:
    spreads = [Spread.of(column.tolist()) for column in outcome.mbb.T]
    return Line(
        name=outcome.opponents,
        xs=tuple(map(float, outcome.hands)),
        ys=tuple(one.mean for one in spreads),
        low=tuple(one.low for one in spreads),
        high=tuple(one.high for one in spreads),
        has_dots=True,
    )


def _crosstable(rivals: Sequence[Rival]) -> TableView:
    games = list(dict.fromkeys(one.game for one in rivals))
    cells = {(one.game, one.name): one.won.words for one in rivals}
    names = sorted({one.name for one in rivals})
    return TableView(
        "The learner of the mixed field, frozen, against one kind of bot in all other seats, mbb/g",
        (("against", ""), *[(game, "") for game in games]),
        tuple((name, *[cells.get((game, name), ABSENT) for game in games]) for name in names),
        "Each ± is half the normal 95 % interval over deals, a deal with all its rotations counting once: it covers "
        "the cards of the match, not the luck of the training, which was one. Too few deals have no interval. "
        "lbr knows what the learner plays: so much it loses, at the least, to somebody who does.",
    )


def _rivals_in_words(rivals: Sequence[Rival]) -> str:
    beaten = sorted({one.name for one in rivals if one.won.mean > one.won.half_width > 0})
    beating = [one for one in rivals if one.won.mean < -one.won.half_width < 0]
    names = ", ".join(f"{one.name} in {one.game}" for one in beating)
    return (
        f"Trained once on the mixed field of each game, it beats {', '.join(beaten) or 'nobody'} in at least one game; "
        f"{f'it loses to {names}' if beating else 'none of the built-in bots beats it'}."
    )


def _counter_words(played: Experiments, settings: ReportSettings) -> str:
    parts = [f"{Spread.of(won.tolist()).words} mbb/g in {game}" for game, won in played.counters.items()]
    return (
        f"Another learner that learns for {settings.hands:,} hands with it in all other seats, and is frozen then, "
        f"wins {_joined(parts)} (means over {settings.seeds} seeds, 95 %): so far it can be exploited, at the least."
    )


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def _list(outcomes: Sequence[Outcome]) -> str:
    return ", ".join(f"{one.opponents} in {one.game}" for one in outcomes)
