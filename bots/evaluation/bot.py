"""The bot ``lbr``, which plays local best response against a policy.

Computations are imported during play, so that listing the bots does not import numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from bots.errors import GameRefused
from bots.sdk.bot import Bot
from bots.sdk.view import View
from engine import Action, Game
from engine.holdem import is_holdem
from protocol import format_action

if TYPE_CHECKING:
    from bots.evaluation.local_best_response import ActionSets, RangeOfPolicy


def local_refusal(game: Game) -> str | None:
    """Return the reason why local best response does not play a game, or None if it does."""
    if is_holdem(game) and game.num_players == 2:
        return None
    return (
        "local best response is for hold'em of two players, such as the games limit and nolimit; this game is not one "
        "of them"
    )


class LbrBot(Bot):
    """Plays local best response against an opponent whose policy it knows.

    Algorithm: `bots.evaluation.local_best_response`. It tracks the opponent's range by the policy of `against`, and
        takes the action that wins most if there is no bet after it. An action that the policy never takes leaves the
        range unchanged.

    Source: V. Lisy & M. Bowling, "Equilibrium approximation quality of current no-limit poker bots", 2017, arXiv
        1612.07547.

    Other games: none besides limit and no-limit hold'em of two players.

    Strength: against the policy that it assumes it wins what `arena exploit bound` finds, and nothing is claimed
    against others.

    The bot draws nothing, so a match that is resumed or split between hands plays the same.
    """

    def __init__(
        self,
        *,
        against: Annotated[
            str, "the policy of the opponent: a bot, with ; between its options, or file:PATH, or ask:PROGRAM"
        ] = "calling",
        actions: Annotated[
            str,
            "actions that it tries on each street, as in `arena exploit bound --actions`; by default fcr in limit "
            "games and fcpa in no-limit games",
        ] = "",
        explain: Annotated[
            bool, "whether to send a comment with its share of the pot against the range before each action"
        ] = False,
    ) -> None:
        if actions and not any(_is_readable(actions, is_limit) for is_limit in (True, False)):
            _action_sets(actions, is_limit=False)
        self._against = against.replace(";", ",")
        self._actions = actions
        self._explains = explain
        self._opponent: RangeOfPolicy | None = None
        self._policy: object = None

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return local_refusal(game)

    def prepare(self, game: Game) -> None:
        from engine.ranges import chances_of_all, shares_against

        self._known(game)
        board = game.deck[:3]
        chances_of_all(board)
        shares_against(game.deck[3:5], board)
        shares_against(game.deck[3:5], ())

    def hand_started(self, view: View) -> None:
        if self._opponent is not None:
            self._opponent.forget()

    def match_finished(self) -> None:
        from bots.evaluation.policies import AskedPolicy

        if isinstance(self._policy, AskedPolicy):
            self._policy.close()
        self._opponent = self._policy = None

    def act(self, view: View) -> Action:
        action = self._choose(view)
        if self._explains:
            opponent = self._known(view.game)
            weights = opponent.weights(view.betting, view.position, view.hole_cards, view.board)
            share = opponent.share(weights, view.hole_cards, view.board)
            view.comment(
                f"share {share:.3f} of the pot against the range of {self._against} -> {format_action(action)}"
            )
        return action

    def policy(self, view: View) -> Mapping[Action, float]:
        return {self._choose(view): 1.0}

    def _choose(self, view: View) -> Action:
        sets = _action_sets(self._actions or ("fcr" if view.game.is_limit else "fcpa"), is_limit=view.game.is_limit)
        return self._known(view.game).choose(view.betting, view.hole_cards, view.board, sets)

    def _known(self, game: Game) -> RangeOfPolicy:
        if self._opponent is None or self._opponent.game != game:
            self.require_game(game)
            if self._actions and not _is_readable(self._actions, game.is_limit):
                raise GameRefused(f"the actions {self._actions} are not for this game")
            from bots.evaluation.local_best_response import RangeOfPolicy
            from bots.evaluation.policies import parse_policy

            self._policy = policy = parse_policy(self._against, game)
            self._opponent = RangeOfPolicy(game, policy, self._against)
        return self._opponent


def _action_sets(actions: str, *, is_limit: bool) -> ActionSets:
    from bots.evaluation.local_best_response import ActionSets

    return ActionSets(actions, is_limit)


def _is_readable(actions: str, is_limit: bool) -> bool:
    try:
        _action_sets(actions, is_limit=is_limit)
    except ValueError:
        return False
    return True
