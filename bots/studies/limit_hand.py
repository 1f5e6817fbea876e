"""The hand of a limit game as a compiled loop around a compiled policy, which is inlined: a hand takes a microsecond.

The loop has no cards: it is given the rank of each position's hand and gives chips. So it plays any limit game, and the
caller deals (`engine.kernels.draw.draw_cards`, then `engine.kernels.betting.holdem_ranks`).

    @njit
    def calls_three_bets(context, position, round_, raises, actions, to_call, pot, in_pot):
        return 1 if raises > 2 else 2

    play = limit_hand(calls_three_bets)
    play(limit_rules(game), context, ranks, values)

Its rules are those of `engine.betting` for stacks that no player can put in entirely: no side pots, no all-in. What a
policy may not do becomes the nearest legal action, as in `engine.betting`: a fold where there is nothing to fold to
is a check, a raise where none is left is a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.game import MAX_ACTIONS_PER_ROUND, Game
from engine.kernels.jit import njit

Policy: TypeAlias = Callable[..., int]
"""Compiled: (context, position, round, raises and actions of the round so far, chips to call, chips in the pot, bit set
of the positions that have not folded) -> 0 fold, 1 call, 2 raise. The context is the caller's own."""
Play: TypeAlias = Callable[["LimitRules", Any, NDArray[np.int64], NDArray[np.float64]], int]


class LimitRules(NamedTuple):
    """A limit game as arrays of int64.

    Attributes:
        blinds: by position, in chips.
        raise_sizes: by round, in chips.
        first_players: by round, the position that acts first.
        max_raises: by round.
    """

    blinds: NDArray[np.int64]
    raise_sizes: NDArray[np.int64]
    first_players: NDArray[np.int64]
    max_raises: NDArray[np.int64]


def limit_rules(game: Game) -> LimitRules:
    """The rules of a limit game.

    Raises:
        ValueError: it is not a limit game, or a stack can be put in entirely.
    """
    if not game.is_limit:
        raise ValueError("the hand loop plays limit games only")
    raises = [min(most, MAX_ACTIONS_PER_ROUND) for most in game.max_raises]
    most_spent = max(game.blinds) + sum(size * most for size, most in zip(game.raise_sizes, raises, strict=True))
    if most_spent >= min(game.stacks):
        raise ValueError(f"the hand loop does not support all-ins: up to {most_spent} chips are bet, more than a stack")
    fields = (game.blinds, game.raise_sizes, game.first_players, game.max_raises)
    return LimitRules(*[np.array(field, np.int64) for field in fields])


def limit_hand(policy: Policy, *, free_folds: bool = False) -> Play:
    """Compile the hand loop around a compiled policy (some tenths of a second at its first call).

    Args:
        free_folds: whether a player may fold where there is nothing to fold to, as the rules of some works allow.

    Returns:
        a compiled function of the rules, the policy's context, the rank of each position's hand (int64, higher is
        better) and an array of float64, into which it writes the net chips of each position. It returns the bit set of
        the positions that had not folded at the end.
    """

    @njit
    def play(rules: LimitRules, context: Any, ranks: NDArray[np.int64], values: NDArray[np.float64]) -> int:
        blinds, raise_sizes, first_players, max_raises = rules
        players = len(blinds)
        pot = max_spent = 0
        for position in range(players):
            values[position] = blinds[position]
            pot += blinds[position]
            max_spent = max(max_spent, blinds[position])
        in_pot, left = (1 << players) - 1, players
        for round_ in range(len(raise_sizes)):
            position = first_players[round_]
            raises = actions = called = 0
            while called < left and left > 1:
                if in_pot >> position & 1:
                    to_call = max_spent - int(values[position])
                    kind = policy(context, position, round_, raises, actions, to_call, pot, in_pot)
                    if kind == 0 and (free_folds or to_call > 0):
                        in_pot &= ~(1 << position)
                        left -= 1
                    else:
                        called += 1
                        if kind == 2 and raises < max_raises[round_] and actions + players <= MAX_ACTIONS_PER_ROUND:
                            raises, called = raises + 1, 1
                            to_call += raise_sizes[round_]
                            max_spent += raise_sizes[round_]
                        pot += to_call
                        values[position] = max_spent
                    actions += 1
                position = position + 1 if position + 1 < players else 0
        best, winners = -1, 0
        for position in range(players):
            if in_pot >> position & 1:
                if left == 1 or ranks[position] > best:
                    best, winners = ranks[position], 1
                elif ranks[position] == best:
                    winners += 1
        for position in range(players):
            won = pot / winners if in_pot >> position & 1 and ranks[position] == best else 0.0
            values[position] = won - values[position]
        return in_pot

    return play
