"""Chances to win a showdown of hold'em, in two questions.

- *What is a hand worth against unseen cards?* All hands of the opponents and all boards are equally likely.
  `exact_equity` counts every showdown against one opponent, `sampled_equity` draws some against more: the same for the
  same seed on every machine. `equity` chooses between the two, and a shipped table answers before the flop.
- *What is a showdown worth while board cards are still to come?* All hole cards are known, as they are after a hand.
  `showdown_odds` and `odds_by_pot` count every board, `expected_values` makes chips of it.

Where some holdings are known, others in part and others not at all, `chances` answers both.

    >>> odds = showdown_odds([parse_cards("AcAd"), parse_cards("KcKh")])
    >>> odds.boards, odds.wins[0], odds.ties[0]
    (1712304, 1399204, 7923)

Nothing heavy is imported before it is needed. numpy counts (`engine.kernels.showdowns`), so a bot in a match asks at
once. Where millions of samples are drawn in one process, `compile_kernels` pays: from then on, compiled code draws them
and gives the same numbers. Milliseconds of CPU on a core of a busy machine:

                                                numpy     compiled
    start: import, compile samples                120        6,200
    flop against one, 1,070,190 showdowns         2.0            -
    turn against one, 45,540 showdowns            0.6            -
    river against one, 990 showdowns              0.3            -
    flop, 1,000 drawn, against two / nine   0.5 / 1.1  0.03 / 0.05
    before the flop, from the table              0.01            -
    all-in of two before the flop, from a table  0.01            -
    all-in of three before the flop               1.6            -
    all-in of two on the flop                     0.2            -

For `chances`, a player is given as the holdings it may have, all equally likely: one, those of a class such as AKs, or
any (`ANY_HOLDING`). Boards may be known in part, and cards may be dead.

    >>> found = chances([[parse_cards("AhKd")], [parse_cards("QsQc")]], parse_cards("2h7dTc"))
    >>> found.showdowns, found.is_exact, round(found.players[0].equity, 4)
    (990, True, 0.2475)

Everything is counted where that takes seconds: without a player that may hold anything, or with one. Else showdowns are
drawn as `engine.kernels.showdowns.count_sampled` documents, equally many for every choice of the other players'
holdings, and the chances come with their standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, comb, prod, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from engine.cards import CARD_TEXTS, Card, holdings_of, starting_hand
from engine.errors import CardError
from engine.evaluator import rank_hand
from engine.game import Game
from engine.hand import Pot, uncalled
from engine.holdem import is_holdem
from engine.splitmix import MASK_64, mixed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array: TypeAlias = NDArray[np.uint8]

DEFAULT_TRIALS: Final = 1000
"""Showdowns drawn by default: the standard error of a chance is then at most 0.016."""
MAX_OPPONENTS: Final = 9
MOST_BOARDS: Final = 20_000
"""Counted in Python, in games other than hold'em."""
_DECK: Final = tuple(range(52))
_BOARD_CARDS: Final = 5
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
    if not board:
        return preflop_equity(hole)
    _require(hole, board)
    return equity_of_counts(_count_duel(hole, board, _unseen([hole], board)))


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
    cards = _as_arrays(hole, board, _unseen([hole], board))
    start = mixed(seed & MASK_64)
    if _is_compiled and board:
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
    from engine.tables import read_preflop

    at = 3 * (MAX_OPPONENTS * starting_hand(hole) + opponents - 1)
    return Equity(*read_preflop()[at : at + 3])


