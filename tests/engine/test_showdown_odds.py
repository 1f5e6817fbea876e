"""Showdowns counted over all boards: known equities, and every method against a slow twin."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from engine import Card, parse_cards, rank_hand
from engine.equity import ShowdownOdds, boards_to_come, expected_values, odds_by_pot, showdown_odds
from engine.hand import showdown_values, side_pots
from engine.kernels import showdowns
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.evaluation import seven_rank
from engine.kernels.jit import njit

WHOLE_DECK = tuple(range(52))


def holes(text: str) -> list[tuple[Card, ...]]:
    return [parse_cards(cards) for cards in text.split()]


def deal_cards(
    chance: random.Random, players: int, board_cards: int, dead_cards: int = 0
) -> tuple[list[tuple[int, ...]], ...]:
    """Deal hole cards and, as lists of one, the board and dead cards."""
    deck = chance.sample(range(52), 2 * players + board_cards + dead_cards)
    cut = 2 * players
    return (
        [tuple(deck[i : i + 2]) for i in range(0, cut, 2)],
        [tuple(deck[cut : cut + board_cards])],
        [tuple(deck[cut + board_cards :])],
    )


def naive_odds(
    hole_cards: Sequence[tuple[Card, ...]], board: tuple[Card, ...], dead: tuple[Card, ...], pot: Sequence[int]
) -> list[list[int]]:
    """Count boards by player and number of winners."""
    known = {*board, *dead, *(card for cards in hole_cards for card in cards)}
    counts = [[0] * len(hole_cards) for _ in hole_cards]
    for rest in combinations([card for card in WHOLE_DECK if card not in known], 5 - len(board)):
        ranks = {player: rank_hand(hole_cards[player] + board + rest) for player in pot}
        winners = [player for player in pot if ranks[player] == max(ranks.values())]
        for player in winners:
            counts[player][len(winners) - 1] += 1
    return counts


# ---- known numbers


@pytest.mark.parametrize(
    ("hands", "wins", "ties"),
    [
        # Aces against kings, by the number of suits they share.
        pytest.param("AcAd KcKd", 1410336, 9308, id="AA KK, both suits shared"),
        pytest.param("AcAd KcKh", 1399204, 7923, id="AA KK, one suit shared"),
        pytest.param("2c3d 2d3c", 12216, 1687872, id="the same low cards"),
        pytest.param("AhKh QsQc", 787966, 6732, id="two suited overcards against a pair"),
    ],
)
def test_known_hands_before_the_flop(hands: str, wins: int, ties: int) -> None:
    odds = showdown_odds(holes(hands))
    assert odds.boards == 1_712_304
    assert (odds.wins[0], odds.ties) == (wins, (ties, ties))
    assert odds.wins[1] == 1_712_304 - wins - ties
    assert odds.equities[0] == pytest.approx((wins + ties / 2) / 1_712_304)
    assert sum(odds.equities) == pytest.approx(1)


# ---- comparison with the slow twin


@pytest.mark.parametrize("seed", range(5))
def test_turn_and_river_equal_the_slow_twin(seed: int) -> None:
    chance = random.Random(seed)
    players, board_cards = chance.choice([2, 2, 3, 4, 6]), chance.choice([3, 4])
    cards, (board,), (dead,) = deal_cards(chance, players, board_cards, chance.choice([0, 0, 4]))
    pots = [range(players), chance.sample(range(players), chance.randint(1, players))]
    odds_of_pots = odds_by_pot(cards, board, pots, dead=dead)
    for odds, pot in zip(odds_of_pots, pots, strict=True):
        assert [list(of_player) for of_player in odds.shared] == naive_odds(cards, board, dead, pot)
        assert odds.boards == boards_to_come(52, 2 * players + len(board) + len(dead), 5 - len(board))


@njit
def count_winners(holes, deck, winners):
    """Count every board of five cards by its set of winners, dealing and ranking each."""
    for a in range(len(deck)):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    key = START + KEYS[deck[a]] + KEYS[deck[b]] + KEYS[deck[c]] + KEYS[deck[d]]
                    bits = BITS[deck[a]] | BITS[deck[b]] | BITS[deck[c]] | BITS[deck[d]]
                    for e in range(d):
                        best, best_players = 0, 0
                        for player in range(len(holes)):
                            one, two = holes[player, 0], holes[player, 1]
                            rank = int(
                                seven_rank(
                                    key + KEYS[deck[e]] + KEYS[one] + KEYS[two],
                                    bits | BITS[deck[e]] | BITS[one] | BITS[two],
                                )
                            )
                            if rank > best:
                                best, best_players = rank, 0
                            if rank == best:
                                best_players |= 1 << player
                        winners[best_players] += 1


def counts_of_all_boards(holes: list[tuple[int, ...]], dead: tuple[int, ...]) -> list[list[int]]:
    """Count boards of five cards by player and number of winners."""
    known = {*dead, *(card for cards in holes for card in cards)}
    winners = np.zeros(1 << len(holes), np.int64)
    count_winners(np.array(holes, np.uint8), np.array([c for c in range(52) if c not in known], np.uint8), winners)
    counts = [[0] * len(holes) for _ in holes]
    for players, boards in enumerate(winners.tolist()):
        for player in range(len(holes)):
            if players >> player & 1:
                counts[player][players.bit_count() - 1] += boards
    return counts


def check_all_boards(holes: list[tuple[int, ...]], dead: tuple[int, ...], pots: list[list[int]]) -> None:
    """Check that the odds in each pot depend on its players alone."""
    for odds, pot in zip(odds_by_pot(holes, (), pots, dead=dead), pots, strict=True):
        other_cards = tuple(card for player, cards in enumerate(holes) if player not in pot for card in cards)
        expected = counts_of_all_boards([holes[player] for player in pot], dead + other_cards)
        assert [list(odds.shared[player][: len(pot)]) for player in pot] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "hands",
    [
        "AcAd KcKh",
        "2c3c 2d3d 2h3h 2s3s",
        "AcKd AhKs AdKc AsKh",
        "5c4c 5d4d 9h9s Th8h AcAd KcQc 2h2s",
        "7c7d 7h7s 6c8c 6d8d 6h8h 6s8s 5c9c 5d9d 5h9h 5s9s",
    ],
)
def test_patterns_of_ranks_count_every_board(hands: str) -> None:
    """Suits are shared in every way, cards block straights and flushes, and up to ten players take part."""
    cards = holes(hands)[:10]
    check_all_boards(cards, (), [list(range(len(cards))), [0, 1], [len(cards) - 1]])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 15))])
def test_patterns_of_ranks_count_every_board_of_random_hands(seed: int) -> None:
    chance = random.Random(seed)
    players = chance.randint(2, 6)
    cards, _, (dead,) = deal_cards(chance, players, 0, chance.choice([0, 2, 10, 20]))
    check_all_boards(cards, dead, [list(range(players)), [0, *chance.sample(range(1, players), players // 2)]])


@pytest.mark.slow
def test_patterns_of_ranks_count_every_board_of_many_hands() -> None:
    chance = random.Random(7)
    for _ in range(400):
        players = chance.randint(2, 10)
        cards, _, (dead,) = deal_cards(chance, players, 0, chance.randrange(0, 20))
        check_all_boards(cards, dead, [list(range(players)), [0, *chance.sample(range(1, players), players // 2)]])


@pytest.mark.parametrize("known", [1, 2])
def test_boards_of_which_few_cards_are_known(known: int) -> None:
    """Sum the counts of all next cards: each board occurs once for every order."""
    cards, board = holes("AcKc QdJd 2h2s"), parse_cards("Tc9c")[:known]
    whole = np.zeros((1, 3, 3), np.int64)
    parts = np.zeros((1, 3, 3), np.int64)
    deck = [card for card in range(32, 52) if card not in {*board, *(c for two in cards for c in two)}]
    arrays = np.array(cards, np.uint8)
    showdowns.count_boards(arrays, np.array(board, np.uint8), np.array(deck, np.uint8), [range(3)], whole)
    for card in deck:
        rest = np.array([other for other in deck if other != card], np.uint8)
        showdowns.count_boards(arrays, np.array([*board, card], np.uint8), rest, [range(3)], parts)
    assert parts.tolist() == (whole * (5 - known)).tolist()


# ---- pots


def exact_values(
    spent: Sequence[int], hole_cards: Sequence[tuple[Card, ...]], board: tuple[Card, ...], folded: int
) -> list[Fraction]:
    """Return the mean of `showdown_values` over all boards."""
    known = {*board, *(card for cards in hole_cards for card in cards)}
    boards = list(combinations([card for card in WHOLE_DECK if card not in known], 5 - len(board)))
    total = [Fraction(0)] * len(spent)
    for rest in boards:
        ranks = [None if folded >> p & 1 else rank_hand(cards + board + rest) for p, cards in enumerate(hole_cards)]
        total = [one + Fraction(value) for one, value in zip(total, showdown_values(spent, ranks), strict=True)]
    return [value / len(boards) for value in total]


@pytest.mark.parametrize("seed", range(6))
def test_expected_values_are_the_mean_of_all_showdowns(seed: int) -> None:
    chance = random.Random(seed)
    players = chance.randint(2, 6)
    cards, (board,), _ = deal_cards(chance, players, chance.choice([3, 4, 4]))
    folded = sum(1 << p for p in range(players - 2) if chance.random() < 0.4)
    spent = [chance.choice([0, 10, 20, 50, 100]) for _ in range(players - 2)] + [100, chance.choice([30, 100, 200])]
    pots = side_pots(spent, folded)
    in_pot = [p for p in range(players) if not folded >> p & 1]
    odds = odds_by_pot(
        [cards[p] for p in in_pot],
        board,
        [[in_pot.index(p) for p in pot.players] for pot in pots],
        dead=[card for p in range(players) if folded >> p & 1 for card in cards[p]],
    )
    equities = [[of_pot.equities[in_pot.index(p)] for p in pot.players] for pot, of_pot in zip(pots, odds, strict=True)]
    values = expected_values(spent, folded, pots, equities)
    assert values == pytest.approx([float(value) for value in exact_values(spent, cards, board, folded)], abs=1e-9)


# ---- other games


def test_a_game_of_few_cards() -> None:
    """Leduc has two kings, two queens, two jacks; a king meets a queen before the board card."""
    deck = parse_cards("QhKhAhQsKsAs")
    odds = showdown_odds(holes("Ah Kh"), deck=deck, board_cards=1)
    # Of four cards left, the king pairs the second player; the ace pairs the first, who leads anyway.
    assert (odds.boards, odds.wins, odds.ties) == (4, (3, 1), (0, 0))
    assert showdown_odds(holes("Ah As"), deck=deck, board_cards=1).ties == (4, 4)


# ---- refusals


UNCOUNTABLE = [
    ("AcAd AcKh", "", "the known cards are not all different cards of the deck"),
    ("AcAd KcKh", "Ac2d3h", "the known cards are not all different cards of the deck"),
    ("AcAd KcKh", "2c3c4c5c6c7c", "6 board cards where there are 5"),
    ("AcAd KcKhKs", "", "the players have not equally many hole cards"),
]


@pytest.mark.parametrize(("hands", "board", "problem"), UNCOUNTABLE)
def test_impossible_cards_are_refused(hands: str, board: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        showdown_odds(holes(hands), parse_cards(board))


def test_a_pot_without_players() -> None:
    with pytest.raises(ValueError, match="a pot has no players"):
        odds_by_pot(holes("AcAd KcKh"), (), [[0, 1], []])


def test_player_outside_the_pot_has_no_equity() -> None:
    odds = ShowdownOdds(10, ((4, 0), (0, 0)))
    assert odds.equities == (0.4, 0)
