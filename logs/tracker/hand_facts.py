"""What is counted in one hand: all that follows from its betting for each position, whatever the cards were.

Millions of hands share some thousand ways to bet. So whatever follows from the betting alone is worked out once per
betting (`BettingFacts`), as what it adds to the counters, and is then added as often as the betting came.

`logs.tracker.definitions` defines the statistics; this is how they are counted, street by street:

- A *call* adds chips; one that adds none is a *check*. A *bet* is the first raise of a street without blinds, any other
  is a *raise*. All-in actions count like all others.
- A player *saw* a street if it had not folded when the cards of the street were dealt, all-in or not.
- VPIP has a chance in each hand with a turn before the flop; PFR where a raise was legal in one of the turns. All other
  frequencies have their chances in single turns.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from engine import BettingState, Move, Step, betting_steps, uncalled
from logs.tracker.all_in import board_before_showdown

ROUNDS: Final = 4
MOVES: Final = len(Move)
FREQUENCIES: Final = (
    "vpip",
    "pfr",
    "three_bet",
    "four_bet",
    "squeeze",
    "cold_call",
    "steal",
    "fold_to_steal",
    "continuation_bet",
    "fold_to_continuation_bet",
    "turn_continuation_bet",
    "fold_to_turn_continuation_bet",
    "check_raise",
    "donk_bet",
)
"""What the betting alone gives chances of, by the keys of the definitions."""


class Place:
    """The counters of a position, by their places in its row.

    The chances of frequency i are at 2 * i, the times it was done behind them. `WON_AFTER_FLOP` is a pot won after a
    flop without a showdown; what is won at a showdown depends on the cards. `LAST_SEEN` begins one counter per round:
    hands in which it was the last round that the player saw. `ACTIONS` begins `MOVES` counters per round, one for each
    `engine.Move`.
    """

    SHOWDOWNS = 2 * len(FREQUENCIES)
    WON_AFTER_FLOP = SHOWDOWNS + 1
    LAST_SEEN = WON_AFTER_FLOP + 1
    ACTIONS = LAST_SEEN + ROUNDS


WIDTH: Final = Place.ACTIONS + ROUNDS * MOVES

_FOLD, _CHECK, _CALL, _BET = int(Move.FOLD), int(Move.CHECK), int(Move.CALL), int(Move.BET)
"""Plain numbers: they are compared in the innermost loop."""
_VPIP, _PFR, _THREE_BET, _FOUR_BET, _SQUEEZE, _COLD_CALL, _STEAL, _FOLD_TO_STEAL = range(0, 16, 2)
_C_BET, _FOLD_TO_C_BET, _TURN_C_BET, _FOLD_TO_TURN_C_BET, _CHECK_RAISE, _DONK_BET = range(16, 2 * len(FREQUENCIES), 2)

_LEAST_WON_CHIPS: Final = 1e-6


class BettingFacts:
    """The facts of one way to bet.

    Attributes:
        betting: the betting.
        rows: by position, what each hand adds to its counters.
        showdown: by position, whether it is in the showdown; none is when all but one folded.
        reached_end: by position, whether it had not folded when the last board cards were dealt.
        saw_flop: by position, whether it saw the second round.
        won_above: by position, the value above which it has won part of the pot.
        board_cards: how many board cards were dealt when no more betting was possible, for a showdown before the last
            one; -1 for any other hand.
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
        self.won_above = [_LEAST_WON_CHIPS - chips for chips in betting.spent]
        self.won_above[returned_to] += returned
        increments += [position * WIDTH + Place.LAST_SEEN + seen for position, seen in enumerate(last_seen)]
        increments += [position * WIDTH + Place.SHOWDOWNS for position in positions if self.showdown[position]]
        if not betting.is_showdown and any(self.saw_flop) and betting.pot > returned:
            increments.append(in_pot[0] * WIDTH + Place.WON_AFTER_FLOP)
        self.rows = np.bincount(increments, minlength=WIDTH * len(positions)).reshape(-1, WIDTH).astype(np.uint8)
        board_cards = board_before_showdown(betting)
        self.board_cards = -1 if board_cards is None else board_cards


