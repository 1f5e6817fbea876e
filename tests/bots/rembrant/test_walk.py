"""Every cell of every table, from a dealer's state to the action sent back.

Expected values come from a second transcription of the tables (work.json) and from slow readers (naive.py). The bot
must name the same cell in its comment and play a legal action of the size that the cell and the options give.

"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from bots.rembrant import RembrantBot
from bots.rembrant.rules import HandKind, read_kind
from bots.sdk.conversation import require_legal
from bots.sdk.view import View
from engine import CALL, FOLD, Action, format_cards, raise_to
from engine.cards import RANKS
from tests.bots.playing import rembrant
from tests.bots.rembrant import naive

ViewOf = Callable[[str, str], View]

WORK = json.loads(Path(__file__).with_name("work.json").read_text(encoding="utf-8"))
HANDS = [(hand, group) for group, hands in WORK["groups"].items() for hand in hands]
STREETS = ("flop", "turn", "river")
LINES = ("other", "check", "raise", "reraise", "allin")
WORDS = {"reraise": "re-raise", "allin": "all-in"}
LEVEL = ("fold", "check", "call", "raise", "reraise", "allin")
"""Moves by aggressiveness."""

COMMENT = re.compile(
    rb"# (?P<street>\w+) (?P<cards>[\w ]+): (?P<hand>[^;]+)(; board: (?P<board>[^;]+))?; "
    rb"opponent: (?P<opponent>[\w-]+); table (?P<table>\d+): "
    rb"(?P<cell>[^(]+?)( \([^)]*\))? -> (?P<move>[\w-]+), (?P<action>\w+)\r\n"
)


def play(view: View, bot: RembrantBot) -> tuple[Action, dict[str, str]]:
    """Return the bot's action, checked for legality, and its comment."""
    action = bot.act(view)
    assert require_legal(action, view) == action
    (comment,) = view.comments
    match = COMMENT.fullmatch(comment)
    assert match is not None, comment
    return action, {name: (text or b"").decode() for name, text in match.groupdict().items()}


def hole_cards_of(hand: str) -> str:
    return f"{hand[0]}h{hand[1]}{'h' if hand[2:] == 's' else 's'}"


@pytest.mark.parametrize("group", sorted(WORK["groups"]))
def test_every_cell_before_the_flop(view_of: ViewOf, group: str) -> None:
    bot = rembrant(explain=True)
    lines = WORK["preflop"][group]
    for hand in WORK["groups"][group]:
        for line, betting, position, highest in situations_before_the_flop(lines):
            cards = f"{hole_cards_of(hand)}|" if position == 0 else f"|{hole_cards_of(hand)}"
            view = view_of("nolimit", f"MATCHSTATE:{position}:0:{betting}:{cards}")
            action, comment = play(view, bot)
            cell = lines["other" if line == "check" else line]
            cell = cell[hand] if isinstance(cell, dict) else cell
            assert action == expected_before_the_flop(cell, group, position, highest), (hand, betting)
            assert comment["table"] == str(int(group) + 1)
            assert comment["hand"] == f"{hand}, group {group}"
            assert comment["opponent"] == WORDS.get(line, line)
            assert comment["cell"] == (f"call <= {cell[1]}" if isinstance(cell, list) else WORDS.get(cell, cell))


def situations_before_the_flop(lines: dict[str, object]) -> list[tuple[str, str, int, int]]:
    """Yield table line, betting, our position and the total to call; raises at and just above every limit."""
    cells = [("other", "", 1, 100), ("check", "c", 0, 100), ("allin", "r20000", 0, 20000)]
    cells.append(("allin", "r300r20000", 1, 20000))
    for line, first, smallest in (("raise", "", 200), ("reraise", "r200", 300)):
        cell = lines[line]
        limits = [cell[1] * 50] if isinstance(cell, list) else []
        for total in {600, 6000, *limits, *[limit + 1 for limit in limits]}:
            if total >= smallest:
                cells.append((line, f"{first}r{total}", int(bool(first)), total))
    return cells


