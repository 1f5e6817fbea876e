"""Strategies as text files: numbers between spaces or line ends, row by row; what follows a ``#`` is a comment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bots.errors import ChromosomeError, EvolutionError
from bots.kuhn.games import CARDS, Genes, KuhnGame
from engine.errors import quoted

__all__ = ["format_genes", "read_genes"]

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
