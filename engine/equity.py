"""Equities of hold'em hands: chances to win a showdown.

`equity` is for a player who sees two cards and a board and does not know the cards of the opponents. `showdown_odds`
and `odds_by_pot` are for known hole cards with board cards to come, and `expected_values` converts them to chips.
`chances` takes any mixture of known, partly known and unknown holdings.

    >>> odds = showdown_odds([parse_cards("AcAd"), parse_cards("KcKh")])
    >>> odds.boards, odds.wins[0], odds.ties[0]
    (1712304, 1399204, 7923)
    >>> result = chances([[parse_cards("AhKd")], [parse_cards("QsQc")]], parse_cards("2h7dTc"))
    >>> result.showdowns, result.is_exact, round(result.players[0].equity, 4)
    (990, True, 0.2475)
"""

# numpy counts showdowns, and nothing is compiled unless compile_kernels() was called: a bot that starts for one match
# would wait 6 s for the compiler. Milliseconds of one core:
#
#                                             numpy     compiled
# start: import, compile samples                120        6,200
# flop against one, 1,070,190 showdowns         2.0            -
# turn against one, 45,540 showdowns            0.6            -
# river against one, 990 showdowns              0.3            -
# flop, 1,000 drawn, against two / nine   0.5 / 1.1  0.03 / 0.05
# before the flop, from the table              0.01            -
# all-in of two before the flop, from a table  0.01            -
# all-in of three before the flop               1.6            -
# all-in of two on the flop                     0.2            -

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
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
"""Number of showdowns drawn by default, for a standard error of at most 0.016."""
MAX_OPPONENTS: Final = 9
MAX_BOARDS: Final = 20_000
"""Maximum number of boards to count in games other than hold'em, where each board is ranked in Python."""
_DECK: Final = tuple(range(52))
_BOARD_CARDS: Final = 5
_is_compiled = False


class Equity(NamedTuple):
    """Average result of a showdown for one player.

    Attributes:
        win: probability of the best hand.
        tie: probability of one of several best hands.
        equity: expected share of the pot, 0 to 1.
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
    """Return the equity against unknown hands, exact for one opponent and sampled for more.

    Args:
        hole: two cards, each 0..51 = rank * 4 + suit.
        board: cards on the table, none or three to five.
        opponents: number of opponents who have not folded, 1 to 9.
        trials: number of showdowns drawn against two opponents or more.
        seed: seed of the random numbers, modulo 2**64.

    Raises:
        ValueError: cards, opponents or trials are invalid.
    """
    if opponents == 1:
        _require(hole, board, opponents, trials)
        return exact_equity(hole, board)
    return sampled_equity(hole, board, opponents, trials=trials, seed=seed)


def exact_equity(hole: Sequence[int], board: Sequence[int] = ()) -> Equity:
    """Return the exact equity against one opponent. Cards and errors are those of `equity`."""
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
    """Return the equity in `trials` showdowns with all unknown cards drawn at random.

    The same seed gives the same result on every machine. Arguments and errors are those of `equity`.
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
    """Return the equity before the flop from the shipped table: exact for one opponent, a million draws for more.

    Arguments and errors are those of `equity`.
    """
    _require(hole, (), opponents)
    from engine.tables import read_preflop

    start = 3 * (MAX_OPPONENTS * starting_hand(hole) + opponents - 1)
    return Equity(*read_preflop()[start : start + 3])


def compile_kernels() -> None:
    """Draw the samples of this process with compiled code from now on, for programs that draw millions.

    The results are the same. The first call takes some seconds.
    """
    global _is_compiled
    _is_compiled = True


def equity_of_counts(counts: Sequence[int]) -> Equity:
    """Convert counts of showdowns: those lost, then those won alone, shared by two, by three and so on."""
    total = sum(counts)
    # sum() corrects rounding errors since Python 3.12, and bots.learner.kernel repeats this to the last bit.
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
    """Return the numbers of showdowns against one opponent that are lost, won and tied."""
    import numpy as np

    from engine.kernels.showdowns import count_against_one

    counts = np.zeros(3, np.int64)
    count_against_one(*_as_arrays(hole, board, unseen), counts)
    return counts.tolist()


