"""What the betting of a hand says about each position, whatever the cards were.

Millions of hands share some thousand ways to bet, and one way is one `BettingState` object wherever a reader or a
dealer remembers it. So all that follows from the betting alone is worked out once for each (`BettingFacts`), as the
places in a row of counters that it increments, and is then added as often as it came.

The definitions are those of `logs.tracker.definitions`; this is how they are counted, street by street:

- A *call* adds chips; one that adds none is a *check*. A *bet* is the first raise of a street where no blind lies, any
  other is a *raise*. What is all-in counts like what is not.
- A player *saw* a street if he had not folded when its cards were dealt, all-in or not.
- VPIP has a chance in each hand with a turn before the flop; PFR where one of the turns allowed a raise; the three-bet
  where one of them allowed a raise and just one raise had been made.
"""

from __future__ import annotations

from typing import Final

from engine import ActionKind, BettingState, Game, Position
from engine.betting import RoundActions
from logs.steps import uncalled

__all__ = [
    "ACTIONS",
    "BETS",
    "CALLS",
    "CHECKS",
    "FOLDS",
    "KINDS",
    "LAST_SEEN",
    "PFR",
    "PFR_CHANCES",
    "RAISES",
    "SHOWDOWNS",
    "THREE_BETS",
    "THREE_BET_CHANCES",
    "VPIP",
    "VPIP_CHANCES",
    "WIDTH",
    "WON_AFTER_FLOP",
    "BettingFacts",
]

ROUNDS: Final = 4

# The counters of a position, by their place in its row.
VPIP_CHANCES: Final = 0
VPIP: Final = 1
PFR_CHANCES: Final = 2
PFR: Final = 3
THREE_BET_CHANCES: Final = 4
THREE_BETS: Final = 5
SHOWDOWNS: Final = 6
WON_AFTER_FLOP: Final = 7
"""Won without a showdown, after a flop; what is won at a showdown depends on the cards."""
LAST_SEEN: Final = 8
"""Of each round, whether it was the last that the player saw: four places."""
ACTIONS: Final = LAST_SEEN + ROUNDS
"""Of each round, how often he took each kind of action: four times five places."""

FOLDS, CHECKS, CALLS, BETS, RAISES = range(5)
KINDS: Final = 5
WIDTH: Final = ACTIONS + ROUNDS * KINDS

_FOLD, _CALL, _RAISE = map(int, ActionKind)
"""Plain numbers: they are compared in the innermost loop."""

_LEAST_WON_CHIPS: Final = 1e-6


class BettingFacts:
    """The facts of one way to bet.

    Attributes:
        increments: places in the counters of all positions, one row after the other: each goes up by one a hand.
        showdown: the positions in the showdown; empty when all but one folded.
        reached_end: the positions that had not folded when the last board cards were dealt; empty when they never were.
        saw_flop: bit p is set when position p saw the second round.
        won_above: by position, who has won part of the pot if his value is above this.
        board_cards: how many board cards lay there when no more betting was possible, for a showdown before the last
            was dealt; -1 for any other hand.
        pot_blinds: chips put in and called, in big blinds.
    """

    __slots__ = (
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
        players = game.num_players
        everybody = range(players)
        rounds = betting.rounds
        increments: list[int] = []
        folded_in = _count_actions(game, rounds, increments)
        _count_chances(rounds[0], betting.raise_chances(0), increments)
        in_pot = tuple([Position(p) for p in everybody if not betting.folded >> p & 1])
        is_showdown = len(in_pot) > 1
        self.showdown = in_pot if is_showdown else ()
        self.saw_flop = 0
        for position, folded_round in enumerate(folded_in):
            last_seen = min(folded_round, betting.round)
            increments.append(position * WIDTH + LAST_SEEN + last_seen)
            self.saw_flop |= (last_seen > 0) << position
        increments += [position * WIDTH + SHOWDOWNS for position in self.showdown]
        last = game.num_rounds - 1
        self.reached_end = tuple([Position(p) for p in everybody if betting.round == last and folded_in[p] >= last])
        returned_to, returned = uncalled(betting.spent)
        self.pot_blinds = (betting.pot - returned) / game.big_blind
        self.won_above = [_LEAST_WON_CHIPS - chips for chips in betting.spent]
        self.won_above[returned_to] += returned
        if not is_showdown and self.saw_flop and betting.pot > returned:
            increments.append(in_pot[0] * WIDTH + WON_AFTER_FLOP)
        self.increments = tuple(increments)
        self.board_cards = -1
        if is_showdown and not rounds[-1]:
            last_bet = max((round_ for round_, of_round in enumerate(rounds) if of_round), default=0)
            known = game.board_cards_by_round[last_bet]
            if known < game.board_cards_by_round[-1]:
                self.board_cards = known


def _count_actions(game: Game, rounds: tuple[RoundActions, ...], increments: list[int]) -> list[int]:
    """Count the actions by round and kind, and who puts chips in of his own will before the flop.

    Returns:
        the round in which each position folded, a late one if never.
    """
    spent = list(game.blinds)
    stacks, is_limit = game.stacks, game.is_limit
    highest = max(spent)
    folded_in = [ROUNDS] * game.num_players
    voluntary: set[int] = set()
    is_bet = highest > 0
    for round_, of_round in enumerate(rounds):
        base = ACTIONS + round_ * KINDS
        for position, (kind, hand_total) in of_round:
            if kind == _CALL:
                total = highest if highest < stacks[position] else stacks[position]
                what = CALLS if total > spent[position] else CHECKS
                spent[position] = total
            elif kind == _FOLD:
                folded_in[position] = round_
                what = FOLDS
            else:
                if is_limit:
                    hand_total = min(highest + game.raise_sizes[round_], stacks[position])
                spent[position] = highest = hand_total
                what = RAISES if is_bet else BETS
                is_bet = True
            increments.append(position * WIDTH + base + what)
            if round_ == 0 and what >= CALLS:
                voluntary.add(position)
        is_bet = False
    increments += [position * WIDTH + VPIP for position in voluntary]
    return folded_in


def _count_chances(preflop: RoundActions, chances: list[bool], increments: list[int]) -> None:
    """Count what a player might have done before the flop, and the raises and three-bets he made."""
    raises = 0
    done: set[int] = set()
    for (position, (kind, _)), may_raise in zip(preflop, chances, strict=True):
        row = position * WIDTH
        done.add(row + VPIP_CHANCES)
        if may_raise:
            done.add(row + PFR_CHANCES)
            if raises == 1:
                done.add(row + THREE_BET_CHANCES)
        if kind == _RAISE:
            done.add(row + PFR)
            if raises == 1:
                done.add(row + THREE_BETS)
            raises += 1
    increments += done
