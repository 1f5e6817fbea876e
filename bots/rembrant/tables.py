"""The printed tables as look-ups: every situation has one rule.

Before the flop the hand and the opponent's last action select a rule; after it the kind of hand, the street and the
opponent's last action do. The tables are read once, at import, and checked: every row once and with as many cells as
columns, each of the 169 hands in one column, each kind in one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from bots.rembrant.cells import Cell, Opponent, parse_cell
from bots.rembrant.kinds import Kind
from bots.rembrant.printed import POSTFLOP_TABLES, PREFLOP_TABLES, REST
from engine.cards import RANKS
from engine.starting_hands import STARTING_HANDS

__all__ = ["STREETS", "Rule", "expand_hands", "group_of", "postflop_rule", "preflop_rule"]

STREETS: Final = ("flop", "turn", "river")

_PREFLOP_LINES: Final = {"other", "raise", "re-raise", "all-in"}
_POSTFLOP_LINES: Final = {opponent.value for opponent in Opponent}


def expand_hands(text: str) -> list[str]:
    """The hands that a column's head lists: ``AA A7s-A2s`` is AA and six suited aces.

    Raises:
        ValueError: a word names no hand.
    """
    hands: list[str] = []
    for word in text.split():
        first, is_run, last = word.partition("-")
        run = _run(first, last) if is_run else [first]
        if not run or not set(STARTING_HANDS).issuperset(run):
            raise ValueError(f"{word!r} names no hands")
        hands += run
    return hands


def _run(first: str, last: str) -> list[str]:
    """Hands with the same high card and suitedness, from the better second card to the worse."""
    if first[:1] != last[:1] or first[2:] != last[2:]:
        return []
    better, worse = RANKS.find(first[1:2]), RANKS.find(last[1:2])
    return [first[0] + RANKS[rank] + first[2:] for rank in range(better, worse - 1, -1)]


class Rule(NamedTuple):
    """One cell and the number of its table in the work."""

    table: int
    cell: Cell


def preflop_rule(hand: str, opponent: Opponent) -> Rule:
    """The rule for a hand such as ``AKs`` before the flop."""
    return _PREFLOP[hand, opponent]


def group_of(hand: str) -> int:
    """The group, 1 (best) to 9, of a hand such as ``AKs``."""
    return _GROUPS[hand]


def postflop_rule(kind: Kind, street: str, opponent: Opponent) -> Rule:
    """The rule for a kind of hand on ``flop``, ``turn`` or ``river``."""
    return _POSTFLOP[kind, street, opponent]


class _Table(NamedTuple):
    """A parsed table: its group's name, the heads of its columns, the cells of each row."""

    group: str
    heads: list[str]
    lines: dict[str, list[Cell]]


def _read_table(number: int, text: str, expected_lines: set[str]) -> _Table:
    """Parse a printed table.

    Raises:
        ValueError: a row or a cell is missing, surplus or unreadable.
    """
    (group, *heads), *lines = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
    table = _Table(group, heads, {name: [parse_cell(cell) for cell in cells] for name, *cells in lines})
    if set(table.lines) != expected_lines or len(lines) != len(expected_lines):
        raise ValueError(
            f"table {number}: the lines are {sorted(table.lines)}, not {sorted(expected_lines)}, each once"
        )
    if any(len(cells) != len(heads) for cells in table.lines.values()):
        raise ValueError(f"table {number}: every line must have {len(heads)} cells")
    return table


def _read_preflop(printed: Mapping[int, str]) -> Iterator[tuple[str, int, dict[Opponent, Rule]]]:
    """Every hand with its group and its rules; the remaining hands come last."""
    left = set(STARTING_HANDS)
    for number, text in printed.items():
        table = _read_table(number, text, _PREFLOP_LINES)
        for column, head in enumerate(table.heads):
            hands = sorted(left) if head == REST else expand_hands(head)
            if not left.issuperset(hands):
                raise ValueError(f"table {number}: a hand of {head!r} stands in an earlier column")
            left.difference_update(hands)
            # Before the flop the row `other` also covers an opponent that has called.
            lines = {o: "other" if o is Opponent.CHECK_OR_CALL else o.value for o in Opponent}
            rules = {opponent: Rule(number, table.lines[line][column]) for opponent, line in lines.items()}
            for hand in hands:
                yield hand, int(table.group.removeprefix("group ")), rules
    if left:
        raise ValueError(f"no table has the hands {sorted(left)}")


def _read_postflop(printed: Mapping[int, str]) -> Iterator[tuple[tuple[Kind, str, Opponent], Rule]]:
    """Every situation with its rule. A table whose columns are streets has one kind; in others all streets agree."""
    for number, text in printed.items():
        table = _read_table(number, text, _POSTFLOP_LINES)
        for opponent in Opponent:
            for head, cell in zip(table.heads, table.lines[opponent.value], strict=True):
                is_street = head in STREETS
                kind = Kind(table.group if is_street else f"{table.group}, {head}")
                for street in (head,) if is_street else STREETS:
                    yield (kind, street, opponent), Rule(number, cell)


_HANDS: Final = list(_read_preflop(PREFLOP_TABLES))
_GROUPS: Final = {hand: group for hand, group, _ in _HANDS}
_PREFLOP: Final = {(hand, opponent): rule for hand, _, rules in _HANDS for opponent, rule in rules.items()}
_POSTFLOP: Final = dict(_read_postflop(POSTFLOP_TABLES))

if len(_POSTFLOP) != len(Kind) * len(STREETS) * len(Opponent):
    raise ValueError("the tables after the flop lack a kind of hand")