def _as_arrays(
    hole: Sequence[int] | Sequence[Sequence[int]], board: Sequence[int], unseen: Sequence[int]
) -> tuple[_Array, _Array, _Array]:
    import numpy as np

    # Cards can be bytes, which numpy would read as a text.
    own = np.array(tuple(hole), np.uint8)
    return own, np.array(tuple(board), np.uint8), np.array(unseen, np.uint8)


def _unseen(holdings: Sequence[Sequence[int]], board: Sequence[int], dead: Sequence[int] = ()) -> list[int]:
    seen = {*board, *dead, *[card for cards in holdings for card in cards]}
    return [card for card in _DECK if card not in seen]


@dataclass(frozen=True, slots=True)
class ShowdownOdds:
    """Results of one pot over all boards to come.

    Attributes:
        boards: number of boards.
        shared: for each player, the numbers of boards on which the player is one of 1, 2, ... winners.
    """

    boards: int
    shared: tuple[tuple[int, ...], ...]

    @property
    def wins(self) -> tuple[int, ...]:
        """Number of boards won alone, by player."""
        return tuple([counts[0] for counts in self.shared])

    @property
    def ties(self) -> tuple[int, ...]:
        """Number of boards on which the pot is shared, by player."""
        return tuple([sum(counts[1:]) for counts in self.shared])

    @property
    def equities(self) -> tuple[float, ...]:
        """Expected share of the pot by player, 0 to 1."""
        equities = []
        for counts in self.shared:
            share = sum([count / winners for winners, count in enumerate(counts, 1)])
            equities.append(share / self.boards)
        return tuple(equities)


def boards_to_come(deck_cards: int, known_cards: int, board_cards: int) -> int:
    """Return the number of possible boards.

    Args:
        deck_cards: size of the whole deck.
        known_cards: number of cards that cannot come.
        board_cards: number of board cards to come.
    """
    return comb(deck_cards - known_cards, board_cards)


def shares_refusal(game: Game) -> str | None:
    """Return the reason why expected shares of a game are not counted, or None if they are."""
    dealt = game.num_players * game.num_hole_cards
    boards = boards_to_come(len(game.deck), dealt, game.board_cards_by_round[-1])
    if is_holdem(game) or boards <= MAX_BOARDS:
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
    """Return the odds of a pot for which all players play. Arguments and errors are those of `odds_by_pot`."""
    all_players = range(len(hole_cards))
    return odds_by_pot(hole_cards, board, [all_players], dead=dead, deck=deck, board_cards=board_cards)[0]


