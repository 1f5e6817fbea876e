"""View of a hand by one position: its cards, the board, the betting, the legal actions.

A `View` holds no card that the player has not been shown. It is made for every decision, so its constructor stores
references only, and everything else is computed on access.

Raise sizes come in two kinds. A *hand total* is the sum of chips that a player puts in during the hand, as the
protocol writes it. A *street total* is the sum during the current betting round, as players and trackers say it; blinds
count for the first round.
"""

from __future__ import annotations

from typing import Final

from engine import (
    CALL,
    CARD_TEXTS,
    FOLD,
    RAISE,
    Action,
    ActionKind,
    BettingState,
    Card,
    Category,
    Deal,
    Game,
    Hand,
    LegalActions,
    Position,
    hand_values,
    nearest_legal,
    raise_to,
    rank_hand,
)
from engine import category as category_of
from engine.holdem import ROUND_NAMES, is_dealt_as_holdem
from protocol import MatchState
from protocol.match_state import SeenHand

MAX_COMMENT_BYTES: Final = 500
"""Bytes at which comments are cut. A dealer cuts lines at 4095 bytes."""
MAX_WAITING_COMMENTS: Final = 16
"""Comments kept by a view; further ones are dropped, since a flood of lines is a fault for the dealer."""
_NO_LEGAL_ACTIONS: Final = LegalActions(can_fold=False, can_raise=False)


