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

from engine import BettingState, Move, Position, Step, betting_steps, uncalled

__all__ = ["MOVES", "ROUNDS", "WIDTH", "BettingFacts", "Place"]

ROUNDS: Final = 4
MOVES: Final = len(Move)


class Place:
    """The counters of a position, by their places in its row.

    `WON_AFTER_FLOP` is a pot won after a flop without a showdown; what is won at a showdown depends on the cards.
    `LAST_SEEN` begins one counter per round: hands in which it was the last round that the player saw. `ACTIONS` begins
    `MOVES` counters per round, one for each `engine.Move`.
    """

    VPIP_CHANCES, VPIP, PFR_CHANCES, PFR, THREE_BET_CHANCES, THREE_BETS, SHOWDOWNS, WON_AFTER_FLOP = range(8)
    LAST_SEEN = 8
    ACTIONS = LAST_SEEN + ROUNDS


WIDTH: Final = Place.ACTIONS + ROUNDS * MOVES

_FOLD, _CALL, _BET = int(Move.FOLD), int(Move.CALL), int(Move.BET)
"""Plain numbers: they are compared in the innermost loop."""

_LEAST_WON_CHIPS: Final = 1e-6


class BettingFacts:
    """The facts of one way to bet.

    Attributes:
        betting: the betting.
        increments: counters that go up by one per hand; the rows of all positions stand one after the other.
        showdown: the positions in the showdown; empty when all but one folded.
        reached_end: the positions that had not folded when the last board cards were dealt; empty when they never were.
        saw_flop: bit p is set when position p saw the second round.
        won_above: by position, the value above which it has won part of the pot.
        board_cards: how many board cards were dealt when no more betting was possible, for a showdown before the last
            one; -1 for any other hand.
        pot_blinds: chips put in and called, in big blinds.
    """

    __slots__ = (
        "betting",
        "board_cards",
        "increments",
        "pot_blinds",
        "reached_end",
        "saw_flop",
        "showdown",
        "won_above",
    )

    def __init__(self, betting: BettingState) -> None:
        game = betting.game
        everybody = range(game.num_players)
        steps = betting_steps(betting)
        increments: list[int] = []
        folded_in = _count_actions(steps, increments, game.num_players)
        _count_chances(steps, betting.raise_chances(0), increments)
        in_pot = betting.in_pot
        self.betting = betting
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
        last_bet = steps[-1].round if steps else 0
        if self.showdown and last_bet < betting.round:
            known = game.board_cards_by_round[last_bet]
            if known < game.board_cards_by_round[-1]:
                self.board_cards = known


def _count_actions(steps: list[Step], increments: list[int], players: int) -> list[int]:
    """Count the moves by round, and who puts in chips voluntarily before the flop.

    Returns:
        the round in which each position folded; `ROUNDS` if it never did.
    """
    folded_in = [ROUNDS] * players
    voluntary: set[int] = set()
    for step in steps:
        round_, position, move = step.round, step.position, step.move
        increments.append(position * WIDTH + Place.ACTIONS + round_ * MOVES + move)
        if move == _FOLD:
            folded_in[position] = round_
        elif round_ == 0 and move >= _CALL:
            voluntary.add(position)
    increments += [position * WIDTH + Place.VPIP for position in voluntary]
    return folded_in


def _count_chances(steps: list[Step], chances: list[bool], increments: list[int]) -> None:
    """Count what each player could have done before the flop, and the raises and three-bets it made."""
    raises = 0
    done: set[int] = set()
    for step, may_raise in zip(steps, chances, strict=False):
        row = step.position * WIDTH
        done.add(row + Place.VPIP_CHANCES)
        if may_raise:
            done.add(row + Place.PFR_CHANCES)
            if raises == 1:
                done.add(row + Place.THREE_BET_CHANCES)
        if step.move >= _BET:
            done.add(row + Place.PFR)
            if raises == 1:
                done.add(row + Place.THREE_BETS)
            raises += 1
    increments += done
