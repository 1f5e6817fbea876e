"""What a run found, in figures, and the run itself in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import ChromosomeError, EvolutionError
from bots.evolution.evolution import Evolution, Generation, StopRule
from bots.evolution.genome import Floats
from bots.kuhn.evolution.settings import KuhnSettings, OppositionKind, kuhn_evolution
from bots.kuhn.games import CARDS, Genes, KuhnGame
from bots.kuhn.values import expected_value
from engine.errors import quoted

__all__ = ["KuhnResult", "Trace", "follow", "format_genes", "read_genes", "result_of", "run_seed", "value_against"]

_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class KuhnResult:
    """What one run found.

    Attributes:
        seed: of the run.
        best: by generation, the first population first: the highest fitness.
        mean: by generation: of all individuals.
        rivals_mean: by generation: of all rivals; empty without any.
        record: the highest fitness of all generations but the first population: what the work calls the best.
        record_genes: of the individual that had it; empty with rivals, where fitness is about the rivals of the day.
        record_value: what it wins on average from the model, exactly; None with rivals.
        genes: the means over the last population.
        rival_genes: over its rivals; empty without any.
        fittest: of the last population.
        fittest_rival: of its rivals; empty without any.
        average: the means of `genes` over the later half of all generations; empty without rivals.
        rival_average: those of `rival_genes`.
    """

    seed: int
    best: tuple[float, ...]
    mean: tuple[float, ...]
    rivals_mean: tuple[float, ...]
    record: float
    record_genes: Genes
    record_value: float | None
    genes: Genes
    rival_genes: Genes
    fittest: Genes
    fittest_rival: Genes
    average: Genes
    rival_average: Genes

    def as_data(self) -> dict[str, Any]:
        """As JSON says it."""
        return {
            name: [round(one, _DIGITS) for one in value] if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> KuhnResult:
        """What `as_data` said.

        Raises:
            TypeError: something is missing, or has no place.
        """
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        return cls(**found)


class Trace:
    """The mean genes of both sides by generation, and the fittest rival of the last.

    Attributes:
        genes: by generation.
        rival_genes: the same of the rivals; empty without any.
        fittest_rival: of the last generation; empty without any.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        data = data or {}
        self.genes: list[list[float]] = data.get("genes", [])
        self.rival_genes: list[list[float]] = data.get("rival_genes", [])
        self.fittest_rival: list[float] = data.get("fittest_rival", [])

    def as_data(self) -> dict[str, Any]:
        """As JSON says it."""
        return {"genes": self.genes, "rival_genes": self.rival_genes, "fittest_rival": self.fittest_rival}

    def add(self, evolution: Evolution, rivals: NDArray[Any] | None) -> None:
        """Add a generation; `rivals` are those that it met."""
        state = evolution.state
        assert state is not None
        self.genes.append(state.population[:, :, 0].mean(axis=0).tolist())
        if rivals is not None and state.evaluation.totals is not None:
            # Those in a hall of fame stand behind as many rivals as there are individuals.
            own = rivals[: len(state.population), :, 0]
            self.rival_genes.append(own.mean(axis=0).tolist())
            self.fittest_rival = own[int(np.argmax(state.evaluation.totals[: len(own)]))].tolist()


def follow(
    settings: KuhnSettings, evolution: Evolution, rule: StopRule, trace: Trace, show: Callable[[Generation], None]
) -> None:
    """Breed until the rule stops it.

    Args:
        settings: of the run.
        evolution: of the run.
        rule: when it ends.
        trace: added to.
        show: told after each generation.

    Raises:
        EvolutionError: what the listing makes of it cannot go on.
    """
    rivals = settings.first(1) if settings.opposition is not OppositionKind.MODEL else None
    if evolution.state is not None:
        rivals = evolution.state.opponents
    for generation in evolution.generations(rule):
        trace.add(evolution, rivals)
        assert evolution.state is not None
        rivals = evolution.state.opponents
        show(generation)


def result_of(settings: KuhnSettings, evolution: Evolution, trace: Trace) -> KuhnResult:
    """What a run has found so far."""
    state = evolution.state
    assert state is not None
    history = state.history
    has_rivals = bool(trace.rival_genes)
    record_genes: Genes = ()
    if not has_rivals:
        later = [at for at, number in enumerate(state.champion_generations) if number or len(history) == 1]
        record_genes = _genes(state.champions[later[-1] if later else -1])
    half = len(history) // 2
    return KuhnResult(
        seed=settings.seed,
        best=tuple(generation.best for generation in history),
        mean=tuple(generation.mean for generation in history),
        rivals_mean=tuple(generation.rivals_mean for generation in history if generation.rivals_mean is not None),
        record=max(generation.best for generation in history[1:] or history),
        record_genes=record_genes,
        record_value=value_against(settings, record_genes) if record_genes else None,
        genes=tuple(trace.genes[-1]),
        rival_genes=tuple(trace.rival_genes[-1]) if has_rivals else (),
        fittest=_genes(evolution.champion),
        fittest_rival=tuple(trace.fittest_rival),
        average=_mean(trace.genes[half:]) if has_rivals else (),
        rival_average=_mean(trace.rival_genes[half:]) if has_rivals else (),
    )


def value_against(settings: KuhnSettings, genes: Sequence[float]) -> float:
    """What genes win on average from the model of the settings, exactly, in the seat that evolves."""
    if settings.seat == 1:
        return expected_value(settings.rules, genes, settings.model)
    return -expected_value(settings.rules, settings.model, genes)


def run_seed(settings: KuhnSettings, generations: int) -> KuhnResult:
    """A whole run, in memory.

    Raises:
        EvolutionError: what the listing makes of it cannot go on.
    """
    evolution, trace = kuhn_evolution(settings), Trace()
    follow(settings, evolution, StopRule(generations=generations), trace, lambda _: None)
    return result_of(settings, evolution, trace)


def _genes(chromosome: Floats) -> Genes:
    return tuple(chromosome.ravel().tolist())


def _mean(rows: Sequence[Sequence[float]]) -> Genes:
    return tuple(np.mean(rows, axis=0).tolist())


_MOST_CHARACTERS: Final = 100_000


def read_genes(path: Path, game: KuhnGame) -> Genes:
    """The strategy in a file.

    Raises:
        ChromosomeError: it cannot be read, something in it is no number, or it is no strategy for the game.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_CHARACTERS)
    except UnicodeDecodeError as error:
        raise ChromosomeError(str(path), "it is not a text") from error
    except OSError as error:
        raise ChromosomeError(str(path), f"it cannot be read: {error.strerror or error}") from error
    genes = []
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.partition("#")[0].replace(",", " ").split():
            try:
                genes.append(float(word))
            except ValueError:
                raise ChromosomeError(
                    str(path), f"line {number}: {quoted(word)} is no number; a gene is a probability, 0 to 1"
                ) from None
    try:
        return game.require_genes(genes)
    except EvolutionError as error:
        raise ChromosomeError(str(path), str(error)) from error


def format_genes(genes: Genes, game: KuhnGame) -> str:
    """A strategy as such a file has it."""
    cards = len(CARDS)
    lines = [f"# {'  '.join(CARDS)}"]
    for at, row in enumerate(game.rows):
        lines.append(" ".join(f"{gene:.6g}" for gene in genes[cards * at : cards * at + cards]) + f"  # {row}")
    return "\n".join(lines) + "\n"
