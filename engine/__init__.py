"""The game of poker: cards, rules, dealing, showdown, evaluation. No text formats, no clock, no input or output."""

from engine.actions import CALL, FOLD, RAISE, Action, ActionKind, LegalActions, Move, raise_to
from engine.betting import BettingState, betting_start
from engine.cards import CARD_TEXTS, Card, format_cards, parse_cards
from engine.dealing import Deal, deal_hand, deals
from engine.errors import CardError, EngineError, GameError, IllegalAction, Rule
from engine.evaluator import Category, category, rank_hand
from engine.game import BettingType, Game, Position, Seat
from engine.hand import Hand, hand_values
from engine.legality import nearest_legal
from engine.pots import Pot, side_pots, uncalled
from engine.steps import Step, betting_steps

__all__ = [
    "CALL",
    "CARD_TEXTS",
    "FOLD",
    "RAISE",
    "Action",
    "ActionKind",
    "BettingState",
    "BettingType",
    "Card",
    "CardError",
    "Category",
    "Deal",
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
    "Step",
    "betting_start",
    "betting_steps",
    "category",
    "deal_hand",
    "deals",
    "format_cards",
    "hand_values",
    "nearest_legal",
    "parse_cards",
    "raise_to",
    "rank_hand",
    "side_pots",
    "uncalled",
]
