"""A betting as a dealer follows it: one node per state, which knows by heart the replies that lead on from it.

Hands of a game walk the same few ways again and again. A node therefore keeps what every visit needs (its betting
text, who acts, the round), and its children by the exact bytes of the replies that led to them, so that a reply met
before costs one look-up. The rules are `engine.BettingState`'s.

The memory is bounded. In no-limit games, where most sizes hardly ever come again, a node keeps its children from its
second visit on, so a hand that leaves the known ways adds one node and not its whole rest. When a game has
`MOST_REMEMBERED` nodes and replies, they are forgotten and grow again. Nodes in use stay valid.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from engine import Action, ActionKind, BettingState, Game, betting_start, raise_to
from protocol.actions import scan_action
from protocol.match_state import betting_text, remember_betting_text

__all__ = ["MOST_REMEMBERED", "BettingNode", "first_node", "node_of"]

MOST_REMEMBERED: Final = 1 << 15
_LETTERS: Final = (b"f", b"c", b"r")
_RAISE: Final = int(ActionKind.RAISE)
_MOST_TAIL_BYTES: Final = 24
"""The longest reply to be remembered, without the state before it."""


class _Memory:
    """What the nodes of one game share."""

    __slots__ = ("first", "is_limit", "size")

    def __init__(self, *, is_limit: bool) -> None:
        self.is_limit = is_limit
        self.size = 0
        self.first: BettingNode

    def grow(self) -> None:
        """Count one more node or reply."""
        if self.size >= MOST_REMEMBERED:
            self.size = 0
            self.first.forget()
        self.size += 1


class BettingNode:
    """One point of a hand's betting. Treat as frozen.

    Attributes:
        betting: the state. action: the action that led to it; None at the start. text: the betting as lines hold it.
        acting_position, round, finished, is_showdown: those of the state.
        known: by reply, from its colon to its line end, the node it leads to.
    """

    __slots__ = (
        *("betting", "action", "text", "acting_position", "round", "finished", "is_showdown", "known"),
        *("_children", "_is_met", "_memory"),
    )

    def __init__(self, betting: BettingState, action: Action | None, text: bytes, memory: _Memory) -> None:
        self.betting = betting
        self.action = action
        self.text = text
        self.acting_position = betting.acting_position
        self.round = betting.round
        self.finished = betting.finished
        self.is_showdown = betting.is_showdown
        self.known: dict[bytes, BettingNode] = {}
        self._children: dict[Action, BettingNode] = {}
        self._is_met = memory.is_limit
        self._memory = memory
        if self.finished:
            remember_betting_text(betting, text.decode())

    def after_if_legal(self, action: Action) -> BettingNode | None:
        """The node that follows the acting player's action, or None if the rules refuse it."""
        node = self._children.get(action)
        if node is not None:
            return node
        if action.hand_total and (self._memory.is_limit or action.kind != _RAISE):
            return self.after_if_legal(Action(ActionKind(action.kind)))
        is_kept, self._is_met = self._is_met, True
        betting = self.betting.after_if_legal(action) if is_kept else self.betting.after_many((action,))
        if betting is None:
            return None
        text = self.text + _LETTERS[action.kind] + (b"%d" % action.hand_total if action.hand_total else b"")
        if betting.round != self.round:
            text += b"/" * (betting.round - self.round)
        node = BettingNode(betting, action, text, self._memory)
        if is_kept:
            self._memory.grow()
            self._children[action] = node
        return node

    def after(self, action: Action) -> BettingNode:
        """The node that follows an action.

        Raises:
            IllegalAction: the rules refuse it.
        """
        node = self.after_if_legal(action)
        if node is None:
            self.betting.check(action)
            raise AssertionError(f"{action} is legal and was refused")
        return node

    def after_reply(self, tail: bytes) -> BettingNode | None:
        """The node that a reply leads to; None unless the reply is one short line with a legal action.

        Args:
            tail: what follows the state in the reply, the colon and the line end included.
        """
        node = self.known.get(tail)
        if node is not None:
            return node
        if not (0 < tail.find(b"\n") + 1 == len(tail) <= _MOST_TAIL_BYTES and tail.startswith(b":")) or b"\0" in tail:
            return None
        is_kept = self._is_met
        is_limit, size = self._memory.is_limit, tail[2:].rstrip()
        if not is_limit and tail.startswith(b":r") and size.isdigit() and len(size) < 10:
            # The usual raise; `scan_action` would take six times as long.
            action: Action | None = raise_to(int(size))
        else:
            action = (scan_action(tail.decode("latin-1"), 1, is_limit) or (None,))[0]
        node = None if action is None else self.after_if_legal(action)
        if node is not None and is_kept:
            self._memory.grow()
            self.known[tail] = node
        return node

    def forget(self) -> None:
        """Cut off all that follows."""
        self.known.clear()
        self._children.clear()


@lru_cache(maxsize=64)
def first_node(game: Game) -> BettingNode:
    """The node in which every hand of a game starts."""
    memory = _Memory(is_limit=game.is_limit)
    memory.first = BettingNode(start := betting_start(game), None, betting_text(start).encode(), memory)
    return memory.first


def node_of(betting: BettingState) -> BettingNode:
    """The node of a state that was reached elsewhere."""
    node = first_node(betting.game)
    for actions in betting.rounds:
        for _, action in actions:
            node = node.after(action)
    return node
