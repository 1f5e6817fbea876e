"""Chances to win a showdown of hold'em, in two questions.

- *What is a hand worth against unseen cards?* All hands of the opponents and all boards are equally likely.
  `exact_equity` counts every showdown against one opponent, `sampled_equity` draws some against more: the same for the
  same seed on every machine. `equity` chooses between the two, and a shipped table answers before the flop.
- *What is a showdown worth while board cards are still to come?* All hole cards are known, as they are after a hand.
  `showdown_odds` and `odds_by_pot` count every board, `expected_values` makes chips of it.

Where some holdings are known, others in part and others not at all, `engine.chances` has both.

    >>> odds = showdown_odds([parse_cards("AcAd"), parse_cards("KcKh")])
    >>> odds.boards, odds.wins[0], odds.ties[0]
    (1712304, 1399204, 7923)

Nothing heavy is imported before it is needed. numpy counts (`engine.kernels.showdowns`), so a bot in a match asks at
once. Where millions of samples are drawn or thousands of all-in hands counted in one process, `compile_kernels` pays:
from then on, compiled code does it and gives the same numbers. Milliseconds of CPU on a core of a busy machine:

                                                numpy     compiled
    start: import, compile samples / all-ins      120  6,200 / 4,100
    flop against one, 1,070,190 showdowns         2.0            -
    turn against one, 45,540 showdowns            0.6            -
    river against one, 990 showdowns              0.3            -
    flop, 1,000 drawn, against two / nine   0.5 / 1.1  0.03 / 0.05
    before the flop, from the table              0.01            -
    all-in of two before the flop, from a table  0.01            -
    all-in of three before the flop               1.6          0.7
    all-in of two on the flop                     0.2         0.03
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from engine.cards import Card
from engine.evaluator import rank_hand
from engine.showdown import Pot, uncalled
from engine.splitmix import MASK_64, mixed
from engine.starting_hands import starting_hand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array: TypeAlias = NDArray[np.uint8]

DEFAULT_TRIALS: Final = 1000
"""Showdowns drawn by default: the standard error of a chance is then at most 0.016."""

MOST_OPPONENTS: Final = 9

_WHOLE_DECK: Final = tuple(range(52))
_BOARD_CARDS: Final = 5

_preflop: tuple[float, ...] = ()
_is_compiled = False


# ---- against cards one does not see


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
    """The exact chance to win against one opponent; without a board that of `preflop_equity`. Cards as for `equity`."""
    _require(hole, board)
    if not board:
        return _read_preflop(hole, 1)
    import numpy as np

    from engine.kernels.showdowns import count_against_one

    counts = np.zeros(3, np.int64)
    count_against_one(*_as_arrays(hole, board), counts)
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
    generators"), used as `engine.kernels.showdowns.count_sampled` describes: the same seed gives the same everywhere.
    Arguments and errors are those of `equity`.
    """
    _require(hole, board, opponents, trials)
    import numpy as np

    counts = np.zeros(opponents + 2, np.int64)
    cards, start = _as_arrays(hole, board), mixed(seed & MASK_64)
    if _is_compiled and opponents == 1:
        from engine.kernels.draw import count_sampled_duels

        count_sampled_duels((None,) * (_BOARD_CARDS - len(board)), *cards, trials, np.uint64(start), counts)
    elif _is_compiled and board:
        from engine.kernels.draw import count_against_many

        count_against_many(*cards[:2], opponents, trials, np.uint64(start), counts)
    elif _is_compiled:
        from engine.kernels.draw import count_sampled as count_compiled

        count_compiled(*cards, opponents, trials, np.uint64(start), counts)
    else:
        from engine.kernels.showdowns import count_sampled

        count_sampled(*cards, opponents, trials, start, counts)
    return equity_of_counts(counts.tolist())


def preflop_equity(hole: Sequence[int], opponents: int = 1) -> Equity:
    """The chance to win before the flop, from the shipped table: exact against one, a million draws against more.

    Arguments and errors are those of `equity`.
    """
    _require(hole, (), opponents)
    return _read_preflop(hole, opponents)


def compile_kernels() -> None:
    """Let compiled code draw the samples and count the all-in hands of this process from now on.

    The first of each then takes some seconds; the numbers are the same.
    """
    global _is_compiled
    _is_compiled = True


def equity_of_counts(counts: Sequence[int]) -> Equity:
    """The chances from counts of showdowns: lost ones at 0, at k those with k winners including us."""
    total = sum(counts)
    shares = sum([count / winners for winners, count in enumerate(counts) if winners])
    return Equity(counts[1] / total, sum(counts[2:]) / total, shares / total)