def odds_by_pot(
    hole_cards: Sequence[Sequence[Card]],
    board: Sequence[Card],
    pots: Sequence[Sequence[int]],
    *,
    dead: Sequence[Card] = (),
    deck: Sequence[Card] = _DECK,
    board_cards: int = _BOARD_CARDS,
) -> list[ShowdownOdds]:
    """Return the odds of each pot, counted over all boards to come.

    Args:
        hole_cards: cards of each player who has not folded.
        board: known board cards.
        pots: indices into `hole_cards` of the players who play for each pot.
        dead: other cards that cannot come, such as folded ones.
        deck: all cards of the game.
        board_cards: number of cards of a complete board.

    Raises:
        ValueError: cards are repeated, not in the deck or too many, or a pot has no players.
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
    is_like_holdem = len(deck) == 52 and board_cards == _BOARD_CARDS and len(hole_cards[0]) == 2
    if is_like_holdem and len(hole_cards) == 2 and not board and not dead:
        return _look_up(hole_cards, pots)
    boards = boards_to_come(len(deck), len(known), missing)
    if is_like_holdem and missing > 1:
        counts = _count_arrays(hole_cards, board, live, pots, missing)
    else:
        # A single card to come is counted in less time than numpy takes to import.
        counts = _count_boards(hole_cards, board, live, pots, missing)
    return [ShowdownOdds(boards, tuple(map(tuple, pot_counts))) for pot_counts in counts]


def _look_up(hole_cards: Sequence[Sequence[Card]], pots: Sequence[Sequence[int]]) -> list[ShowdownOdds]:
    from engine.duels import BOARDS, duel

    won, tied, lost = duel(*hole_cards)
    odds = []
    for pot in pots:
        if len({*pot}) == 2:
            shared = ((won, tied), (lost, tied))
        elif 0 in pot:
            shared = ((BOARDS, 0), (0, 0))
        else:
            shared = ((0, 0), (BOARDS, 0))
        odds.append(ShowdownOdds(BOARDS, shared))
    return odds


_Cards: TypeAlias = Sequence[Card]
_Pots: TypeAlias = Sequence[Sequence[int]]
# Numbers of boards by pot, player and number of winners less one.
_Counts: TypeAlias = list[list[list[int]]]


def _count_boards(holes: Sequence[_Cards], board: _Cards, live: _Cards, pots: _Pots, missing: int) -> _Counts:
    players = len(holes)
    counts = [[[0] * players for _ in range(players)] for _ in pots]
    known = [(*cards, *board) for cards in holes]
    for rest in combinations(live, missing):
        ranks = [rank_hand(cards + rest) for cards in known]
        for pot, pot_counts in zip(pots, counts, strict=True):
            best = max([ranks[player] for player in pot])
            winners = [player for player in pot if ranks[player] == best]
            for player in winners:
                pot_counts[player][len(winners) - 1] += 1
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
    """Return the expected net chips of every position, the mean of `engine.hand.showdown_values`.

    Args:
        spent: chips put in, by position.
        folded: positions that have folded, as a set of bits.
        pots: the pots as `engine.hand.side_pots` returns them.
        equities: for each pot, the expected shares of its players, 0 to 1.
    """
    values = [float(-chips) for chips in spent]
    for (amount, players), shares in zip(pots, equities, strict=True):
        for position, share in zip(players, shares, strict=True):
            values[position] += amount * share
    position, returned = uncalled(spent)
    if not folded >> position & 1:
        values[position] += returned
    return values


Holding: TypeAlias = tuple[Card, ...]
ANY_HOLDING: Final[tuple[Holding, ...]] = tuple(combinations(range(52), 2))
"""All holdings, for a player with unknown cards."""
DEFAULT_SHOWDOWNS: Final = 1_000_000
MAX_PLAYERS: Final = 10
# Combinations of the holdings of partly known players.
_MAX_CHOICES: Final = 20_000
# Combinations of all holdings for which all boards are counted. This many take some seconds.
_MAX_COUNTED: Final = 5_000
_TRIALS_PER_CALL: Final = 50_000


@dataclass(frozen=True, slots=True)
class Chances:
    """Average result of a showdown for all players.

    Attributes:
        players: results in the order of the arguments.
        standard_errors: standard errors of the equities; 0 if all showdowns were counted.
        showdowns: number of showdowns counted or drawn.
        is_exact: all showdowns were counted.
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
    """Return the equities of all players, each with a known, partly known or unknown holding.

    All showdowns are counted if at most one player is unknown and this takes seconds. Otherwise showdowns are drawn,
    equally many for each combination of the known players' holdings.

    Args:
        players: possible holdings of each player, all equally likely; `ANY_HOLDING` for an unknown player.
        board: known board cards, none to five.
        dead: cards that no player can have, such as folded ones.
        trials: number of showdowns to draw; None to count all if there are few enough, or draw `DEFAULT_SHOWDOWNS`.
        seed: seed of the random numbers, modulo 2**64.
        progress: called from time to time with the completed part of the work, 0 to 1.

    Raises:
        CardError: cards or players are invalid.
        OSError: the table of matchups is missing from the installation.
        TableError: the table of matchups is damaged.
    """
    known = [index for index, player in enumerate(players) if len(player) < len(ANY_HOLDING)]
    _require_showdown(players, known, board, dead, trials)
    num_unknown = len(players) - len(known)
    # The results below are for the known players and then the unknown ones.
    order = [*known, *[index for index in range(len(players)) if index not in known]]
    taken = {*board, *dead}
    ranges = [[cards for cards in players[index] if not {*cards} & taken] for index in known]
    choices = list(_choices(ranges))
    if not choices:
        raise CardError("the players cannot hold these cards together because too many of them are taken")
    if trials is None and num_unknown <= 1 and not taken:
        result = _look_up_chances([players[index] for index in known], num_unknown)
        if result is not None:
            return _in_order(result, order)
    is_duel = len(players) == 2 and num_unknown == 1 and len(board) >= 3
    num_counted = len(choices)
    if num_unknown and not is_duel:
        num_free = len(_DECK) - len(board) - len(dead) - 2 * len(known)
        num_counted *= comb(num_free, 2)
    # Without a card to come there is nothing to draw.
    is_decided = num_unknown == 0 and len(board) == _BOARD_CARDS
    if is_decided or (trials is None and num_unknown <= 1 and num_counted <= _MAX_COUNTED):
        result = _count_chances(choices, board, dead, has_unknown=num_unknown == 1, is_duel=is_duel, progress=progress)
    else:
        result = _sample_chances(
            choices, num_unknown, board, dead, trials=trials or DEFAULT_SHOWDOWNS, seed=seed, progress=progress
        )
    return _in_order(result, order)


