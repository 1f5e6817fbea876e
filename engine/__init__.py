"""The game of poker: cards, rules, dealing, showdown, evaluation. No text formats, no clock, no input or output.

A `Game` is a definition, a `BettingState` a point of its betting, a `Deal` the cards of a hand; they are values: equal
by content, hashable, picklable. A `Hand` joins betting and cards. Heads-up no-limit hold'em, one hand:

    >>> game = Game(BettingType.NO_LIMIT, num_players=2, num_rounds=4, stacks=(20000, 20000), blinds=(100, 50),
    ...             raise_sizes=(), first_players=(1, 0, 0, 0), max_raises=(255,) * 4, num_suits=4, num_ranks=13,
    ...             num_hole_cards=2, num_board_cards=(0, 3, 1, 1))
    >>> hand = Hand(game, deal_hand(game, seed=1, hand_number=0))
    >>> for action in (raise_to(300), CALL, raise_to(600), FOLD):
    ...     hand.apply(action)
    >>> hand.finished, hand.values()
    (True, [300.0, -300.0])
    >>> [(step.round, step.position, step.move.name, step.added) for step in betting_steps(hand.betting)]
    [(0, 1, 'RAISE', 250), (0, 0, 'CALL', 200), (1, 0, 'BET', 300), (1, 1, 'FOLD', 0)]

Modules for special needs, which may import numpy and numba: `engine.equity` (chances to win), `engine.matchups` (all
starting hands against each other), `engine.batch` (ranks of many hands), `engine.kernels` (primitives on arrays, most
of them compiled).
"""

from engine.betting import BettingState, Step, betting_start, betting_steps, nearest_legal
from engine.betting_rules import CALL, FOLD, RAISE, Action, ActionKind, LegalActions, Move, raise_to
from engine.cards import CARD_TEXTS, STARTING_HANDS, Card, format_cards, parse_cards, starting_hand, starting_hand_name
from engine.dealing import Deal, DealKey, Seed, deal_hand, deals, derived_seed, logged_seed
from engine.errors import CardError, EngineError, GameError, IllegalAction, Rule
from engine.evaluator import Category, category, rank_hand
from engine.game import BettingType, Game, Position, Seat
from engine.hand import Hand, Pot, hand_values, side_pots, uncalled
from engine.holdem import is_holdem

__all__ = [
    "CALL",
    "CARD_TEXTS",
    "FOLD",
    "RAISE",
    "STARTING_HANDS",
    "Action",
    "ActionKind",
    "BettingState",
    "BettingType",
    "Card",
    "CardError",
    "Category",
    "Deal",
    "DealKey",
    "EngineError",
    "Game",
    "GameError",
    "Hand",
    "IllegalAction",
    "LegalActions",
    "Move",
    "Position",
    "Pot",
    "Rule",
    "Seat",
    "Seed",
    "Step",
    "betting_start",
    "betting_steps",
    "category",
    "deal_hand",
    "deals",
    "derived_seed",
    "format_cards",
    "hand_values",
    "is_holdem",
    "logged_seed",
    "nearest_legal",
    "parse_cards",
    "raise_to",
    "rank_hand",
    "side_pots",
    "starting_hand",
    "starting_hand_name",
    "uncalled",
]
