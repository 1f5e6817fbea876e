"""Terms of the actions of players whose policy is known: their draws, less what these brought beyond expectation.

At every decision of such a player any function V of what follows has an expectation over its probabilities, and the
expectation less the value of the action taken is 0 on average (Burch et al. 2018, "AIVAT: A new variance reduction
technique for agent evaluation in imperfect information games"; here with the cards that were held, so that one question
per decision is enough). Bots that never draw have no such terms: theirs are all 0.

Each player has these columns:

- the *value term*: V is the expected share of the pot, all hole cards known, times the pot, less the chips put in;
- by round, four terms of events: "does not fold" and "raises", each less its probability, each with the share less that
  of equals and without it. In no-limit games they are multiplied with the pot. They are for estimators with weights,
  which find what a bet is worth beyond the chips in the pot.

A decision of which the policy says nothing has no terms. An action to which it gives no chance ends the counting: the
policy is then not that of the player in these hands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from bots.errors import PolicyError
from bots.evaluation.decisions import chips_of, no_chance
from bots.evaluation.imaginary_hands import ImaginaryHands
from bots.evaluation.policies import Policy, policy_in
from bots.sdk.view import View
from engine import Action, ActionKind, BettingState, Game, Position, betting_start
from logs.record import HandRecord
from logs.variance.shares import PotRow
from logs.variance.terms import Terms, TermsBuilder

__all__ = ["ActionTerms"]

_EVENTS: Final = 4
"""Terms of events in each round."""

_FOLD, _RAISE = ActionKind.FOLD, ActionKind.RAISE


class ActionTerms:
    """The terms of some players in one game: `logs.variance.reduction.HandCorrections`.

    Attributes:
        columns: by player, its columns.
        ranges: by players, the columns of the mean over their holdings.
        doubts: by player, why its policy may not be that of all its hands.
    """

    def __init__(
        self,
        game: Game,
        policies: Mapping[str, Policy],
        doubts: Mapping[str, str] | None = None,
        *,
        imagined: Sequence[ImaginaryHands] = (),
    ) -> None:
        """Prepare.

        Args:
            game: the game; stacks do not matter.
            policies: by name of the player.
            doubts: by name of the player, why its policy may not be that of all its hands, in words.
            imagined: of some of the players, which average over their holdings, too.
        """
        self.doubts = dict(doubts or {})
        width = 1 + _EVENTS * game.num_rounds
        self._policies = dict(policies)
        self.columns = {name: range(at * width, (at + 1) * width) for at, name in enumerate(self._policies)}
        first = width * len(self._policies)
        self._imagined = tuple(imagined)
        self.ranges = {one.names: range(first + 2 * at, first + 2 * at + 2) for at, one in enumerate(self._imagined)}
        self._width = first + 2 * len(self._imagined)

    def terms(self, record: HandRecord, stream: int) -> Terms:
        """The terms of a hand; a stream as for `logs.variance.shares.Shares.of`.

        Raises:
            PolicyError: a player did what its policy gives no chance, or the policy tells no probabilities.
        """
        game = record.game
        found = TermsBuilder(game.num_players, self._width)
        known = [name if name in self._policies else None for name in record.names]
        betting = betting_start(game)
        for position, action in chain.from_iterable(record.betting.rounds):
            name = known[position]
            if name is not None:
                chances = self._chances(record, name, betting, position, action)
                if chances is not None:
                    _add(found, self.columns[name].start, betting, chances, action)
            betting = betting.after(action)
        for one in self._imagined:
            found.constants[:, self.ranges[one.names]] = one.columns(record, stream)
        return found.terms

    def _chances(
        self, record: HandRecord, name: str, betting: BettingState, position: Position, action: Action
    ) -> Mapping[Action, float] | None:
        """What the policy says of a decision."""
        holes = tuple([hole if at == position else () for at, hole in enumerate(record.deal.hole_cards)])
        board = record.deal.board[: record.game.board_cards_by_round[betting.round]]
        try:
            chances = policy_in(self._policies[name], View(betting, position, record.hand_number, holes, board))
        except PolicyError as error:
            raise PolicyError(f"{name}: {error}") from error
        if chances is not None and not chances.get(action) and not _is_certain(chances, action):
            raise PolicyError(no_chance(record, position, action))
        return chances


def _is_certain(chances: Mapping[Action, float], action: Action) -> bool:
    """Whether an action has a chance under another size: raises of limit games may be written with one."""
    return any(chance and one.kind == action.kind and not action.hand_total for one, chance in chances.items())


def _add(
    found: TermsBuilder, first: int, betting: BettingState, chances: Mapping[Action, float], action: Action
) -> None:
    """Add the terms of a decision."""
    game, position = betting.game, betting.acting_position
    known = game.board_cards_by_round[betting.round]
    members = (1 << game.num_players) - 1 & ~betting.folded
    pot = float(betting.pot)
    # By kind, the probability less what came, and what these put in on average.
    differences = [0.0, 0.0, 0.0]
    added = put_in = 0.0
    for one, chance in [*chances.items(), (action, -1.0)]:
        chips = float(chips_of(betting, one))
        differences[one.kind] += chance
        if one.kind != _FOLD:
            added += chance * (pot + chips)
            put_in += chance * chips
    stays = PotRow(members, known)
    leaves = PotRow(members & ~(1 << position), known)
    if differences[_FOLD]:
        found.add(leaves, first, differences[_FOLD] * pot)
    if added:
        found.add(stays, first, added)
    found.constants[position, first] -= put_in
    scale = float(game.big_blind) if game.is_limit else pot
    equals = 1 / members.bit_count()
    column = first + 1 + _EVENTS * betting.round
    # To fold is not to stay in: the sum of the other two would leave rounding where nobody may fold.
    for difference in (-differences[_FOLD], differences[_RAISE]):
        if difference:
            weight = difference * scale
            found.add(stays, column, weight)
            found.constants[:, column] -= weight * equals
            found.constants[:, column + 1] += weight
        column += 2