def _require_showdown(
    players: Sequence[Sequence[Holding]],
    known: Sequence[int],
    board: Sequence[Card],
    dead: Sequence[Card],
    trials: int | None,
) -> None:
    if not 2 <= len(players) <= MAX_PLAYERS:
        raise CardError(f"a showdown has 2 to {MAX_PLAYERS} players, not {len(players)}")
    if not known:
        raise CardError("the cards of at least one player must be given, at least in part")
    if len(board) > _BOARD_CARDS:
        raise CardError(f"a board has at most {_BOARD_CARDS} cards, not {len(board)}")
    cards = [*board, *dead]
    for index in known:
        if len(players[index]) == 1:
            cards += players[index][0]
    for index, card in enumerate(cards):
        if card in cards[:index]:
            raise CardError(f"{CARD_TEXTS[card]} is named twice")
    if len(dead) + 2 * len(players) + _BOARD_CARDS > len(_DECK):
        raise CardError(f"{len(dead)} dead cards leave too few for {len(players)} players and a board")
    if trials is not None and trials < 1:
        raise CardError(f"at least one showdown must be drawn, not {trials}")
    num_choices = prod([len(players[index]) for index in known])
    if num_choices > _MAX_CHOICES:
        raise CardError(
            f"the players' holdings can be chosen in {num_choices:,} ways, and at most {_MAX_CHOICES:,} are taken"
        )


def _choices(ranges: Sequence[Sequence[Holding]]) -> Iterator[tuple[Holding, ...]]:
    """Yield the combinations of one holding of each range without a common card."""
    if not ranges:
        yield ()
        return
    for holdings in _choices(ranges[:-1]):
        taken = set(chain.from_iterable(holdings))
        for cards in ranges[-1]:
            if not taken & {*cards}:
                yield (*holdings, cards)


def _in_order(result: Chances, order: Sequence[int]) -> Chances:
    """Reorder the players of a result, whose player i is number ``order[i]`` of the arguments."""
    indexes = sorted(range(len(order)), key=order.__getitem__)
    players = [result.players[index] for index in indexes]
    errors = [result.standard_errors[index] for index in indexes]
    return replace(result, players=tuple(players), standard_errors=tuple(errors))


def _look_up_chances(known: Sequence[Sequence[Holding]], num_unknown: int) -> Chances | None:
    """Return the chances of two players before the flop from the table of matchups, or None if they are not in it."""
    if len(known) + num_unknown != 2:
        return None
    numbers = [_starting_hand_of(player) for player in known]
    is_single = num_unknown == 1 and len(known[0]) == 1
    if None in numbers and not is_single:
        return None
    from engine.matchups import counts

    if num_unknown:
        number = starting_hand(known[0][0])
        won, tied, lost = counts()[number].sum(axis=0).tolist()
        if is_single:
            # All holdings of a starting hand have the same equity against unknown cards.
            num_holdings = len(holdings_of(number))
            won //= num_holdings
            tied //= num_holdings
            lost //= num_holdings
    else:
        won, tied, lost = counts()[numbers[0], numbers[1]].tolist()
    return _exact_chances([[won, tied], [lost, tied]], won + tied + lost)


