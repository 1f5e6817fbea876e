"""What is counted in one hand: all that its betting says about each position, whatever the cards were.

Millions of hands share some thousand ways to bet. So whatever follows from the betting alone is worked out once per
betting (`BettingFacts`), as the counters that it increments, and is then added as often as the betting came.

`logs.tracker.definitions` defines the statistics; this is how they are counted, street by street:

- A *call* adds chips; one that adds none is a *check*. A *bet* is the first raise of a street without blinds, any other
  is a *raise*. All-in actions count like all others.
- A player *saw* a street if it had not folded when the cards of the street were dealt, all-in or not.
- VPIP has a chance in each hand with a turn before the flop; PFR where a raise was legal in one of the turns; the
  three-bet where it was legal after exactly one raise.
"""

from __future__ import annotations

from typing import Final

from engine import ActionKind, BettingState, Game, Position
from engine.betting import RoundActions
from logs.steps import uncalled

__all__ = ["KINDS", "ROUNDS", "WIDTH", "BettingFacts", "Kind", "Place"]

ROUNDS: Final = 4
KINDS: Final = 5


class Kind:
    """The kinds of action that are told apart, as plain numbers."""

    FOLD, CHECK, CALL, BET, RAISE = range(KINDS)


class Place:
    """The counters of a position, by their places in its row.

    `WON_AFTER_FLOP` is a pot won after a flop without a showdown; what is won at a showdown depends on the cards.
    `LAST_SEEN` begins one counter per round: hands in which it was the last round that the player saw. `ACTIONS` begins
    `KINDS` counters per round, one for each kind of action.
    """

    VPIP_CHANCES, VPIP, PFR_CHANCES, PFR, THREE_BET_CHANCES, THREE_BETS, SHOWDOWNS, WON_AFTER_FLOP = range(8)
    LAST_SEEN = 8
    ACTIONS = LAST_SEEN + ROUNDS


WIDTH: Final = Place.ACTIONS + ROUNDS * KINDS

_FOLD, _CALL, _RAISE = map(int, ActionKind)
"""Plain numbers: they are compared in the innermost loop."""

_LEAST_WON_CHIPS: Final = 1e-6


class BettingFacts:
    """The facts of one way to bet.

    Attributes:
        increments: counters that go up by one per hand; the rows of all positions stand one after the other.
        showdown: the positions in the showdown; empty when all but one folded.
        reached_end: the positions that had not folded when the last board cards were dealt; empty when they never were.
        saw_flop: bit p is set when position p saw the second round.
        won_above: by position, the value above which it has won part of the pot.
        board_cards: how many board cards were dealt when no more betting was possible, for a showdown before the last
            one; -1 for any other hand.
        pot_blinds: chips put in and called, in big blinds.
    """

    __slots__ = ("board_cards", "increments", "pot_blinds", "reached_end", "saw_flop", "showdown", "won_above")

    def __init__(self, betting: BettingState) -> None:
        game = betting.game
        everybody = range(game.num_players)
        rounds = betting.rounds
        increments: list[int] = []
        folded_in = _count_actions(game, rounds, increments)
        _count_chances(rounds[0], betting.raise_chances(0), increments)
        in_pot = tuple([Position(p) for p in everybody if not betting.folded >> p & 1])
        self.showdown = in_pot if len(in_pot) > 1 else ()
        self.saw_flop = 0
        for position, folded_round in enumerate(folded_in):
            last_seen = min(folded_round, betting.round)
            increments.append(position * WIDTH + Place.LAST_SEEN + last_seen)
            self.saw_flop |= (last_seen > 0) << position
        increments += [position * WIDTH + Place.SHOWDOWNS for position in self.showdown]
        last = game.num_rounds - 1
        self.reached_end = tuple([Position(p) for p in everybody if betting.round == last and folded_in[p] >= last])
        returned_to, returned = uncalled(betting.spent)
        self.pot_blinds = (betting.pot - returned) / game.big_blind
        self.won_above = [_LEAST_WON_CHIPS - chips for chips in betting.spent]
        self.won_above[returned_to] += returned
        if not self.showdown and self.saw_flop and betting.pot > returned:
            increments.append(in_pot[0] * WIDTH + Place.WON_AFTER_FLOP)
        self.increments = tuple(increments)
        self.board_cards = -1
        if self.showdown and not rounds[-1]:
            last_bet = max((round_ for round_, actions in enumerate(rounds) if actions), default=0)
            known = game.board_cards_by_round[last_bet]
            if known < game.board_cards_by_round[-1]:
                self.board_cards = known


def _count_actions(game: Game, rounds: tuple[RoundActions, ...], increments: list[int]) -> list[int]:
    """Count the actions by round and kind, and who puts in chips voluntarily before the flop.

    Returns:
        the round in which each position folded; `ROUNDS` if it never did.
    """
    spent = list(game.blinds)
    stacks, is_limit = game.stacks, game.is_limit
    highest = max(spent)
    folded_in = [ROUNDS] * game.num_players
    voluntary: set[int] = set()
    is_bet = highest > 0
    for round_, actions in enumerate(rounds):
        base = Place.ACTIONS + round_ * KINDS
        for position, (kind, hand_total) in actions:
            if kind == _CALL:
                total = highest if highest < stacks[position] else stacks[position]
                what = Kind.CALL if total > spent[position] else Kind.CHECK
                spent[position] = total
            elif kind == _FOLD:
                folded_in[position] = round_
                what = Kind.FOLD
            else:
                if is_limit:
                    hand_total = min(highest + game.raise_sizes[round_], stacks[position])
                spent[position] = highest = hand_total
                what = Kind.RAISE if is_bet else Kind.BET
                is_bet = True
            increments.append(position * WIDTH + base + what)
            if round_ == 0 and what >= Kind.CALL:
                voluntary.add(position)
        is_bet = False
    increments += [position * WIDTH + Place.VPIP for position in voluntary]
    return folded_in


def _count_chances(preflop: RoundActions, chances: list[bool], increments: list[int]) -> None:
    """Count what each player could have done before the flop, and the raises and three-bets it made."""
    raises = 0
    done: set[int] = set()
    for (position, (kind, _)), may_raise in zip(preflop, chances, strict=True):
        row = position * WIDTH
        done.add(row + Place.VPIP_CHANCES)
        if may_raise:
            done.add(row + Place.PFR_CHANCES)
            if raises == 1:
                done.add(row + Place.THREE_BET_CHANCES)
        if kind == _RAISE:
            done.add(row + Place.PFR)
            if raises == 1:
                done.add(row + Place.THREE_BETS)
            raises += 1
    increments += done
