"""The player ``evolved``, which plays the shipped champion or any other chromosome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from bots.errors import BotFileError
from bots.evolved.chromosome import (
    CHAMPION,
    MAX_RAISES,
    ODDS,
    POSITION_CLASSES,
    THRESHOLD,
    Odds,
    chart,
    chart_position,
    decision,
    gene,
    odds_factor,
    read_chromosome,
    recorded_odds,
)
from bots.sdk.bot import Bot
from bots.sdk.chance import EquityCounter, holdem_refusal
from bots.sdk.options import FilePath
from bots.sdk.view import View
from engine import Action, ActionKind, Category, Game
from engine.cards import starting_hand
from engine.equity import DEFAULT_TRIALS, compile_kernels
from protocol import format_action

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances


class EvolvedBot(Bot):
    """Plays charts before the flop, and the best chromosome of an evolution after it.

    Algorithm: before the flop, a chart gives the action by position, starting hand and number of raises
        (`bots.evolved.chromosome`). After the flop, one of 5,040 genes decides, by category of the hand, position,
        round, and the raises of this round and the one before. Its two thresholds are compared with the chance not to
        lose against the active players, times the odds of the pot.

    Source: J. Conrado Pérez-Fajardo, "Diseño y evaluación de una heurística de juego de póker", final degree
        project, Universidad Carlos III de Madrid, 2012; `research/tables/evolved.md` lists our additions.

    Other games: limit hold'em of two to ten players, although it was trained at tables of ten. Smaller tables lack the
        positions farthest from the dealer. Other games are refused.

    Strength: at tables of ten it beats nine random, calling or raising bots; docs/evolved.md has its results.

    Its samples depend only on the seed and the state, so a match that is resumed or split between hands plays the
    same. With two players left nothing is sampled.
    """

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if game.is_limit and holdem_refusal(game) is None:
            return None
        return "a chromosome plays limit hold'em of two to ten players, such as in the games limit and limit10"

    def __init__(
        self,
        *,
        chromosome: Annotated[FilePath, "a file that `arena evolve` wrote; the shipped champion by default"] = "",
        odds: Annotated[
            str,
            "factor of the chance: reward, the pot's share of pot and price, or price, the price as a part of the "
            "pot; by default the factor with which the chromosome was trained, because its thresholds fit no other",
        ] = "",
        trials: Annotated[
            int, "number of showdowns drawn to estimate the chance against two or more opponents"
        ] = DEFAULT_TRIALS,
        explain: Annotated[
            bool, "whether to send a comment with situation, gene, thresholds and value before each action"
        ] = False,
        seed: Annotated[int | None, "seed of these draws; random by default"] = None,
    ) -> None:
        try:
            chromosome_file = read_chromosome(chromosome or CHAMPION)
        except BotFileError as error:
            raise ValueError(str(error)) from error
        self._thresholds = chromosome_file.thresholds
        chosen_odds = odds or recorded_odds(chromosome_file)
        if chosen_odds not in ODDS:
            raise ValueError(f"odds are {' or '.join(ODDS)}, not {chosen_odds!r}")
        self._odds: Odds = chosen_odds
        self._chance = EquityCounter(trials=trials, seed=seed)
        self._explains = explain

    def prepare_for_many_hands(self) -> None:
        compile_kernels()

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the action with probability 1, or None if it depends on samples of an unknown seed."""
        if not self._chance.is_reproducible(view):
            return None
        action, _ = self._decide(view)
        return {action: 1.0}

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """Return an action for each holding against one opponent; None against more, where chances are sampled."""
        if len(view.active_positions) > 2:
            return None
        import numpy as np

        from bots.sdk.holdings import policy_by_class, pure_policy
        from engine.batch import rank_hands
        from engine.ranges import HOLDINGS, are_free, chances_of_all

        if not view.board:

            def policy_before_flop(view: View) -> Mapping[Action, float]:
                action, _ = self._decide(view)
                return {action: 1.0}

            return policy_by_class(view, policy_before_flop)
        # Same arithmetic as in `decision`, for all holdings at once.
        free = are_free(view.board)
        holdings = np.array(HOLDINGS, np.uint8)[free]
        board = np.broadcast_to(np.array(view.board, np.uint8), (len(holdings), len(view.board)))
        categories = rank_hands(np.concatenate([holdings, board], axis=1)) >> 12
        genes = np.array([self._gene(view, category) for category in Category])
        _, raise_above, call_above = genes.T[:, categories]
        chances = chances_of_all(view.board)
        values = THRESHOLD * (chances.win + chances.tie)[free] * odds_factor(view.to_call, view.pot, self._odds)
        kinds = np.where(values > raise_above, 2, np.where(values > call_above, 1, 0))
        return pure_policy(view, kinds, lambda kind: self._action(kind, view))

    def act(self, view: View) -> Action:
        action, reason = self._decide(view)
        if self._explains:
            cards = view.hole_text
            if view.board:
                cards += f" on {view.board_text}"
            view.comment(f"{view.round_name} {cards}: {reason} -> {format_action(action)}")
        return action

    def _decide(self, view: View) -> tuple[Action, str]:
        """Return the action and its reason."""
        if not view.board:
            position = chart_position(view.position, view.num_players)
            raises = _raises(view)[0]
            row = chart()[position][starting_hand(view.hole_cards)]
            kind = row[min(raises, MAX_RAISES - 1)]
            reason = f"chart of the {POSITION_CLASSES[position]} with {raises} raises"
        else:
            number, raise_above, call_above = self._gene(view, view.category)
            chance = self._chance.equity(view)
            weight = chance.win + chance.tie
            kind = decision(raise_above, call_above, weight, view.to_call, view.pot, self._odds)
            reason = (
                f"chance {weight:.3f}, price {view.to_call}, pot {view.pot}; gene {number} raises above {raise_above}, "
                f"calls above {call_above}"
            )
        return self._action(kind, view), reason

    def _gene(self, view: View, category: int) -> tuple[int, int, int]:
        """Return the number of a gene and its thresholds for raising and calling."""
        raises = _raises(view)
        max_before = MAX_RAISES
        if view.round == 1:
            # The blind counts as a raise before the flop.
            max_before = MAX_RAISES - 1
        before = min(raises[-2], max_before)
        position = chart_position(view.position, view.num_players)
        number = gene(category, position, view.round, before, min(raises[-1], MAX_RAISES))
        raise_above, call_above = self._thresholds[2 * number : 2 * number + 2]
        return number, raise_above, call_above

    def _action(self, kind: int, view: View) -> Action:
        if kind == 2 and view.can_raise:
            return view.raise_min()
        if kind == 0 and view.to_call:
            return view.fold()
        return view.call()


def _raises(view: View) -> list[int]:
    """Return the number of raises in each round so far."""
    raises = []
    for actions in view.actions_by_round:
        kinds = [action.kind for _, action in actions]
        raises.append(kinds.count(ActionKind.RAISE))
    return raises
