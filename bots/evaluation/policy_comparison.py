"""Where a player departs from a policy, and what that costs: from finished hands of hold'em, by playing both ways out.

    found = leaks_beside(deals_in(find(["runs/x"])), "New", make_bot("cfr"), "cfr")

For each decision of the player an action is drawn from the policy. Where it is another one than the player's, both are
played out from there, with the cards of all players as they were, the same board and the same draws, and with the
policy in every seat; what the player's action earned more or less stands to the account of the decision. So this is
the cost beside the policy and against it, with the hands that the opponents really held. A player who plays the policy
is as likely to gain as to lose in each decision, whatever happened before: there the intervals of
`logs.leaks.search`, which change signs of decisions, are exact.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bots.evaluation.policies import policy_in
from bots.sdk.bot import draw, drawn_action, uniform
from bots.sdk.view import View
from engine import RAISE, Action, ActionKind, BettingState, Deal, betting_start, betting_steps, hand_values
from engine.errors import quoted
from logs.errors import LeaksRefused
from logs.leaks.divergences import parting_at
from logs.leaks.search import FEWEST_DEALS, Leaks, PlayerCount, check_game
from logs.record import HandRecord

if TYPE_CHECKING:
    from bots.evaluation.policies import Policy
    from engine import Game

_CHOICES: Final = 17
"""Seed of the actions that are drawn to be compared."""
_PLAY: Final = 18
"""Seed of those behind them; another one, so that what is compared next has not been drawn before."""
_BOARDS: Final = 19


def leaks_beside(
    deals: Iterable[Sequence[tuple[str, HandRecord]]], player: str | None, policy: Policy, name: str
) -> Leaks:
    """What a player loses by departing from a policy.

    Args:
        deals: of each, all its hands with the paths they come from (`logs.leaks.deals_in`).
        player: whose; None for the first player of the first hand.
        policy: what it is held against; must tell its probabilities in every state.
        name: of the policy.

    Raises:
        LeaksRefused: nothing can be said of these hands; the sentence says why.
        PolicyError: the policy tells what cannot be played.
    """
    names: dict[str, None] = {}
    game: Game | None = None
    count: PlayerCount | None = None
    for hands in deals:
        for path, record in hands:
            names |= dict.fromkeys(record.names_by_seat)
            count = count or PlayerCount(record.names_by_seat[0] if player is None else player, 0)
            if count.player in record.names_by_seat:
                game = game or record.game
                check_game(record, game)
                count.begin_hand(name)
                _compare(record, path, count, policy, name)
    if count is None:
        raise LeaksRefused("there is no finished hand")
    if count.player not in names:
        raise LeaksRefused(f"no player is called {quoted(count.player)}; there are {', '.join(names)}")
    if count.units < FEWEST_DEALS:
        raise LeaksRefused(f"{count.player} made {count.units} decisions; leaks take {FEWEST_DEALS} at least")
    return count.leaks()


def _compare(record: HandRecord, path: str, count: PlayerCount, policy: Policy, name: str) -> None:
    position = record.names.index(count.player)
    deal = _whole(record)
    state = betting_start(record.game)
    for number, step in enumerate(betting_steps(record.betting)):
        if step.position == position:
            view = _view(state, deal, record.hand_number)
            theirs = _drawn(policy, view, _CHOICES, name)
            parting = None
            if not _is_same(step.action, theirs, record.game):
                other = betting_steps(state.after(theirs))[-1]
                values = [
                    _played_out(state.after(action), deal, record.hand_number, policy, name)[position]
                    for action in (step.action, theirs)
                ]
                parting = replace(parting_at(record, number, other), chips=values[0], others_chips=values[1])
            count.add_decision(parting, path)
        state = state.after(step.action)


def _whole(record: HandRecord) -> Deal:
    """The deal with a whole board: cards that did not come are drawn from those that nobody holds."""
    deal, game = record.deal, record.game
    seen = {*deal.board, *(card for hole in deal.hole_cards for card in hole)}
    rest = [card for card in game.deck if card not in seen]
    missing = game.board_cards_by_round[-1] - len(deal.board)
    chance = random.Random(f"{_BOARDS} {record.hand_number} {sorted(seen)}")
    return Deal(deal.hole_cards, (*deal.board, *chance.sample(rest, missing)))


def _view(state: BettingState, deal: Deal, number: int) -> View:
    at, game = state.acting_position, state.game
    holes = tuple([hole if seat == at else () for seat, hole in enumerate(deal.hole_cards)])
    return View(state, at, number, holes, deal.board[: game.board_cards_by_round[state.round]])


def _drawn(policy: Policy, view: View, seed: int, name: str) -> Action:
    """An action drawn from the policy.

    Raises:
        LeaksRefused: the policy does not tell its probabilities.
    """
    told = policy_in(policy, view)
    if told is None:
        state = view.match_state.format()
        raise LeaksRefused(f"{name} does not tell its policy in {state}, so that nothing can be compared")
    action = drawn_action(told, uniform(draw(seed, view)))
    return RAISE if view.game.is_limit and action.kind == ActionKind.RAISE else action


def _is_same(one: Action, other: Action, game: Game) -> bool:
    """Whether two actions are the same; in limit games the rules give raises their size."""
    return one.kind == other.kind and (game.is_limit or one == other)


def _played_out(state: BettingState, deal: Deal, number: int, policy: Policy, name: str) -> Sequence[float]:
    """What each position wins if the policy plays on in every seat."""
    while not state.finished:
        state = state.after(_drawn(policy, _view(state, deal, number), _PLAY, name))
    return hand_values(state, deal)