def _starting_hand_of(player: Sequence[Holding]) -> int | None:
    """Return the starting hand of which a range has all holdings, or None."""
    number = starting_hand(player[0])
    if sorted(map(sorted, player)) == sorted(map(sorted, holdings_of(number))):
        return number
    return None


def _count_chances(
    choices: Sequence[tuple[Holding, ...]],
    board: Sequence[Card],
    dead: Sequence[Card],
    *,
    has_unknown: bool,
    is_duel: bool,
    progress: Callable[[float], None] | None,
) -> Chances:
    """Count all showdowns of all combinations of holdings.

    Args:
        has_unknown: one more player can have any holding.
        is_duel: the unknown player is the only opponent, and the board is not empty.
    """
    num_players = len(choices[0]) + has_unknown
    total = [[0] * num_players for _ in range(num_players)]
    showdowns = 0
    for num_done, holdings in enumerate(choices):
        unseen = _unseen(holdings, board, dead)
        fields = [holdings]
        if has_unknown and not is_duel:
            fields = [(*holdings, other) for other in combinations(unseen, 2)]
        for number, field in enumerate(fields, 1):
            if is_duel:
                lost, won, tied = _count_duel(holdings[0], board, unseen)
                odds = ShowdownOdds(lost + won + tied, ((won, tied), (lost, tied)))
            else:
                odds = showdown_odds(field, board, dead=dead)
            showdowns += odds.boards
            for row, shared in zip(total, odds.shared, strict=True):
                for index, count in enumerate(shared):
                    row[index] += count
            if progress is not None:
                progress((num_done + number / len(fields)) / len(choices))
    return _exact_chances(total, showdowns)


def _exact_chances(shared: Sequence[Sequence[int]], showdowns: int) -> Chances:
    """Convert the numbers of showdowns in which each player is one of 1, 2, ... winners."""
    players = tuple([equity_of_counts([showdowns - sum(counts), *counts]) for counts in shared])
    return Chances(players, (0.0,) * len(players), showdowns, is_exact=True)


def _sample_chances(
    choices: Sequence[tuple[Holding, ...]],
    num_unknown: int,
    board: Sequence[Card],
    dead: Sequence[Card],
    trials: int,
    seed: int,
    progress: Callable[[float], None] | None,
) -> Chances:
    import numpy as np

    from engine.kernels.showdowns import count_sampled_shares

    # Combinations of holdings are strata: all are equally likely, because each leaves as many cards to draw. The
    # equities are the means of those of the strata, and the variances of these means add up.
    num_players = len(choices[0]) + num_unknown
    num_strata = len(choices)
    trials_each = ceil(trials / num_strata)
    shares = 1.0 / np.arange(1, num_players + 1)
    total_counts = np.zeros((num_players, num_players), np.int64)
    variances = np.zeros(num_players)
    for stratum, holdings in enumerate(choices):
        cards = _as_arrays(holdings, board, _unseen(holdings, board, dead))
        counts = np.zeros((num_players, num_players), np.int64)
        for first in range(0, trials_each, _TRIALS_PER_CALL):
            numbers = range(first, min(trials_each, first + _TRIALS_PER_CALL))
            start = mixed(seed + stratum & MASK_64)
            count_sampled_shares(*cards, num_unknown, numbers, start=start, counts=counts)
            if progress is not None:
                progress((stratum + numbers.stop / trials_each) / num_strata)
        total_counts += counts
        means = counts @ shares / trials_each
        variances += (counts @ shares**2 / trials_each - means**2) / trials_each
    total = trials_each * num_strata
    players = []
    for row, mean in zip(total_counts.tolist(), (total_counts @ shares / total).tolist(), strict=True):
        players.append(Equity(row[0] / total, sum(row[1:]) / total, mean))
    errors = [sqrt(max(0.0, variance)) / num_strata for variance in variances.tolist()]
    return Chances(tuple(players), tuple(errors), total, is_exact=False)
