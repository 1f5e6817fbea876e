"""Make the table of chances before the flop: `python -m engine.generators.preflop` rewrites its file.

The numbers against one opponent are sums of the counts of `engine.matchups`, those against more sampled, with the class
of hole cards as seed (`engine.equity.sampled_equity`): the same bytes come out every time. It takes about two minutes.
If the checksum it prints is a new one, `engine.tables.preflop.PREFLOP_SHA256` has to follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from engine.equity import Equity, compile_kernels, equity_of_counts, sampled_equity
from engine.matchups import counts
from engine.starting_hands import cards_of
from engine.tables.preflop import MOST_OPPONENTS, PREFLOP_PATH, TRIALS, write


def exact_against_one() -> list[Equity]:
    """The exact chances of every class against one opponent."""
    return [equity_of_counts([lost, won, tied]) for won, tied, lost in counts().sum(axis=1).tolist()]


def sample_against(number: int, opponents: int) -> Equity:
    """The sampled chances of a class against two or more opponents."""
    return sampled_equity(cards_of(number), (), opponents, trials=TRIALS, seed=number)


def generate() -> Iterator[Equity]:
    """All entries of the table, in its order."""
    for number, exact in enumerate(exact_against_one()):
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
