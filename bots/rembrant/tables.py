"""The tables of the work, in the printed layout: the whole strategy of the bot, as data.

Compare them with tables 2 to 17 of G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant" (University of Maribor;
the program played at the ACPC 2011). They are read when the module is imported, which refuses what it cannot read.

How to read a table:

- The first line has the group's name and the heads of the columns. Before the flop a head lists hands: ``AKs`` suited,
  ``AKo`` not, ``77`` a pair, ``A7s-A2s`` all hands from the first to the last, ``the rest`` those no table names.
- Every other row begins with the opponent's last action. ``other`` is the work's word for everything without a row of
  its own: after the flop the opponent has not acted yet; before it the opponent has posted a blind, called or checked.
- A cell is a move; or two moves with a slash, in the order printed; or ``call <= 40``: call a raise to at most 40
  chips, fold to a larger one. Those chips are the work's, whose blinds are 1 and 2.

Two places differ from the print. The cells of table 3 have slipped by half a row there; here they are in the
right rows. The head of group 8 reads "connectors XYs, X and Y below ten and unequal", which is taken
literally: any two suited cards below ten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from bots.rembrant.choice import Cell, Kind, Opponent, parse_cell
from engine.cards import RANKS, STARTING_HANDS

REST: Final = "the rest"
"""The head of the column for every hand that no other column names."""
PREFLOP_TABLES: Final[Mapping[int, str]] = {
    2: """
        group 1  | AA KK
        other    | raise
        raise    | re-raise
        re-raise | all-in
        all-in   | call
    """,
    3: """
        group 2  | QQ JJ    | AKs AKo
        other    | raise    | raise
        raise    | re-raise | re-raise
        re-raise | call     | all-in
        all-in   | call     | call
    """,
    4: """
        group 3  | TT AQs AQo AJs KQs
        other    | raise
        raise    | call
        re-raise | call
        all-in   | fold
    """,
    5: """
        group 4  | 99 88 77 ATs ATo KJs AJo
        other    | raise
        raise    | call <= 40
        re-raise | call <= 40
        all-in   | fold
    """,
    6: """
        group 5  | KQo QJs KTs JTs
        other    | raise
        raise    | call <= 30
        re-raise | call <= 30
        all-in   | fold
    """,
    7: """
        group 6  | 66 55 44 33 22 KJo QTs A9s A8s QJo
        other    | raise
        raise    | call <= 20
        re-raise | call <= 20
        all-in   | fold
    """,
    8: """
        group 7  | A7s-A2s KTo JTo K9s Q9s T9s J9s
        other    | raise
        raise    | call <= 20
        re-raise | fold
        all-in   | fold
    """,
    9: """
        group 8  | A9o-A2o 98s-92s 87s-82s 76s-72s 65s-62s 54s-52s 43s-42s 32s
        other    | check
        raise    | call <= 5
        re-raise | fold
        all-in   | fold
    """,
    10: """
        group 9  | the rest
        other    | check
        raise    | fold
        re-raise | fold
        all-in   | fold
    """,
}
POSTFLOP_TABLES: Final[Mapping[int, str]] = {
    11: """
        high card | flop        | turn  | river
        raise     | fold        | fold  | fold
        re-raise  | fold        | fold  | fold
        all-in    | fold        | fold  | fold
        check     | check       | check | check
        other     | check/raise | check | check
    """,
    12: """
        pair      | top         | middle      | bottom      | over        | under
        raise     | re-raise    | call        | fold        | re-raise    | fold
        re-raise  | all-in      | fold        | fold        | all-in      | fold
        all-in    | call        | fold        | fold        | call        | fold
        check     | check/raise | check/raise | check/raise | check/raise | check/raise
        other     | check/raise | check/raise | check/raise | check/raise | check/raise
    """,
    13: """
        two pair  | both hole cards | one hole card, board pair | pocket pair, board pair | two board pairs
        raise     | re-raise        | call/re-raise             | call/re-raise           | call/fold
        re-raise  | all-in          | call/all-in               | re-raise/call           | fold
        all-in    | call            | call/fold                 | call/fold               | fold
        check     | raise           | raise                     | raise                   | raise
        other     | raise           | raise                     | raise                   | raise
    """,
    14: """
        trips     | trips         | set
        raise     | call/re-raise | re-raise
        re-raise  | call          | call/all-in
        all-in    | call          | call
        check     | check/raise   | check/raise
        other     | check/raise   | check/raise
    """,
    15: """
        straight  | top end       | bottom end  | both ends     | middle
        raise     | call/re-raise | call        | call/re-raise | call
        re-raise  | call/all-in   | call/fold   | call/all-in   | all-in
        all-in    | call          | call/fold   | call          | call
        check     | check/raise   | check/raise | check/raise   | check/raise
        other     | check/raise   | check/raise | check/raise   | check/raise
    """,
    16: """
        flush     | nut           | other
        raise     | call/re-raise | re-raise
        re-raise  | call/all-in   | all-in
        all-in    | call          | call/fold
        check     | check/raise   | check/raise
        other     | check/raise   | check/raise
    """,
    17: """
        full house or better | any
        raise                | call/re-raise
        re-raise             | call/all-in
        all-in               | call
        check                | check/raise
        other                | check/raise
    """,
}
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
