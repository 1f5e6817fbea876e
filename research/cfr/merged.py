"""Count the trees with merged flops, for `research/tables/cfr.md`.

    python research/cfr/merged.py

The counts go to `merged.csv` next to this script, and from there into the table of the page. The tests compare both.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import between, write_rows

from bots.cfr.merged_tree import merged_tree
from bots.cfr.tree import BettingTree
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "cfr.md"
CSV: Final = HERE / "merged.csv"
GAMES: Final = ("nolimit6", "nolimit3")
BUCKETS: Final = (169, 200, 200, 100)


class Part(NamedTuple):
    """Size of a part of a tree.

    Attributes:
        players: who see the flop, 0 before it.
        big_blinds: that each of them has put in before the flop.
        types: subtrees of the part.
        flops: nodes before the flop that lead to these subtrees.
        decisions: of the subtrees.
        information_sets: with `BUCKETS` buckets.
        numbers: actions over all information sets.
    """

    game: str
    players: int
    big_blinds: float
    types: int
    flops: int
    decisions: int
    information_sets: int
    numbers: int


def count_parts(name: str) -> list[Part]:
    """Count the tree of a game."""
    game = find_game(name)[1]
    tree = merged_tree(game)
    groups = defaultdict(list)
    for number, model in enumerate(tree.models):
        groups[len(model.positions), model.matched / game.big_blind].append(number)
    parts = [Part(name, 0, 0.0, 1, 0, *count_numbers([tree.preflop]))]
    for (players, big_blinds), numbers in sorted(groups.items()):
        flops = sum(entry.subtree in numbers for entry in tree.entries)
        counts = count_numbers([tree.subtrees[number] for number in numbers])
        parts.append(Part(name, players, big_blinds, len(numbers), flops, *counts))
    return parts


def count_numbers(trees: Sequence[BettingTree]) -> tuple[int, int, int]:
    """Return the decisions, information sets and numbers of trees."""
    decisions = information_sets = numbers = 0
    for tree in trees:
        buckets = [BUCKETS[tree.rounds[node]] for node in tree.decisions]
        actions = [len(tree.actions[node]) for node in tree.decisions]
        decisions += len(buckets)
        information_sets += sum(buckets)
        numbers += sum(count * node_actions for count, node_actions in zip(buckets, actions, strict=True))
    return decisions, information_sets, numbers


def with_table(text: str, parts: Iterable[Part]) -> str:
    """Fill the table of the page."""
    lines = [
        "| game | part | big blinds each | types | flops | decisions | information sets | numbers |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for part in parts:
        name = "before the flop"
        big_blinds = ""
        if part.players:
            name = f"flop of {part.players}"
            big_blinds = f"{part.big_blinds:g}"
        counts = part.types, part.flops, part.decisions, part.information_sets, part.numbers
        lines.append(f"| {part.game} | {name} | {big_blinds} | {' | '.join(f'{count:,}' for count in counts)} |")
    return between(text, "merged", lines)


def main() -> None:
    """Write the file and the page."""
    parts = [part for game in GAMES for part in count_parts(game)]
    write_rows(CSV, Part, parts)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), parts), "utf-8")


if __name__ == "__main__":
    main()
