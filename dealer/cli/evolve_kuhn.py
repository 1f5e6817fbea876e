"""``arena evolve kuhn``: evolve strategies for Kuhn poker and three larger games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from bots.kuhn.fitness import KuhnSettings, OppositionKind
from bots.kuhn.games import MODEL_NAMES, Genes, format_genes, model, read_genes
from bots.kuhn.runs import evolution_document, evolve_seeds
from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import TypedOptions
from dealer.cli.shell.computations import RunFolder, WorkerCount, computing
from dealer.cli.shell.console import Terminal, abort, write_file
from dealer.cli.shell.documents import DocumentOptions

_TRAINING: Final = "Evolution"
_RIVALS: Final[tuple[OppositionKind, ...]] = ("coevolution", "mixed", "hall-of-fame")


def kuhn(
    terminal: Terminal,
    folder: RunFolder,
    settings: Annotated[TypedOptions, KuhnSettings],
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
        Interval(1),
        Wording(group=_TRAINING, otherwise="100 against a model, 1,000 otherwise"),
    ] = None,
    repeat: Annotated[int, "Number of runs, with consecutive seeds.", Interval(1), Wording(group=_TRAINING)] = 1,
    workers: WorkerCount = 1,
    *,
    output: DocumentOptions,
) -> None:
    """Evolve strategies for Kuhn poker: or a larger game of its three cards, by a genetic algorithm.

    The defaults are those of the thesis. Figures measured over hands are shown next to exact ones. The same command
    resumes an unfinished run.
    """
    kuhn_settings = _kuhn_settings(settings, opponent, mixed_model)
    if generations is None:
        generations = 100 if kuhn_settings.opposition == "model" else 1000
    # Workers share out the runs, so a single run needs none.
    if repeat == 1:
        workers = 1
    with computing(terminal, "evolving", folder, "every finished generation", workers) as (pool, show):
        results = evolve_seeds(folder, kuhn_settings, generations, repeat, workers=pool, show=show)
    genes = format_genes(results[0].record_genes or results[0].fittest, kuhn_settings.rules)
    write_file(folder / "fittest.genes", genes)
    output.show(terminal, evolution_document(kuhn_settings, results, folder))


def _kuhn_settings(options: TypedOptions, opponent: str, mixed_model: str) -> KuhnSettings:
    kind: OppositionKind = "model"
    for rivals in _RIVALS:
        if rivals == opponent:
            kind = rivals
    # Game and rules are needed to find the model that the settings contain.
    without_model = KuhnSettings(**options | {"opposition": "coevolution", "seat": 1})
    genes: Genes = ()
    if kind == "model":
        genes = _find_model(opponent, without_model, f"--opponent {opponent}", _RIVALS)
    elif kind == "mixed":
        genes = _find_model(mixed_model, without_model, f"--model {mixed_model}", ())
    return KuhnSettings(**options, opposition=kind, model=genes)


def _find_model(name: str, settings: KuhnSettings, option: str, kinds: Sequence[str]) -> Genes:
    """Return the genes of a named model, or those of a file.

    Args:
        kinds: further values of the option, for the error.
    """
    if name in MODEL_NAMES:
        return model(name, settings.game)
    path = Path(name)
    if path.is_file():
        return read_genes(path, settings.rules)
    names = ", ".join((*MODEL_NAMES, *kinds))
    abort(f"{option}: no such model or file of genes; the models are {names}")
