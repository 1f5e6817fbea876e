"""The players that the work plays against, as genes.

Shy checks and calls with a king; Safe bets its king as well; Rational plays a queen as often one way as the other;
Bluffer bets and raises with weak cards, too. Folder and Caller are extremes that the work has in the classic game
only: Folder never puts in a chip. Caller bets and calls whatever it holds; in the larger games, where they are ours, it
bets the most and never raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from bots.errors import EvolutionError
from bots.kuhn.games import Genes, KuhnGame, Variant
from engine.errors import quoted

__all__ = ["CONJECTURED_BLUFFER", "MODEL_NAMES", "model", "models"]

MODEL_NAMES: Final = ("shy", "safe", "rational", "bluffer", "folder", "caller")

_KING: Final = (0.0, 0.0, 1.0)
_NEVER: Final = (0.0, 0.0, 0.0)
_ALWAYS: Final = (1.0, 1.0, 1.0)
_HALF_OF_QUEENS: Final = (0.0, 0.5, 1.0)
_QUEEN_AND_KING: Final = (0.0, 1.0, 1.0)

_BLUFFER: Final[Mapping[Variant, Mapping[str, Genes]]] = {
    Variant.CLASSIC: {"B": (0.5, 0.7, 1.0), "C": (0.0, 0.7, 1.0)},
    Variant.BREADTH: {
        "B": _ALWAYS,
        "B>1": (0.5, 1.0, 1.0),
        "B10": (0.3, 0.5, 1.0),
        "C1": _QUEEN_AND_KING,
        "C2": _HALF_OF_QUEENS,
        "C10": _KING,
    },
    Variant.DEPTH: {"B": (0.5, 0.7, 1.0), "NF": (0.5, 0.7, 1.0), "R": (1.0, 0.5, 1.0), "C": (0.0, 0.7, 1.0)},
    Variant.BOTH: {
        "B": _ALWAYS,
        "B>1": (0.5, 1.0, 1.0),
        "B10": (0.5, 0.5, 1.0),
        "NF1": (0.5, 1.0, 1.0),
        "NF2": (0.5, 0.7, 1.0),
        "NF10": (0.5, 0.5, 1.0),
        "R1": _ALWAYS,
        "R2": (1.0, 0.7, 1.0),
        "R10": (1.0, 0.5, 1.0),
        "C1": _QUEEN_AND_KING,
        "C2": _HALF_OF_QUEENS,
        "C10": _KING,
    },
}


def _rational(row: str, variant: Variant) -> Genes:
    if not variant.has_sizes or row in ("B>1", "NF2", "R2", "C2"):
        return _HALF_OF_QUEENS
    return _KING if row.endswith("10") else _QUEEN_AND_KING


def _row(name: str, row: str, variant: Variant) -> Genes:
    match name:
        case "shy":
            return _NEVER if row[0] in "BR" else _KING
        case "safe":
            return _KING
        case "rational":
            return _rational(row, variant)
        case "bluffer":
            return _BLUFFER[variant][row]
        case "folder":
            return _NEVER
    return _NEVER if row[0] == "R" else _ALWAYS


@cache
def models(variant: Variant) -> Mapping[str, Genes]:
    """The models of a game by name."""
    rows = KuhnGame(variant).rows
    return MappingProxyType(
        {name: tuple(gene for row in rows for gene in _row(name, row, variant)) for name in MODEL_NAMES}
    )


def model(name: str, variant: Variant) -> Genes:
    """One of the models.

    Raises:
        EvolutionError: there is none of that name.
    """
    if name not in MODEL_NAMES:
        raise EvolutionError(f"there is no model {quoted(name)}; there are: {', '.join(MODEL_NAMES)}")
    return models(variant)[name]


CONJECTURED_BLUFFER: Final[Genes] = tuple(
    gene
    for row in KuhnGame(Variant.BOTH).rows
    for gene in {"NF10": (0.5, 0.5, 1.0), "R10": _HALF_OF_QUEENS}.get(row, _KING)
)
"""What the work's counter-strategies to the Bluffer of the game with sizes and a raise seem to have been evolved
against: no answer to the printed Bluffer looks like them."""
