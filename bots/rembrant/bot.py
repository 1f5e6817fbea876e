"""The player `rembrant`, which looks up a rule for its situation and plays the move of that rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from bots.rembrant.rules import (
    BELOW_STRAIGHTS,
    GROUPS,
    POSTFLOP_RULES,
    PREFLOP_RULES,
    STREETS,
    Danger,
    HandKind,
    Opponent,
    RembrantOptions,
    TableMove,
    TableRule,
    chance_of_aggression,
    read_danger,
    read_kind,
)
from bots.sdk.bot import Bot
from bots.sdk.view import View
from engine import CALL, FOLD, Action, ActionKind, Card, Game, raise_to
from engine.cards import starting_hand_name
from engine.holdem import is_dealt_as_holdem
from protocol import format_action

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bots.sdk.holdings import HoldingChances

_DECK_CARDS: Final = 52
_CACHED_BOARDS: Final = 64
"""Boards of a few hands, whose holdings by kind are cached."""
_BETS: Final = (Opponent.RAISE, Opponent.RE_RAISE, Opponent.ALL_IN)
_DEFAULTS: Final = RembrantOptions()


class _Decision(NamedTuple):
    """Rule for a situation.

    Attributes:
        moves: the more passive move and the more aggressive one, often the same.
        chance: probability of the second move.
    """

    hand: str
    danger: Danger | None
    opponent: Opponent
    rule: TableRule
    moves: tuple[TableMove, TableMove]
    chance: float


class RembrantBot(Bot):
    """Plays the rule tables of Rembrant, sixth by bankroll in two-player no-limit at the ACPC 2011.

    Algorithm: before the flop a hand belongs to one of nine groups; after it the best five cards belong to one of
        seven, with columns for how the hole cards contribute (`bots.rembrant.rules`). Group, street and the opponent's
        last action select one cell of one table. Where a cell holds two moves, the threats on the board decide, in one
        of two readings (option `reading`). The bot computes no odds and has no model of its opponents. The paper also
        mentions a hand's potential, but no table uses it.

    Source: G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant", University of Maribor. The tables are the
        paper's. `RembrantOptions` has the choices that it leaves open: all sizes but two, the meaning of the slashes,
        hands made on the board, and hands that pay where a check is not free. Limits for calling raises are given in
        chips at blinds 1 and 2 and scale with the big blind. research/tables/rembrant.md has the full list.

    Other games: in limit games every raise and all-in is the fixed raise. With more than two players the
        opponent is the player who made the last bet or raise of the round (`read_opponent`). Games other
        than hold'em are refused.

    Strength: the tables are made for two players, no-limit, 200 big blinds, stacks reset after every hand: there
        +4,753 ± 357 mbb/g against the other built-in bots, duplicates, 95 % (docs/built-in-bots.md), and none of them
        beats it. In other games it plays the same rules, with no claim: in limit -101 ± 39, losing to bots that always
        raise.

    Its draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    def __init__(
        self,
        options: RembrantOptions = _DEFAULTS,
        *,
        explain: Annotated[
            bool, "whether to send a comment with the situation and its rule before each action"
        ] = False,
        seed: Annotated[int | None, "seed of the draws of the probabilistic reading; random by default"] = None,
    ) -> None:
        self._options = options
        self._explains = explain
        self._seed = random.getrandbits(64) if seed is None else seed

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if is_dealt_as_holdem(game) and len(game.deck) == _DECK_CARDS:
            return None
        return (
            "rembrant plays hold'em only: limit or no-limit, two hole cards from a deck of 52, a board of three, one "
            "and one, such as in the games nolimit, limit, nolimit3 and limit6; this game is not one of them"
        )

    def act(self, view: View) -> Action:
        decision = self._decide(view)
        passive, aggressive = decision.moves
        move = passive
        if self._is_aggressive(view, decision.chance):
            move = aggressive
        action = action_of(move, view, decision.danger, self._options)
        if self._explains:
            view.comment(_explain(view, decision, move, action))
        return action

    def policy(self, view: View) -> Mapping[Action, float]:
        """Return one action in the deterministic reading, and up to two in the probabilistic one."""
        decision = self._decide(view)
        chances: dict[Action, float] = {}
        for move, chance in zip(decision.moves, (1 - decision.chance, decision.chance), strict=True):
            if chance:
                action = action_of(move, view, decision.danger, self._options)
                chances[action] = chances.get(action, 0.0) + chance
        return chances

    def policy_by_holding(self, view: View) -> HoldingChances:
        """Return the policy for every holding."""
        # Evaluated once for each class of holdings before the flop, and for each kind of hand after it.
        from bots.sdk.holdings import policy_by_class

        if view.round:
            return _by_kind(view, self.policy)
        return policy_by_class(view, self.policy)

    def _decide(self, view: View) -> _Decision:
        self.require_game(view.game)
        if view.round:
            return self._decide_postflop(view)
        return self._decide_preflop(view)

    def _decide_preflop(self, view: View) -> _Decision:
        opponent = read_opponent(view)
        hand = starting_hand_name(view.hole_cards)
        rule = PREFLOP_RULES[hand, opponent]
        group = GROUPS[hand]
        move = rule.aggressive
        limit_chips = rule.limit_chips(view.big_blind)
        if limit_chips is not None and view.betting.max_spent > limit_chips:
            move = rule.passive
        if move is TableMove.CHECK and view.to_call:
            has_blind = view.hand_committed[view.position] > 0
            if has_blind and group <= self._options.complete:
                move = TableMove.CALL
            else:
                move = TableMove.FOLD
        return _Decision(f"{hand}, group {group}", None, opponent, rule, (move, move), 1.0)

    def _decide_postflop(self, view: View) -> _Decision:
        options = self._options
        opponent = read_opponent(view)
        kind = read_kind(view.hole_cards, view.board)
        danger = read_danger(view.board)
        rule = POSTFLOP_RULES[kind, STREETS[view.round - 1], opponent]
        moves = (rule.passive, rule.aggressive)
        chance = 1.0
        if (
            options.four_straight == "fold"
            and danger.is_four_to_straight
            and kind in BELOW_STRAIGHTS
            and opponent in _BETS
        ):
            moves = (TableMove.FOLD, TableMove.FOLD)
        elif rule.has_slash:
            chance = chance_of_aggression(rule, kind, danger, options)
        return _Decision(kind.value, danger, opponent, rule, moves, chance)

    def _is_aggressive(self, view: View, chance: float) -> bool:
        """Draw whether to make the more aggressive move."""
        if chance == 0.0:
            return False
        if chance == 1.0:
            return True
        return random.Random(f"{self._seed}:{view.match_state.format()}").random() < chance


