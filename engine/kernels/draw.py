"""Compiled showdowns against unseen cards, drawn at random or counted.

The results are those of the functions of the same names in `engine.kernels.showdowns`. `count_sampled` and
`count_against_many` draw the same showdowns, the latter many side by side. `count_against_one` counts all showdowns.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, FLUSHES, KEYS, RANK_KEYS, RANKS_ONLY
from engine.kernels.evaluation import flush_rank, key_and_set, plain_seven_rank, seven_rank
from engine.kernels.jit import njit
from engine.splitmix import FACTORS, SHIFTS, STEP

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_STEP = np.uint64(STEP)
_FACTOR_1, _FACTOR_2 = [np.uint64(factor) for factor in FACTORS]
_SHIFT_1, _SHIFT_2, _SHIFT_3 = [np.uint64(shift) for shift in SHIFTS]
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@njit
def mixed(word: np.uint64) -> np.uint64:
    """Mix a word as `engine.splitmix.mixed` does."""
    word = (word ^ (word >> _SHIFT_1)) * _FACTOR_1
    word = (word ^ (word >> _SHIFT_2)) * _FACTOR_2
    return np.uint64(word ^ (word >> _SHIFT_3))


@njit
def draw_cards(deck: NDArray[np.uint8], draws: int, counter: np.uint64) -> np.uint64:
    """Move cards drawn at random to the front of a deck.

    Args:
        counter: state of the generator.

    Returns:
        The state of the generator after the draws.
    """
    size = len(deck)
    word = _ZERO
    # Each word of the generator makes two draws, its upper half first. A half chooses a place by multiplication.
    for draw in range(draws):
        if draw % 2 == 0:
            counter += _STEP
            word = mixed(counter)
            half = word >> _HALF
        else:
            half = word & _LOW_HALF
        place = draw + np.int64((half * np.uint64(size - draw)) >> _HALF)
        card = deck[place]
        deck[place] = deck[draw]
        deck[draw] = card
    return counter


@njit
def count_sampled(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add `trials` showdowns to counts, as `engine.kernels.showdowns.count_sampled` does."""
    to_come = 5 - len(board)
    draws = to_come + 2 * opponents
    key, cards = key_and_set(board)
    own_key = KEYS[hole[0]] + KEYS[hole[1]]
    own_cards = BITS[hole[0]] | BITS[hole[1]]
    deck = np.empty(len(unseen), np.uint8)
    counter = start
    for _ in range(trials):
        deck[:] = unseen
        counter = np.uint64(draw_cards(deck, draws, counter))
        # Complete the board.
        board_key, board_cards = key, cards
        for i in range(to_come):
            board_key += KEYS[deck[i]]
            board_cards |= BITS[deck[i]]
        ours = seven_rank(board_key + own_key, board_cards | own_cards)
        # Count the winners, until an opponent has a better hand.
        winners = 1
        for i in range(to_come, draws, 2):
            first, second = deck[i], deck[i + 1]
            theirs = seven_rank(board_key + KEYS[first] + KEYS[second], board_cards | BITS[first] | BITS[second])
            if theirs > ours:
                winners = 0
                break
            winners += theirs == ours
        counts[winners] += 1


_BOARD_CARDS: Final = 5
_FOUR, _COUNTER = np.uint64(4), np.uint64(15)
# Showdowns followed side by side. Their arrays almost fit into the first-level cache of a core.
_BATCH: Final = 1024
# Cards drawn for one showdown: nine opponents and two cards of the board.
_MAX_DRAWN: Final = 20
# Length of arrays by place in the deck, a power of two. The last place has no card, so its key and set are 0.
_PLACES: Final = 64
_NO_PLACE: Final = _PLACES - 1


