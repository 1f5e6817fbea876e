"""The rule tables of Rembrant in their printed layout, and the choice of a cell and a move by hand and board.

They are tables 2 to 17 of G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant" (University of Maribor; the program
played at the ACPC 2011). They are parsed at import.

How to read a table:

- The first line has the group's name and the heads of the columns. Before the flop a head lists hands: ``AKs`` suited,
  ``AKo`` offsuit, ``77`` a pair, ``A7s-A2s`` all hands from the first to the last, ``the rest`` the remaining hands.
- Every other row begins with the opponent's last action. ``other`` is the paper's word for everything without a row of
  its own: after the flop the opponent has not acted yet; before it the opponent has posted a blind, called or checked.
- A cell is a move, or two moves with a slash, in the order printed, or a limit. ``call <= 40`` calls a raise to at most
  40 chips and folds to a larger one. Those chips are the paper's, whose blinds are 1 and 2.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from bots.sdk.options import Interval, check_options
from engine import Card, Category, category, rank_hand
from engine.cards import RANKS, STARTING_HANDS, rank_of, suit_of


class HandKind(enum.Enum):
    """Columns of the tables after the flop: the group and the head of the column.

    The group is the category of the best five cards. The head describes how the two hole cards contribute.
    """

    HIGH_CARD = "high card"
    TOP_PAIR = "pair, top"
    MIDDLE_PAIR = "pair, middle"
    BOTTOM_PAIR = "pair, bottom"
    OVER_PAIR = "pair, over"
    UNDER_PAIR = "pair, under"
    TWO_PAIR_BOTH_HOLE = "two pair, both hole cards"
    TWO_PAIR_ONE_HOLE = "two pair, one hole card, board pair"
    TWO_PAIR_POCKET = "two pair, pocket pair, board pair"
    TWO_PAIR_ON_BOARD = "two pair, two board pairs"
    TRIPS = "trips, trips"
    SET = "trips, set"
    STRAIGHT_TOP = "straight, top end"
    STRAIGHT_BOTTOM = "straight, bottom end"
    STRAIGHT_BOTH_ENDS = "straight, both ends"
    STRAIGHT_MIDDLE = "straight, middle"
    NUT_FLUSH = "flush, nut"
    OTHER_FLUSH = "flush, other"
    FULL_HOUSE_OR_BETTER = "full house or better, any"


_WEAK: Final = frozenset((HandKind.HIGH_CARD, HandKind.MIDDLE_PAIR, HandKind.BOTTOM_PAIR, HandKind.UNDER_PAIR))
"""The paper's "weaker cards", taken as all below top pair, with which it bets on the flop to probe the opponent."""
BEATS_STRAIGHTS: Final = frozenset((HandKind.NUT_FLUSH, HandKind.OTHER_FLUSH, HandKind.FULL_HOUSE_OR_BETTER))
"""Hands that no straight beats."""
_STRAIGHT_KINDS: Final = frozenset(
    (HandKind.STRAIGHT_TOP, HandKind.STRAIGHT_BOTTOM, HandKind.STRAIGHT_BOTH_ENDS, HandKind.STRAIGHT_MIDDLE)
)
BELOW_STRAIGHTS: Final = frozenset(HandKind) - _STRAIGHT_KINDS - BEATS_STRAIGHTS
"""Hands that every straight beats."""
_ACE: Final = 12
_LOWEST_STRAIGHT: Final = 3
"""The rank of the highest card of 5 4 3 2 A."""
_Cards = tuple[Card, ...]


def read_kind(hole_cards: _Cards, board: _Cards) -> HandKind:
    """Return the kind of hand of two hole cards and three to five board cards."""
    # The paper's high card is the hand in which "nothing was hit". So a pair, trips or a flush on the board alone are
    # high cards. A full house or better counts as one even on the board.
    category_ = category(rank_hand(hole_cards + board))
    if category_ is Category.HIGH_CARD:
        return HandKind.HIGH_CARD
    if category_ >= Category.FULL_HOUSE:
        return HandKind.FULL_HOUSE_OR_BETTER
    if category_ is Category.FLUSH:
        return _read_flush(hole_cards, board)
    own = [rank_of(card) for card in hole_cards]
    ranks = [rank_of(card) for card in board]
    if category_ is Category.STRAIGHT:
        return _read_straight(own, ranks)
    if category_ is Category.THREE_OF_A_KIND:
        return _read_trips(own, ranks)
    if category_ is Category.TWO_PAIR:
        return _read_two_pair(own, ranks)
    return _read_pair(own, ranks)


