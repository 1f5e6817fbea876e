"""The chance to win of two known hole cards, with a board of none, three, four or five cards, in hold'em.

The opponents' cards are unknown and all their hands are equally likely; all cards still to come are dealt. Against
one opponent the chance is exact, found by counting every showdown there may be; against more it is the share in a
number of showdowns with cards drawn at random, the same for the same seed on every machine.

Who counts. Counting takes numpy or compiled kernels, and neither is loaded before it is needed. Until
`compile_kernels` is called in a process, numpy counts; after it, the kernels. Both give the same numbers, so this is a
question of time only. Measured on one core, in milliseconds:

                                                numpy      kernels  pure Python
    start: import and compile                      70        3,000            0
    flop against one, 1,070,190 showdowns         2.4          1.2            -
    turn against one, 45,540 showdowns           0.16         0.08            -
    river against one, 990 showdowns             0.03         0.01         0.46
    flop, 200 drawn, against two / nine   0.09 / 0.12  0.01 / 0.02   0.56 / 1.4
    flop, 1,000 drawn, against two / nine 0.12 / 0.24  0.04 / 0.05            -
    before the flop, from the table             0.001        0.001        0.001

A bot in a match asks once or twice a betting round and starts in a process of its own, beside as many others as there
are seats: three seconds of compiling in each would be paid back after some 20,000 questions, more than most matches
have, and pure Python takes several times as long. So a bot plays with numpy and compiles nothing. Code that
plays millions of hands in one process calls `compile_kernels` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.splitmix import MASK_64, mixed
from engine.starting_hands import starting_hand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "DEFAULT_TRIALS",
    "MOST_OPPONENTS",
    "Equity",
    "compile_kernels",
    "equity",
    "exact_equity",
    "preflop_equity",
    "sampled_equity",
]

DEFAULT_TRIALS: Final = 1000
"""Showdowns drawn when nothing else is said: the standard error of a chance is then at most 0.016."""

MOST_OPPONENTS: Final = 9
"""Ten players are the most that a game has."""

_DECK_CARDS: Final = 52
_BOARDS: Final = (0, 3, 4, 5)

_preflop: tuple[float, ...] = ()
_is_compiled = False


class Equity(NamedTuple):
    """How a showdown ends, on average.

    Attributes:
        win: the chance of having the best hand alone, 0 to 1.
        tie: the chance of having the best hand together with others, 0 to 1.
        equity: the share of the pot, 0 to 1: the wins, and of every tie the part that one of its winners gets.
    """

    win: float
    tie: float
    equity: float


def equity(
    hole: Sequence[int],
    board: Sequence[int] = (),
    opponents: int = 1,
    *,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
) -> Equity:
    """The chance to win: `exact_equity` against one opponent, `sampled_equity` against more.

    Args:
        hole: our two cards, each 0..51 = rank * 4 + suit.
        board: the cards on the table: none, or three to five.
        opponents: how many have not folded, 1 to 9.
        trials: showdowns drawn against two or more, 1 or more.
        seed: start of the random numbers; counts modulo 2**64.

    Raises:
        ValueError: cards, opponents or trials that cannot be.
    """
    if opponents == 1:
        _require(hole, board, opponents, trials)
        return exact_equity(hole, board)
    return sampled_equity(hole, board, opponents, trials=trials, seed=seed)


def exact_equity(hole: Sequence[int], board: Sequence[int] = ()) -> Equity:
    """The exact chance to win against one opponent; without a board that of `preflop_equity`.

    Args:
        hole: our two cards.
        board: the cards on the table: none, or three to five.

    Raises:
        ValueError: cards that cannot be.
    """
    _require(hole, board)
    if not board:
        return _read_preflop(hole, 1)
    own, table, unseen, counts = _as_arrays(hole, board, 1)
    if _is_compiled:
        from engine.kernels.equity import count_exact as count
    else:
        from engine.equity_arrays import count_exact as count
    count(own, table, unseen, counts)
    return equity_of_counts(counts.tolist())


def sampled_equity(
    hole: Sequence[int],
    board: Sequence[int] = (),
    opponents: int = 1,
    *,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
) -> Equity:
    """The share of showdowns won, among `trials` with all unknown cards drawn at random.

    The random numbers are those of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
    generators"), used as `engine.equity_arrays.count_sampled` describes: the same seed gives the same everywhere.

    Args:
        hole: our two cards.
        board: the cards on the table: none, or three to five.
        opponents: how many have not folded, 1 to 9.
        trials: showdowns drawn, 1 or more.
        seed: start of the random numbers; counts modulo 2**64.

    Raises:
        ValueError: cards, opponents or trials that cannot be.
    """
    _require(hole, board, opponents, trials)
    own, table, unseen, counts = _as_arrays(hole, board, opponents)
    start = mixed(seed & MASK_64)
    if _is_compiled:
        import numpy as np

        from engine.kernels.equity import count_sampled as count_compiled

        count_compiled(own, table, unseen, opponents, trials, np.uint64(start), counts)
    else:
        from engine.equity_arrays import count_sampled

        count_sampled(own, table, unseen, opponents, trials, start, counts)
    return equity_of_counts(counts.tolist())


def preflop_equity(hole: Sequence[int], opponents: int = 1) -> Equity:
    """The chance to win before the flop, from the shipped table: exact against one, a million draws against more.

    Args:
        hole: our two cards.
        opponents: how many have not folded, 1 to 9.

    Raises:
        ValueError: cards or opponents that cannot be.
    """
    _require(hole, (), opponents)
    return _read_preflop(hole, opponents)


def compile_kernels() -> None:
    """Let the kernels count in this process from now on: costs about three seconds, once."""
    global _is_compiled
    import numpy as np

    from engine.kernels import equity as kernels

    own, table, unseen, counts = _as_arrays((0, 1), (2, 3, 4, 5, 6), 1)
    kernels.count_exact(own, table, unseen, counts)
    kernels.count_sampled(own, table, unseen, 1, 1, np.uint64(0), counts)
    _is_compiled = True


def equity_of_counts(counts: Sequence[int]) -> Equity:
    """The chances from counts of showdowns: lost ones at 0, at k those with k winners including us."""
    total = sum(counts)
    shares = sum([count / winners for winners, count in enumerate(counts) if winners])
    return Equity(counts[1] / total, sum(counts[2:]) / total, shares / total)


def _require(hole: Sequence[int], board: Sequence[int], opponents: int = 1, trials: int = 1) -> None:
    """Check a situation.

    Raises:
        ValueError: it cannot be.
    """
    if len(hole) != 2:
        raise ValueError(f"two hole cards are needed, not {len(hole)}")
    if len(board) not in _BOARDS:
        raise ValueError(f"a board has no card, or three, four or five, not {len(board)}")
    cards = (*hole, *board)
    if len(set(cards)) != len(cards) or min(cards) < 0 or max(cards) >= _DECK_CARDS:
        raise ValueError(f"these are not {len(cards)} different cards 0..51: {list(cards)}")
    if not 1 <= opponents <= MOST_OPPONENTS:
        raise ValueError(f"opponents must be 1 to {MOST_OPPONENTS}, not {opponents}")
    if trials < 1:
        raise ValueError(f"trials must be 1 or more, not {trials}")


def _read_preflop(hole: Sequence[int], opponents: int) -> Equity:
    global _preflop
    from engine.tables import preflop

    if not _preflop:
        _preflop = preflop.load()
    at = 3 * (preflop.MOST_OPPONENTS * starting_hand(hole) + opponents - 1)
    return Equity(*_preflop[at : at + 3])


def _as_arrays(
    hole: Sequence[int], board: Sequence[int], opponents: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Hole cards, board, unseen cards, and counts of the outcomes at 0."""
    import numpy as np

    seen = {*hole, *board}
    unseen = [card for card in range(_DECK_CARDS) if card not in seen]
    cards = (np.array(tuple(part), np.uint8) for part in (hole, board, unseen))
    own, table, rest = cards
    return own, table, rest, np.zeros(opponents + 2, np.int64)
