"""A betting as a dealer follows it: one node per point, which stores the replies that lead on from it.

Hands of a game walk the same few ways again and again. A node therefore keeps what every visit needs (its betting
text, who acts, the round), and its children by the exact bytes of the replies that led to them, so that a reply met
before costs one look-up. The rules are `engine.betting_rules`; the state of the engine, with all that was done before,
is made for those who ask for it.

The memory is bounded. In no-limit games, where most sizes hardly ever come again, a node keeps its children from its
second visit on, so a hand that leaves the known ways adds one node and not its whole rest. When a game has
`MOST_REMEMBERED` nodes and replies, they are forgotten and grow again. Nodes in use stay valid.

`HandLines` makes the lines of one hand as the dealer writes them, for every position, and its line in the log. A line
is five prepared pieces: position, hand number, the betting so far (of the node), the hole cards as the position
sees them, and the board of the round.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine import CARD_TEXTS, Action, ActionKind, BettingState, Card, Deal, Game, betting_start
from engine.betting_rules import BettingPoint, betting_rules, first_point
from engine.game import MAX_PLAYERS
from protocol.actions import scan_action
from protocol.match_state import betting_text

MOST_REMEMBERED: Final = 1 << 15
_LETTERS: Final = (b"f", b"c", b"r")
_FOLD, _CALL, _RAISE = map(int, ActionKind)
_KINDS: Final = tuple(ActionKind)
_MOST_TAIL_BYTES: Final = 24
"""The longest reply to be remembered, without the state before it."""
_UNSIZED: Final = {b":f\r\n": _FOLD, b":c\r\n": _CALL}
"""The usual replies without a size; others are scanned."""
_NONE_KNOWN: Final[dict[bytes, BettingNode]] = {}
"""Of nodes that keep nothing yet; never written to."""


class _Memory:
    __slots__ = ("first", "is_limit", "most_folded", "rules", "size")

    def __init__(self, game: Game) -> None:
        self.rules = betting_rules(game)
        self.is_limit = game.is_limit
        self.most_folded = game.num_players - 2
        """As many may have folded before a showdown."""
        self.size = 0
        self.first: BettingNode

    def grow(self) -> None:
        if self.size >= MOST_REMEMBERED:
            self.size = 0
            self.first.forget()
        self.size += 1


class BettingNode:
    """One point of a hand's betting. Treat as frozen.

    Attributes:
        point: as the rules define it. text: the betting as lines hold it.
        acting_position, round, finished: those of the state.
        known: by reply, from its colon to its line end, the node it leads to.
    """

    __slots__ = (
        "_betting",
        "_children",
        "_hand_total",
        "_is_kept",
        "_is_met",
        "_kind",
        "_memory",
        "_parent",
        "acting_position",
        "finished",
        "known",
        "point",
        "round",
        "text",
    )

    def __init__(
        self,
        parent: BettingNode | None,
        kind: int,
        hand_total: int,
        point: BettingPoint,
        text: bytes,
        memory: _Memory,
        *,
        is_kept: bool,
    ) -> None:
        self.point = point
        self.text = text
        self.acting_position = position = point.position
        self.round = point.round
        self.finished = position < 0
        self.known = _NONE_KNOWN
        self._parent = parent
        self._kind = kind
        self._hand_total = hand_total
        self._betting: BettingState | None = None
        self._children: dict[tuple[int, int], BettingNode] | None = None
        self._is_kept = is_kept
        self._is_met = memory.is_limit
        self._memory = memory

    @property
    def is_showdown(self) -> bool:
        """Whether the hand is over and cards decide."""
        return self.finished and self.point.folded.bit_count() <= self._memory.most_folded

    @property
    def action(self) -> Action | None:
        """The action that led to it; None at the start."""
        if self._parent is None:
            return None
        return Action(_KINDS[self._kind], self._hand_total)

    @property
    def betting(self) -> BettingState:
        """The state of the engine."""
        if self._betting is None:
            actions: list[Action] = []
            node = self
            round_ = -1
            while node._betting is None and (parent := node._parent) is not None:
                if actions and (node._is_kept or parent.round != round_):
                    break
                actions.append(Action(_KINDS[node._kind], node._hand_total))
                is_kept = node._is_kept
                node = parent
                round_ = parent.round
                if is_kept:
                    break
            before = node.betting
            made = before.after(actions[0]) if self._is_kept else before.after_many(actions[::-1])
            assert made is not None, "a node is reached by legal actions only"
            self._betting = made
        return self._betting

    def after_if_legal(self, action: Action) -> BettingNode | None:
        """The node that follows the acting player's action, or None if the rules reject it."""
        kind, hand_total = action
        return self._after(kind, 0 if kind != _RAISE or self._memory.is_limit else hand_total)

    def _after(self, kind: int, hand_total: int) -> BettingNode | None:
        if self._children is not None and (kind, hand_total) in self._children:
            return self._children[kind, hand_total]
        memory = self._memory
        point = memory.rules(self.point, kind, hand_total)
        if point is None:
            return None
        text = self.text + (b"r%d" % hand_total if hand_total else _LETTERS[kind])
        if point.round != self.round:
            text += b"/" * (point.round - self.round)
        is_kept = self._is_met
        self._is_met = True
        node = BettingNode(self, kind, hand_total, point, text, memory, is_kept=is_kept)
        if is_kept:
            memory.grow()
            if self._children is None:
                self._children = {}
            self._children[kind, hand_total] = node
        return node

    def after(self, action: Action) -> BettingNode:
        """The node that follows an action.

        Raises:
            IllegalAction: the rules reject it.
        """
        node = self.after_if_legal(action)
        if node is None:
            self.betting.check(action)
            raise AssertionError(f"{action} is legal and was rejected")
        return node

    def after_reply(self, tail: bytes) -> BettingNode | None:
        """The node that a reply leads to; None unless the reply is one short line with a legal action.

        Args:
            tail: what follows the state in the reply, the colon and the line end included.
        """
        node = self.known.get(tail)
        if node is not None:
            return node
        memory = self._memory
        kind = _UNSIZED.get(tail, _RAISE)
        hand_total = 0
        if kind == _RAISE:
            size = tail[2:-2]
            if size.isdigit() and len(size) < 10 and tail[:2] == b":r" and tail[-2:] == b"\r\n" and not memory.is_limit:
                # The usual raise; `scan_action` would take six times as long.
                hand_total = int(size)
            else:
                action = _scan_reply(tail, is_limit=memory.is_limit)
                if action is None:
                    return None
                kind, hand_total = action
        is_kept = self._is_met
        node = self._after(kind, hand_total)
        if node is not None and is_kept:
            memory.grow()
            if self.known is _NONE_KNOWN:
                self.known = {}
            self.known[tail] = node
        return node

    def forget(self) -> None:
        """Cut off all that follows."""
        self.known = _NONE_KNOWN
        self._children = None


