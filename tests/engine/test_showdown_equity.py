"""Showdowns counted over all boards: known equities, the kernels against each other, all against the slow way."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from engine import Card, parse_cards, rank_hand
from engine.kernels import showdown_equity as kernels
from engine.pots import side_pots
from engine.showdown import showdown_values
from engine.showdown_equity import (
    ShowdownOdds,
    boards_to_come,
    expected_values,
    odds_by_pot,
    showdown_odds,
)

WHOLE_DECK = tuple(range(52))


def holes(text: str) -> list[tuple[Card, ...]]:
    return [parse_cards(cards) for cards in text.split()]


def dealt(
    chance: random.Random, players: int, board_cards: int, dead_cards: int = 0
) -> tuple[list[tuple[int, ...]], ...]:
    """Hole cards, and as lists of one the board and dead cards."""
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
    """By player and number of winners, on how many boards."""
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
        # Aces against kings, by how many suits they share.
        pytest.param("AcAd KcKd", 1410336, 9308, id="AA KK, both suits shared"),
        pytest.param("AcAd KcKh", 1399204, 7923, id="AA KK, one suit shared"),
        pytest.param("AcAd KhKs", 1388072, 6538, id="AA KK, no suit shared"),
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


def test_aces_against_kings_as_published() -> None:
    """Win .817147, tie .004627 with one suit shared."""
    odds = showdown_odds(holes("AcAd KcKh"))
    assert odds.wins[0] / odds.boards == pytest.approx(0.817147, abs=5e-7)
    assert odds.ties[0] / odds.boards == pytest.approx(0.004627, abs=5e-7)


def test_a_board_that_is_known_decides() -> None:
    odds = showdown_odds(holes("AcAd KcKh"), parse_cards("2c3d4h9sKs"))
    assert (odds.boards, odds.wins, odds.ties) == (1, (0, 1), (0, 0))


def test_one_card_to_come() -> None:
    # Any of the nine clubs left makes the flush, unless it pairs the board and fills up the three sevens: 7 of them.
    odds = showdown_odds(holes("AcKc 7d7h"), parse_cards("2c9c7sQd"))
    assert (odds.boards, odds.wins, odds.ties) == (44, (7, 37), (0, 0))


# ---- against the slow way


@pytest.mark.parametrize("seed", range(12))
def test_the_turn_and_the_river_are_those_of_the_slow_way(seed: int) -> None:
    chance = random.Random(seed)
    players, board_cards = chance.choice([2, 2, 3, 4, 6]), chance.choice([3, 4])
    cards, (board,), (dead,) = dealt(chance, players, board_cards, chance.choice([0, 0, 4]))
    pots = [range(players), chance.sample(range(players), chance.randint(1, players))]
    found = odds_by_pot(cards, board, pots, dead=dead)
    for odds, pot in zip(found, pots, strict=True):
        assert [list(of_player) for of_player in odds.shared] == naive_odds(cards, board, dead, pot)
        assert odds.boards == boards_to_come(52, 2 * players + len(board) + len(dead), 5 - len(board))


def counted(
    kernel: str, hole_cards: list[tuple[int, ...]], dead: tuple[int, ...], pots: list[list[int]]
) -> list[object]:
    """What a kernel counts over all boards of five cards."""
    known = {*dead, *(card for cards in hole_cards for card in cards)}
    deck = np.array([card for card in range(52) if card not in known], np.uint8)
    members = np.array(pots, np.uint8)
    counts = np.zeros((len(pots), len(hole_cards), len(hole_cards)), np.int64)
    hands = np.array(hole_cards, np.uint8)
    if kernel == "patterns":
        kernels.count_rank_patterns(hands, deck, members, counts)
    else:
        kernels.count_boards(hands, np.zeros(0, np.uint8), deck, members, counts)
    found: list[object] = counts.tolist()
    return found


@pytest.mark.parametrize(
    "hands",
    [
        "AcAd KcKh",
        "AcKc QcJc",
        "AcKc QdJd ThTs",
        "2c3c 2d3d 2h3h 2s3s",
        "AcKd AhKs AdKc AsKh",
        "5c4c 5d4d 9h9s Th8h AcAd KcQc 2h2s",
        "AcAd AhAs",
        "7c7d 7h7s 6c8c 6d8d 6h8h 6s8s 5c9c 5d9d 5h9h 5s9s",
    ],
)
def test_the_two_ways_through_the_boards_agree(hands: str) -> None:
    """Suits shared in every way, cards that block straights and flushes, up to ten players."""
    cards = holes(hands)[:10]
    pots = [[1] * len(cards), [1, 1] + [0] * (len(cards) - 2), [0] * (len(cards) - 1) + [1]]
    assert counted("patterns", cards, (), pots) == counted("boards", cards, (), pots)


@pytest.mark.parametrize("seed", range(15))
def test_the_two_ways_agree_on_random_hands(seed: int) -> None:
    chance = random.Random(seed)
    players = chance.randint(2, 6)
    cards, _, (dead,) = dealt(chance, players, 0, chance.choice([0, 2, 10, 20]))
    pots = [[1] * players, [1] + [chance.randint(0, 1) for _ in range(players - 1)]]
    assert counted("patterns", cards, dead, pots) == counted("boards", cards, dead, pots)


@pytest.mark.slow
def test_the_two_ways_agree_on_many_hands() -> None:
    chance = random.Random(7)
    for _ in range(400):
        players = chance.randint(2, 10)
        cards, _, (dead,) = dealt(chance, players, 0, chance.randrange(0, 20))
        pots = [[1] * players, [1] + [chance.randint(0, 1) for _ in range(players - 1)]]
        assert counted("patterns", cards, dead, pots) == counted("boards", cards, dead, pots)


# ---- pots


def exact_values(
    spent: Sequence[int], hole_cards: Sequence[tuple[Card, ...]], board: tuple[Card, ...], folded: int
) -> list[Fraction]:
    """The mean of `showdown_values` over all boards."""
    known = {*board, *(card for cards in hole_cards for card in cards)}
    boards = list(combinations([card for card in WHOLE_DECK if card not in known], 5 - len(board)))
    total = [Fraction(0)] * len(spent)
    for rest in boards:
        ranks = [None if folded >> p & 1 else rank_hand(cards + board + rest) for p, cards in enumerate(hole_cards)]
        total = [one + Fraction(value) for one, value in zip(total, showdown_values(spent, ranks), strict=True)]
    return [value / len(boards) for value in total]


@pytest.mark.parametrize("seed", range(20))
def test_expected_values_are_the_mean_of_all_showdowns(seed: int) -> None:
    chance = random.Random(seed)
    players = chance.randint(2, 6)
    cards, (board,), _ = dealt(chance, players, chance.choice([3, 4, 4]))
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
    """Leduc: two kings, two queens, two jacks; a king against a queen before the board card."""
    deck = parse_cards("QhKhAhQsKsAs")
    odds = showdown_odds(holes("Ah Kh"), deck=deck, board_cards=1)
    # Of four cards left the king pairs the second player; the ace pairs the first, who is ahead anyway.
    assert (odds.boards, odds.wins, odds.ties) == (4, (3, 1), (0, 0))
    assert showdown_odds(holes("Ah As"), deck=deck, board_cards=1).ties == (4, 4)


# ---- what is wrong


UNCOUNTABLE = [
    ("AcAd AcKh", "", "the known cards are not all different cards of the deck"),
    ("AcAd KcKh", "Ac2d3h", "the known cards are not all different cards of the deck"),
    ("AcAd KcKh", "2c3c4c5c6c7c", "6 board cards where there are 5"),
    ("AcAd KcKhKs", "", "the players have not equally many hole cards"),
]


@pytest.mark.parametrize(("hands", "board", "problem"), UNCOUNTABLE)
def test_what_cannot_be_counted(hands: str, board: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        showdown_odds(holes(hands), parse_cards(board))


def test_a_pot_without_players() -> None:
    with pytest.raises(ValueError, match="nobody plays for a pot"):
        odds_by_pot(holes("AcAd KcKh"), (), [[0, 1], []])


def test_odds_of_who_does_not_play() -> None:
    odds = ShowdownOdds(10, ((4, 0), (0, 0)))
    assert odds.equities == (0.4, 0)