def compile_kernels() -> None:
    """Let compiled code draw the samples of this process from now on.

    The first then takes some seconds; the numbers are the same.
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
    if len(set(cards)) != len(cards) or min(cards) < 0 or max(cards) >= len(_DECK):
        raise ValueError(f"these are not {len(cards)} different cards 0..51: {list(cards)}")
    if not 1 <= opponents <= MAX_OPPONENTS:
        raise ValueError(f"opponents must be 1 to {MAX_OPPONENTS}, not {opponents}")
    if trials < 1:
        raise ValueError(f"trials must be 1 or more, not {trials}")


def _count_duel(hole: Sequence[int], board: Sequence[int], unseen: Sequence[int]) -> list[int]:
    """The showdowns against one opponent that are lost, won and tied."""
    import numpy as np

    from engine.kernels.showdowns import count_against_one

    counts = np.zeros(3, np.int64)
    count_against_one(*_as_arrays(hole, board, unseen), counts)
    return counts.tolist()


def _as_arrays(
    hole: Sequence[int] | Sequence[Sequence[int]], board: Sequence[int], unseen: Sequence[int]
) -> tuple[_Array, _Array, _Array]:
    import numpy as np

    # Cards may come as bytes, which numpy reads as a text.
    return np.array(tuple(hole), np.uint8), np.array(tuple(board), np.uint8), np.array(unseen, np.uint8)


def _unseen(holdings: Sequence[Sequence[int]], board: Sequence[int], dead: Sequence[int] = ()) -> list[int]:
    seen = {*board, *dead, *[card for cards in holdings for card in cards]}
    return [card for card in _DECK if card not in seen]


# ---- against each other, with board cards to come
@dataclass(frozen=True, slots=True)
class ShowdownOdds:
    """How often each player wins a pot.

    Attributes:
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


def shares_refusal(game: Game) -> str | None:
    """Why no expected shares are counted for a game; None where they are."""
    dealt = game.num_players * game.num_hole_cards
    boards = boards_to_come(len(game.deck), dealt, game.board_cards_by_round[-1])
    if is_holdem(game) or boards <= MOST_BOARDS:
        return None
    return f"a game with {boards:,} boards that is not hold'em has too many to be counted"


def showdown_odds(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card] = (),
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _DECK,
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
    deck: Sequence[Card] = _DECK,
    board_cards: int = _BOARD_CARDS,
) -> list[ShowdownOdds]:
    """How often each player wins each of some pots, over all boards.

    Args:
        hole_cards: of the players that are still in.
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
        raise ValueError("a pot has no players")
    if len(set(map(len, hole_cards))) > 1 or not hole_cards[0]:
        raise ValueError("the players have not equally many hole cards")
    is_holdem = len(deck) == 52 and board_cards == _BOARD_CARDS and len(hole_cards[0]) == 2
    if is_holdem and len(hole_cards) == 2 and not board and not dead:
        return _look_up(hole_cards, pots)
    boards = boards_to_come(len(deck), len(known), missing)
    # A single card to come is counted before numpy is imported.
    count = _count_arrays if is_holdem and missing > 1 else _count_boards
    counts = count(hole_cards, board, live, pots, missing)
    return [ShowdownOdds(boards, tuple(map(tuple, of_pot))) for of_pot in counts]


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
    dealt = np.array(holes, np.uint8)
    deck = np.array(live, np.uint8)
    if missing == _BOARD_CARDS:
        showdowns.count_rank_patterns(dealt, deck, pots, counts)
    else:
        showdowns.count_boards(dealt, np.array(board, np.uint8), deck, pots, counts)
    return counts.tolist()


def expected_values(
    spent: Sequence[int], folded: int, pots: Sequence[Pot], equities: Sequence[Sequence[float]]
) -> list[float]:
    """Net chips of every position on average, the expectation of `engine.hand.showdown_values`.

    Args:
        spent: chips each position put in.
        folded: bit p is set when position p has folded.
        pots: what they play for (see `engine.hand.side_pots`).
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


Holding: TypeAlias = tuple[Card, ...]
ANY_HOLDING: Final[tuple[Holding, ...]] = tuple(combinations(range(52), 2))
"""The holdings of a player with unknown cards."""
DEFAULT_SHOWDOWNS: Final = 1_000_000
MOST_PLAYERS: Final = 10
MOST_CHOICES: Final = 20_000
"""The holdings of the players that are known in part can be chosen together in at most so many ways."""
_MOST_COUNTED: Final = 5_000
"""Choices of all holdings of which all boards are counted: some seconds."""
_TRIALS_AT_ONCE: Final = 50_000