def _scan_reply(tail: bytes, *, is_limit: bool) -> Action | None:
    if not (0 < tail.find(b"\n") + 1 == len(tail) <= _MOST_TAIL_BYTES and tail.startswith(b":")) or b"\0" in tail:
        return None
    scanned = scan_action(tail.decode("latin-1"), 1, is_limit)
    if scanned is None:
        return None
    return scanned[0]


@lru_cache(maxsize=64)
def first_node(game: Game) -> BettingNode:
    """The node in which every hand of a game starts."""
    memory = _Memory(game)
    start = betting_start(game)
    text = betting_text(start).encode()
    memory.first = first = BettingNode(None, _FOLD, 0, first_point(game), text, memory, is_kept=True)
    first._betting = start
    return first


_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
HEADS: Final = tuple(b"MATCHSTATE:%d:" % position for position in range(MAX_PLAYERS))
"""How lines begin, by position."""
_BARS: Final = tuple(b":" + b"|" * count for count in range(MAX_PLAYERS))
_MORE_BARS: Final = tuple(b"|" * count for count in range(MAX_PLAYERS))


@lru_cache(maxsize=1 << 12)
def _card_bytes(cards: tuple[Card, ...]) -> bytes:
    return b"".join([_CARD_BYTES[card] for card in cards])


class HandLines:
    """The lines of one hand.

    Attributes:
        number: the text of the hand's number, with its colon. views: by position, the hole cards that it sees, before
        a showdown. boards: by round, all board cards on the table.
    """

    __slots__ = ("_holes", "boards", "number", "views")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        self._holes = holes = [_card_bytes(cards) for cards in deal.hole_cards]
        self.number = b"%d:" % hand_number
        last = len(holes) - 1
        self.views = [_BARS[at] + hole + _MORE_BARS[last - at] for at, hole in enumerate(holes)]
        board = b"".join([_CARD_BYTES[card] for card in deal.board])
        text = b""
        start = 0
        self.boards: list[bytes] = []
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            self.boards.append(text)
            text += b"/"
            start = end

    def line(self, position: int, node: BettingNode) -> bytes:
        """A state as a position sees it, CR LF included: at a showdown, with all hands that were not folded."""
        cards = self.views[position]
        if node.is_showdown:
            folded = node.point.folded
            seen = self._holes
            if folded:
                seen = [hole if at == position or not folded >> at & 1 else b"" for at, hole in enumerate(seen)]
            cards = b":" + b"|".join(seen)
        return b"".join((HEADS[position], self.number, node.text, cards, self.boards[node.round], b"\r\n"))

    def state_line(self, node: BettingNode, ending: bytes) -> bytes:
        """The line of the finished hand in the log; `ending` is the text after the cards."""
        cards = b"|".join(self._holes)
        return b"".join((b"STATE:", self.number, node.text, b":", cards, self.boards[node.round], ending))