def _explain(view: View, decision: _Decision, move: TableMove, action: Action) -> str:
    """Format the situation, its rule and the action on one line: ``... table 12: check/raise -> raise, r600``."""
    cards = view.hole_text
    board = ""
    if decision.danger is not None:
        cards += f" on {view.board_text}"
        board = f"; board: {decision.danger.describe()}"
    return (
        f"{view.round_name} {cards}: {decision.hand}{board}; opponent: {decision.opponent.value}; "
        f"table {decision.rule.table}: {_explain_cell(view, decision)} -> {move.word}, {format_action(action)}"
    )


def _explain_cell(view: View, decision: _Decision) -> str:
    rule = decision.rule
    limit_chips = rule.limit_chips(view.big_blind)
    if limit_chips is not None:
        return f"{rule.text} (here {limit_chips})"
    if decision.danger and decision.moves[1] is TableMove.FOLD is not rule.aggressive:
        return f"{rule.text} (four to a straight)"
    if rule.passive is TableMove.CHECK and view.to_call:
        return f"{rule.text} (which costs {view.to_call})"
    if decision.chance not in (0.0, 1.0):
        return f"{rule.text} ({rule.aggressive.word} {decision.chance:.0%})"
    return rule.text


def read_opponent(view: View) -> Opponent:
    """Return the opponent's last action in this round, as the tables name it.

    With more than two players, the last bet or raise of the round counts, of any player. Without one, it counts
    whether any player has called or checked.

    The first bet or raise of a round is a raise, and every later one a re-raise. Blinds are neither. A raise is all-in
    if it takes the raiser's whole stack or a call takes all of the bot's.
    """
    actions = view.round_actions
    raisers = [position for position, action in actions if action.kind is ActionKind.RAISE]
    if not raisers:
        if any(action.kind is ActionKind.CALL for _, action in actions):
            return Opponent.CHECK_OR_CALL
        return Opponent.NONE
    if not view.stacks_left[raisers[-1]] or view.to_call == view.stack_left:
        return Opponent.ALL_IN
    if len(raisers) == 1:
        return Opponent.RAISE
    return Opponent.RE_RAISE


def action_of(move: TableMove, view: View, danger: Danger | None, options: RembrantOptions) -> Action:
    """Return the legal action nearest to a move. In a limit game every raise, all-in included, has the fixed size.

    Args:
        danger: threats of the board; None before the flop.
    """
    if move is TableMove.FOLD:
        return view.nearest_legal(FOLD)
    if move in (TableMove.CHECK, TableMove.CALL):
        return CALL
    if move is TableMove.ALL_IN:
        return view.all_in()
    if danger is None:
        if move is TableMove.RAISE:
            total = options.open_bb * view.big_blind
        else:
            total = options.reraise_times * view.betting.max_spent
        return view.nearest_legal(raise_to(int(total)))
    if move is TableMove.RAISE and danger.invites_draws(on_river=options.river_danger):
        return view.raise_by_pot(options.bet_pot_danger)
    if move is TableMove.RAISE:
        return view.raise_by_pot(options.bet_pot)
    street_total = int(options.raise_times * max(view.street_committed))
    return view.nearest_legal(raise_to(view.to_hand_total(street_total)))


def _by_kind(view: View, policy: Callable[[View], Mapping[Action, float]]) -> HoldingChances:
    import numpy as np

    from bots.sdk.holdings import view_with
    from engine.ranges import HOLDINGS

    chances: dict[Action, NDArray[np.float64]] = {}
    for members in _members(view.board):
        # All holdings of a kind have the same policy.
        policy_of_kind = policy(view_with(view, HOLDINGS[members[0]]))
        for action, chance in policy_of_kind.items():
            chances.setdefault(action, np.zeros(len(HOLDINGS)))[members] = chance
    return chances


@lru_cache(_CACHED_BOARDS)
def _members(board: tuple[Card, ...]) -> tuple[NDArray[np.int64], ...]:
    """Return the indices in `HOLDINGS` of the holdings of each kind on a board."""
    import numpy as np

    from engine.ranges import HOLDINGS, are_free

    kinds: dict[HandKind, list[int]] = {}
    for number in np.flatnonzero(are_free(board)).tolist():
        kinds.setdefault(read_kind(HOLDINGS[number], board), []).append(number)
    return tuple(np.array(members) for members in kinds.values())
