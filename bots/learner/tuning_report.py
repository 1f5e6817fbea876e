"""The searches for a learner's constants as findings: what each found, and which constants matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.findings import Bar, BarChart, Line, LineChart, Report, Section, TableView
from bots.learner.constants import RANGES, Constants
from bots.learner.intervals import Spread
from bots.learner.tuning import Measured, TuningSettings

__all__ = ["Influence", "influences", "tuning_report"]

_BINS: Final = 5
_SAMPLES: Final = 1000


class Influence(NamedTuple):
    """How much of the differences in fitness goes with one constant.

    Attributes:
        name: of the constant.
        share: the part of the variance of the fitness between fifths of its range, without what chance alone makes of
            it (epsilon squared of Kelley 1935); about 0 or below for one that does not matter.
        low: the 2.5 % point of the share over samples drawn with replacement.
        high: the 97.5 % point.
    """

    name: str
    share: float
    low: float
    high: float


def influences(measured: Sequence[Measured], seed: int) -> tuple[Influence, ...]:
    """The influence of each constant, the largest first, from constants that were drawn at random.

    Args:
        measured: at least twenty.
        seed: of the samples.
    """
    genes = np.array([astuple(one.constants) for one in measured])
    fitness = np.array([one.mbb for one in measured])
    random = np.random.default_rng([seed, _SAMPLES])
    found = []
    for at, (name, (low, high)) in enumerate(RANGES.items()):
        if name.endswith("_qty"):
            group = genes[:, at].astype(int) - int(low)
        else:
            group = np.minimum((genes[:, at] - low) / (high - low) * _BINS, _BINS - 1).astype(int)
        drawn = random.integers(0, len(fitness), (_SAMPLES, len(fitness)))
        shares = [_share(group[sample], fitness[sample]) for sample in drawn]
        ends = np.quantile(shares, [0.025, 0.975])
        found.append(Influence(name, _share(group, fitness), float(ends[0]), float(ends[1])))
    return tuple(sorted(found, key=lambda one: -one.share))


def _share(group: NDArray[np.int64], fitness: NDArray[np.float64]) -> float:
    """Epsilon squared: the explained part of the variance, corrected for the number of groups."""
    counts = np.bincount(group)
    sums = np.bincount(group, fitness)
    counts, sums = counts[counts > 0], sums[counts > 0]
    total = float(((fitness - fitness.mean()) ** 2).sum())
    between = float((counts * (sums / counts - fitness.mean()) ** 2).sum())
    if len(counts) == len(fitness) or total == 0:
        return 0.0
    within = (total - between) / (len(fitness) - len(counts))
    return (between - (len(counts) - 1) * within) / total


def tuning_report(
    settings: TuningSettings,
    searched: Mapping[str, Sequence[Measured]],
    checks: Mapping[str, NDArray[np.float64]],
    skipped: Sequence[str] = (),
) -> Report:
    """The report of the searches.

    Args:
        settings: of the searches.
        searched: by search, its measurements; ``random`` is among them.
        checks: what the best of each search, and ``default``, are worth with other deals and draws.
        skipped: searches whose library is not installed.
    """
    bests = {name: max(measured, key=lambda one: one.mbb) for name, measured in searched.items()}
    spreads = {name: Spread.of(values.tolist()) for name, values in checks.items()}
    rows = [
        (
            name,
            f"{len(searched[name]):,}" if name in searched else "",
            f"{bests[name].mbb:+,.0f}" if name in searched else "",
            spreads[name].words,
            "" if name == "default" else Spread.of((checks[name] - checks["default"]).tolist()).words,
        )
        for name in checks
    ]
    table = TableView(
        "What the searches found, mbb/g",
        (
            ("search", ""),
            ("learners", "measured by the search"),
            ("best measured", "on the deals of the search"),
            ("anew", "the same constants on other deals, with other draws"),
            ("above the default", "seed by seed"),
        ),
        tuple(rows),
        f"Anew: the mean over {len(checks['default'])} seeds, each of them another training and test; each ± is "
        "half the 95 % interval of Student's t over the seeds, so it covers the luck of cards and training.",
    )
    sets = (Constants(), *[best.constants for best in bests.values()])
    constants = TableView(
        "Their constants",
        tuple((name, "") for name in ("constant", "range", "default", *bests)),
        tuple(
            (name, f"{low:g} to {high:g}", *[f"{getattr(one, name):.3g}" for one in sets])
            for name, (low, high) in RANGES.items()
        ),
    )
    curve = LineChart(
        title="The best so far",
        x_label="learners measured",
        y_label="mbb/g",
        lines=tuple(
            Line(
                name=name,
                xs=tuple(float(at) for at in range(1, len(measured) + 1)),
                ys=tuple(accumulate((one.mbb for one in measured), max)),
            )
            for name, measured in searched.items()
        ),
        note="On the deals of the search: each line is a maximum over noisy measurements and lies above what is true.",
    )
    found = influences(searched["random"], settings.seed)
    bars = BarChart(
        title="Which constants matter",
        label="part of the variance of the winnings",
        bars=tuple(Bar(name=one.name, height=one.share, low=one.low, high=one.high) for one in found),
        note="Epsilon squared between fifths of the range (between whole numbers for the two of levels), from the "
        "constants drawn at random; the lines are 95 % intervals over samples of these drawn with replacement.",
    )
    matter = [one.name for one in found if one.low > 0 and one.share > 0.02]
    worth = _worth(checks)
    skipping = [
        f"The search {name} was left out: its library is not installed (pip install 'acpc-arena[tune]')."
        for name in skipped
    ]
    return Report(
        "The constants of the learner",
        (
            worth,
            f"Constants that matter: {', '.join(matter)}." if matter else "No constant matters by itself.",
            *skipping,
        ),
        (
            ("game", settings.game),
            ("opponents", " ".join(settings.opponents)),
            ("training", f"{settings.hands:,} hands"),
            ("test", f"{settings.test:,} hands"),
            ("budget", f"{settings.budget:,} learners for each search"),
            ("seed", str(settings.seed)),
        ),
        (Section("Searches", (), (table, constants, curve)), Section("Sensitivity", (), (bars,))),
    )


def _worth(checks: Mapping[str, NDArray[np.float64]]) -> str:
    """Whether evolution pays."""
    gain = Spread.of((checks["evolution"] - checks["default"]).tolist())
    beside = Spread.of((checks["evolution"] - checks["random"]).tolist())
    verdict = "does not show" if gain.low <= 0 <= gain.high else "is real" if gain.low > 0 else "is a loss"
    against = "neither better nor worse than" if beside.low <= 0 <= beside.high else "worse than"
    if beside.low > 0:
        against = "better than"
    return (
        f"On other deals the gain of evolution over the default constants {verdict}: {gain.words} mbb/g. Its constants "
        f"are {against} the best of as many drawn at random: {beside.words}."
    )
