"""Runs of the evolution of Kuhn strategies, and exact values of their results.

A folder has a file ``seed-1.checkpoint`` and so on. An existing run is resumed, and a resumed run ends exactly like an
uninterrupted one. Values of strategies are computed exactly, in chips per hand.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from bots.errors import BotFileError
from bots.evolution.breeding import Floats
from bots.evolution.evolution import (
    Evolution,
    Generation,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)
from bots.kuhn.fitness import KuhnSettings, against_rivals, kuhn_evolution
from bots.kuhn.games import CARDS, Genes, KuhnGame, Variant, sequence_form_of
from bots.long_run import (
    ShowProgress,
    Words,
    locked_run,
    require_same_settings,
    run_steps,
    settings_data,
    show_nothing,
    show_within,
    uninterrupted,
)
from bots.solving import sequence_form as of_plans
from bots.solving.equilibria import SEATS, LinearProgram, Solution
from bots.solving.sequence_form import Chances, Choice, Plan, plan_of
from bots.workers import Workers
from logs.document import CODE, TEXT, Axis, Chart, Column, Document, Fact, Part, Section, Series, Table, Value


class BestAnswer(NamedTuple):
    """Best response of a seat to a strategy.

    Attributes:
        value: mean winnings, in chips per hand.
        genes: 0 or 1 each; 0 if both are equally good.
        gaps: for each gene, the gain of yes over no with the best play after it, in chips times the probability that
            cards and opponent lead there; None if they never do.
    """

    value: float
    genes: Genes
    gaps: tuple[float | None, ...]

    def symbols(self) -> str:
        """Return a symbol for each gene: 0, 1, ``~`` if both are equally good, ``.`` if play never gets there."""
        return "".join(map(_symbol, self.gaps))


_TIE: Final = 1e-9


def _symbol(gap: float | None) -> str:
    if gap is None:
        return "."
    if abs(gap) < _TIE:
        return "~"
    if gap > 0:
        return "1"
    return "0"


def plan_of_genes(game: KuhnGame, seat: int, genes: Sequence[float]) -> Plan:
    """Return the plan of seat 0 or 1 that has these genes.

    Raises:
        EvolutionError: the genes are invalid.
    """
    yes = np.array(game.require_genes(genes)).reshape(-1, len(CARDS))
    rows = game.rows

    def chances(choice: Choice) -> Chances:
        chance = yes[rows.index(choice.name)]
        return np.stack([1 - chance, chance])

    return plan_of(sequence_form_of(game), seat, chances)


def expected_value(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """Return the mean winnings of the first player, in chips per hand."""
    plans = plan_of_genes(game, 0, first), plan_of_genes(game, 1, second)
    return of_plans.expected_value(sequence_form_of(game), plans)


def best_answer(game: KuhnGame, seat: int, opponent: Sequence[float]) -> BestAnswer:
    """Return the best response of seat 0 or 1 to a strategy in the other seat."""
    form = sequence_form_of(game)
    other = plan_of_genes(game, 1 - seat, opponent)
    values = of_plans.sequence_values(form, seat, other)
    # Weight of each sequence with each card: the opponent's probability of leading there, summed over its cards.
    reached = np.zeros_like(values)
    has_different_cards = 1 - np.eye(len(CARDS))
    for end in form.terminal_nodes:
        reached[end.sequences[seat]] += other[end.sequences[1 - seat]] @ has_different_cards
    rows = game.rows
    genes = np.zeros((len(rows), len(CARDS)))
    gaps: list[list[float | None]] = [[None] * len(CARDS) for _ in rows]
    # From the last decisions to the first: the value of a sequence includes the best play after it.
    for choice in reversed(form.choices[seat]):
        no, yes = values[choice.sequences]
        row = rows.index(choice.name)
        genes[row] = yes > no
        reached_choice = reached[choice.sequences].sum(axis=0)
        for card, gap in enumerate((yes - no).tolist()):
            if reached_choice[card]:
                gaps[row][card] = gap
        values[choice.parent] += np.maximum(no, yes)
        reached[choice.parent] += reached_choice
    all_gaps = tuple(itertools.chain.from_iterable(gaps))
    return BestAnswer(float(values[0].sum()), tuple(genes.ravel().tolist()), all_gaps)


@dataclass(frozen=True, slots=True)
class KuhnResult:
    """Results of a run. Fields about rivals are empty without rivals.

    Attributes:
        best: highest fitness by generation, from the first population on.
        mean: mean fitness by generation.
        rivals_mean: mean fitness of the rivals by generation.
        record: highest fitness of all generations after the first population, the "best" of the thesis.
        record_genes: genes of the individual with the record; empty with rivals, which differ by generation.
        record_value: exact mean winnings of these genes from the model; None with rivals.
        genes: mean genes of the last population.
        rival_genes: mean genes of its rivals.
        fittest: genes of the fittest individual of the last population.
        fittest_rival: genes of its fittest rival.
        average: mean of `genes` over the later half of all generations; empty without rivals.
        rival_average: mean of `rival_genes` over the later half of all generations.
        genes_by_generation: mean genes of the population by generation.
        rival_genes_by_generation: mean genes of the rivals by generation.
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
    genes_by_generation: tuple[Genes, ...] = ()
    rival_genes_by_generation: tuple[Genes, ...] = ()


