"""Slow twin of the simulation: every trial deals cards and plays a whole hand."""

from __future__ import annotations

from bots.lp_mc.simulation import OpponentModel, SimulationOptions
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Card, Deal, hand_values, nearest_legal, rank_hand
from engine.equity import preflop_equity
from engine.splitmix import MASK_64, STEP, mixed


class Words:
    """Random numbers of the cards: 32 bits at a time, two from each word; a trial begins with a new word."""

    def __init__(self, start: int) -> None:
        self.counter = start
        self.halves: list[int] = []

    def begin_trial(self) -> None:
        self.halves = []

    def below(self, choices: int) -> int:
        if not self.halves:
            self.counter = self.counter + STEP & MASK_64
            word = mixed(self.counter)
            self.halves = [word >> 32, word & 0xFFFFFFFF]
        return self.halves.pop(0) * choices >> 32


def holdings(view: View, left_out: float) -> tuple[list[Card], list[tuple[Card, Card]]]:
    """Return the unseen cards and the possible hands of the opponent, the weakest first."""
    hole, board = view.hole_cards, view.board
    unseen = [Card(card) for card in range(52) if card not in (*hole, *board)]
    hands = [(one, other) for at, one in enumerate(unseen) for other in unseen[at + 1 :]]

    def strength(hand: tuple[Card, Card]) -> float:
        return rank_hand((*hand, *board)) if board else preflop_equity(hand).equity

    hands.sort(key=strength)
    return unseen, hands[min(int(left_out * len(hands)), len(hands) - 1) :]


def deal_trial(view: View, unseen: list[Card], hand: tuple[Card, Card], words: Words) -> Deal:
    """Deal a trial's cards: the opponent's hand moves to the end, the board comes from the rest."""
    deck = list(unseen)
    for card, end in ((hand[1], len(deck) - 1), (hand[0], len(deck) - 2)):
        at = deck.index(card)
        deck[at], deck[end] = deck[end], deck[at]
    board = list(view.board)
    for draw in range(5 - len(view.board)):
        place = draw + words.below(len(deck) - 2 - draw)
        deck[place], deck[draw] = deck[draw], deck[place]
        board.append(deck[draw])
    ours = view.hole_cards
    return Deal((ours, hand) if view.position == 0 else (hand, ours), tuple(board))


def opponents_action(model: OpponentModel, round_: int, owes: bool, aggression: float, prior: float) -> Action:
    """Draw by frequency: the first of fold, call and raise whose cumulative share exceeds the number."""
    counts = list(model.counts[round_][owes])
    weights = [count + prior * (owes or kind > 0) for kind, count in enumerate(counts)]
    if not sum(weights):
        return CALL
    if aggression < weights[0] / sum(weights):
        return FOLD
    return CALL if aggression < (counts[0] + counts[1] + prior * (1 + owes)) / sum(weights) else RAISE


def simulate_slowly(
    view: View, model: OpponentModel, options: SimulationOptions, start: int
) -> dict[ActionKind, float]:
    """Return the values of call and raise."""
    numbers = mixed(start)
    words = Words(mixed(numbers))
    unseen, hands = holdings(view, model.fold_share(options.weakest, view.round))
    totals = dict.fromkeys((CALL, RAISE) if view.can_raise else (CALL,), 0.0)
    for batch in range(options.batches):
        aggression = (mixed(numbers + (batch + 1) * STEP & MASK_64) >> 11) * 2.0**-53
        size = options.trials * (batch + 1) // options.batches - options.trials * batch // options.batches
        for _ in range(size):
            words.begin_trial()
            hand = hands[words.below(len(hands))]
            deal = deal_trial(view, unseen, hand, words)
            for action in totals:
                state = view.betting.after(action)
                while not state.finished:
                    answer = CALL
                    if state.acting_position != view.position:
                        owes = state.to_call > 0
                        answer = opponents_action(model, state.round, owes, aggression, options.prior)
                    state = state.after(nearest_legal(answer, state))
                totals[action] += hand_values(state, deal)[view.position]
    put_in = 0 if options.sunk == "whole" else view.hand_committed[view.position]
    return {action.kind: total / options.trials + put_in for action, total in totals.items()}
