"""Solvers, exploitability and win rates without luck, gathered for programs: ``from bots.research import ...``.

- exploitability of a bot: `exact_exploitability` in small games; `Exploitation`, `play_part`, `lower_bounds` in hold'em
- small games: `small_game`, `sequence_form`, `best_response`, `exploitability`, `plan_of_policy`, `strategy_of`,
  `LinearProgram`, `regret_matching`, and `PublicGame`, `DecisionNode`, `Leaf` for games of your own
- win rates without luck: `Reduction`, `reduce_hands`, `ActionTerms`
- bots and games by name: `make_bot`, `find_game`
"""

from __future__ import annotations

from bots.evaluation.exploiting import Exploitation, lower_bounds, play_part
from bots.evaluation.hypothetical_hands import ActionTerms
from bots.sdk.registry import make_bot
from bots.solving.engine_games import small_game
from bots.solving.equilibria import LinearProgram, regret_matching
from bots.solving.exact import exact_exploitability, plan_of_policy
from bots.solving.sequence_form import (
    DecisionNode,
    Leaf,
    PublicGame,
    best_response,
    exploitability,
    sequence_form,
    strategy_of,
)
from logs.variance.reduction import Reduction, reduce_hands
from protocol import find_game

__all__ = [
    "ActionTerms",
    "DecisionNode",
    "Exploitation",
    "Leaf",
    "LinearProgram",
    "PublicGame",
    "Reduction",
    "best_response",
    "exact_exploitability",
    "exploitability",
    "find_game",
    "lower_bounds",
    "make_bot",
    "plan_of_policy",
    "play_part",
    "reduce_hands",
    "regret_matching",
    "sequence_form",
    "small_game",
    "strategy_of",
]
