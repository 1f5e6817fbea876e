"""The hands of one connection: opponents play as the situations require, the bot as it likes, all by the rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dealer.doctor.dialogue import Dialogue
from dealer.doctor.lines import Role
from dealer.doctor.opponents import Turn
from dealer.doctor.situations import HandPlan, Situation, Stop
from engine import BettingState, Deal, betting_start, deals, rank_hand
from protocol.betting_nodes import node_of
from protocol.hand_lines import HandLines

__all__ = ["ScriptedMatch"]

_STRONG_AMONG: Final = 20
"""Good hole cards are the best of this many deals."""


@dataclass(slots=True)
class ScriptedMatch:
    """One match with the bot, or the rest of one.

    Attributes:
        dialogue: the conversation, past its handshake.
        situations: the situations to play, in order.
        seed: seed of the cards and of the opponents' random decisions.
        on_situation: called with each situation as it begins.
        hands: number of hands begun, by the name of the situation.
    """

    dialogue: Dialogue
    situations: Sequence[Situation]
    seed: int
    on_situation: Callable[[Situation], None]
    hands: dict[str, int]

    def play(self) -> None:
        """Play all hands.

        Raises:
            ConversationError: the conversation cannot go on; `dialogue.situation` says where.
        """
        game = self.dialogue.game
        cards = deals(game, self.seed)
        players = game.num_players
        first = self.situations[0] if self.situations else None
        number = first.first_hand if first is not None else 0
        opening = first.opening(game) if first is not None and first.opening is not None else None
        # As in a real match, the bot keeps its seat and its position moves by one from hand to hand.
        position = 0 if opening is None or opening.finished else opening.acting_position
        for situation in self.situations:
            self.dialogue.begin(situation)
            self.on_situation(situation)
            for plan in situation.plans(game):
                deal = _deal_for(plan, cards, position)
                self.hands[situation.name] = self.hands.get(situation.name, 0) + 1
                if not self._play_hand(situation, plan, deal, number, position, opening):
                    return
                number, position, opening = number + 1, (position - 1) % players, None
            self.dialogue.flush()

    def _play_hand(
        self,
        situation: Situation,
        plan: HandPlan,
        deal: Deal,
        number: int,
        position: int,
        opening: BettingState | None,
    ) -> bool:
        """Play one hand; returns False if the dealer closes in the middle of it."""
        dialogue = self.dialogue
        betting = betting_start(dialogue.game) if opening is None else opening
        lines = HandLines(dialogue.game, deal, number)
        chance = random.Random(f"{self.seed}/{situation.name}/{number}")
        while not betting.finished:
            asks = betting.acting_position == position
            line = lines.line(position, node_of(betting)).rstrip()
            state = dialogue.send(line, Role.ASKS if asks else Role.TELLS, number, betting)
            if asks:
                after = betting.after(dialogue.ask(state))
                if situation.stop is Stop.AFTER_AN_ANSWER and not after.finished:
                    return False
            else:
                after = betting.after(plan.policy(Turn(betting, position, chance)))
            betting = after
        dialogue.send(lines.line(position, node_of(betting)).rstrip(), Role.ENDS, number, betting)
        return True


def _deal_for(plan: HandPlan, cards: Iterator[Deal], position: int) -> Deal:
    """The next cards; for a plan with strong cards the bot gets the best hole cards of several deals."""
    deal = next(cards)
    if not plan.is_strong:
        return deal
    candidates = [deal, *(next(cards) for _ in range(_STRONG_AMONG - 1))]
    ranks = [
        (rank_hand(hole), which, place)
        for which, one in enumerate(candidates)
        for place, hole in enumerate(one.hole_cards)
    ]
    _, which, place = max(ranks)
    deal = candidates[which]
    holes = list(deal.hole_cards)
    holes[position], holes[place] = holes[place], holes[position]
    return deal._replace(hole_cards=tuple(holes))