@dataclass(frozen=True, slots=True)
class Chances:
    """The average end of a showdown.

    Attributes:
        players: in the order given.
        standard_errors: of their equities; 0 where all showdowns were counted.
    """

    players: tuple[Equity, ...]
    standard_errors: tuple[float, ...]
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
        players: the holdings that each may have, 2 to 10 players; `ANY_HOLDING` for players with unknown cards.
        board: the known cards of the board, none to five.
        dead: cards that no player can have, such as folded ones.
        trials: showdowns drawn, 1 or more; by default all are counted where there are few enough, else
            `DEFAULT_SHOWDOWNS` are drawn.
        seed: start of the random numbers; counts modulo 2**64.
        progress: called now and then with the part of the computation that is done, 0 to 1.

    Raises:
        CardError: cards or players that cannot be; the message names it.
        OSError: the table of matchups is missing from the installation.
        TableError: the table of matchups is damaged.
    """
    known = [at for at, player in enumerate(players) if len(player) < len(ANY_HOLDING)]
    _require_showdown(players, known, board, dead, trials)
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
        found = _sampled(
            choices, unknown, board, dead, trials=trials or DEFAULT_SHOWDOWNS, seed=seed, progress=progress
        )
    return _in_order(found, order)


def _require_showdown(
    players: Sequence[Sequence[Holding]],
    known: Sequence[int],
    board: Sequence[Card],
    dead: Sequence[Card],
    trials: int | None,
) -> None:
    if not 2 <= len(players) <= MOST_PLAYERS:
        raise CardError(f"a showdown has 2 to {MOST_PLAYERS} players, not {len(players)}")
    if not known:
        raise CardError("the cards of at least one player must be given, at least in part")
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
    places = sorted(range(len(order)), key=order.__getitem__)
    players = [found.players[at] for at in places]
    errors = [found.standard_errors[at] for at in places]
    return replace(found, players=tuple(players), standard_errors=tuple(errors))


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
    if sorted(map(sorted, player)) == sorted(map(sorted, holdings_of(number))):
        return number
    return None


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
    total = [[0] * players for _ in range(players)]
    showdowns = 0
    for done, holdings in enumerate(choices):
        rest = _unseen(holdings, board, dead)
        fields = [(*holdings, other) for other in combinations(rest, 2)] if has_unknown and not is_duel else [holdings]
        for at, field in enumerate(fields):
            if is_duel:
                lost, won, tied = _count_duel(holdings[0], board, rest)
                odds = ShowdownOdds(lost + won + tied, ((won, tied), (lost, tied)))
            else:
                odds = showdown_odds(field, board, dead=dead)
            showdowns += odds.boards
            total = [
                [one + more for one, more in zip(*rows, strict=True)] for rows in zip(total, odds.shared, strict=True)
            ]
            if progress is not None:
                progress((done + (at + 1) / len(fields)) / len(choices))
    return _chances_of_counts(total, showdowns)


def _chances_of_counts(shared: Sequence[Sequence[int]], showdowns: int) -> Chances:
    found = tuple([equity_of_counts([showdowns - sum(of), *of]) for of in shared])
    return Chances(found, (0.0,) * len(found), showdowns, is_exact=True)


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
    players = len(choices[0]) + unknown
    each = ceil(trials / len(choices))
    parts = 1.0 / np.arange(1, players + 1)
    whole = np.zeros((players, players), np.int64)
    variances = np.zeros(players)
    for done, holdings in enumerate(choices):
        cards = _as_arrays(holdings, board, _unseen(holdings, board, dead))
        counts = np.zeros((players, players), np.int64)
        for first in range(0, each, _TRIALS_AT_ONCE):
            drawn = range(first, min(each, first + _TRIALS_AT_ONCE))
            start = mixed(seed + done & MASK_64)
            count_sampled_shares(*cards, unknown, drawn, start=start, counts=counts)
            if progress is not None:
                progress((done + drawn.stop / each) / len(choices))
        whole += counts
        variances += (counts @ parts**2 / each - (counts @ parts / each) ** 2) / each
    total = each * len(choices)
    rows = zip(whole.tolist(), (whole @ parts / total).tolist(), strict=True)
    found = tuple([Equity(row[0] / total, sum(row[1:]) / total, equity) for row, equity in rows])
    errors = tuple([sqrt(max(0.0, variance)) / len(choices) for variance in variances.tolist()])
    return Chances(found, errors, total, is_exact=False)
