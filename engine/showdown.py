"""Who wins what at the end of a hand: side pots by layers, split exactly.

The arithmetic is the reference's, because its logs print six decimals: pots are split into equal real shares (no odd
chips), layer by layer from the smallest, in double precision and in this order of operations.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["showdown_values"]


def showdown_values(spent: Sequence[int], ranks: Sequence[int | None]) -> list[float]:
    """Net chips of every position when a hand ends by showdown.

    Args:
        spent: chips each position put in.
        ranks: the rank of each position's hand, higher is better; None for who folded.
    """
    in_pot = [rank for rank in ranks if rank is not None]
    if len(in_pot) == len(ranks) and spent[0] > 0 and spent.count(spent[0]) == len(spent):
        return _values_of_one_pot(spent[0], in_pot)
    return [
        float(-spent[position]) if rank is None else _value(position, spent, ranks)
        for position, rank in enumerate(ranks)
    ]


def _values_of_one_pot(size: int, ranks: Sequence[int]) -> list[float]:
    """Net chips when everybody has put in the same and nobody has folded."""
    best = max(ranks)
    winners = ranks.count(best)
    won = 0.0 + size * (len(ranks) - winners) / winners
    return [won if rank == best else 0.0 - size for rank in ranks]


def _value(position: int, spent: Sequence[int], ranks: Sequence[int | None]) -> float:
    layers = [
        (chips, -1 if rank is None else rank, p) for p, (chips, rank) in enumerate(zip(spent, ranks, strict=True))
    ]
    layers = [layer for layer in layers if layer[0] > 0]
    value = 0.0
    while any(p == position for _, _, p in layers):
        size = min(chips for chips, _, _ in layers)
        best = max(rank for _, rank, _ in layers)
        winners = sum(rank == best for _, rank, _ in layers)
        if ranks[position] == best:
            value += size * (len(layers) - winners) / winners
        else:
            value -= size
        layers = [(chips - size, rank, p) for chips, rank, p in layers if chips > size]
    return value