def _read_pair(own: list[int], board: list[int]) -> HandKind:
    if own[0] == own[1]:
        if own[0] > max(board):
            return HandKind.OVER_PAIR
        if own[0] < min(board):
            return HandKind.UNDER_PAIR
        # The paper has no column for a pocket pair between the board's ranks.
        return HandKind.MIDDLE_PAIR
    paired_rank = own[0] if own[0] in board else own[1]
    if paired_rank not in board:
        return HandKind.HIGH_CARD
    if paired_rank == max(board):
        return HandKind.TOP_PAIR
    if paired_rank == min(board):
        return HandKind.BOTTOM_PAIR
    return HandKind.MIDDLE_PAIR


def _read_two_pair(own: list[int], board: list[int]) -> HandKind:
    ranks = own + board
    # Of three pairs, the best two count.
    pairs = sorted([rank for rank in set(ranks) if ranks.count(rank) == 2])[-2:]
    from_hole = [own.count(rank) for rank in pairs]
    if from_hole == [1, 1]:
        return HandKind.TWO_PAIR_BOTH_HOLE
    if 2 in from_hole:
        return HandKind.TWO_PAIR_POCKET
    if 1 in from_hole:
        return HandKind.TWO_PAIR_ONE_HOLE
    return HandKind.TWO_PAIR_ON_BOARD


def _read_trips(own: list[int], board: list[int]) -> HandKind:
    ranks = own + board
    trips = max(ranks, key=ranks.count)
    from_hole = own.count(trips)
    if from_hole == 2:
        return HandKind.SET
    if from_hole == 1:
        return HandKind.TRIPS
    return HandKind.HIGH_CARD


def _read_straight(own: list[int], board: list[int]) -> HandKind:
    ranks = {*own, *board}
    run = next(run for run in _RUNS if ranks.issuperset(run))
    from_hole = set(run).difference(board)
    has_top = run[0] in from_hole
    has_bottom = run[-1] in from_hole
    if has_top and has_bottom:
        return HandKind.STRAIGHT_BOTH_ENDS
    if has_top:
        return HandKind.STRAIGHT_TOP
    # A straight on the board is played as the bottom end, the most careful column.
    if has_bottom or not from_hole:
        return HandKind.STRAIGHT_BOTTOM
    return HandKind.STRAIGHT_MIDDLE


def _read_flush(hole_cards: _Cards, board: _Cards) -> HandKind:
    suits = [suit_of(card) for card in hole_cards + board]
    suit = next(suit for suit in suits if suits.count(suit) >= 5)
    own = [rank_of(card) for card in hole_cards if suit_of(card) == suit]
    on_board = [rank_of(card) for card in board if suit_of(card) == suit]
    flush = sorted(own + on_board)[-5:]
    if not set(own).intersection(flush):
        return HandKind.HIGH_CARD
    # The paper's "flush with the ace" is a hand with the highest card of the suit that is not on the board.
    highest_missing = _ACE
    while highest_missing in on_board:
        highest_missing -= 1
    if highest_missing in own:
        return HandKind.NUT_FLUSH
    return HandKind.OTHER_FLUSH


_WHEEL: Final = (3, 2, 1, 0, _ACE)
_RUNS: Final = (*[tuple(range(high, high - 5, -1)) for high in range(_ACE, _LOWEST_STRAIGHT, -1)], _WHEEL)
"""All straights from the highest, each as its ranks from top to bottom."""
_PAPER_BIG_BLIND: Final = 2
"""Big blind to which the limits in the tables refer: the paper's example posts blinds of 1 and 2."""


