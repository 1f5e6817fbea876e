"""The search for a learner's constants as findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from bots.findings import Line, LineChart, Report, Section, TableView
from bots.learner.constants import RANGES, Constants
from bots.learner.intervals import Spread
from bots.learner.tuning import Measured, TuningSettings

__all__ = ["tuning_report"]


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
