"""Counters of a hand that follow from its betting alone, for each position.

Millions of hands share some thousand betting lines. The increments of the counters are therefore computed once per line
(`BettingFacts`) and added as often as the line was played.

`logs.tracker.definitions` defines the statistics. A *call* adds chips, a *check* adds none. A *bet* is the first raise
of a street without blinds, any later one a *raise*. A position *saw* a street if it had not folded when the cards of
the street were dealt, all-in or not. VPIP has one chance in each hand with a turn before the flop, PFR one in each hand
with a legal raise in such a turn. All other frequencies have their chances in single turns.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from engine import BettingState, Move, Step, betting_steps, uncalled
from logs.tracker.all_in import board_before_showdown

ROUNDS: Final = 4
MOVES: Final = len(Move)


class Place(IntEnum):
    """Columns of the counters of a position.

    A frequency has two columns, its chances and, behind them, the times it was done.

    Attributes:
        WON_AFTER_FLOP: pots won after a flop without a showdown, which do not depend on the cards.
        LAST_SEEN: the first of one column per round, for hands in which it was the last round that the player saw.
        ACTIONS: the first of `MOVES` columns per round, one for each `engine.Move`.
    """

    VPIP = 0
    PFR = 2
    THREE_BET = 4
    FOUR_BET = 6
    SQUEEZE = 8
    COLD_CALL = 10
    STEAL = 12
    FOLD_TO_STEAL = 14
    CONTINUATION_BET = 16
    FOLD_TO_CONTINUATION_BET = 18
    TURN_CONTINUATION_BET = 20
    FOLD_TO_TURN_CONTINUATION_BET = 22
    CHECK_RAISE = 24
    DONK_BET = 26
    SHOWDOWNS = 28
    WON_AFTER_FLOP = 29
    LAST_SEEN = 30
    ACTIONS = LAST_SEEN + ROUNDS


FREQUENCIES: Final = tuple(place.name.lower() for place in Place if place < Place.SHOWDOWNS)
"""Frequencies that follow from the betting alone, by the keys of the definitions."""


WIDTH: Final = Place.ACTIONS + ROUNDS * MOVES

# Plain numbers, as the innermost loop compares them.
_FOLD: Final = int(Move.FOLD)
_CHECK: Final = int(Move.CHECK)
_CALL: Final = int(Move.CALL)
_BET: Final = int(Move.BET)

_MIN_WON_CHIPS: Final = 1e-6


class BettingFacts:
    """Facts of one betting line.

    Attributes:
        rows: increments of the counters, shape (positions, WIDTH).
        showdown: by position, whether it was in a showdown.
        reached_end: by position, whether it had not folded when the last board cards were dealt.
        saw_flop: by position, whether it saw the second round.
        won_above: by position, net chips above which it has won part of the pot.
        board_cards: board cards dealt when no more betting was possible, for a showdown before the last card; -1 for
            any other hand.
        pot_blinds: chips put in and called, in big blinds.
    """

    __slots__ = (
        "betting",
        "board_cards",
        "pot_blinds",
        "reached_end",
        "rows",
        "saw_flop",
        "showdown",
        "won_above",
    )

    def __init__(self, betting: BettingState) -> None:
        game = betting.game
        positions = range(game.num_players)
        steps = betting_steps(betting)
        increments: list[int] = []
        folded_in = _count_actions(steps, increments, game.num_players)
        aggressor = _count_preflop(steps, betting, increments)
        if betting.round:
            _count_later_streets(steps, betting, aggressor, increments)
        self.betting = betting
        in_pot = betting.in_pot
        self.showdown = [betting.is_showdown and position in in_pot for position in positions]
        last_seen = [min(folded_round, betting.round) for folded_round in folded_in]
        self.saw_flop = [seen > 0 for seen in last_seen]
        last = game.num_rounds - 1
        self.reached_end = [betting.round == last and folded_round >= last for folded_round in folded_in]
        returned_to, returned = uncalled(betting.spent)
        self.pot_blinds = (betting.pot - returned) / game.big_blind
        # A position that wins nothing loses what it spent, less uncalled chips. The margin is for rounded split pots.
        self.won_above = [_MIN_WON_CHIPS - chips for chips in betting.spent]
        self.won_above[returned_to] += returned
        increments += [position * WIDTH + Place.LAST_SEEN + seen for position, seen in enumerate(last_seen)]
        increments += [position * WIDTH + Place.SHOWDOWNS for position in positions if self.showdown[position]]
        if not betting.is_showdown and any(self.saw_flop) and betting.pot > returned:
            increments.append(in_pot[0] * WIDTH + Place.WON_AFTER_FLOP)
        self.rows = np.bincount(increments, minlength=WIDTH * len(positions)).reshape(-1, WIDTH).astype(np.uint8)
        board_cards = board_before_showdown(betting)
        self.board_cards = -1 if board_cards is None else board_cards


def _note(counted: set[int] | list[int], position: int, noted: list[tuple[Place, bool]]) -> None:
    """Count chances of a position, and those that it took."""
    add = counted.add if isinstance(counted, set) else counted.append
    for place, was_taken in noted:
        add(position * WIDTH + place)
        if was_taken:
            add(position * WIDTH + place + 1)


def _count_actions(steps: list[Step], increments: list[int], players: int) -> list[int]:
    """Count the moves by round; return the round in which each position folded, `ROUNDS` if it never did."""
    folded_in = [ROUNDS] * players
    for step in steps:
        increments.append(step.position * WIDTH + Place.ACTIONS + step.round * MOVES + step.move)
        if step.move == _FOLD:
            folded_in[step.position] = step.round
    return folded_in


def _count_preflop(steps: list[Step], betting: BettingState, increments: list[int]) -> int:
    """Count the chances and actions before the flop.

    Returns:
        Position that raised last if it has chips left to bet with, else -1.
    """
    button = len(betting.spent) - 1
    stealers = {button}
    if button > 1:
        # The small blind and the seat before the button.
        stealers |= {0, max(button - 1, 2)}
    raises = 0
    callers = 0
    aggressor = -1
    is_unopened = True
    is_steal = False
    done: set[int] = set()
    for step, may_raise in zip(steps, betting.raise_chances(0), strict=False):
        position = step.position
        move = step.move
        is_raise = move >= _BET
        noted = [(Place.VPIP, move >= _CALL)]
        if may_raise:
            noted.append((Place.PFR, is_raise))
            if is_unopened and position in stealers:
                noted.append((Place.STEAL, is_raise))
            elif raises == 1:
                noted.append((Place.THREE_BET, is_raise))
                if callers:
                    noted.append((Place.SQUEEZE, is_raise))
            elif raises == 2:
                noted.append((Place.FOUR_BET, is_raise))
        if raises == 1 and step.street_total == step.added:
            noted.append((Place.COLD_CALL, move == _CALL))
        if is_steal and position < 2:
            noted.append((Place.FOLD_TO_STEAL, move == _FOLD))
        _note(done, position, noted)
        if is_raise:
            is_steal = is_unopened and position in stealers
            raises += 1
            callers = 0
            aggressor = position
            if step.is_all_in:
                aggressor = -1
        elif move == _CALL:
            callers += 1
            is_steal = False
        is_unopened = is_unopened and move == _FOLD
    increments += done
    return aggressor


def _count_later_streets(steps: list[Step], betting: BettingState, aggressor: int, increments: list[int]) -> None:
    """Count the chances and actions after the flop.

    Args:
        steps: steps of the whole hand.
        betting: final state of the hand.
        aggressor: position that raised last before the flop and can still bet, or -1.
    """
    for round_ in range(1, betting.round + 1):
        round_steps = [step for step in steps if step.round == round_]
        bettor = -1
        bets = 0
        if round_ == 1:
            bet = Place.CONTINUATION_BET
            fold_to_bet = Place.FOLD_TO_CONTINUATION_BET
        else:
            bet = Place.TURN_CONTINUATION_BET
            fold_to_bet = Place.FOLD_TO_TURN_CONTINUATION_BET
        checkers: set[int] = set()
        is_behind_aggressor = False
        # A player with a turn before the first bet may bet; after it the cap, or all-in players, may forbid a raise.
        may_bet = betting.game.max_raises[round_] > 0
        may_raise: list[bool] = []
        for number, step in enumerate(round_steps):
            position = step.position
            move = step.move
            is_raise = move >= _BET
            noted: list[tuple[Place, bool]] = []
            if not bets:
                if may_bet and position == aggressor and round_ < 3:
                    noted.append((bet, is_raise))
                elif may_bet and round_ == 1 and aggressor >= 0 and not is_behind_aggressor:
                    noted.append((Place.DONK_BET, is_raise))
            elif bets == 1 and bettor == aggressor and round_ < 3:
                noted.append((fold_to_bet, move == _FOLD))
            if bets and position in checkers:
                may_raise = may_raise or betting.raise_chances(round_)
                if may_raise[number]:
                    noted.append((Place.CHECK_RAISE, is_raise))
                    checkers.remove(position)
            if noted:
                _note(increments, position, noted)
            is_behind_aggressor |= position == aggressor
            if is_raise:
                if not bets:
                    bettor = position
                bets += 1
            elif move == _CHECK:
                checkers.add(position)
        if round_ == 1 and (bettor, bets) != (aggressor, 1):
            aggressor = -1