class TableMove(enum.IntEnum):
    """Moves of the tables. A higher number is more aggressive."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    RAISE = 3
    RE_RAISE = 4
    ALL_IN = 5

    @property
    def word(self) -> str:
        return _MOVE_WORDS[self]


_MOVE_WORDS: Final = tuple([move.name.lower().replace("_", "-") for move in TableMove])
_MOVES: Final = dict(zip(_MOVE_WORDS, TableMove, strict=True))


class Opponent(enum.Enum):
    """Opponent's last action in this round. The value is the head of its row in the tables after the flop."""

    NONE = "other"
    CHECK_OR_CALL = "check"
    RAISE = "raise"
    RE_RAISE = "re-raise"
    ALL_IN = "all-in"


class TableRule(NamedTuple):
    """Cell of a table.

    Attributes:
        table: number of the table in the paper.
        passive: the less aggressive move; a fold in a cell with a limit.
        aggressive: the more aggressive move, or the only one.
        limit: maximum raise to call, as a hand total in the paper's chips; None in a cell without a limit.
    """

    table: int
    text: str
    passive: TableMove
    aggressive: TableMove
    limit: int | None = None

    @property
    def has_slash(self) -> bool:
        return self.limit is None and self.passive is not self.aggressive

    def limit_chips(self, big_blind: int) -> int | None:
        """Return the limit as a hand total in chips of a game with this big blind, rounded down."""
        if self.limit is None:
            return None
        return self.limit * big_blind // _PAPER_BIG_BLIND


def parse_cell(table: int, text: str) -> TableRule:
    """Parse a cell such as ``call``, ``call/re-raise`` in any order, or ``call <= 40``."""
    words, is_limited, limit = text.partition(" <= ")
    names = words.split("/")
    if len(names) > 2 or not _MOVES.keys() >= set(names):
        raise ValueError(f"{text!r} is not a cell of a table")
    moves = sorted([_MOVES[name] for name in names])
    if is_limited and moves != [TableMove.CALL]:
        raise ValueError(f"{text!r} is not a cell of a table")
    if is_limited:
        return TableRule(table, text, TableMove.FOLD, TableMove.CALL, int(limit))
    return TableRule(table, text, moves[0], moves[-1])


def chance_of_aggression(rule: TableRule, kind: HandKind, danger: Danger, options: RembrantOptions) -> float:
    """Return the probability of the more aggressive move of a cell with a slash after the flop."""
    # The paper gives the purpose of the slashes, but no rule: play passively when the hand is hard to beat and
    # aggressively when it is good but vulnerable, probe on the flop with weak hands, and pay nothing when one card
    # makes a straight. Both readings below follow from that.
    is_beatable = kind not in BEATS_STRAIGHTS
    straight_threat = is_beatable and danger.is_four_to_straight
    flush_threat = is_beatable and danger.is_four_to_flush
    invites_draws = danger.invites_draws(on_river=options.river_danger)
    can_fold = rule.passive is TableMove.FOLD

    if options.reading == "deterministic":
        # Without a bet against it, a weak hand bets on the flop and checks later.
        if kind in _WEAK and rule.passive is TableMove.CHECK:
            return float(danger.cards == 3)
        if straight_threat:
            return 0.0
        if can_fold:
            return float(not flush_threat)
        return float(invites_draws)

    if straight_threat or (can_fold and flush_threat):
        return options.chance_dry
    # A cell with a fold has the two probabilities exchanged, because one can stay in on a quiet board.
    is_dry = danger.is_dry and not invites_draws
    if can_fold and is_dry:
        return options.chance_danger
    if can_fold:
        return options.chance
    if invites_draws:
        return options.chance_danger
    if is_dry:
        return options.chance_dry
    return options.chance


_SIZE: Final = Interval(above=0, high=1_000_000)
"""Bounds of a size. A size above them is all-in in every game."""


