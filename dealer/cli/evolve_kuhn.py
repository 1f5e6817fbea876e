"""``arena evolve kuhn``: strategies for Kuhn poker and three larger games, evolved."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from annotated_types import Interval

from bots.evolution.evolution import Generation
from bots.kuhn.evolution import KuhnSettings, OppositionKind
from bots.kuhn.games import CARDS, MODEL_NAMES, Genes, model
from bots.kuhn.runs import (
    KuhnResult,
    SeedProgress,
    SeedsDone,
    best_answer,
    evolve_seeds,
    exploitability_of,
    fitness_document,
    format_genes,
    read_genes,
)
from bots.sdk.options import Wording
from dealer.cli.computing import RunFolder, WorkerCount, computing
from dealer.cli.console import Terminal, abort, write_file
from dealer.cli.options import Given
from dealer.cli.progress import LiveLine, time_left
from engine.text import count_of
from logs.document import CODE, Column, Table

_TRAINING: Final = "Evolution"
_RIVALS: Final = {kind.value: kind for kind in OppositionKind if kind is not OppositionKind.MODEL}
_GENERATIONS: Final = {OppositionKind.MODEL: 100}
_MORE_GENERATIONS: Final = 1000
_ROW: Final = 12
"""Genes up to this many are printed in one line."""


def kuhn(
    context: typer.Context,
    folder: RunFolder,
    settings: Annotated[Given, KuhnSettings],
    opponent: Annotated[
        str,
        f"The opponents: {', '.join(MODEL_NAMES)}; a file of genes; or {', '.join(_RIVALS)}.",
        Wording("MODEL|FILE|KIND", group=_TRAINING),
    ] = "rational",
    mixed_model: Annotated[
        str,
        "With mixed opponents: the model that first players meet in addition to their rivals.",
        Wording("MODEL|FILE", flags="--model", group=_TRAINING),
    ] = "rational",
    generations: Annotated[
        int | None,
        "Number of generations to breed.",
        Interval(ge=1),
        Wording(group=_TRAINING, otherwise="100 against a model, 1,000 otherwise"),
    ] = None,
    repeat: Annotated[int, "Number of runs, with consecutive seeds.", Interval(ge=1), Wording(group=_TRAINING)] = 1,
    workers: WorkerCount = 1,
) -> None:
    """Evolve strategies for Kuhn poker: or a larger game of its three cards, by a genetic algorithm.

    The defaults are those of the thesis. Figures measured over hands are shown next to exact ones. The same command
    resumes an unfinished run.
    """
    terminal = context.ensure_object(Terminal)
    configured = _settings(settings, opponent, mixed_model)
    most = generations or _GENERATIONS.get(configured.opposition, _MORE_GENERATIONS)
    over = computing(folder, "the finished part", workers if repeat > 1 else 1)
    with over as helpers, LiveLine(terminal) as line:
        results = evolve_seeds(folder, configured, most, repeat, workers=helpers, show=lambda now: line(_line(now)))
    _write(folder, configured, results)
    _print_results(terminal, configured, results, folder)


def _settings(given: Given, opponent: str, mixed_model: str) -> KuhnSettings:
    kind = _RIVALS.get(opponent, OppositionKind.MODEL)
    plain = KuhnSettings(**given | {"opposition": OppositionKind.COEVOLUTION, "seat": 1})
    genes: Genes = ()
    if kind is OppositionKind.MODEL:
        genes = _model(opponent, plain, f"--opponent {opponent}", tuple(_RIVALS))
    elif kind is OppositionKind.MIXED:
        genes = _model(mixed_model, plain, f"--model {mixed_model}", ())
    return KuhnSettings(**given, opposition=kind, model=genes)


def _model(name: str, settings: KuhnSettings, option: str, others: Sequence[str]) -> Genes:
    """A model by its name, or a file of genes."""
    if name in MODEL_NAMES:
        return model(name, settings.game)
    path = Path(name)
    if path.is_file():
        return read_genes(path, settings.rules)
    names = ", ".join((*MODEL_NAMES, *others))
    abort(f"{option}: there is no such model, and no such file of genes; there are: {names}")


def _line(progress: SeedProgress | SeedsDone) -> str:
    """The progress of a run, the most important first."""
    if isinstance(progress, SeedsDone):
        return f"{progress.done} of {count_of(progress.runs, 'run')}{time_left(progress.left_s)}"
    generation: Generation = progress.generation
    of = f"seed {progress.seed} ({progress.number}/{progress.runs}), " if progress.runs > 1 else ""
    possible = "" if progress.possible is None else f" of {progress.possible:+.4f}"
    return (
        f"{of}generation {generation.number}/{progress.most}{time_left(progress.left_s)}, mean {generation.mean:+.4f}, "
        f"best {generation.best:+.4f}, exactly {progress.exact:+.4f}{possible}, "
        f"exploitable by {progress.exploitability:.4f}"
    )


# ---- results


def _print_results(terminal: Terminal, settings: KuhnSettings, results: Sequence[KuhnResult], folder: Path) -> None:
    rows = [_row(settings, result) for result in results]
    heads: tuple[str | Column, ...] = ("best", "its exact value", Column("fittest exploitable by", ",", rank=2))
    if not results[0].record_genes:
        heads = (Column("later mean", ",", rank=2), "fittest exploitable by", "average exploitable by")
    texts = [[str(result.seed), *(f"{one:+.4f}" for one in row)] for result, row in zip(results, rows, strict=True)]
    if len(results) > 1:
        columns = list(zip(*rows, strict=True))
        texts.append(["mean", *(f"{statistics.fmean(column):+.4f}" for column in columns)])
        texts.append(["spread", *(f"{statistics.stdev(column):.4f}" for column in columns)])
    terminal.table(Table.of("", ("seed", Column("mean", ",", rank=1), *heads), texts))
    _print_genes(terminal, settings, results)
    terminal.sentence(_in_words(settings, results))
    terminal.sentence(f"results, the fittest genes and a chart (fitness.html) in {folder}")


def _row(settings: KuhnSettings, result: KuhnResult) -> tuple[float, ...]:
    game, seat = settings.rules, settings.seat - 1
    fittest = exploitability_of(game, seat, result.fittest)
    if result.record_value is not None:
        return result.mean[-1], result.record, result.record_value, fittest
    later = statistics.fmean(result.mean[len(result.mean) // 2 :])
    return result.mean[-1], later, fittest, exploitability_of(game, 0, result.average)


def _print_genes(terminal: Terminal, settings: KuhnSettings, results: Sequence[KuhnResult]) -> None:
    """The genes on average over the runs, next to those of the best answer."""
    game = settings.rules
    sides = {"mean genes": [result.average or result.genes for result in results]}
    if results[0].rival_average:
        sides = {"first player": sides["mean genes"], "second player": [result.rival_average for result in results]}
    answer = None
    if settings.opposition is OppositionKind.MODEL:
        answer = best_answer(game, settings.seat - 1, settings.model)
    means = {name: [statistics.fmean(column) for column in zip(*genes, strict=True)] for name, genes in sides.items()}
    rows = []
    for at, row in enumerate(game.rows):
        genes = slice(len(CARDS) * at, len(CARDS) * (at + 1))
        cells = [" ".join(f"{gene:.2f}" for gene in mean[genes]) for mean in means.values()]
        rows.append([row, *cells, *([" ".join(answer.symbols()[genes])] if answer else [])])
    columns = [Column(head, format=CODE) for head in (*means, *(["best answer"] if answer else []))]
    terminal.table(Table.of("", ("genes", *columns), rows))


def _in_words(settings: KuhnSettings, results: Sequence[KuhnResult]) -> str:
    if settings.opposition is not OppositionKind.MODEL:
        return (
            "mean: of the first player's population in the last generation; later mean: of the second half of the "
            "generations; the average genes are those of the second half; exploitable by: what the best answer wins "
            "more than in an equilibrium"
        )
    possible = best_answer(settings.rules, settings.seat - 1, settings.model).value
    record = max(result.record for result in results)
    luck = f"; the best fitness, {record:+.4f}, is luck" if record > possible + 1e-9 else ""
    return f"no strategy wins more than {possible:+.4f} chips per hand from this opponent in this seat{luck}"


def _write(folder: Path, settings: KuhnSettings, results: Sequence[KuhnResult]) -> None:
    from logs.document.page import format_page

    write_file(folder / "fitness.html", format_page(fitness_document(settings, results)))
    write_file(folder / "fittest.genes", format_genes(results[0].record_genes or results[0].fittest, settings.rules))
