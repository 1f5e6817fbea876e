"""Figures over seeds, and how they are told."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Final

from bots.findings import Verdict
from bots.kuhn.games import CARDS

__all__ = ["RUN_SPREAD", "differing", "mean_of", "mean_rows", "of_runs", "range_verdict", "spread_of", "symbols"]

RUN_SPREAD: Final = "± is the standard deviation from run to run."
_WIDE: Final = 3.0
"""A printed figure counts as one of ours where it lies as near as 99.7 % of further runs would: this many standard
deviations, if those were known."""
_PRINT: Final = 0.005
"""Half a unit of the last digit that the work prints."""
_CONVERGED: Final = 0.05
_SMALL: Final = 0.25
_AGREES: Final = 0.2
"""How far from a printed 0 or 1 a mean gene may lie."""


def mean_of(values: Sequence[float]) -> float:
    """The mean."""
    return statistics.fmean(values)


def spread_of(values: Sequence[float]) -> float | None:
    """The standard deviation; None of a single value."""
    return statistics.stdev(values) if len(values) > 1 else None


def of_runs(values: Sequence[float], digits: int = 4) -> str:
    """Mean and standard deviation as text."""
    deviation = spread_of(values)
    return f"{mean_of(values):.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def mean_rows(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The mean of each column."""
    return tuple(map(statistics.fmean, zip(*rows, strict=True)))


def symbols(genes: Sequence[float]) -> str:
    """Genes as the work writes them, three to a row; see `bots.kuhn.claims.printed`."""

    def symbol(gene: float) -> str:
        if gene < _CONVERGED or gene > 1 - _CONVERGED:
            return "01"[gene > 0.5]
        return "v" if gene < _SMALL else "^" if gene > 1 - _SMALL else "~"

    signs = "".join(map(symbol, genes))
    return " ".join(signs[at : at + len(CARDS)] for at in range(0, len(signs), len(CARDS)))


def differing(printed: str, genes: Sequence[float], names: Sequence[str]) -> list[str]:
    """The genes that are printed as 0 or 1 and lie elsewhere, with where they lie."""
    return [
        f"{name} {gene:.2f}"
        for name, sign, gene in zip(names, printed.replace(" ", ""), genes, strict=True)
        if sign in "01" and abs(gene - int(sign)) > _AGREES
    ]


def _further_run(runs: int) -> float:
    """How many standard deviations of so many runs, two or more, a further one may lie from their mean.

    Student's distribution by the expansion of Cornish and Fisher, exact enough from five runs on.
    """
    z, n = _WIDE, runs - 1
    student = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    student += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    widened: float = student * (1 + 1 / runs) ** 0.5
    return widened


def range_verdict(printed: float, values: Sequence[float], possible: float) -> tuple[Verdict, str]:
    """What became of a printed best fitness.

    Args:
        printed: the figure.
        values: ours.
        possible: what nobody exceeds on average.
    """
    room = _further_run(len(values)) * (spread_of(values) or 0.0) + _PRINT
    if abs(printed - mean_of(values)) > room:
        return Verdict.NOT_REPRODUCED, f"{len(values)} runs lie from {min(values):.2f} to {max(values):.2f}"
    if printed > possible + _PRINT:
        return Verdict.LUCKY, f"nobody wins more than {possible:.4f}"
    return Verdict.REPRODUCED, ""