class View:
    """State of a hand as one position sees it. Treat it as frozen, except for `comment`.

        def act(self, view):
            if view.category >= Category.PAIR:
                return view.raise_by_pot(0.5)
            if view.can_fold and view.pot_odds > 0.3:
                return view.fold()
            return view.call()

    Amounts are in chips.

    Attributes:
        betting: the engine's state of the betting; `betting.after(action)` tries an action out.
        position: the player's position in this hand, 0-based.
        hand_number: 0-based number of the hand in the match.
        all_hole_cards: hole cards of each position; empty if this player has not been shown them.
        board: board cards in the order dealt.
        comments: queue of `comment`, as lines ready to send.
    """

    __slots__ = ("_rank", "_street_base", "all_hole_cards", "betting", "board", "comments", "hand_number", "position")

    def __init__(
        self,
        betting: BettingState,
        position: Position,
        hand_number: int,
        all_hole_cards: tuple[tuple[Card, ...], ...],
        board: tuple[Card, ...],
    ) -> None:
        self.betting = betting
        self.position = position
        self.hand_number = hand_number
        self.all_hole_cards = all_hole_cards
        self.board = board
        self.comments: list[bytes] = []
        self._rank: int | None = None
        self._street_base: tuple[int, ...] | None = None

    @classmethod
    def from_state(cls, state: MatchState | SeenHand, betting: BettingState) -> View:
        """Make the view of a state that a dealer sent.

        Args:
            betting: the betting of the state, played by the rules.
        """
        board: tuple[Card, ...] = ()
        for cards in state.board:
            board += cards
        return cls(betting, state.position, state.hand_number, state.hole_cards, board)

    @classmethod
    def from_holding(
        cls,
        betting: BettingState,
        position: Position,
        hole_cards: tuple[Card, ...],
        board: tuple[Card, ...],
        hand_number: int = 0,
    ) -> View:
        """Make the view of a player who has been shown no hole cards but its own."""
        seen = tuple([hole_cards if p == position else () for p in range(betting.game.num_players)])
        return cls(betting, position, hand_number, seen, board)

    @classmethod
    def from_hand(cls, hand: Hand, position: Position, hand_number: int = 0) -> View:
        """Make a position's view of a hand, with the cards that a dealer would show it."""
        return cls.from_deal(hand.betting, position, hand_number, hand.deal)

    @classmethod
    def from_deal(cls, betting: BettingState, position: Position, hand_number: int, deal: Deal) -> View:
        """Make a position's view of a betting and all cards, with those that a dealer would show it."""
        seen: list[tuple[Card, ...]] = []
        for owner, cards in enumerate(deal.hole_cards):
            is_folded = bool(betting.folded >> owner & 1)
            is_shown = owner == position or (betting.is_showdown and not is_folded)
            seen.append(cards if is_shown else ())
        board = deal.board[: betting.game.board_cards_by_round[betting.round]]
        return cls(betting, position, hand_number, tuple(seen), board)

    # The game and its players

    @property
    def game(self) -> Game:
        return self.betting.game

    @property
    def big_blind(self) -> int:
        """Largest blind, in chips."""
        return self.betting.game.big_blind

    @property
    def num_players(self) -> int:
        """Number of players in the game, folded or not."""
        return self.betting.game.num_players

    @property
    def acting_position(self) -> Position:
        """Position whose turn it is; -1 after the end of the hand."""
        return self.betting.acting_position

    @property
    def is_my_turn(self) -> bool:
        """The dealer waits for this player."""
        return self.betting.acting_position == self.position

    # Cards

    @property
    def hole_cards(self) -> tuple[Card, ...]:
        """Player's own cards, in the order dealt."""
        return self.all_hole_cards[self.position]

    @property
    def hole_text(self) -> str:
        """Player's own cards as text, such as ``AhKs``."""
        return "".join([CARD_TEXTS[card] for card in self.hole_cards])

    @property
    def board_text(self) -> str:
        """Board as text, such as ``2c7d9h``."""
        return "".join([CARD_TEXTS[card] for card in self.board])

    @property
    def rank(self) -> int:
        """Rank of the best hand made of the player's cards and the board; higher is better."""
        if self._rank is None:
            self._rank = rank_hand(self.hole_cards + self.board)
        return self._rank

    @property
    def category(self) -> Category:
        """Category of that hand, such as `Category.PAIR`. Categories compare by strength."""
        return category_of(self.rank)

    # The betting so far

    @property
    def round(self) -> int:
        """Betting round, 0-based."""
        return self.betting.round

    @property
    def round_name(self) -> str:
        """Name of the betting round, such as ``flop`` in games like hold'em, else ``round 1``."""
        round_ = self.betting.round
        if is_dealt_as_holdem(self.betting.game):
            return ROUND_NAMES[round_]
        return f"round {round_}"

    @property
    def actions_by_round(self) -> tuple[tuple[tuple[Position, Action], ...], ...]:
        """Actions so far by round, each with the position that took it. Raise sizes are hand totals."""
        return self.betting.rounds

    @property
    def round_actions(self) -> tuple[tuple[Position, Action], ...]:
        """Actions of the current round, each with the position that took it."""
        return self.betting.rounds[-1]

    @property
    def raises_this_round(self) -> int:
        """Number of bets and raises in the current round, without blinds."""
        return sum(action.kind is ActionKind.RAISE for _, action in self.betting.rounds[-1])

    # Chips

    @property
    def pot(self) -> int:
        """Chips that all players have put in, with blinds."""
        return self.betting.pot

    @property
    def to_call(self) -> int:
        """Chips that the player must add to call, at most its stack; 0 if it is not its turn."""
        return self.betting.to_call if self.is_my_turn else 0

    @property
    def pot_odds(self) -> float:
        """Share of the call in the pot after it, 0 to 1; calling pays above this chance to win."""
        to_call = self.to_call
        if not to_call:
            return 0.0
        return to_call / (self.betting.pot + to_call)

    @property
    def hand_committed(self) -> tuple[int, ...]:
        """Hand total of each position: chips put in during this hand."""
        return self.betting.spent

    @property
    def street_committed(self) -> tuple[int, ...]:
        """Street total of each position: chips put in during the current round."""
        return tuple([now - before for now, before in zip(self.betting.spent, self._base(), strict=True)])

    @property
    def stacks_left(self) -> tuple[int, ...]:
        """Chips that each position has left."""
        betting = self.betting
        return tuple([stack - spent for stack, spent in zip(betting.game.stacks, betting.spent, strict=True)])

    @property
    def stack_left(self) -> int:
        """Chips that the player has left."""
        return self.betting.game.stacks[self.position] - self.betting.spent[self.position]

    def _base(self) -> tuple[int, ...]:
        """Return the chips that each position had put in before the current round."""
        if self._street_base is None:
            self._street_base = self.betting.spent_before_round
        return self._street_base

    # Players in the hand

    @property
    def active_positions(self) -> tuple[Position, ...]:
        """Positions that have not folded, also those all-in, in ascending order."""
        return self.betting.in_pot

    @property
    def folded_positions(self) -> tuple[Position, ...]:
        """Positions that have folded, in ascending order."""
        folded = self.betting.folded
        return tuple([Position(p) for p in range(self.betting.game.num_players) if folded >> p & 1])

    @property
    def players_behind(self) -> tuple[Position, ...]:
        """Positions that act later in this round unless someone raises, in order of their turns."""
        betting = self.betting
        round_ = betting.round
        order: list[Position] = []
        while not betting.finished and betting.round == round_:
            order.append(betting.acting_position)
            betting = betting.after(CALL)
        return tuple(order[1:])

    # Legal actions

    @property
    def legal(self) -> LegalActions:
        """Legal actions of the player; none if it is not its turn."""
        if self.is_my_turn:
            return self.betting.legal_actions()
        return _NO_LEGAL_ACTIONS

    @property
    def can_fold(self) -> bool:
        """There is a bet to fold to. Without one, folding is illegal."""
        return self.legal.can_fold

    @property
    def can_call(self) -> bool:
        """The player may call or check, as it always may on its turn."""
        return self.is_my_turn

    @property
    def can_raise(self) -> bool:
        return self.legal.can_raise

    @property
    def min_raise_hand_total(self) -> int:
        """Smallest legal raise as a hand total, in limit games the only one; 0 if no raise is legal."""
        return self.legal.raise_min

    @property
    def max_raise_hand_total(self) -> int:
        """Largest legal raise as a hand total, in limit games the only one; 0 if no raise is legal."""
        return self.legal.raise_max

    @property
    def min_raise_street_total(self) -> int:
        """Smallest legal raise as a street total; 0 if no raise is legal."""
        if self.can_raise:
            return self.legal.raise_min - self._base()[self.position]
        return 0

    @property
    def max_raise_street_total(self) -> int:
        """Largest legal raise as a street total; 0 if no raise is legal."""
        if self.can_raise:
            return self.legal.raise_max - self._base()[self.position]
        return 0

    def to_street_total(self, hand_total: int) -> int:
        """Convert a hand total of this player to a street total."""
        return hand_total - self._base()[self.position]

    def to_hand_total(self, street_total: int) -> int:
        """Convert a street total of this player to a hand total."""
        return street_total + self._base()[self.position]

    # Actions. `fold`, `raise_to` and `raise_to_street` return an action even if it is illegal, and the SDK rejects it.
    # The other methods return the nearest legal action.

    def fold(self) -> Action:
        """Fold; illegal without a bet to fold to (`can_fold`)."""
        return FOLD

    def call(self) -> Action:
        """Call, or check if there is no bet; always legal."""
        return CALL

    def raise_to(self, hand_total: int) -> Action:
        """Raise or bet to a hand total, from `min_raise_hand_total` to the maximum."""
        return raise_to(hand_total)

    def raise_to_street(self, street_total: int) -> Action:
        """Raise or bet to a street total, from `min_raise_street_total` to the maximum."""
        return raise_to(self.to_hand_total(street_total))

    def raise_min(self) -> Action:
        """Raise by the smallest legal size; call if no raise is legal."""
        return nearest_legal(RAISE, self.betting)

    def raise_by_pot(self, fraction: float) -> Action:
        """Raise by a fraction of the pot: 1.0 is a pot-sized raise, 0.5 half of that.

        The pot is counted after the player's call. Sizes are rounded down to whole chips and kept within the legal
        bounds; in limit games the size is fixed. If no raise is legal, the action is a call.
        """
        betting = self.betting
        pot_after_call = betting.pot + betting.to_call
        hand_total = betting.max_spent + int(fraction * pot_after_call)
        return nearest_legal(raise_to(hand_total), betting)

    def all_in(self) -> Action:
        """Raise by the largest legal size; call if no raise is legal."""
        legal = self.betting.legal_actions()
        return nearest_legal(raise_to(legal.raise_max), self.betting)

    def nearest_legal(self, action: Action) -> Action:
        """Return the legal action nearest in meaning (`engine.nearest_legal`)."""
        return nearest_legal(action, self.betting)

    # The end of the hand

    @property
    def finished(self) -> bool:
        return self.betting.finished

    @property
    def is_showdown(self) -> bool:
        """The hand ended with at least two players, whose cards are in `all_hole_cards`."""
        return self.betting.is_showdown

    @property
    def values(self) -> tuple[float, ...]:
        """Net chips that each position has won in the hand; they sum to zero.

        Raises:
            ValueError: the hand is not over.
        """
        return tuple(hand_values(self.betting, Deal(self.all_hole_cards, self.board)))

    @property
    def value(self) -> float:
        """Net chips that the player has won in the hand; negative for a loss.

        Raises:
            ValueError: the hand is not over.
        """
        return self.values[self.position]

    # Texts

    @property
    def match_state(self) -> MatchState:
        """State as the protocol sends it."""
        betting = self.betting
        board = []
        start = 0
        for count in betting.game.num_board_cards[: betting.round + 1]:
            board.append(self.board[start : start + count])
            start += count
        actions = []
        for round_ in betting.rounds:
            actions.append(tuple([action for _, action in round_]))
        return MatchState(self.position, self.hand_number, tuple(actions), self.all_hole_cards, tuple(board))

    def comment(self, text: str) -> None:
        """Queue a comment for human readers, which the dealer stores with the hand.

        It is sent with the player's next reply, as a line that begins with ``#``. Comments after the last reply of a
        match are never sent. Line ends become spaces, a text is cut at `MAX_COMMENT_BYTES`, and comments beyond
        `MAX_WAITING_COMMENTS` are dropped.
        """
        if len(self.comments) < MAX_WAITING_COMMENTS:
            line = " ".join(text.replace("\0", " ").splitlines()).encode("utf-8", "replace")
            # The cut may split a character of several bytes; decoding with "ignore" drops the fragment.
            kept = line[:MAX_COMMENT_BYTES].decode("utf-8", "ignore")
            self.comments.append(b"# " + kept.encode("utf-8") + b"\r\n")

    def __repr__(self) -> str:
        return f"<View {self.match_state.format()}>"