def _note(counted: set[int] | list[int], position: int, noted: list[tuple[int, bool]]) -> None:
    """Count chances, by their places in the row of a position, and whether each was taken."""
    add = counted.add if isinstance(counted, set) else counted.append
    for place, was_taken in noted:
        add(position * WIDTH + place)
        if was_taken:
            add(position * WIDTH + place + 1)


def _count_actions(steps: list[Step], increments: list[int], players: int) -> list[int]:
    """Count the moves by round; returns the round in which each position folded, `ROUNDS` if it never did."""
    folded_in = [ROUNDS] * players
    for step in steps:
        increments.append(step.position * WIDTH + Place.ACTIONS + step.round * MOVES + step.move)
        if step.move == _FOLD:
            folded_in[step.position] = step.round
    return folded_in


def _count_preflop(steps: list[Step], betting: BettingState, increments: list[int]) -> int:
    """Count what each player could have done before the flop, and what it did; returns the position that raised last,
    if it has chips left to bet with, else -1.
    """
    button = len(betting.spent) - 1
    stealers = {button, *(() if button == 1 else (0, max(button - 1, 2)))}
    raises = callers = 0
    aggressor = -1
    is_unopened, is_steal = True, False
    done: set[int] = set()
    for step, may_raise in zip(steps, betting.raise_chances(0), strict=False):
        position, move = step.position, step.move
        is_raise = move >= _BET
        noted = [(_VPIP, move >= _CALL)]
        if may_raise:
            noted.append((_PFR, is_raise))
            if is_unopened and position in stealers:
                noted.append((_STEAL, is_raise))
            elif raises == 1:
                noted.append((_THREE_BET, is_raise))
                if callers:
                    noted.append((_SQUEEZE, is_raise))
            elif raises == 2:
                noted.append((_FOUR_BET, is_raise))
        if raises == 1 and step.street_total == step.added:
            noted.append((_COLD_CALL, move == _CALL))
        if is_steal and position < 2:
            noted.append((_FOLD_TO_STEAL, move == _FOLD))
        _note(done, position, noted)
        if is_raise:
            is_steal = is_unopened and position in stealers
            raises, callers, aggressor = raises + 1, 0, -1 if step.is_all_in else position
        elif move == _CALL:
            callers, is_steal = callers + 1, False
        is_unopened = is_unopened and move == _FOLD
    increments += done
    return aggressor


def _count_later_streets(steps: list[Step], betting: BettingState, aggressor: int, increments: list[int]) -> None:
    """Count what each player could have done after the flop, and what it did, given all steps of the hand, its end, and
    the position that raised last before the flop and can still bet (-1 if there is none).
    """
    for round_ in range(1, betting.round + 1):
        of_round = [step for step in steps if step.round == round_]
        bettor, bets = -1, 0
        checkers: set[int] = set()
        is_behind_aggressor = False
        # A player with a turn before the first bet may bet; after it the cap, or all-in players, may forbid a raise.
        may_bet = betting.game.max_raises[round_] > 0
        may_raise: list[bool] = []
        for number, step in enumerate(of_round):
            position, move = step.position, step.move
            is_raise = move >= _BET
            noted = []
            if not bets:
                if may_bet and position == aggressor and round_ < 3:
                    noted.append((_C_BET if round_ == 1 else _TURN_C_BET, is_raise))
                elif may_bet and round_ == 1 and aggressor >= 0 and not is_behind_aggressor:
                    noted.append((_DONK_BET, is_raise))
            elif bets == 1 and bettor == aggressor and round_ < 3:
                noted.append((_FOLD_TO_C_BET if round_ == 1 else _FOLD_TO_TURN_C_BET, move == _FOLD))
            if bets and position in checkers:
                may_raise = may_raise or betting.raise_chances(round_)
                if may_raise[number]:
                    noted.append((_CHECK_RAISE, is_raise))
                    checkers.remove(position)
            if noted:
                _note(increments, position, noted)
            is_behind_aggressor |= position == aggressor
            if is_raise:
                bettor, bets = (position, 1) if not bets else (bettor, bets + 1)
            elif move == _CHECK:
                checkers.add(position)
        if round_ == 1 and (bettor, bets) != (aggressor, 1):
            aggressor = -1