def expected_before_the_flop(cell: object, group: str, position: int, highest: int) -> Action:
    if isinstance(cell, list):
        return CALL if highest <= cell[1] * 50 else FOLD
    if cell == "check":
        return CALL if position == 0 or group == "8" else FOLD
    simple = {"call": CALL, "fold": FOLD, "raise": raise_to(400), "allin": raise_to(20000)}
    return simple[str(cell)] if cell != "reraise" else raise_to(min(20000, highest * 7 // 2))


@cache
def boards() -> dict[tuple[str, str], dict[tuple[int, bool, bool, bool], tuple[str, str]]]:
    """Return, for every kind and street, one hand and board of each danger that random deals reach."""
    rng = random.Random(1)
    cells: dict[tuple[str, str], dict[tuple[int, bool, bool, bool], tuple[str, str]]] = defaultdict(dict)
    for number in range(12_000):
        deck = [card for card in range(52) if not number % 2 or (card % 4 < 2 + number % 4 and card // 4 >= 4)]
        cards = tuple(rng.sample(deck, 7))
        for street, width in zip(STREETS, (3, 4, 5), strict=True):
            hole, board = cards[:2], cards[2 : 2 + width]
            kind = read_kind(hole, board).name.lower()
            facts = naive.board_facts(naive.texts(board)) if len(cells[kind, street]) < 8 else None
            if facts is not None and facts not in cells[kind, street]:
                assert naive.kind(naive.texts(hole), naive.texts(board)) == kind
                cells[kind, street][facts] = format_cards(hole), format_cards(board)
    return cells


def test_every_cell_has_a_board() -> None:
    """Only two pairs on a flop of three cards has none."""
    missing = {(k.name.lower(), street) for k, street in product(HandKind, STREETS)} - set(boards())
    assert missing == {("two_pair_on_board", "flop")}


BETS = ("raise", "reraise", "allin")
TABLES = {
    "high_card": 11,
    "two_pair": 13,
    "pair": 12,
    "trips": 14,
    "set": 14,
    "straight": 15,
    "flush": 16,
    "full_house": 17,
}
"""Number of the table by a word of the kind; the first match counts."""

PREFIX = {"flop": "cc/", "turn": "cc/cc/", "river": "cc/cc/cc/"}
AFTER_THE_FLOP = {
    "other": ("", 0),
    "check": ("c", 1),
    "raise": ("r400", 1),
    "reraise": ("r400r1300", 0),
    "allin": ("r20000", 1),
}
"""Betting of the street after each player has put in 100, and our position."""


@pytest.mark.parametrize("four_straight", ["fold", "slash"])
@pytest.mark.parametrize("kind", [kind.name.lower() for kind in HandKind])
def test_every_cell_after_the_flop(view_of: ViewOf, kind: str, four_straight: str) -> None:
    bot = rembrant(explain=True, four_straight=four_straight)
    number = next(number for word, number in TABLES.items() if word in kind)
    both_moves: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for street, line in product(STREETS, LINES):
        lines = WORK["postflop"][kind]
        cell = lines.get(street, lines)[line]
        for facts, (hole, board) in boards().get((kind, street), {}).items():
            view = view_after_the_flop(view_of, street, line, hole, board)
            action, comment = play(view, bot)
            assert comment["street"] == street
            assert comment["hand"] == HandKind[kind.upper()].value
            assert comment["opponent"] == WORDS.get(line, line)
            assert comment["table"] == str(number)
            assert comment["cell"].replace("-", "") == cell
            moves = sorted(cell.split("/"), key=LEVEL.index)
            takes_more = naive.takes_aggressive(cell, kind, naive_cards(hole), naive_cards(board))
            move = moves[-1] if takes_more else moves[0]
            if four_straight == "fold" and line in BETS and naive.pays_no_bet(kind, naive_cards(board)):
                move = "fold"
            assert comment["move"] == WORDS.get(move, move), (hole, board, facts)
            assert action == expected_after_the_flop(move, line, naive_cards(board)), (hole, board, facts)
            both_moves[line, cell].add(takes_more)
    for (line, cell), seen in both_moves.items():
        if "/" in cell:
            assert seen == ({True} if (kind, line) in ONE_WAY else {False, True}), (line, cell)


ONE_WAY = {("high_card", "other"), ("two_pair_on_board", "raise"), ("other_flush", "allin")}
"""Cells whose more passive move no board requires in the deterministic reading.

The bot probes on every flop. A board with two pairs has no four cards to a straight or a flush. A flush beats
straights.

"""


def view_after_the_flop(view_of: ViewOf, street: str, line: str, hole: str, board: str) -> View:
    betting, position = AFTER_THE_FLOP[line]
    holes = f"{hole}|" if position == 0 else f"|{hole}"
    dealt = "".join(f"/{board[a:b]}" for a, b in ((0, 6), (6, 8), (8, 10)) if board[a:b])
    return view_of("nolimit", f"MATCHSTATE:{position}:0:{PREFIX[street]}{betting}:{holes}{dealt}")


def naive_cards(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def expected_after_the_flop(move: str, line: str, board: list[str]) -> Action:
    """Return the expected total in chips: the pot is 200 before the street, with 100 from each."""
    if move == "raise":
        return raise_to(100 + (200 if naive.invites_draws(board) else 133))
    if move == "reraise":
        # a bet of 300 in the round, a raise to 1200 in the round
        return raise_to(100 + int(3.5 * {"raise": 300, "reraise": 1200}[line]))
    return {"fold": FOLD, "check": CALL, "call": CALL, "allin": raise_to(20000)}[move]


def test_all_169_hands_are_walked() -> None:
    assert len(HANDS) == 169
    assert {hole_cards_of(hand)[0] for hand, _ in HANDS} == set(RANKS)