_Trace: TypeAlias = dict[str, list[Any]]
"""Mean genes of both sides by generation, and the fittest rival of the last one; empty without rivals."""


def _generations(
    settings: KuhnSettings, evolution: Evolution, generations: int, trace: _Trace
) -> Iterator[tuple[float, Words]]:
    """Breed generations, add each to the trace, and yield the progress."""
    bred = evolution.generations(StopRule(generations=generations))
    while True:
        rivals = evolution.opponents
        # Keep the trace in step with the state of the evolution. The first generation can be interrupted, because it
        # compiles the kernels and there is no state to lose yet.
        with uninterrupted() if trace["genes"] else nullcontext():
            generation = next(bred, None)
            if generation is None:
                return
            state = evolution.state
            trace["genes"].append(state.population[:, :, 0].mean(axis=0).tolist())
            if rivals is not None and state.evaluation.totals is not None:
                # The hall of fame follows the population of the rivals.
                own = rivals[: len(state.population), :, 0]
                trace["rival_genes"].append(own.mean(axis=0).tolist())
                trace["fittest_rival"] = own[int(np.argmax(state.evaluation.totals[: len(own)]))].tolist()
        yield generation.number / generations, partial(_standing, settings, evolution, generation)


def _result(settings: KuhnSettings, evolution: Evolution, trace: _Trace) -> KuhnResult:
    state = evolution.state
    history = state.history
    has_rivals = bool(trace["rival_genes"])
    record_genes: Genes = ()
    record_value = None
    rival_genes: Genes = ()
    average: Genes = ()
    rival_average: Genes = ()
    if has_rivals:
        half = len(history) // 2
        rival_genes = tuple(trace["rival_genes"][-1])
        average = _mean(trace["genes"][half:])
        rival_average = _mean(trace["rival_genes"][half:])
    else:
        record = -1
        for index, number in enumerate(state.champion_generations):
            # The first population counts only if there is no other.
            if number or len(history) == 1:
                record = index
        record_genes = _genes(state.champions[record])
        record_value = _value_against(settings, record_genes)
    bests = [generation.best for generation in history]
    rivals_means = [generation.rivals_mean for generation in history]
    return KuhnResult(
        seed=settings.seed,
        best=tuple(bests),
        mean=tuple([generation.mean for generation in history]),
        rivals_mean=tuple([mean for mean in rivals_means if mean is not None]),
        record=max(bests[1:] or bests),
        record_genes=record_genes,
        record_value=record_value,
        genes=tuple(trace["genes"][-1]),
        rival_genes=rival_genes,
        fittest=_genes(evolution.champion),
        fittest_rival=tuple(trace["fittest_rival"]),
        average=average,
        rival_average=rival_average,
        genes_by_generation=tuple(map(tuple, trace["genes"])),
        rival_genes_by_generation=tuple(map(tuple, trace["rival_genes"])),
    )


