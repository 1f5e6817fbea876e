"""The learner beside the text of its work: what it wins, how it learns, whom it beats and who beats it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.findings import ABSENT, Comparison, Comparisons, Line, LineChart, Report, Section, TableView, Verdict
from bots.learner.memory import RANGES, Constants, Memory, level
from bots.learner.training import Block, Earned, TrainingSettings
from bots.learner.tuning import Measured, TuningSettings
from bots.studies.learner.experiments import (
    FULL_TABLES,
    MIXED,
    TWO_PLAYERS,
    Experiments,
    Outcome,
    ReportSettings,
    Rival,
)

__all__ = ["Spread", "learner_report", "student_point", "training_report", "tuning_report"]

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


def student_point(freedom: int, tail: float = 0.025) -> float:
    """What a variable of Student's t exceeds with probability `tail`, to three digits from 4 degrees of freedom on.

    The expansion of Abramowitz and Stegun, 26.7.5.
    """
    z = NormalDist().inv_cdf(1 - tail)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )


class Spread(NamedTuple):
    """A mean over seeds and half its 95 % interval.

    Attributes:
        mean: of the seeds.
        half_width: by Student's t, which takes the means of the seeds as normal.
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least two values, one for each seed."""
        return cls(fmean(values), student_point(len(values) - 1) * stdev(values) / sqrt(len(values)))

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    @property
    def words(self) -> str:
        """The mean with its interval, in whole numbers."""
        return f"{self.mean:+,.0f} ± {self.half_width:,.0f}"


_ROWS = 10
_CURVES: Sequence[tuple[str, Callable[[Block], Earned]]] = (
    ("while learning", lambda block: block.learning),
    ("frozen, the field it learns on", lambda block: block.field),
    ("frozen, the other field", lambda block: block.unseen),
)


def training_report(settings: TrainingSettings, memory: Memory, blocks: Sequence[Block]) -> Report:
    """The report of a training.

    Args:
        settings: of the training.
        memory: what has been learnt.
        blocks: of the training, at least one.
    """
    shown = sorted({round(at * (len(blocks) - 1) / (_ROWS - 1)) for at in range(_ROWS)})
    table = TableView(
        "Winnings by block, mbb/g",
        tuple((name, "") for name in ("hands", "cells", *[name for name, _ in _CURVES])),
        tuple(
            (f"{blocks[at].hands:,}", f"{blocks[at].cells:,}", *[curve(blocks[at]).words for _, curve in _CURVES])
            for at in shown
        ),
        "Each ± is half the normal 95 % interval over the deals of the block or test, a deal with all its rotations "
        "counting once: it covers the cards, not the luck of the training.",
    )
    chart = LineChart(
        title="Winnings by hands learnt",
        x_label="hands learnt",
        y_label="mbb/g",
        lines=learning_lines(blocks),
        note="The bands are the 95 % intervals of the table. Tests are on deals that are never learnt from.",
    )
    constants = ", ".join(f"{name} {value:g}" for name, value in asdict(settings.constants).items())
    last = blocks[-1]
    return Report(
        "The learner's training",
        (
            f"After {memory.hands:,} hands it remembers {len(memory.cells):,} cells. It wins {last.field.words} "
            f"mbb/g from the field it learnt on, and {last.unseen.words} from the one it never met.",
        ),
        (
            ("game", settings.game),
            ("learnt on", " ".join(settings.opponents)),
            ("tested on", " ".join(settings.unseen)),
            ("explore", f"{settings.explore:g}"),
            ("trials", f"{settings.trials:,}"),
            ("seed", str(settings.seed)),
            ("constants", constants),
        ),
        (Section("Winnings", (), (table, chart)),),
    )


def learning_lines(blocks: Sequence[Block]) -> tuple[Line, ...]:
    """The curves of a training, with their bands."""
    xs = tuple(float(block.hands) for block in blocks)
    return tuple(
        Line(
            name=name,
            xs=xs,
            ys=tuple(curve(block).mean for block in blocks),
            low=tuple(curve(block).mean - curve(block).half_width for block in blocks),
            high=tuple(curve(block).mean + curve(block).half_width for block in blocks),
        )
        for name, curve in _CURVES
    )


def tuning_report(
    settings: TuningSettings, measured: Sequence[Measured], checks: Mapping[str, NDArray[np.float64]]
) -> Report:
    """The report of a search.

    Args:
        settings: of the search.
        measured: in the order in which they were asked for.
        checks: what the best of them, ``evolution``, and ``default`` are worth with other deals and draws.
    """
    best = max(measured, key=lambda one: one.mbb)
    gain = Spread.of((checks["evolution"] - checks["default"]).tolist())
    table = TableView(
        "What the search found, mbb/g",
        (
            ("constants", ""),
            ("learners", "measured by the search"),
            ("best measured", "on the deals of the search"),
            ("anew", "the same constants on other deals, with other draws"),
            ("above the default", "seed by seed"),
        ),
        (
            ("default", "", "", Spread.of(checks["default"].tolist()).words, ""),
            (
                "evolution",
                f"{len(measured):,}",
                f"{best.mbb:+,.0f}",
                Spread.of(checks["evolution"].tolist()).words,
                gain.words,
            ),
        ),
        f"Anew: the mean over {len(checks['default'])} seeds, each of them another training and test; each ± is "
        "half the 95 % interval of Student's t over the seeds, so it covers the luck of cards and training.",
    )
    sets = (Constants(), best.constants)
    constants = TableView(
        "Its constants",
        tuple((name, "") for name in ("constant", "range", "default", "evolution")),
        tuple(
            (name, f"{low:g} to {high:g}", *[f"{getattr(one, name):.3g}" for one in sets])
            for name, (low, high) in RANGES.items()
        ),
    )
    curve = LineChart(
        title="The best so far",
        x_label="learners measured",
        y_label="mbb/g",
        lines=(
            Line(
                name="evolution",
                xs=tuple(float(at) for at in range(1, len(measured) + 1)),
                ys=tuple(accumulate((one.mbb for one in measured), max)),
            ),
        ),
        note="On the deals of the search: a maximum over noisy measurements, which lies above what is true.",
    )
    verdict = "does not show" if gain.low <= 0 <= gain.high else "is real" if gain.low > 0 else "is a loss"
    return Report(
        "The constants of the learner",
        (f"On other deals the gain of evolution over the default constants {verdict}: {gain.words} mbb/g.",),
        (
            ("game", settings.game),
            ("opponents", " ".join(settings.opponents)),
            ("training", f"{settings.hands:,} hands"),
            ("test", f"{settings.test:,} hands"),
            ("budget", f"{settings.budget:,} learners"),
            ("seed", str(settings.seed)),
        ),
        (Section("Search", (), (table, constants, curve)),),
    )
