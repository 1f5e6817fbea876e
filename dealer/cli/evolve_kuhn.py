"""``arena evolve kuhn``: strategies for Kuhn poker and three larger games, evolved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from bots.kuhn.fitness import KuhnSettings, OppositionKind
from bots.kuhn.games import MODEL_NAMES, Genes, model
from bots.kuhn.runs import evolution_document, evolve_seeds, format_genes, read_genes
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
    configured = _settings(settings, opponent, mixed_model)
    most = generations or (100 if configured.opposition == "model" else 1000)
    over = computing(terminal, "evolving", folder, "every finished generation", workers if repeat > 1 else 1)
    with over as (helpers, show):
        results = evolve_seeds(folder, configured, most, repeat, workers=helpers, show=show)
    genes = format_genes(results[0].record_genes or results[0].fittest, configured.rules)
    write_file(folder / "fittest.genes", genes)
    output.show(terminal, evolution_document(configured, results, folder))


def _settings(given: TypedOptions, opponent: str, mixed_model: str) -> KuhnSettings:
    kind: OppositionKind = next((kind for kind in _RIVALS if kind == opponent), "model")
    plain = KuhnSettings(**given | {"opposition": "coevolution", "seat": 1})
    genes: Genes = ()
    if kind == "model":
        genes = _model(opponent, plain, f"--opponent {opponent}", _RIVALS)
    elif kind == "mixed":
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