def _value_against(settings: KuhnSettings, genes: Sequence[float]) -> float:
    if settings.seat == 1:
        return expected_value(settings.rules, genes, settings.model)
    return -expected_value(settings.rules, settings.model, genes)


def _genes(chromosome: Floats) -> Genes:
    return tuple(chromosome.ravel().tolist())


def _mean(rows: Sequence[Sequence[float]]) -> Genes:
    return tuple(np.mean(rows, axis=0).tolist())


def strategy_parts(game: KuhnGame, solution: Solution) -> list[Part]:
    """Return tables of the probability of yes by question and card, for each player."""
    parts: list[Part] = []
    for seat, strategy in zip(SEATS, solution.strategies, strict=False):
        rows: list[tuple[Value, ...]] = []
        for row, question in zip(game.rows, game.questions, strict=True):
            if row not in strategy:
                continue
            chances = []
            for card in CARDS:
                answers = strategy[row].get(card) or {}
                chances.append(answers.get("yes"))
            rows.append((f"{row}  {question}", *chances))
        columns = (Column("probability of yes", TEXT), *(Column(card, ".4f") for card in CARDS))
        parts.append(Table.of(f"The {seat} player", columns, rows))
    if game.variant is Variant.CLASSIC:
        bluffs = (solution.strategies[0]["B"]["J"] or {})["yes"]
        parts.append(
            "The equilibria are a family (Kuhn 1950): the first player bets J with any probability a from 0 to 1/3, K "
            "with 3a, never Q, and calls with Q with probability a + 1/3; the second player has one strategy. "
            f"The numbers above are near those of a = {bluffs:.4f}."
        )
    return parts


@lru_cache(maxsize=8)
def game_value(game: KuhnGame) -> float:
    """Return the mean winnings of the first player in an equilibrium."""
    return LinearProgram(sequence_form_of(game)).solve().value


def exploitability_of(game: KuhnGame, seat: int, genes: Genes) -> float:
    """Return the winnings of the best response to a strategy in seat 0 or 1, less those in an equilibrium."""
    opponent_value = -game_value(game)
    if seat == 1:
        opponent_value = game_value(game)
    return best_answer(game, 1 - seat, genes).value - opponent_value


def evolve(folder: Path, settings: KuhnSettings, generations: int, show: ShowProgress = show_nothing) -> KuhnResult:
    """Run the evolution in a folder, or resume it.

    Raises:
        BotFileError: the folder has a longer run, a run with other settings, or a damaged file.
    """
    name = f"seed-{settings.seed}"
    about = settings_data(settings)
    path = folder / f"{name}.checkpoint"
    state = None
    trace: _Trace = {"genes": [], "rival_genes": [], "fittest_rival": []}
    with locked_run(folder, name):
        if path.exists():
            state, notes = load_checkpoint(path)
            require_same_settings(path, about, notes.get("settings", {}))
            trace = notes["trace"]
            bred = state.history[-1].number
            if bred > generations:
                problem = f"it has {bred} generations, more than the {generations} asked for: take another folder"
                raise BotFileError(str(path), problem)
        evolution = kuhn_evolution(settings, state=state)

        def save() -> None:
            save_checkpoint(path, evolution.state, {"settings": about, "trace": trace})

        run_steps(_generations(settings, evolution, generations, trace), save, show)
    return _result(settings, evolution, trace)