@dataclass(frozen=True, slots=True)
class RembrantOptions:
    """Choices that the paper leaves open.

    Raises:
        ValueError: a value is out of range.
    """

    reading: Annotated[
        Literal["deterministic", "probabilistic"],
        "choice between the two moves of a cell with a slash, by the board: deterministic, by fixed rules; "
        "probabilistic, by the three chances",
    ] = "deterministic"
    chance: Annotated[
        float,
        "0 to 1, probabilistic reading: the probability of the more aggressive move on a board that is neither dry nor "
        "invites draws",
        Interval(0, 1),
    ] = 0.5
    chance_danger: Annotated[float, "like chance, on a board that invites draws", Interval(0, 1)] = 0.8
    chance_dry: Annotated[float, "like chance, on a dry board, and where one card makes a straight", Interval(0, 1)] = (
        0.2
    )
    river_danger: Annotated[bool, "whether two cards of a suit count as danger on the river, where no draw is left"] = (
        False
    )
    four_straight: Annotated[
        Literal["slash", "fold"],
        "effect of four cards to a straight on the board on a hand below a straight: fold, it calls no bet, as the "
        "text of the paper requires; slash, they decide only cells with a slash",
    ] = "fold"
    complete: Annotated[
        Literal[7, 8, 9],
        "7, 8 or 9: the last group with which a bot that has posted a blind calls where the table says check",
    ] = 8
    open_bb: Annotated[float, "the first raise before the flop, in big blinds; the paper has 3 to 5", _SIZE] = 4.0
    reraise_times: Annotated[
        float, "a re-raise before the flop, as a multiple of the opponent's raise; the paper has 3 to 4", _SIZE
    ] = 3.5
    bet_pot: Annotated[float, "a bet after the flop, as a fraction of the pot", _SIZE] = 0.667
    bet_pot_danger: Annotated[float, "like bet_pot, on a board that invites draws", _SIZE] = 1.0
    raise_times: Annotated[float, "a re-raise after the flop, as a multiple of the opponent's bet or raise", _SIZE] = (
        3.5
    )

    def __post_init__(self) -> None:
        check_options(self)


_RIVER_CARDS: Final = 5


class Danger(NamedTuple):
    """Threats of a board.

    The paper names two kinds of threats. Two cards of a suit, or three ranks in a row, make the bot aggressive, because
    a drawing opponent has to pay. Four cards to a straight make it stop paying.

    Attributes:
        cards: number of board cards, 3 to 5.
        suited: maximum number of cards of one suit.
        run: length of the longest run of consecutive ranks; the ace is above the king and below the deuce.
        within_straight: maximum number of ranks that fit into one straight.
    """

    cards: int
    suited: int
    run: int
    within_straight: int

    @property
    def is_four_to_flush(self) -> bool:
        """A single hole card can make a flush with the board."""
        return self.suited >= 4

    @property
    def is_four_to_straight(self) -> bool:
        """A single hole card can make a straight with the board, or the board is a straight."""
        return self.within_straight >= 4

    def invites_draws(self, *, on_river: bool = False) -> bool:
        """Return whether the board has two cards of a suit or three ranks in a row.

        Args:
            on_river: count two cards of a suit on the river, too, where every board has them and no draw is left.
        """
        if self.run >= 3:
            return True
        return self.suited >= 2 and (on_river or self.cards < _RIVER_CARDS)

    @property
    def is_dry(self) -> bool:
        """No player can have a flush or a straight, or draw to a flush."""
        return not self.invites_draws() and self.suited < 3 and self.within_straight < 3

    def describe(self) -> str:
        threats = []
        if self.is_four_to_flush:
            threats.append("four to a flush")
        elif self.suited == 3:
            threats.append("three of a suit")
        elif self.suited == 2 and self.cards < _RIVER_CARDS:
            threats.append("two of a suit")
        if self.is_four_to_straight:
            threats.append("four to a straight")
        if self.run >= 3:
            threats.append("three in a row")
        elif self.within_straight == 3:
            threats.append("straight possible")
        return ", ".join(threats) or "dry"


_STRAIGHTS: Final = tuple([0b11111 << low for low in range(10)])
"""Bits of the ranks of each straight. Bit 0 is the ace below the deuce, bit 13 the ace above the king."""


