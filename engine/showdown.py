"""Who wins what at the end of a hand: side pots by layers, split exactly.

The arithmetic is the reference's, because its logs print six decimals: pots are split into equal real shares (no odd
chips), layer by layer from the smallest, in double precision and in this order of operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.game import Position
from engine.pots import pot_layers

__all__ = ["showdown_values"]


def showdown_values(spent: Sequence[int], ranks: Sequence[int | None]) -> list[float]:
    """Net chips of every position when a hand ends by showdown.

    Args:
        spent: chips each position put in.
        ranks: the rank of each position's hand, higher is better; None for players who folded.
    """
    in_pot = [rank for rank in ranks if rank is not None]
    if len(in_pot) == len(ranks) and spent[0] > 0 and spent.count(spent[0]) == len(spent):
        return _values_of_one_pot(spent[0], in_pot)
    values = [float(-chips) if rank is None else 0.0 for chips, rank in zip(spent, ranks, strict=True)]
    for size, layer in pot_layers(spent):
        _pay_layer(size, layer, ranks, values)
    return values


def _values_of_one_pot(size: int, ranks: Sequence[int]) -> list[float]:
    """Net chips when everybody has put in the same and nobody has folded."""
    best = max(ranks)
    winners = ranks.count(best)
    won = 0.0 + size * (len(ranks) - winners) / winners
    return [won if rank == best else 0.0 - size for rank in ranks]


def _pay_layer(size: int, layer: Sequence[Position], ranks: Sequence[int | None], values: list[float]) -> None:
    """Settle what each position of a layer has put into it; what folded players put in beyond all others is lost."""
    in_pot = [rank for position in layer if (rank := ranks[position]) is not None]
    if not in_pot:
        return
    best = max(in_pot)
    winners = in_pot.count(best)
    won = size * (len(layer) - winners) / winners
    for position in layer:
        rank = ranks[position]
        if rank == best:
            values[position] += won
        elif rank is not None:
            values[position] -= size
