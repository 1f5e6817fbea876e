"""The chances of every player at a showdown of hold'em: holdings that are known, in part known, or not known at all.

A player is given as the holdings it may have, all equally likely: one, those of a class such as AKs, or any
(`ANY_HOLDING`). Boards may be known in part, and cards may be dead.

    >>> from engine.cards import parse_cards
    >>> found = chances([[parse_cards("AhKd")], [parse_cards("QsQc")]], parse_cards("2h7dTc"))
    >>> found.showdowns, found.is_exact, round(found.players[0].equity, 4)
    (990, True, 0.2475)

Everything is counted where that takes seconds: without a player that may hold anything, or with one. Else showdowns are
drawn as `engine.kernels.showdowns.count_sampled` documents, equally many for every choice of the other players'
holdings, and the chances come with their standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, prod, sqrt
from typing import Final, TypeAlias

from engine.cards import CARD_TEXTS, Card
from engine.equity import showdown_odds
from engine.errors import CardError
from engine.splitmix import MASK_64, mixed
from engine.starting_hands import holdings_of, starting_hand

Holding: TypeAlias = tuple[Card, ...]

ANY_HOLDING: Final[tuple[Holding, ...]] = tuple(combinations(range(52), 2))
"""The holdings of a player of whom nothing is known."""

DEFAULT_TRIALS: Final = 1_000_000
MOST_PLAYERS: Final = 10
MOST_CHOICES: Final = 20_000
"""The holdings of the players that are known in part can be chosen together in at most so many ways."""

_MOST_COUNTED: Final = 5_000
"""Choices of all holdings of which all boards are counted: some seconds."""
_TRIALS_AT_ONCE: Final = 50_000
_BOARD_CARDS: Final = 5
_DECK: Final = range(52)


@dataclass(frozen=True, slots=True)
class Chance:
    """How a showdown ends for a player, on average.

    Attributes:
        win: the chance to win alone, 0 to 1.
        tie: the chance to share the pot, 0 to 1.
        equity: the expected share of the pot, 0 to 1.
        standard_error: of the equity; 0 where all showdowns were counted.
    """

    win: float
    tie: float
    equity: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Chances:
    """How a showdown ends.

    Attributes:
        players: in the order given.
        showdowns: how many were counted or drawn.
        is_exact: whether these are all there are.
    """

    players: tuple[Chance, ...]
    showdowns: int
    is_exact: bool


def chances(
    players: Sequence[Sequence[Holding]],
    board: Sequence[Card] = (),
    *,
    dead: Sequence[Card] = (),
    trials: int | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Chances:
    """The chances of every player.

    Args:
        players: the holdings that each may have, 2 to 10 players; `ANY_HOLDING` for players of whom nothing is known.
        board: the known cards of the board, none to five.
        dead: cards that nobody can have, such as folded ones.
        trials: showdowns drawn, 1 or more; by default all are counted where there are few enough, else
            `DEFAULT_TRIALS` are drawn.
        seed: start of the random numbers; counts modulo 2**64.
        progress: called now and then with the part of the work that is done, 0 to 1.

    Raises:
        CardError: cards or players that cannot be; the message says which.
        OSError: the table of matchups is missing from the installation.
        TableError: the table of matchups is damaged.
    """
    known = [at for at, player in enumerate(players) if len(player) < len(ANY_HOLDING)]
    _require(players, known, board, dead, trials)
    unknown = len(players) - len(known)
    order = [*known, *[at for at in range(len(players)) if at not in known]]
    ranges = [[cards for cards in players[at] if not {*cards} & {*board, *dead}] for at in known]
    choices = list(_choices(ranges))
    if not choices:
        raise CardError("the players cannot hold these cards together: too many of them are taken")
    free = len(_DECK) - len(board) - len(dead) - 2 * len(known)
    if trials is None and unknown <= 1 and not board and not dead:
        table = _from_table([players[at] for at in known], unknown)
        if table is not None:
            return _in_order(table, order)
    is_duel = len(players) == 2 and unknown == 1 and len(board) >= 3
    counted = len(choices) * (1 if is_duel or not unknown else comb(free, 2))
    has_all = unknown == 0 and len(board) == _BOARD_CARDS
    if has_all or (trials is None and unknown <= 1 and counted <= _MOST_COUNTED):
        found = _counted(choices, board, dead, has_unknown=unknown == 1, is_duel=is_duel, progress=progress)
    else:
        found = _sampled(choices, unknown, board, dead, trials=trials or DEFAULT_TRIALS, seed=seed, progress=progress)
    return _in_order(found, order)


def _require(
    players: Sequence[Sequence[Holding]],
    known: Sequence[int],
    board: Sequence[Card],
    dead: Sequence[Card],
    trials: int | None,
) -> None:
    if not 2 <= len(players) <= MOST_PLAYERS:
        raise CardError(f"a showdown has 2 to {MOST_PLAYERS} players, not {len(players)}")
    if not known:
        raise CardError("of at least one player something must be known")
    if len(board) > _BOARD_CARDS:
        raise CardError(f"a board has at most {_BOARD_CARDS} cards, not {len(board)}")
    # What is known for sure: a card may be in one place only.
    sure = [card for at in known if len(players[at]) == 1 for card in players[at][0]]
    cards = [*sure, *board, *dead]
    twice = [CARD_TEXTS[card] for at, card in enumerate(cards) if card in cards[:at]]
    if twice:
        raise CardError(f"{twice[0]} is named twice")
    if len(board) + len(dead) + 2 * len(players) + _BOARD_CARDS - len(board) > len(_DECK):
        raise CardError(f"{len(dead)} dead cards leave too few for {len(players)} players and a board")
    if trials is not None and trials < 1:
        raise CardError(f"at least one showdown must be drawn, not {trials}")
    if prod(len(players[at]) for at in known) > MOST_CHOICES:
        ways = prod(len(players[at]) for at in known)
        raise CardError(f"the players' holdings can be chosen in {ways:,} ways, and at most {MOST_CHOICES:,} are taken")


def _choices(ranges: Sequence[Sequence[Holding]]) -> Iterator[tuple[Holding, ...]]:
    if not ranges:
        yield ()
        return
    for rest in _choices(ranges[:-1]):
        taken = {card for cards in rest for card in cards}
        yield from ((*rest, cards) for cards in ranges[-1] if not taken & {*cards})


def _in_order(found: Chances, order: Sequence[int]) -> Chances:
    players = dict(zip(order, found.players, strict=True))
    return Chances(tuple([players[at] for at in range(len(order))]), found.showdowns, found.is_exact)


# ---- counted


def _from_table(known: Sequence[Sequence[Holding]], unknown: int) -> Chances | None:
    numbers = [_class_of(player) for player in known]
    is_one_of_its_class = unknown == 1 and len(known) == 1 and len(known[0]) == 1
    if len(known) + unknown != 2 or (None in numbers and not is_one_of_its_class):
        return None
    from engine.matchups import counts

    if unknown:
        number = starting_hand(known[0][0])
        won, tied, lost = counts()[number].sum(axis=0).tolist()
        if is_one_of_its_class:
            won, tied, lost = [count // len(holdings_of(number)) for count in (won, tied, lost)]
    else:
        won, tied, lost = counts()[numbers[0], numbers[1]].tolist()
    return _chances_of_counts([[won, tied], [lost, tied]], won + tied + lost)


def _class_of(player: Sequence[Holding]) -> int | None:
    number = starting_hand(player[0])
    return number if sorted(map(sorted, player)) == sorted(map(sorted, holdings_of(number))) else None


def _counted(
    choices: Sequence[tuple[Holding, ...]],
    board: Sequence[Card],
    dead: Sequence[Card],
    *,
    has_unknown: bool,
    is_duel: bool,
    progress: Callable[[float], None] | None,
) -> Chances:
    players = len(choices[0]) + has_unknown
    total, showdowns = [[0] * players for _ in range(players)], 0
    for done, holdings in enumerate(choices):
        rest = _unseen(holdings, board, dead)
        fields = [(*holdings, other) for other in combinations(rest, 2)] if has_unknown and not is_duel else [holdings]
        for at, field in enumerate(fields):
            if is_duel:
                shared, boards = _count_duel(holdings[0], board, rest)
            else:
                odds = showdown_odds(field, board, dead=dead)
                shared, boards = odds.shared, odds.boards
            showdowns += boards
            total = [[one + more for one, more in zip(*rows, strict=True)] for rows in zip(total, shared, strict=True)]
            if progress is not None:
                progress((done + (at + 1) / len(fields)) / len(choices))
    return _chances_of_counts(total, showdowns)


def _count_duel(
    hole: Holding, board: Sequence[Card], unseen: Sequence[Card]
) -> tuple[tuple[tuple[int, ...], ...], int]:
    import numpy as np

    from engine.kernels.showdowns import count_against_one

    counts = np.zeros(3, np.int64)
    own, table, rest = [np.array(tuple(cards), np.uint8) for cards in (hole, board, unseen)]
    count_against_one(own, table, rest, counts)
    lost, won, tied = counts.tolist()
    return ((won, tied), (lost, tied)), lost + won + tied


def _chances_of_counts(shared: Sequence[Sequence[int]], showdowns: int) -> Chances:
    found = []
    for of_player in shared:
        share = sum([count / winners for winners, count in enumerate(of_player, 1)])
        found.append(Chance(of_player[0] / showdowns, sum(of_player[1:]) / showdowns, share / showdowns, 0.0))
    return Chances(tuple(found), showdowns, is_exact=True)


def _unseen(holdings: Sequence[Holding], board: Sequence[Card], dead: Sequence[Card]) -> list[Card]:
    seen = {*board, *dead, *[card for cards in holdings for card in cards]}
    return [card for card in _DECK if card not in seen]


# ---- drawn


def _sampled(
    choices: Sequence[tuple[Holding, ...]],
    unknown: int,
    board: Sequence[Card],
    dead: Sequence[Card],
    trials: int,
    seed: int,
    progress: Callable[[float], None] | None,
) -> Chances:
    import numpy as np

    from engine.kernels.showdowns import count_sampled_shares

    # Each choice is as likely as any other: it leaves as many cards to draw. So the chances are means over the choices,
    # and the variances of these means add up.
    players, each = len(choices[0]) + unknown, ceil(trials / len(choices))
    parts = 1.0 / np.arange(1, players + 1)
    whole, variances = np.zeros((players, players), np.int64), np.zeros(players)
    for done, holdings in enumerate(choices):
        unseen = _unseen(holdings, board, dead)
        own, table, rest = [np.array(cards, np.uint8) for cards in (holdings, tuple(board), unseen)]
        counts = np.zeros((players, players), np.int64)
        for first in range(0, each, _TRIALS_AT_ONCE):
            drawn = range(first, min(each, first + _TRIALS_AT_ONCE))
            start = mixed(seed + done & MASK_64)
            count_sampled_shares(own, table, rest, unknown, drawn, start=start, counts=counts)
            if progress is not None:
                progress((done + drawn.stop / each) / len(choices))
        whole += counts
        variances += (counts @ parts**2 / each - (counts @ parts / each) ** 2) / each
    total = each * len(choices)
    rows = zip(whole.tolist(), (whole @ parts / total).tolist(), variances.tolist(), strict=True)
    found = [
        Chance(row[0] / total, sum(row[1:]) / total, equity, sqrt(max(0.0, variance)) / len(choices))
        for row, equity, variance in rows
    ]
    return Chances(tuple(found), total, is_exact=False)