def read_danger(board: tuple[Card, ...]) -> Danger:
    suits = [suit_of(card) for card in board]
    bits = 0
    for card in board:
        bits |= 2 << rank_of(card)
    # The ace counts below the deuce, too.
    bits |= bits >> 13
    remaining = bits
    run = 0
    while remaining:
        # Each step shortens every run of bits by one.
        remaining &= remaining >> 1
        run += 1
    suited = max([suits.count(suit) for suit in range(4)])
    within_straight = max([(bits & straight).bit_count() for straight in _STRAIGHTS])
    return Danger(len(board), suited, run, within_straight)


_REST: Final = "the rest"
"""Head of the column for all remaining hands."""
# Two places differ from the print. The cells of table 3 have slipped by half a row there. The head of group 8 reads
# "connectors XYs, X and Y below ten and unequal" there, which is taken literally as any two suited cards below ten.
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
    """Return the hands in the head of a column; ``AA A7s-A2s`` is AA and six suited aces."""
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
    better = RANKS.find(first[1:2])
    worse = RANKS.find(last[1:2])
    return [first[0] + RANKS[rank] + first[2:] for rank in range(better, worse - 1, -1)]


def _split_row(line: str) -> list[str]:
    return [part.strip() for part in line.split("|")]


_Table: TypeAlias = tuple[str, list[str], dict[str, list[TableRule]]]
"""Name of the group, heads of the columns, and cells of each row."""


def _read_table(number: int, text: str, expected_lines: set[str]) -> _Table:
    """Parse a printed table.

    Raises:
        ValueError: a row or a cell is missing, surplus or unreadable.
    """
    first, *printed = text.strip().splitlines()
    group, *heads = _split_row(first)
    lines = {}
    for line in printed:
        name, *cells = _split_row(line)
        lines[name] = [parse_cell(number, cell) for cell in cells]
    if set(lines) != expected_lines or len(printed) != len(expected_lines):
        raise ValueError(f"table {number}: the lines are {sorted(lines)}, not {sorted(expected_lines)}, each once")
    if any(len(cells) != len(heads) for cells in lines.values()):
        raise ValueError(f"table {number}: every line must have {len(heads)} cells")
    return group, heads, lines


def _read_preflop(printed: Mapping[int, str]) -> Iterator[tuple[str, int, dict[Opponent, TableRule]]]:
    remaining = set(STARTING_HANDS)
    for number, text in printed.items():
        group, heads, rules = _read_table(number, text, _PREFLOP_LINES)
        for column, head in enumerate(heads):
            hands = sorted(remaining) if head == _REST else expand_hands(head)
            if not remaining.issuperset(hands):
                raise ValueError(f"table {number}: a hand of {head!r} is in an earlier column")
            remaining.difference_update(hands)
            by_opponent = {}
            for opponent in Opponent:
                line = opponent.value
                if opponent is Opponent.CHECK_OR_CALL:
                    # Before the flop the row `other` also covers an opponent that has called.
                    line = Opponent.NONE.value
                by_opponent[opponent] = rules[line][column]
            for hand in hands:
                yield hand, int(group.removeprefix("group ")), by_opponent
    if remaining:
        raise ValueError(f"no table has the hands {sorted(remaining)}")


def _read_postflop(printed: Mapping[int, str]) -> Iterator[tuple[tuple[HandKind, str, Opponent], TableRule]]:
    for number, text in printed.items():
        group, heads, rules = _read_table(number, text, _POSTFLOP_LINES)
        for opponent in Opponent:
            for head, rule in zip(heads, rules[opponent.value], strict=True):
                if head in STREETS:
                    yield (HandKind(group), head, opponent), rule
                    continue
                kind = HandKind(f"{group}, {head}")
                for street in STREETS:
                    yield (kind, street, opponent), rule


_HANDS: Final = list(_read_preflop(PREFLOP_TABLES))
GROUPS: Final = {hand: group for hand, group, _ in _HANDS}
PREFLOP_RULES: Final = {(hand, opponent): rule for hand, _, rules in _HANDS for opponent, rule in rules.items()}
POSTFLOP_RULES: Final = dict(_read_postflop(POSTFLOP_TABLES))
if len(POSTFLOP_RULES) != len(HandKind) * len(STREETS) * len(Opponent):
    raise ValueError("the tables after the flop lack a kind of hand")
