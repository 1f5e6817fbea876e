"""What a player knows when it has to act, in the field's words.

A `View` is one state of one hand through the eyes of one position: its cards, the board, the betting, what is legal.
It never holds a card the player has not been shown. It is made for every state in which a bot is asked, so making one
is cheap (two references and a few tuples) and everything else is computed when asked for.

Two words for the size of a raise, never mixed: a **hand total** is what a player will have put in during this hand
(what the protocol writes), a **street total** what it will have put in during this betting round (what trackers and
people say; blinds count for the first round). Amounts without either word mean what their names say: `pot`, `to_call`,
`hand_committed`.
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
"""The longest comment in bytes; what is longer is cut. A dealer cuts lines at 4095 bytes."""
MAX_WAITING_COMMENTS: Final = 16
"""Comments that one view may hold; further ones are dropped, because a dealer takes a flood of lines for a fault."""
_NO_LEGAL_ACTIONS: Final = LegalActions(can_fold=False, can_raise=False)


class View:
    """One state of one hand, as one position sees it. Treat as frozen, except for `comment`.

    Attributes:
        betting: the betting so far: the engine's own state, for bots that try actions out
            (`betting.after(...)`).
        position: the player's position in this hand, 0-based.
        hand_number: 0-based number of the hand in the match.
        all_hole_cards: hole cards by position; empty where this player has not been shown them.
        board: the cards on the table, in the order dealt.
        comments: what `comment` has queued, as lines ready to be sent.
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
        """Make the view of a state that a dealer sent, with its betting as played by the rules."""
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
        """Make the view of a player that has been shown its own hole cards only."""
        seen = tuple([hole_cards if p == position else () for p in range(betting.game.num_players)])
        return cls(betting, position, hand_number, seen, board)

    @classmethod
    def from_hand(cls, hand: Hand, position: Position, hand_number: int = 0) -> View:
        """Make the view that `position` has of a hand played in this process: the cards a dealer would show."""
        betting = hand.betting
        seen: list[tuple[Card, ...]] = []
        for owner, cards in enumerate(hand.deal.hole_cards):
            is_folded = bool(betting.folded >> owner & 1)
            is_shown = owner == position or (hand.is_showdown and not is_folded)
            seen.append(cards if is_shown else ())
        return cls(betting, position, hand_number, tuple(seen), hand.board)

    # What is being played, and by whom

    @property
    def game(self) -> Game:
        return self.betting.game

    @property
    def big_blind(self) -> int:
        """The largest blind in chips."""
        return self.betting.game.big_blind

    @property
    def num_players(self) -> int:
        """Players dealt in, folded or not."""
        return self.betting.game.num_players

    @property
    def acting_position(self) -> Position:
        """Position whose turn it is; -1 when the hand is over."""
        return self.betting.acting_position

    @property
    def is_my_turn(self) -> bool:
        """The dealer waits for this player."""
        return self.betting.acting_position == self.position

    # Cards

    @property
    def hole_cards(self) -> tuple[Card, ...]:
        """The player's own cards."""
        return self.all_hole_cards[self.position]

    @property
    def hole_text(self) -> str:
        """The player's own cards as text, ``AhKs``, in the order dealt."""
        return "".join([CARD_TEXTS[card] for card in self.hole_cards])

    @property
    def board_text(self) -> str:
        """The board as text, ``2c7d9h``, in the order dealt."""
        return "".join([CARD_TEXTS[card] for card in self.board])

    @property
    def rank(self) -> int:
        """Strength of the player's best hand of its own cards and the board; higher is better."""
        if self._rank is None:
            self._rank = rank_hand(self.hole_cards + self.board)
        return self._rank

    @property
    def category(self) -> Category:
        """Category of the player's best hand: a pair, a flush... Categories compare by strength."""
        return category_of(self.rank)

    # The betting so far

    @property
    def round(self) -> int:
        """The betting round, 0-based."""
        return self.betting.round

    @property
    def round_name(self) -> str:
        """``preflop``, ``flop``, ``turn``, ``river`` where it is dealt like hold'em; elsewhere ``round 0``..."""
        round_ = self.betting.round
        if is_dealt_as_holdem(self.betting.game):
            return ROUND_NAMES[round_]
        return f"round {round_}"

    @property
    def actions_by_round(self) -> tuple[tuple[tuple[Position, Action], ...], ...]:
        """Every action so far with the position that took it, round by round; raise sizes are hand totals."""
        return self.betting.rounds

    @property
    def round_actions(self) -> tuple[tuple[Position, Action], ...]:
        """The actions of the present round, each with the position that took it."""
        return self.betting.rounds[-1]

    @property
    def raises_this_round(self) -> int:
        """Number of bets and raises in the present round, without blinds."""
        return sum(action.kind is ActionKind.RAISE for _, action in self.betting.rounds[-1])

    # Chips

    @property
    def pot(self) -> int:
        """Chips put in by all players so far, blinds included."""
        return self.betting.pot

    @property
    def to_call(self) -> int:
        """Chips the player must add to stay in, at most what it has left; 0 when it is not its turn."""
        return self.betting.to_call if self.is_my_turn else 0

    @property
    def pot_odds(self) -> float:
        """The call's share of the pot after calling, 0 to 1: calling pays if it wins more often than this."""
        to_call = self.to_call
        if not to_call:
            return 0.0
        return to_call / (self.betting.pot + to_call)

    @property
    def hand_committed(self) -> tuple[int, ...]:
        """Chips each position has put in during this hand: its hand total."""
        return self.betting.spent

    @property
    def street_committed(self) -> tuple[int, ...]:
        """Chips each position has put in during the present round: its street total."""
        return tuple([now - before for now, before in zip(self.betting.spent, self._base(), strict=True)])

    @property
    def stacks_left(self) -> tuple[int, ...]:
        """Chips each position still has to play with."""
        betting = self.betting
        return tuple([stack - spent for stack, spent in zip(betting.game.stacks, betting.spent, strict=True)])

    @property
    def stack_left(self) -> int:
        """Chips the player still has to play with."""
        return self.betting.game.stacks[self.position] - self.betting.spent[self.position]

    def _base(self) -> tuple[int, ...]:
        if self._street_base is None:
            self._street_base = self.betting.spent_before_round
        return self._street_base

    # Who is in

    @property
    def active_positions(self) -> tuple[Position, ...]:
        """Positions that have not folded, all-in or not, in order of position."""
        return self.betting.in_pot

    @property
    def folded_positions(self) -> tuple[Position, ...]:
        """Positions that have folded, in order of position."""
        folded = self.betting.folded
        return tuple([Position(p) for p in range(self.betting.game.num_players) if folded >> p & 1])

    @property
    def players_behind(self) -> tuple[Position, ...]:
        """Positions that will still act in this round after the one whose turn it is, in order, without a raise."""
        betting = self.betting
        round_ = betting.round
        order: list[Position] = []
        while not betting.finished and betting.round == round_:
            order.append(betting.acting_position)
            betting = betting.after(CALL)
        return tuple(order[1:])

    # What is legal

    @property
    def legal(self) -> LegalActions:
        """Actions that the rules allow the player; none when it is not its turn."""
        if self.is_my_turn:
            return self.betting.legal_actions()
        return _NO_LEGAL_ACTIONS

    @property
    def can_fold(self) -> bool:
        """There is a bet to fold to; without one, a fold is illegal."""
        return self.legal.can_fold

    @property
    def can_call(self) -> bool:
        """The player may call or check: always when it is its turn."""
        return self.is_my_turn

    @property
    def can_raise(self) -> bool:
        """The player may bet or raise."""
        return self.legal.can_raise

    @property
    def min_raise_hand_total(self) -> int:
        """The smallest legal raise as a hand total, in a limit game the only one; 0 where no raise is legal."""
        return self.legal.raise_min

    @property
    def max_raise_hand_total(self) -> int:
        """The largest legal raise as a hand total, in a limit game the only one; 0 where no raise is legal."""
        return self.legal.raise_max

    @property
    def min_raise_street_total(self) -> int:
        """The smallest legal raise as a street total; 0 where no raise is legal."""
        if self.can_raise:
            return self.legal.raise_min - self._base()[self.position]
        return 0

    @property
    def max_raise_street_total(self) -> int:
        """The largest legal raise as a street total; 0 where no raise is legal."""
        if self.can_raise:
            return self.legal.raise_max - self._base()[self.position]
        return 0

    def to_street_total(self, hand_total: int) -> int:
        """A hand total of this player as a street total."""
        return hand_total - self._base()[self.position]

    def to_hand_total(self, street_total: int) -> int:
        """A street total of this player as a hand total."""
        return street_total + self._base()[self.position]

    # Actions. fold, call, raise_to and raise_to_street are refused where they are illegal; the other methods choose
    # the nearest legal action.

    def fold(self) -> Action:
        """Give the hand up; illegal where there is nothing to fold to (`can_fold`)."""
        return FOLD

    def call(self) -> Action:
        """Call, or check where there is nothing to call; always legal."""
        return CALL

    def raise_to(self, hand_total: int) -> Action:
        """Raise (or bet) to exactly this hand total; legal from `min_raise_hand_total` to `max_raise_hand_total`."""
        return raise_to(hand_total)

    def raise_to_street(self, street_total: int) -> Action:
        """Raise (or bet) to exactly this street total, the sum put in during this round."""
        return raise_to(self.to_hand_total(street_total))

    def raise_min(self) -> Action:
        """The smallest legal raise, in a limit game the raise; a call where no raise is legal."""
        return nearest_legal(RAISE, self.betting)

    def raise_by_pot(self, fraction: float) -> Action:
        """Call and raise by this fraction of the pot as it is after the call: 1.0 is a pot-sized raise, 0.5 half of it.

        Sizes are rounded down to whole chips and held within the legal bounds; in a limit game it is the raise the game
        fixes. A call where no raise is legal.
        """
        betting = self.betting
        return nearest_legal(raise_to(betting.max_spent + int(fraction * (betting.pot + betting.to_call))), betting)

    def all_in(self) -> Action:
        """The largest legal raise; a call where no raise is legal (which puts in all that it can)."""
        legal = self.betting.legal_actions()
        return nearest_legal(raise_to(legal.raise_max), self.betting)

    def nearest_legal(self, action: Action) -> Action:
        """The action where it is legal, else the legal one nearest in meaning (`engine.nearest_legal`)."""
        return nearest_legal(action, self.betting)

    # The end of the hand

    @property
    def finished(self) -> bool:
        return self.betting.finished

    @property
    def is_showdown(self) -> bool:
        """At least two players did not fold until the end: their cards are in `all_hole_cards`."""
        return self.betting.is_showdown

    @property
    def values(self) -> tuple[float, ...]:
        """Net chips of every position at the end of the hand; they sum to zero.

        Raises:
            ValueError: the hand is not over.
        """
        return tuple(hand_values(self.betting, Deal(self.all_hole_cards, self.board)))

    @property
    def value(self) -> float:
        """Net chips that this player has won (or, below 0, lost) in the hand.

        Raises:
            ValueError: the hand is not over.
        """
        return self.values[self.position]

    # Texts

    @property
    def match_state(self) -> MatchState:
        """The state as the protocol writes it."""
        game = self.betting.game
        betting = self.betting
        board = []
        at = 0
        for count in game.num_board_cards[: betting.round + 1]:
            board.append(self.board[at : at + count])
            at += count
        actions = []
        for round_ in betting.rounds:
            actions.append(tuple([action for _, action in round_]))
        return MatchState(self.position, self.hand_number, tuple(actions), self.all_hole_cards, tuple(board))

    def comment(self, text: str) -> None:
        """Queue a comment for people: a line beginning with ``#`` that the dealer keeps with the hand.

        It is sent together with the next reply; what is queued after the last reply of a match is never sent. Line
        ends become blanks, text beyond `MAX_COMMENT_BYTES` is cut, and after `MAX_WAITING_COMMENTS` further ones are
        dropped.
        """
        if len(self.comments) < MAX_WAITING_COMMENTS:
            line = " ".join(text.replace("\0", " ").splitlines()).encode("utf-8", "replace")
            # Cutting may split a character of several bytes; decoding with "ignore" drops its rest.
            kept = line[:MAX_COMMENT_BYTES].decode("utf-8", "ignore")
            self.comments.append(b"# " + kept.encode("utf-8") + b"\r\n")

    def __repr__(self) -> str:
        return f"<View {self.match_state.format()}>"