def evolve_seeds(
    folder: Path,
    settings: KuhnSettings,
    generations: int,
    repeat: int,
    *,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> list[KuhnResult]:
    """Run the evolution with consecutive seeds, from that of the settings on. Finished runs are not repeated."""
    runs = [replace(settings, seed=settings.seed + number) for number in range(repeat)]
    results = {}
    if workers is None:
        for number, run in enumerate(runs):
            results[number] = evolve(folder, run, generations, show_within(show, number, repeat))
    else:
        for number, result in workers.each(evolve, [folder] * repeat, runs, [generations] * repeat):
            results[number] = result
            show(len(results) / repeat)
    return [results[number] for number in range(repeat)]


def _standing(settings: KuhnSettings, evolution: Evolution, generation: Generation) -> str:
    """Format a generation and the exact winnings of its fittest individual from its opponents."""
    genes = _genes(evolution.champion)
    state = evolution.state
    game = settings.rules
    seat = settings.seat - 1
    if settings.opposition == "model":
        possible = best_answer(game, seat, settings.model).value
        exact = f"{_value_against(settings, genes):+.4f} of {possible:+.4f}"
    else:
        no_seeds = np.zeros(1, np.uint64)
        evaluation = against_rivals(game, True, evolution.champion[None], no_seeds, state.opponents)
        exact = f"{float(evaluation.fitness[0]):+.4f}"
    return (
        f"seed {settings.seed}, generation {generation.number}, mean {generation.mean:+.4f}, best "
        f"{generation.best:+.4f}, exactly {exact}, exploitable by {exploitability_of(game, seat, genes):.4f}"
    )


_ALWAYS_SHOWN: Final = ("game", "opposition", "seat", "population")
_NEVER_SHOWN: Final = ("seed", "model")


def evolution_document(settings: KuhnSettings, results: Sequence[KuhnResult], folder: Path) -> Document:
    """Build a document with winnings and exact values by seed, mean genes, and the fitness by generation."""
    data = settings_data(settings)
    facts = []
    for field in fields(settings):
        is_changed = getattr(settings, field.name) != field.default
        if field.name in _ALWAYS_SHOWN or (is_changed and field.name not in _NEVER_SHOWN):
            facts.append(Fact(field.name, str(data[field.name])))
    sections = (
        Section("Results", (_results_table(settings, results),)),
        Section("Genes", (_genes_table(settings, results),)),
        Section("Fitness by generation", (_fitness_chart(settings, results),)),
        Section("Genes by generation", tuple(_gene_charts(settings, results))),
    )
    sentences = (_in_words(settings, results), f"The populations and the fittest genes are in {folder}.")
    document_data = {"settings": data, "results": results}
    return Document("Strategies evolved", sentences, tuple(facts), sections, data=document_data)


def _results_table(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Table:
    if results[0].record_genes:
        columns = [
            Column("best", "+.4f"),
            Column("its exact value", "+.4f"),
            Column("fittest exploitable by", "+.4f", rank=2),
        ]
    else:
        columns = [
            Column("later mean", "+.4f", rank=2),
            Column("fittest exploitable by", "+.4f"),
            Column("average exploitable by", "+.4f"),
        ]
    figures = [_row(settings, result) for result in results]
    rows: list[tuple[Value, ...]] = []
    for result, row in zip(results, figures, strict=True):
        rows.append((str(result.seed), *row))
    if len(results) > 1:
        by_column = list(zip(*figures, strict=True))
        rows.append(("mean", *map(statistics.fmean, by_column)))
        rows.append(("spread", *map(statistics.stdev, by_column)))
    return Table.of("", ("seed", Column("mean", "+.4f", rank=1), *columns), rows)


def _row(settings: KuhnSettings, result: KuhnResult) -> tuple[float, ...]:
    game = settings.rules
    seat = settings.seat - 1
    fittest = exploitability_of(game, seat, result.fittest)
    if result.record_value is not None:
        return result.mean[-1], result.record, result.record_value, fittest
    later = statistics.fmean(result.mean[len(result.mean) // 2 :])
    return result.mean[-1], later, fittest, exploitability_of(game, 0, result.average)


def _genes_table(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Table:
    """Return a table of the mean genes of the runs, next to those of the best response."""
    sides = {"first": [result.average or result.genes for result in results]}
    if results[0].rival_average:
        sides["second"] = [result.rival_average for result in results]
    symbols: Sequence[str] = ()
    if settings.opposition == "model":
        symbols = best_answer(settings.rules, settings.seat - 1, settings.model).symbols()
    rows: list[tuple[Value, ...]] = []
    for side, genes in sides.items():
        player = ""
        if len(sides) > 1:
            player = side
        mean = [statistics.fmean(column) for column in zip(*genes, strict=True)]
        for index, row in enumerate(settings.rules.rows):
            columns_of_row = slice(len(CARDS) * index, len(CARDS) * (index + 1))
            rows.append((player, row, *mean[columns_of_row], " ".join(symbols[columns_of_row])))
    columns = [Column("player"), Column("genes", CODE), *(Column(card, ".2f") for card in CARDS)]
    return Table.of("", (*columns, Column("best response", CODE)), rows).without_empty()


def _in_words(settings: KuhnSettings, results: Sequence[KuhnResult]) -> str:
    if settings.opposition != "model":
        return (
            "Mean: of the first player's population in the last generation; later mean: of the second half of the "
            "generations; the average genes are those of the second half; exploitable by: what the best response "
            "wins more than in an equilibrium."
        )
    possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
    record = max(result.record for result in results)
    luck = ""
    if record > possible + 1e-9:
        luck = f"; the best fitness, {record:+.4f}, is luck"
    return f"No strategy wins more than {possible:+.4f} chips per hand from this opponent in this seat{luck}."


def _fitness_chart(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Chart:
    lines = [_mean_series("mean", [result.mean for result in results])]
    if settings.opposition == "model":
        possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
        ends = (0.0, len(results[0].mean) - 1.0)
        best = _mean_series("best", [result.best for result in results])
        lines = [best, *lines, Series("best possible", ends, (possible, possible), is_dashed=True)]
    else:
        lines.append(_mean_series("mean of the rivals", [result.rivals_mean for result in results]))
    note = ""
    if len(results) > 1:
        note = f"Means over {len(results)} seeds; bands are one standard deviation wide on each side."
    return Chart("Fitness", Axis("generation"), Axis("fitness", "chips per hand"), tuple(lines), note)


def _gene_charts(settings: KuhnSettings, results: Sequence[KuhnResult]) -> Iterator[Chart]:
    """Draw the mean genes of the population by generation, a chart for each question and player."""
    sides = {"": [result.genes_by_generation for result in results]}
    if results[0].rival_genes_by_generation:
        sides = {
            "first player: ": sides[""],
            "second player: ": [result.rival_genes_by_generation for result in results],
        }
    game = settings.rules
    for side, histories in sides.items():
        for index, (row, question) in enumerate(zip(game.rows, game.questions, strict=True)):
            lines = []
            for place, card in enumerate(CARDS):
                gene = len(CARDS) * index + place
                lines.append(_mean_series(card, [[genes[gene] for genes in history] for history in histories]))
            axis = Axis("probability of yes", "")
            yield Chart(f"{side}{row}: {question}", Axis("generation"), axis, tuple(lines))


def _mean_series(name: str, curves: Sequence[Sequence[float]]) -> Series:
    """Return the mean of curves over the generations, with their standard deviation as half-width."""
    heights = np.array(curves)
    half: tuple[float, ...] = ()
    if len(heights) > 1:
        half = tuple(heights.std(axis=0, ddof=1).tolist())
    generations = tuple(map(float, range(heights.shape[1])))
    return Series(name, generations, tuple(heights.mean(axis=0).tolist()), half)