def _require(hole: Sequence[int], board: Sequence[int], opponents: int = 1, trials: int = 1) -> None:
    if len(hole) != 2:
        raise ValueError(f"two hole cards are needed, not {len(hole)}")
    if len(board) not in (0, 3, 4, 5):
        raise ValueError(f"a board has no card, or three, four or five, not {len(board)}")
    cards = (*hole, *board)
    if len(set(cards)) != len(cards) or min(cards) < 0 or max(cards) >= len(_WHOLE_DECK):
        raise ValueError(f"these are not {len(cards)} different cards 0..51: {list(cards)}")
    if not 1 <= opponents <= MOST_OPPONENTS:
        raise ValueError(f"opponents must be 1 to {MOST_OPPONENTS}, not {opponents}")
    if trials < 1:
        raise ValueError(f"trials must be 1 or more, not {trials}")


def _read_preflop(hole: Sequence[int], opponents: int) -> Equity:
    global _preflop
    from engine.tables import load_preflop

    if not _preflop:
        _preflop = load_preflop()
    at = 3 * (MOST_OPPONENTS * starting_hand(hole) + opponents - 1)
    return Equity(*_preflop[at : at + 3])


def _as_arrays(hole: Sequence[int], board: Sequence[int]) -> tuple[_Array, _Array, _Array]:
    import numpy as np

    unseen = [card for card in _WHOLE_DECK if card not in hole and card not in board]
    return np.array(tuple(hole), np.uint8), np.array(tuple(board), np.uint8), np.array(unseen, np.uint8)


# ---- against each other, with board cards to come


@dataclass(frozen=True, slots=True)
class ShowdownOdds:
    """How often each player wins a pot.

    Attributes:
        boards: how many boards can come.
        shared: by player, on how many of them the player is one of 1, 2, ... winners; 0 everywhere for players
            who do not play for the pot.
    """

    boards: int
    shared: tuple[tuple[int, ...], ...]

    @property
    def wins(self) -> tuple[int, ...]:
        """By player, the number of boards on which the player wins alone."""
        return tuple([of_player[0] for of_player in self.shared])

    @property
    def ties(self) -> tuple[int, ...]:
        """By player, the number of boards on which the player shares the pot."""
        return tuple([sum(of_player[1:]) for of_player in self.shared])

    @property
    def equities(self) -> tuple[float, ...]:
        """By player, the expected share of the pot, 0 to 1."""
        return tuple([sum(count / winners for winners, count in enumerate(of, 1)) / self.boards for of in self.shared])


def boards_to_come(deck_cards: int, known_cards: int, board_cards: int) -> int:
    """How many boards there are.

    Args:
        deck_cards: of the whole deck.
        known_cards: hole cards, board cards and others that are known to be elsewhere.
        board_cards: how many are to come.
    """
    return comb(deck_cards - known_cards, board_cards)


def showdown_odds(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card] = (),
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _WHOLE_DECK,
    board_cards: int = _BOARD_CARDS,
) -> ShowdownOdds:
    """How often each of some players wins a pot for which all of them play; see `odds_by_pot`.

    Raises:
        ValueError: as `odds_by_pot`.
    """
    everybody = range(len(hole_cards))
    return odds_by_pot(hole_cards, board, [everybody], dead=dead, deck=deck, board_cards=board_cards)[0]


def odds_by_pot(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card],
    pots: Sequence[Sequence[int]],
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _WHOLE_DECK,
    board_cards: int = _BOARD_CARDS,
) -> list[ShowdownOdds]:
    """How often each player wins each of some pots, over all boards.

    Args:
        hole_cards: of the players that are still in.
        board: the known board cards.
        pots: the players, as indices, who play for each pot.
        dead: cards that are known to be elsewhere, such as folded ones.
        deck: all cards of the game.
        board_cards: of a whole board.

    Raises:
        ValueError: a card is there twice or not in the deck, more board cards than there may be, or a pot without
            players.
    """
    known = [card for cards in hole_cards for card in cards] + [*board, *dead]
    seen = set(known)
    live = [card for card in deck if card not in seen]
    missing = board_cards - len(board)
    if len(seen) != len(known) or len(live) + len(known) != len(deck):
        raise ValueError("the known cards are not all different cards of the deck")
    if missing < 0:
        raise ValueError(f"{len(board)} board cards where there are {board_cards}")
    if not hole_cards or not all(map(len, pots)):
        raise ValueError("nobody plays for a pot")
    if len(set(map(len, hole_cards))) > 1 or not hole_cards[0]:
        raise ValueError("the players have not equally many hole cards")
    if is_tabled(hole_cards, board, dead=dead, deck=deck, board_cards=board_cards):
        return _look_up(hole_cards, pots)
    boards = boards_to_come(len(deck), len(known), missing)
    is_holdem = len(deck) == 52 and board_cards == _BOARD_CARDS and all(len(cards) == 2 for cards in hole_cards)
    # A single card to come is counted before numpy is imported.
    count = _count_arrays if is_holdem and missing > (0 if _is_compiled else 1) else _count_boards
    counts = count(hole_cards, board, live, pots, missing)
    return [ShowdownOdds(boards, tuple(map(tuple, of_pot))) for of_pot in counts]


