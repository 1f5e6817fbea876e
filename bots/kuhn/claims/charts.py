"""Charts of fitness by generation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bots.findings import Line, LineChart, Report, Section
from bots.kuhn.evolution.results import KuhnResult
from bots.kuhn.evolution.settings import KuhnSettings, OppositionKind
from bots.kuhn.values import best_answer

__all__ = ["band", "fitness_report", "level"]


def band(name: str, curves: Sequence[Sequence[float]]) -> Line:
    """The mean of some curves over the generations, and what lies within a standard deviation of it."""
    heights = np.array(curves)
    mean = heights.mean(axis=0)
    deviation = heights.std(axis=0, ddof=1) if len(heights) > 1 else np.zeros_like(mean)
    return Line(
        name=name,
        xs=tuple(range(heights.shape[1])),
        ys=tuple(mean.tolist()),
        low=tuple((mean - deviation).tolist()) if len(heights) > 1 else (),
        high=tuple((mean + deviation).tolist()) if len(heights) > 1 else (),
    )


def level(name: str, height: float, generations: int) -> Line:
    """An exact value as a dashed line."""
    return Line(name=name, xs=(0, generations), ys=(height, height), is_dashed=True)


def fitness_report(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Report:
    """The fitness of some runs of the same settings, as a page."""
    lines = [band("mean", [result.mean for result in results])]
    if settings.opposition is OppositionKind.MODEL:
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        best = band("best", [result.best for result in results])
        lines = [best, *lines, level("best possible", possible, len(results[0].mean) - 1)]
    else:
        lines.append(band("mean of the rivals", [result.rivals_mean for result in results]))
    note = (
        "" if len(results) == 1 else f"Means over {len(results)} seeds; bands are a standard deviation wide each way."
    )
    chart = LineChart(title="Fitness", x_label="generation", y_label="chips per hand", lines=tuple(lines), note=note)
    facts = tuple((name, str(value)) for name, value in settings.as_data().items() if name not in ("seed", "model"))
    return Report("Strategies evolved", (), facts, (Section("Fitness by generation", (), (chart,)),))
