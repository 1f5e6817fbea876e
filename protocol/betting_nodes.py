"""Betting of a hand as the dealer follows it, in nodes that remember replies by their bytes.

Most hands of a match repeat a few sequences of actions. Each point of the betting is therefore a `BettingNode` that
keeps its text, its round and the player to act, and finds the next node by the bytes of a reply. A known reply costs
one dictionary look-up. `HandLines` joins the text of a node with the cards of a hand to the lines that the dealer
sends and logs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine import CARD_TEXTS, Action, ActionKind, BettingState, Card, Deal, Game, betting_start
from engine.betting_rules import BettingPoint, betting_rules, first_point
from engine.game import MAX_PLAYERS
from protocol.actions import scan_action
from protocol.match_state import betting_text

MAX_REMEMBERED: Final = 1 << 15
"""Nodes and replies remembered for one game. The next one makes the game forget them all."""

_LETTERS: Final = (b"f", b"c", b"r")
_FOLD, _CALL, _RAISE = map(int, ActionKind)
_KINDS: Final = tuple(ActionKind)
# A player that pads its replies could otherwise fill the memory with variants of one reply.
_MAX_TAIL_BYTES: Final = 24
_KIND_BY_TAIL: Final = {b":f\r\n": _FOLD, b":c\r\n": _CALL}
# Shared by all nodes that remember no reply yet, and never written to.
_NO_REPLIES: Final[dict[bytes, BettingNode]] = {}


class _Memory:
    """Rules of a game, and the number of nodes and replies remembered for it.

    Attributes:
        max_folded: number of players who can have folded at a showdown.
    """

    __slots__ = ("first", "is_limit", "max_folded", "rules", "size")

    def __init__(self, game: Game) -> None:
        self.rules = betting_rules(game)
        self.is_limit = game.is_limit
        self.max_folded = game.num_players - 2
        self.size = 0
        self.first: BettingNode

    def grow(self) -> None:
        if self.size >= MAX_REMEMBERED:
            # Nodes that a match is using stay valid: they hold their parents, not the other way round.
            self.size = 0
            self.first.forget()
        self.size += 1


class BettingNode:
    """One point of the betting. Treat as frozen.

    Attributes:
        point: the same point in the terms of `engine.betting_rules`.
        text: the betting as lines contain it.
        acting_position: position of the player to act, -1 if the hand is over.
        round: 0-based betting round.
        finished: the hand is over.
        known: next nodes by reply, from the colon before the action to the line end.
    """

    __slots__ = (
        "_betting",
        "_children",
        "_hand_total",
        "_is_remembered",
        "_kind",
        "_memory",
        "_parent",
        "_remembers_children",
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
        is_remembered: bool,
    ) -> None:
        self.point = point
        self.text = text
        self.acting_position = position = point.position
        self.round = point.round
        self.finished = position < 0
        self.known = _NO_REPLIES
        self._parent = parent
        self._kind = kind
        self._hand_total = hand_total
        self._betting: BettingState | None = None
        self._children: dict[tuple[int, int], BettingNode] | None = None
        self._is_remembered = is_remembered
        # In no-limit games most sizes never come again. A node remembers its children from its second visit on, so a
        # hand that leaves the known sequences adds one node and not all that follow. Limit games have few sequences,
        # and remember them at once.
        self._remembers_children = memory.is_limit
        self._memory = memory

    @property
    def is_showdown(self) -> bool:
        return self.finished and self.point.folded.bit_count() <= self._memory.max_folded

    @property
    def action(self) -> Action | None:
        """The action that led to this node; None for the first node."""
        if self._parent is None:
            return None
        return Action(_KINDS[self._kind], self._hand_total)

    @property
    def betting(self) -> BettingState:
        """The state of the engine, created on first use because most hands need none."""
        if self._betting is None:
            self._betting = self._create_betting()
        return self._betting

    def _create_betting(self) -> BettingState:
        parent = self._parent
        assert parent is not None, "the first node has its state from the start"
        action = Action(_KINDS[self._kind], self._hand_total)
        if self._is_remembered:
            # Later hands come to this node again. The parent's state remembers the new one for other users, too.
            return parent.betting.after(action)
        # No other hand will come to the nodes between, so they get no states. `after_many` plays one round at most.
        actions = [action]
        node = parent
        while node._betting is None and not node._is_remembered:
            parent = node._parent
            if parent is None or parent.round != node.round:
                break
            actions.append(Action(_KINDS[node._kind], node._hand_total))
            node = parent
        betting = node.betting.after_many(actions[::-1])
        assert betting is not None, "legal actions led to this node"
        return betting

    def after_if_legal(self, action: Action) -> BettingNode | None:
        """Return the next node, or None if the rules reject the action."""
        kind, hand_total = action
        if kind != _RAISE or self._memory.is_limit:
            hand_total = 0
        return self._after(kind, hand_total)

    def _after(self, kind: int, hand_total: int) -> BettingNode | None:
        if self._children is not None and (kind, hand_total) in self._children:
            return self._children[kind, hand_total]
        memory = self._memory
        point = memory.rules(self.point, kind, hand_total)
        if point is None:
            return None
        if hand_total:
            text = self.text + b"r%d" % hand_total
        else:
            text = self.text + _LETTERS[kind]
        if point.round != self.round:
            text += b"/" * (point.round - self.round)
        is_remembered = self._remembers_children
        self._remembers_children = True
        node = BettingNode(self, kind, hand_total, point, text, memory, is_remembered=is_remembered)
        if is_remembered:
            memory.grow()
            if self._children is None:
                self._children = {}
            self._children[kind, hand_total] = node
        return node

    def after(self, action: Action) -> BettingNode:
        """Return the next node.

        Raises:
            IllegalAction: the rules reject the action.
        """
        node = self.after_if_legal(action)
        if node is None:
            self.betting.check(action)
            raise AssertionError(f"{action} is legal and was rejected")
        return node

    def after_reply(self, tail: bytes) -> BettingNode | None:
        """Return the node that a reply leads to.

        Args:
            tail: the reply after the state, with its colon and line end.

        Returns:
            None unless the reply is one short line with a legal action. `DealerSession` then finds its fault.
        """
        node = self.known.get(tail)
        if node is not None:
            return node
        memory = self._memory
        kind = _KIND_BY_TAIL.get(tail, _RAISE)
        hand_total = 0
        if kind == _RAISE:
            size = tail[2:-2]
            if size.isdigit() and len(size) < 10 and tail[:2] == b":r" and tail[-2:] == b"\r\n" and not memory.is_limit:
                # The usual form of a raise; `scan_action` would take six times as long.
                hand_total = int(size)
            else:
                action = _scan_tail(tail, is_limit=memory.is_limit)
                if action is None:
                    return None
                kind, hand_total = action
        is_remembered = self._remembers_children
        node = self._after(kind, hand_total)
        if node is not None and is_remembered:
            memory.grow()
            if self.known is _NO_REPLIES:
                self.known = {}
            self.known[tail] = node
        return node

    def forget(self) -> None:
        """Drop the remembered replies and nodes after this one."""
        self.known = _NO_REPLIES
        self._children = None


def _scan_tail(tail: bytes, *, is_limit: bool) -> Action | None:
    if len(tail) > _MAX_TAIL_BYTES or not tail.startswith(b":"):
        return None
    # Several lines, or an incomplete one. A NUL ends the line early in the reference.
    if tail.find(b"\n") != len(tail) - 1 or b"\0" in tail:
        return None
    scanned = scan_action(tail.decode("latin-1"), 1, is_limit)
    if scanned is None:
        return None
    action, _ = scanned
    return action


@lru_cache(maxsize=64)
def first_node(game: Game) -> BettingNode:
    """Return the node in which every hand of a game starts."""
    memory = _Memory(game)
    start = betting_start(game)
    text = betting_text(start).encode()
    first = BettingNode(None, _FOLD, 0, first_point(game), text, memory, is_remembered=True)
    first._betting = start
    memory.first = first
    return first


HEADS: Final = tuple(b"MATCHSTATE:%d:" % position for position in range(MAX_PLAYERS))
"""Beginnings of lines, by position."""

_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
_BARS_BEFORE: Final = tuple(b":" + b"|" * count for count in range(MAX_PLAYERS))
_BARS_AFTER: Final = tuple(b"|" * count for count in range(MAX_PLAYERS))


@lru_cache(maxsize=1 << 12)
def _join_cards(cards: tuple[Card, ...]) -> bytes:
    return b"".join([_CARD_BYTES[card] for card in cards])


class HandLines:
    """Lines of one hand. The pieces that all its lines share are formatted once.

    Attributes:
        number: the hand number with its colon.
        views: by position, the hole cards that it sees before a showdown.
        boards: by round, all board cards on the table.
    """

    __slots__ = ("_holes", "boards", "number", "views")

    def __init__(self, game: Game, deal: Deal, hand_number: int) -> None:
        holes = [_join_cards(cards) for cards in deal.hole_cards]
        last = len(holes) - 1
        self._holes = holes
        self.number = b"%d:" % hand_number
        self.views = [_BARS_BEFORE[i] + hole + _BARS_AFTER[last - i] for i, hole in enumerate(holes)]
        self.boards: list[bytes] = []
        board = b"".join([_CARD_BYTES[card] for card in deal.board])
        text = b""
        start = 0
        for end in game.board_cards_by_round:
            text += board[2 * start : 2 * end]
            self.boards.append(text)
            text += b"/"
            start = end

    def line(self, position: int, node: BettingNode) -> bytes:
        """Return the state as a position sees it, CR LF included.

        At a showdown it contains the cards of all players who have not folded.
        """
        cards = self.views[position]
        if node.is_showdown:
            cards = b":" + self._shown_holes(position, node.point.folded)
        return b"".join((HEADS[position], self.number, node.text, cards, self.boards[node.round], b"\r\n"))

    def _shown_holes(self, position: int, folded: int) -> bytes:
        holes = self._holes
        if folded:
            holes = list(holes)
            for other in range(len(holes)):
                # Players see their own cards even after a fold.
                if other != position and folded >> other & 1:
                    holes[other] = b""
        return b"|".join(holes)

    def state_line(self, node: BettingNode, ending: bytes) -> bytes:
        """Return the finished hand's line in the log.

        Args:
            ending: the line after the cards, that is, values and names.
        """
        cards = b"|".join(self._holes)
        return b"".join((b"STATE:", self.number, node.text, b":", cards, self.boards[node.round], ending))