def is_tabled(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card] = (),
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _WHOLE_DECK,
    board_cards: int = _BOARD_CARDS,
) -> bool:
    """Whether `odds_by_pot` looks its answer up instead of counting: for two holdings before the flop of hold'em."""
    is_duel = len(hole_cards) == 2 and all(len(cards) == 2 for cards in hole_cards)
    return is_duel and not board and not dead and len(deck) == len(_WHOLE_DECK) and board_cards == _BOARD_CARDS


def _look_up(hole_cards: Sequence[Sequence[Card]], pots: Sequence[Sequence[int]]) -> list[ShowdownOdds]:
    from engine.duels import BOARDS, duel

    won, tied, lost = duel(*hole_cards)
    both = ((won, tied), (lost, tied))
    alone = ((BOARDS, 0), (0, 0))
    return [ShowdownOdds(BOARDS, both if len({*pot}) == 2 else alone if 0 in pot else alone[::-1]) for pot in pots]


_Cards: TypeAlias = Sequence[Card]
_Pots: TypeAlias = Sequence[Sequence[int]]
_Counts: TypeAlias = list[list[list[int]]]
"""By pot, player and number of winners less one: on how many boards."""


def _count_boards(holes: Sequence[_Cards], board: _Cards, live: _Cards, pots: _Pots, missing: int) -> _Counts:
    players = len(holes)
    counts = [[[0] * players for _ in range(players)] for _ in pots]
    known = [(*cards, *board) for cards in holes]
    for rest in combinations(live, missing):
        ranks = [rank_hand(cards + rest) for cards in known]
        for pot, of_pot in zip(pots, counts, strict=True):
            best = max([ranks[player] for player in pot])
            winners = [player for player in pot if ranks[player] == best]
            for player in winners:
                of_pot[player][len(winners) - 1] += 1
    return counts


def _count_arrays(holes: Sequence[_Cards], board: _Cards, live: _Cards, pots: _Pots, missing: int) -> _Counts:
    import numpy as np

    from engine.kernels import showdowns

    counts = np.zeros((len(pots), len(holes), len(holes)), np.int64)
    dealt, deck = np.array(holes, np.uint8), np.array(live, np.uint8)
    if _is_compiled:
        from engine.kernels import board_counts

        members = np.array([[player in pot for player in range(len(holes))] for pot in pots], np.uint8)
        if missing == _BOARD_CARDS:
            board_counts.count_rank_patterns(dealt, deck, members, counts)
        else:
            board_counts.count_boards(dealt, np.array(board, np.uint8), deck, members, counts)
    elif missing == _BOARD_CARDS:
        showdowns.count_rank_patterns(dealt, deck, pots, counts)
    else:
        showdowns.count_boards(dealt, np.array(board, np.uint8), deck, pots, counts)
    found: _Counts = counts.tolist()
    return found


def expected_values(
    spent: Sequence[int], folded: int, pots: Sequence[Pot], equities: Sequence[Sequence[float]]
) -> list[float]:
    """Net chips of every position on average, the expectation of `engine.showdown.showdown_values`.

    Args:
        spent: chips each position put in.
        folded: bit p is set when position p has folded.
        pots: what they play for (see `engine.showdown.side_pots`).
        equities: of each pot, the expected part of each of its players.
    """
    values = [float(-chips) for chips in spent]
    for (amount, players), parts in zip(pots, equities, strict=True):
        for position, part in zip(players, parts, strict=True):
            values[position] += amount * part
    position, returned = uncalled(spent)
    if not folded >> position & 1:
        values[position] += returned
    return values