@njit
def count_against_many(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add `trials` showdowns to counts, the same ones as `engine.kernels.showdowns.count_sampled`.

    Showdowns are followed side by side, opponent by opponent. Each loop does one step for a batch of showdowns or for
    those of it that are not lost yet, so that processors execute it without mispredicted branches. A showdown ends
    with the first opponent who has a better hand, and no cards are drawn for the others.

    Args:
        board: three to five cards.
        opponents: number of opponents, 1 to 9.
        start: start of the random numbers.
        counts: lost showdowns at 0, and at k those with k winners including us; length ``opponents + 2`` or more.
    """
    # No deck is shuffled. The words of a showdown follow from its number, and the card at a place of the deck follows
    # from the places drawn before it.
    board_key, board_cards = key_and_set(board)
    own_key = KEYS[hole[0]] + KEYS[hole[1]]
    own_cards = BITS[hole[0]] | BITS[hole[1]]
    # Keys, sets and ranks of the cards by their place in the deck, and the number of cards of each rank.
    key_at, bits_at = np.zeros(_PLACES, np.uint64), np.zeros(_PLACES, np.uint64)
    rank_at, in_deck = np.zeros(_PLACES, np.uint8), np.zeros(13, np.int64)
    size = _fill_places(board_cards | own_cards, key_at, bits_at, rank_at, in_deck)
    to_come = _BOARD_CARDS - len(board)
    may_flush = _can_have_flush(board_key, to_come)
    # Without flushes, a hand follows from the ranks of two cards: ours from the board cards to come, or on a complete
    # board theirs from the hole cards.
    ranks = np.zeros(256, np.uint16)
    if to_come > 0:
        _rank_by_missing((board_key + own_key) & RANKS_ONLY, in_deck, to_come, ranks)
    else:
        _rank_by_missing(board_key & RANKS_ONLY, in_deck, 2, ranks)
    words = np.uint64((to_come + 2 * opponents + 1) // 2) * _STEP
    # Places drawn, by card and showdown. Then by showdown: places in the unshuffled deck of the board cards to come and
    # of an opponent's cards.
    places = np.empty(_MAX_DRAWN * _BATCH, np.uint8)
    turn, river = np.full(_BATCH, _NO_PLACE, np.uint8), np.full(_BATCH, _NO_PLACE, np.uint8)
    one, other = np.empty(_BATCH, np.uint8), np.empty(_BATCH, np.uint8)
    # By showdown: the key of the complete board, our rank, and the number of winners so far.
    keys, ours, winners = np.empty(_BATCH, np.uint64), np.empty(_BATCH, np.uint16), np.empty(_BATCH, np.uint8)
    # The showdowns that are not lost. For these: places drawn, and the key and rank of an opponent's hand.
    left = np.empty(_BATCH, np.uint16)
    upper, lower = np.empty(_BATCH, np.uint8), np.empty(_BATCH, np.uint8)
    hands, theirs = np.empty(_BATCH, np.uint64), np.empty(_BATCH, np.uint16)
    for done in range(0, trials, _BATCH):
        count = min(_BATCH, trials - done)
        alive, drawn = count, 0
        counter = start + np.uint64(done) * words
        for trial in range(count):
            left[trial], winners[trial] = trial, 1
        for opponent in range(opponents):
            # Draw two cards at a time until the board and this opponent have theirs.
            front = to_come + 2 * opponent
            while drawn < front + 2:
                counter += _STEP
                first = drawn * _BATCH
                column = places[first : first + count]
                next_column = places[first + _BATCH : first + _BATCH + count]
                if alive == count:
                    _draw_places(counter, words, left, column, next_column, drawn, size, count)
                else:
                    _draw_places(counter, words, left, upper, lower, drawn, size, alive)
                    _spread(left, upper, lower, column, next_column, alive)
                drawn += 2
            _find_cards(places, front, one, other, count)
            # With the first opponent, complete the boards and rank our hands.
            if opponent == 0:
                if to_come == 1:
                    turn[:count] = places[:count]
                elif to_come == 2:
                    _find_cards(places, 0, turn, river, count)
                if to_come > 0:
                    _our_hands(board_key, key_at, rank_at, ranks, turn, river, keys, ours, count)
                else:
                    keys[:count], ours[:count] = board_key, seven_rank(board_key + own_key, board_cards | own_cards)
                if to_come > 0 and may_flush:
                    _our_flushes(own_key, board_cards | own_cards, bits_at, turn, river, keys, ours, count)
            # Rank the opponent's hands.
            if to_come > 0 or may_flush:
                if alive == count:
                    _all_their_keys(keys, key_at, one, other, hands, count)
                else:
                    _their_keys(left, keys, key_at, one, other, hands, alive)
            if to_come > 0:
                _their_ranks(hands, theirs, alive)
            else:
                _their_ranks_by_two(left, rank_at, ranks, one, other, theirs, alive)
            if may_flush:
                _their_flushes(left, hands, board_cards, bits_at, turn, river, one, other, theirs, alive)
            remaining = _keep(left, ours, theirs, winners, alive)
            counts[0] += alive - remaining
            alive = remaining
        # Count the showdowns that are not lost by their winners.
        for i in range(alive):
            counts[winners[left[i]]] += 1


@njit
def _fill_places(
    known: np.uint64,
    key_at: NDArray[np.uint64],
    bits_at: NDArray[np.uint64],
    rank_at: NDArray[np.uint8],
    in_deck: NDArray[np.int64],
) -> int:
    """Write keys, sets and ranks of the unknown cards by their place in the deck, and count the cards of each rank."""
    size = 0
    for card in range(52):
        if not BITS[card] & known:
            key_at[size] = KEYS[card]
            bits_at[size] = BITS[card]
            rank_at[size] = card >> 2
            in_deck[card >> 2] += 1
            size += 1
    return size


@njit
def _find_cards(
    places: NDArray[np.uint8], front: int, one: NDArray[np.uint8], other: NDArray[np.uint8], count: int
) -> None:
    """Find the places in the unshuffled deck of the cards drawn as number `front` and the next one."""
    start = front * _BATCH
    column = places[start : start + count]
    next_column = places[start + _BATCH : start + _BATCH + count]
    _two_cards(column, next_column, np.uint8(front), one, other, count)
    # Undo the draws before these from the last to the first.
    for before in range(front - 1, -1, -1):
        start = before * _BATCH
        _step_back(places[start : start + count], np.uint8(before), one, other, count)


@njit
def _can_have_flush(board_key: np.uint64, to_come: int) -> bool:
    """Return whether a complete board can have three cards of one suit."""
    can_have = False
    for suit in range(4):
        # The counters of a key start at 3.
        can_have |= bool(np.int64(board_key >> np.uint64(32 + 4 * suit) & _COUNTER) + to_come >= 6)
    return can_have


@njit
def _rank_by_missing(key: np.uint64, in_deck: NDArray[np.int64], missing: int, ranks: NDArray[np.uint16]) -> None:
    """Write the rank of each hand that one or two cards complete, at 16 times the rank of the first plus the second."""
    for one in range(13):
        if in_deck[one] == 0:
            continue
        if missing == 1:
            ranks[one << 4] = plain_seven_rank(key + RANK_KEYS[one])
            continue
        for other in range(13):
            if in_deck[other] > (one == other):
                ranks[one << 4 | other] = plain_seven_rank(key + RANK_KEYS[one] + RANK_KEYS[other])


@njit
def _draw_places(
    counter: np.uint64,
    words: np.uint64,
    trials: NDArray[np.uint16],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    drawn: int,
    size: int,
    count: int,
) -> None:
    """Draw the places of two cards for some showdowns.

    Args:
        counter: state of the generator for this word in the first showdown of the batch.
        words: difference of the state from one showdown to the next.
        drawn: number of cards drawn before.
        size: number of cards in the deck.
    """
    one, one_size = np.uint64(drawn), np.uint64(size - drawn)
    other, other_size = one + _ONE, one_size - _ONE
    for at in range(count):
        word = mixed(counter + np.uint64(trials[at]) * words)
        upper[at] = one + ((word >> _HALF) * one_size >> _HALF)
        lower[at] = other + ((word & _LOW_HALF) * other_size >> _HALF)


@njit
def _spread(
    trials: NDArray[np.uint16],
    upper: NDArray[np.uint8],
    lower: NDArray[np.uint8],
    column: NDArray[np.uint8],
    next_column: NDArray[np.uint8],
    count: int,
) -> None:
    """Copy the places drawn for some showdowns to the columns of all showdowns."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        column[trial], next_column[trial] = upper[at], lower[at]


@njit
def _two_cards(
    column: NDArray[np.uint8],
    next_column: NDArray[np.uint8],
    drawn: np.uint8,
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    count: int,
) -> None:
    """Find the places of two cards before they were drawn one after the other.

    The first draw exchanges the card at its place with the one at place `drawn`.
    """
    for at in range(count):
        place, next_place = column[at], next_column[at]
        one[at] = place
        other[at] = drawn if next_place == place else next_place


@njit
def _step_back(
    column: NDArray[np.uint8], drawn: np.uint8, one: NDArray[np.uint8], other: NDArray[np.uint8], count: int
) -> None:
    """Replace the places of two cards after a draw by their places before it."""
    for at in range(count):
        place, first, second = column[at], one[at], other[at]
        one[at] = drawn if place == first else first
        other[at] = drawn if place == second else second


@njit
def _our_hands(
    board_key: np.uint64,
    key_at: NDArray[np.uint64],
    rank_at: NDArray[np.uint8],
    ranks: NDArray[np.uint16],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    ours: NDArray[np.uint16],
    count: int,
) -> None:
    """Write the keys of the complete boards and our ranks, flushes aside."""
    for at in range(np.uint64(count)):
        first, second = turn[at], river[at]
        keys[at] = board_key + key_at[first] + key_at[second]
        ours[at] = ranks[rank_at[first] << _FOUR | rank_at[second]]


@njit
def _our_flushes(
    own_key: np.uint64,
    known: np.uint64,
    bits_at: NDArray[np.uint64],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    keys: NDArray[np.uint64],
    ours: NDArray[np.uint16],
    count: int,
) -> None:
    """Write our ranks where we have a flush."""
    for at in range(np.uint64(count)):
        if (keys[at] + own_key) & FLUSH:
            ours[at] = flush_rank(known | bits_at[turn[at]] | bits_at[river[at]])


@njit
def _all_their_keys(
    keys: NDArray[np.uint64],
    key_at: NDArray[np.uint64],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    hands: NDArray[np.uint64],
    count: int,
) -> None:
    """Write the keys of an opponent's hands in all showdowns."""
    for at in range(np.uint64(count)):
        hands[at] = keys[at] + key_at[one[at]] + key_at[other[at]]


@njit
def _their_keys(
    trials: NDArray[np.uint16],
    keys: NDArray[np.uint64],
    key_at: NDArray[np.uint64],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    hands: NDArray[np.uint64],
    count: int,
) -> None:
    """Write the keys of an opponent's hands in some showdowns."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        hands[at] = keys[trial] + key_at[one[trial]] + key_at[other[trial]]


@njit
def _their_ranks(hands: NDArray[np.uint64], theirs: NDArray[np.uint16], count: int) -> None:
    """Write the ranks of an opponent's hands, flushes aside."""
    for at in range(np.uint64(count)):
        theirs[at] = plain_seven_rank(hands[at] & RANKS_ONLY)


@njit
def _their_ranks_by_two(
    trials: NDArray[np.uint16],
    rank_at: NDArray[np.uint8],
    ranks: NDArray[np.uint16],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    theirs: NDArray[np.uint16],
    count: int,
) -> None:
    """Write the ranks of an opponent's hands on a complete board, flushes aside."""
    for at in range(np.uint64(count)):
        trial = trials[at]
        theirs[at] = ranks[rank_at[one[trial]] << _FOUR | rank_at[other[trial]]]


@njit
def _their_flushes(
    trials: NDArray[np.uint16],
    hands: NDArray[np.uint64],
    board: np.uint64,
    bits_at: NDArray[np.uint64],
    turn: NDArray[np.uint8],
    river: NDArray[np.uint8],
    one: NDArray[np.uint8],
    other: NDArray[np.uint8],
    theirs: NDArray[np.uint16],
    count: int,
) -> None:
    """Write the ranks of an opponent's hands that are flushes."""
    for at in range(np.uint64(count)):
        if hands[at] & FLUSH:
            trial = trials[at]
            cards = board | bits_at[turn[trial]] | bits_at[river[trial]]
            theirs[at] = flush_rank(cards | bits_at[one[trial]] | bits_at[other[trial]])


@njit
def _keep(
    trials: NDArray[np.uint16],
    ours: NDArray[np.uint16],
    theirs: NDArray[np.uint16],
    winners: NDArray[np.uint8],
    count: int,
) -> int:
    """Keep the showdowns that are not lost, and count the ties. Returns their number."""
    # Every showdown is written to the next free place, which moves on only if it is kept: no branch to mispredict.
    kept = _ZERO
    for at in range(np.uint64(count)):
        trial = trials[at]
        our_rank, their_rank = ours[trial], theirs[at]
        winners[trial] += np.uint8(their_rank == our_rank)
        trials[kept] = trial
        kept += np.uint64(their_rank <= our_rank)
    return int(np.int64(kept))


# Kinds of cards with respect to one suit are numbered as twice the rank, plus one for a card of this suit. This number
# stands for no card.
_NO_CARD: Final = 26


@njit
def count_against_one(hole: NDArray[np.uint8], board: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Add all showdowns against one opponent to counts: all its hands on all boards to come.

    Args:
        board: three to five cards.
        counts: lost, won and tied showdowns; length 3 or more.
    """
    # Boards that are alike in all that counts are counted once, times their number. Without a flush only the ranks of
    # the cards count. With one, the cards of its suit and the ranks of the others do.
    to_come = _BOARD_CARDS - len(board)
    # Cards left, by rank and by suit and rank. Rank 13 stands for no card.
    left = np.full(14, 4, np.int64)
    left[13] = 1
    suited_left = np.zeros((4, 13), np.int64)
    suited_left[:] = 1
    board_ranks, hole_ranks = _ZERO, RANK_KEYS[hole[0] >> 2] + RANK_KEYS[hole[1] >> 2]
    # By suit: our ranks, those of the board, and the number of cards on the board.
    ours, on_board, in_suit = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
    for card in hole:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        ours[card & 3] |= 1 << np.int64(card >> 2)
    for card in board:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        board_ranks += RANK_KEYS[card >> 2]
        on_board[card & 3] |= 1 << np.int64(card >> 2)
        in_suit[card & 3] += 1
    first_a, last_a = (0, _NO_CARD - 1) if to_come > 0 else (_NO_CARD, _NO_CARD)
    with_flush = np.zeros((14, 14), np.int64)
    size = np.ones(_NO_CARD + 1, np.int64)
    nothing = np.zeros(13, np.int64)
    # Boards with at least three cards of a suit, by the kinds of the cards to come.
    for suit in range(4):
        if in_suit[suit] + to_come < 3:
            continue
        suited = suited_left[suit]
        for rank in range(13):
            size[2 * rank], size[2 * rank + 1] = left[rank] - suited[rank], suited[rank]
        for a in range(first_a, last_a + 1):
            for b in range(a if to_come == 2 else _NO_CARD, _NO_CARD if to_come == 2 else _NO_CARD + 1):
                # The kind of no card is even: it is of no suit.
                if in_suit[suit] + (a & 1) + (b & 1) < 3:
                    continue
                times = size[a] * size[b] if a != b or a == _NO_CARD else size[a] * (size[a] - 1) // 2
                if times == 0:
                    continue
                with_flush[a >> 1, b >> 1] += times
                ranks, mask = board_ranks, on_board[suit]
                for kind in (a, b):
                    if kind != _NO_CARD:
                        ranks += RANK_KEYS[kind >> 1]
                        left[kind >> 1] -= 1
                        if kind & 1:
                            suited[kind >> 1] = 0
                            mask |= 1 << (kind >> 1)
                suited_on_board = in_suit[suit] + (a & 1) + (b & 1)
                _compare(ranks, hole_ranks, mask, ours[suit], left, suited, suited_on_board, times, counts)
                for kind in (a, b):
                    if kind != _NO_CARD:
                        left[kind >> 1] += 1
                        suited[kind >> 1] |= kind & 1
    # All other boards, by the ranks of the cards to come: all boards less those counted above.
    for a in range(first_a >> 1, (last_a >> 1) + 1):
        for b in range(a if to_come == 2 else 13, 13 if to_come == 2 else 14):
            ways = left[a] * left[b] if a != b or a == 13 else left[a] * (left[a] - 1) // 2
            times = ways - with_flush[a, b]
            if times == 0:
                continue
            ranks = board_ranks
            for rank in (a, b):
                if rank != 13:
                    ranks += RANK_KEYS[rank]
                    left[rank] -= 1
            _compare(ranks, hole_ranks, 0, 0, left, nothing, 0, times, counts)
            for rank in (a, b):
                if rank != 13:
                    left[rank] += 1


@njit
def _compare(
    ranks: np.uint64,
    hole_ranks: np.uint64,
    mask: int,
    ours: int,
    left: NDArray[np.int64],
    suited: NDArray[np.int64],
    on_board: int,
    times: int,
    counts: NDArray[np.int64],
) -> None:
    """Add the results against all hands of the opponent on one board, `times` times.

    Args:
        ranks: sum of the rank keys of the board.
        hole_ranks: sum of our rank keys.
        mask: ranks of the board in the suit of a possible flush.
        ours: our ranks in this suit.
        left: cards left, by rank.
        suited: those of this suit, by rank.
        on_board: number of cards of this suit on the board; 0 if no flush is possible.
    """
    best = max(plain_seven_rank(ranks + hole_ranks), FLUSHES[mask | ours])
    won = tied = total = 0
    # Sum the numbers of the opponent's hands by their two ranks, first the pairs of rank a.
    for a in range(13):
        of_a, suited_a, with_a = left[a], suited[a], ranks + RANK_KEYS[a]
        if of_a == 0:
            continue
        # With fewer than two cards left there is no pair, and the key of five cards of one rank is not in the table.
        plain = plain_seven_rank(with_a + RANK_KEYS[a]) if of_a > 1 else np.uint16(0)
        ways = of_a * (of_a - 1) // 2
        total += ways
        if on_board > 3:
            # With four cards on the board, one of the two makes a flush. At most one can be of the suit.
            plain = max(plain, FLUSHES[mask])
            one = suited_a * (of_a - 1)
            ways -= one
            theirs = max(plain, FLUSHES[mask | 1 << a])
            won += one if best > theirs else 0
            tied += one if best == theirs else 0
        won += ways if best > plain else 0
        tied += ways if best == plain else 0
        # Then the hands of ranks a and b.
        for b in range(a + 1, 13):
            ways = of_a * left[b]
            if ways == 0:
                continue
            total += ways
            plain = plain_seven_rank(with_a + RANK_KEYS[b])
            both = suited_a * suited[b]
            ways -= both
            if on_board > 3:
                # Hands with one card of the suit, the first or the second.
                plain = max(plain, FLUSHES[mask])
                only_a, only_b = suited_a * left[b] - both, suited[b] * of_a - both
                ways -= only_a + only_b
                theirs = max(plain, FLUSHES[mask | 1 << a])
                won += only_a if best > theirs else 0
                tied += only_a if best == theirs else 0
                theirs = max(plain, FLUSHES[mask | 1 << b])
                won += only_b if best > theirs else 0
                tied += only_b if best == theirs else 0
            won += ways if best > plain else 0
            tied += ways if best == plain else 0
            if both:
                # Both cards are of the suit. A flush is never also a full house, so it is their rank.
                theirs = FLUSHES[mask | 1 << a | 1 << b]
                won += 1 if best > theirs else 0
                tied += 1 if best == theirs else 0
    counts[0] += times * (total - won - tied)
    counts[1] += times * won
    counts[2] += times * tied
