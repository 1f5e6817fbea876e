"""The runs behind every table and figure of the work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from bots.kuhn.evolution.settings import (
    CrossoverKind,
    Fitness,
    KuhnSettings,
    OppositionKind,
    SelectionKind,
    Start,
)
from bots.kuhn.games import Genes, Variant
from bots.kuhn.models import CONJECTURED_BLUFFER, model

__all__ = ["FIXED", "FOUR_MODELS", "Experiment", "experiments"]

FOUR_MODELS: Final = ("shy", "safe", "rational", "bluffer")
FIXED: Final = 100
"""Generations against a model."""
_STUDY: Final = 500
"""Generations of the work's comparison of selections."""
_COEVOLUTION: Final = 1000
_LONGEST: Final = 20


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs that differ in their seeds only.

    Attributes:
        name: of its file.
        settings: of the run with seed 1.
        generations: of a run.
        share: one of so many seeds is run: long runs are repeated less often.
    """

    name: str
    settings: KuhnSettings
    generations: int
    share: int

    def seeds(self, count: int) -> int:
        """How many seeds of those asked for are run; two at least, but for the longest runs."""
        return max(count // self.share, 1 if self.share >= _LONGEST else min(count, 2))

    def settings_of(self, seed: int) -> KuhnSettings:
        """The settings of a run."""
        return replace(self.settings, seed=seed)


@cache
def experiments() -> tuple[Experiment, ...]:
    """All of them, in the order of the report."""
    return tuple(_experiments())


def _experiments() -> Iterator[Experiment]:
    for variant in Variant:
        for name in FOUR_MODELS:
            for seat in (1, 2):
                yield _against(variant, name, seat)
        if variant is Variant.CLASSIC:
            yield _against(variant, "folder", 1)
            yield _against(variant, "caller", 1)
        if variant is Variant.BREADTH:
            for name, seat in (("rational", 1), ("rational", 2), ("bluffer", 2)):
                yield _against(variant, name, seat, "tens-as-twos", tens_as_twos=True)
        if variant is Variant.BOTH:
            for seat in (1, 2):
                yield _against(variant, "bluffer", seat, "conjectured", genes=CONJECTURED_BLUFFER)
    for name in FOUR_MODELS:
        for selection in SelectionKind:
            yield _against(Variant.CLASSIC, name, 1, selection.value, generations=_STUDY, share=5, selection=selection)
        one_point = CrossoverKind.ONE_POINT
        yield _against(Variant.CLASSIC, name, 1, one_point.value, crossover=one_point)
        yield _against(Variant.CLASSIC, name, 1, "random-start", start=Start.RANDOM)
    listed = SelectionKind.RANK
    yield _against(Variant.CLASSIC, "rational", 1, "rank-as-listed", selection=listed, as_published=True)
    yield _against(Variant.CLASSIC, "rational", 2, "as-listed", as_published=True)
    yield _against(Variant.CLASSIC, "rational", 1, "exact", fitness=Fitness.EXACT)
    coevolution = OppositionKind.COEVOLUTION
    yield _rivals("coevolution-classic", coevolution, 5)
    rational = model("rational", Variant.CLASSIC)
    yield _rivals("mixed-classic", OppositionKind.MIXED, 5, model=rational)
    yield _rivals("mixed-classic-as-listed", OppositionKind.MIXED, 20, model=rational, as_published=True)
    yield _rivals("coevolution-classic-exact", coevolution, 20, fitness=Fitness.EXACT)
    yield _rivals("coevolution-classic-hall", OppositionKind.HALL_OF_FAME, 20)
    for variant in (Variant.BREADTH, Variant.DEPTH, Variant.BOTH):
        yield _rivals(f"coevolution-{variant.value}", coevolution, 20, game=variant)


def _against(
    variant: Variant,
    name: str,
    seat: int,
    about: str = "",
    *,
    generations: int = FIXED,
    share: int = 1,
    genes: Genes | None = None,
    **options: Any,
) -> Experiment:
    settings = KuhnSettings(game=variant, model=genes or model(name, variant), seat=seat, **options)
    words = (variant.value, name, str(seat), about)
    return Experiment("-".join(word for word in words if word), settings, generations, share)


def _rivals(name: str, opposition: OppositionKind, share: int, **options: Any) -> Experiment:
    return Experiment(name, KuhnSettings(opposition=opposition, **options), _COEVOLUTION, share)
