"""Make the table of chances before the flop: `python -m engine.generators.preflop` rewrites its file.

The numbers against one opponent are counted (`engine.kernels.preflop`), those against more sampled, with the class of
hole cards as seed (`engine.equity.sampled_equity`): the same bytes come out every time. It takes about two minutes.
If the checksum it prints is a new one, `engine.tables.preflop.PREFLOP_SHA256` has to follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from engine.equity import Equity, compile_kernels, equity_of_counts, sampled_equity
from engine.starting_hands import STARTING_HANDS, cards_of
from engine.tables.preflop import MOST_OPPONENTS, PREFLOP_PATH, TRIALS, write

_DECK_CARDS = 52


def count_against_one() -> list[Equity]:
    """The exact chances of every class against one opponent."""
    from engine.kernels.preflop import count_preflop

    counts = np.zeros((len(STARTING_HANDS), 3), np.int64)
    count_preflop(0, _DECK_CARDS, counts)
    return [equity_of_counts(of_class) for of_class in counts.tolist()]


def sample_against(number: int, opponents: int) -> Equity:
    """The sampled chances of a class against two or more opponents."""
    return sampled_equity(cards_of(number), (), opponents, trials=TRIALS, seed=number)


def generate() -> Iterator[Equity]:
    """All entries of the table, in its order."""
    for number, exact in enumerate(count_against_one()):
        yield exact
        for opponents in range(2, MOST_OPPONENTS + 1):
            yield sample_against(number, opponents)


def main() -> None:
    """Write the file and print its size and checksum."""
    compile_kernels()
    data = write([chance for entry in generate() for chance in entry])
    with open(PREFLOP_PATH, "wb") as file:
        file.write(data)
    print(f"{PREFLOP_PATH}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
