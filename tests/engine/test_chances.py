"""Chances of all players, compared with a slow twin; sampled chances compared with exact ones."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from engine import equity as module
from engine import parse_cards, rank_hand
from engine.cards import STARTING_HANDS, holdings_of, starting_hand
from engine.equity import ANY_HOLDING, chances, preflop_equity
from engine.errors import CardError
from engine.matchups import equities
from tests.engine.test_equity import naive_words, unseen_of


def holding(text):
    return [parse_cards(text)]


def any_of(name):
    return holdings_of(STARTING_HANDS.index(name))


def naive_chances(players, board, dead=()):
    """Return win, tie and equity of each player and the number of showdowns, counted one by one."""
    wins, ties, shares = ([Fraction(0)] * len(players) for _ in range(3))
    showdowns = 0
    for holdings in itertools.product(*players):
        taken = [card for cards in holdings for card in cards] + [*board, *dead]
        if len(set(taken)) < len(taken):
            continue
        for rest in itertools.combinations(unseen_of(*taken), 5 - len(board)):
            ranks = [rank_hand((*cards, *board, *rest)) for cards in holdings]
            showdowns += 1
            for player, rank in enumerate(ranks):
                if rank == max(ranks):
                    winners = ranks.count(rank)
                    shares[player] += Fraction(1, winners)
                    (wins if winners == 1 else ties)[player] += 1
    result = [tuple(float(part / showdowns) for part in parts) for parts in zip(wins, ties, shares, strict=True)]
    return result, showdowns


FIELDS = [
    ([holding("AhKd"), holding("QsQc")], "2h7dTc4s", ""),
    ([holding("AhKd"), holding("QsQc"), holding("2c2s")], "2h7dTc9c", "AsAd"),
    ([any_of("AKs"), any_of("AKo")], "2h7dTcAs3s", ""),
    ([holding("AhKd"), ANY_HOLDING], "2h7dTcAs3s", ""),
    ([ANY_HOLDING, holding("AhKd"), holding("9h9d")], "2h7dTcAs3s", ""),
]


@pytest.mark.parametrize(("players", "board", "dead"), FIELDS)
def test_chances_are_those_of_comparing_hands(players, board, dead):
    result = chances(players, parse_cards(board), dead=parse_cards(dead))
    naive, showdowns = naive_chances(players, parse_cards(board), parse_cards(dead))
    assert (result.is_exact, result.showdowns) == (True, showdowns)
    assert set(result.standard_errors) == {0}
    for player, expected in zip(result.players, naive, strict=True):
        assert (player.win, player.tie, player.equity) == pytest.approx(expected, abs=1e-12)


def test_two_players_before_the_flop_are_those_of_the_tables():
    suited, queens = STARTING_HANDS.index("AKs"), STARTING_HANDS.index("QQ")
    result = chances([any_of("AKs"), any_of("QQ")])
    assert result.players[0].equity == pytest.approx(equities()[suited, queens], abs=1e-12)
    assert result.showdowns == 4 * 6 * 1_712_304
    hole = parse_cards("AhKd")
    for holdings in ([hole], any_of("AKo")):
        for players, index in (([holdings, ANY_HOLDING], 0), ([ANY_HOLDING, holdings], 1)):
            result = chances(players)
            assert result.players[index].equity == pytest.approx(preflop_equity(hole).equity, abs=1e-12)
            assert result.showdowns == len(holdings) * 1225 * 1_712_304
    assert chances([holding("AhKh"), holding("QsQc")]).showdowns == 1_712_304


def naive_drawn(holes, board, unknown, trials, start):
    """Sampled showdowns by player and number of winners, in the order of `engine.kernels.showdowns.count_sampled`."""
    players = len(holes) + unknown
    counts = np.zeros((players, players), np.int64)
    words, draws = naive_words(start), 5 - len(board) + 2 * unknown
    for _ in range(trials):
        halves = [half for word in itertools.islice(words, (draws + 1) // 2) for half in divmod(word, 1 << 32)]
        deck, drawn = unseen_of(*board, *[card for hole in holes for card in hole]), []
        for half in halves[:draws]:
            at = half * len(deck) >> 32
            drawn.append(deck[at])
            deck[at] = deck[0]
            deck.pop(0)
        table, opponents_cards = (*board, *drawn[: 5 - len(board)]), drawn[5 - len(board) :]
        cards = [*holes, *[tuple(opponents_cards[at : at + 2]) for at in range(0, 2 * unknown, 2)]]
        ranks = [rank_hand((*hole, *table)) for hole in cards]
        for player, rank in enumerate(ranks):
            if rank == max(ranks):
                counts[player, ranks.count(rank) - 1] += 1
    return counts.tolist()


@pytest.mark.parametrize(("board", "unknown"), [("", 0), ("", 2), ("2h7dTc", 1), ("2h7dTcAsKh", 3), ("2h3h4hAd", 7)])
def test_draws_are_those_documented(board, unknown):
    from engine.kernels.showdowns import count_sampled_shares

    holes, table = [parse_cards("AhKd"), parse_cards("5h6h")], parse_cards(board)
    if "Kh" not in board and "Ad" not in board:
        holes.append(parse_cards("AdKh"))
    counts = np.zeros((len(holes) + unknown,) * 2, np.int64)
    deck = unseen_of(*table, *[card for hole in holes for card in hole])
    arrays = [np.array(cards, np.uint8) for cards in (holes, table, deck)]
    for part in (range(0, 7), range(7, 60)):
        count_sampled_shares(*arrays, unknown, part, 99, counts)
    assert counts.tolist() == naive_drawn(holes, table, unknown, 60, 99)


@pytest.mark.parametrize(
    ("players", "board"),
    [
        ([holding("AhKd"), ANY_HOLDING], "2h7dTc"),
        ([holding("AhKd"), holding("QsQc")], ""),
        ([any_of("AKs"), any_of("QQ"), holding("2c2d")], "Ah7d2h"),
        pytest.param([holding("AhKd"), ANY_HOLDING, holding("9h9d")], "2h7dTcAs", marks=pytest.mark.slow),
    ],
)
def test_errors_of_sampled_chances_agree_with_their_standard_errors(players, board):
    """Errors are below four standard errors, and over six seeds about one standard error on average."""
    exact, off = chances(players, parse_cards(board)), []
    for seed in range(4):
        drawn = chances(players, parse_cards(board), trials=20_000, seed=seed)
        assert not drawn.is_exact
        for player, error, counted in zip(drawn.players, drawn.standard_errors, exact.players, strict=True):
            assert 0 < error < 0.005
            off.append((player.equity - counted.equity) / error)
    assert max(map(abs, off)) < 4
    assert 0.4 < float(np.mean(np.square(off))) ** 0.5 < 1.6


def test_long_enumerations_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "DEFAULT_SHOWDOWNS", 2_000)
    assert not chances([holding("AhKd"), ANY_HOLDING, ANY_HOLDING], parse_cards("2h7dTcAs3s")).is_exact
    assert not chances([any_of("AKs"), any_of("QQ"), ANY_HOLDING]).is_exact
    assert not chances([holding("AhKd"), ANY_HOLDING], parse_cards("2h7dTc"), trials=10).is_exact
    assert chances([holding("AhKd"), holding("2c2d")], parse_cards("2h7dTcAs3s"), trials=10).is_exact, (
        "there is one showdown"
    )


def test_progress_starts_at_0_and_ends_at_the_total():
    for players, trials in (
        ([holding("AhKd"), ANY_HOLDING, holding("9h9d")], None),
        ([holding("AhKd"), ANY_HOLDING], 120_000),
    ):
        progress: list[float] = []
        chances(players, parse_cards("2h7dTcAs"), trials=trials, progress=progress.append)
        assert progress == sorted(progress)
        assert len(progress) > 1
        assert progress[-1] == 1


IMPOSSIBLE = [
    (([holding("AhKd")], ""), "a showdown has 2 to 10 players, not 1"),
    (([holding("AhKd"), *[ANY_HOLDING] * 10], ""), "a showdown has 2 to 10 players, not 11"),
    (([ANY_HOLDING, ANY_HOLDING], ""), "the cards of at least one player must be given, at least in part"),
    (([holding("AhKd"), holding("AhQd")], ""), "Ah is named twice"),
    (([holding("AhKd"), ANY_HOLDING], "2h7dTc3c4c5c"), "a board has at most 5 cards, not 6"),
    (([any_of("AA"), any_of("AA"), any_of("AKs")], ""), "the players cannot hold these cards together"),
    (([any_of("AKo")] * 5, ""), "the players' holdings can be chosen in 248,832 ways, and at most 20,000 are taken"),
]


@pytest.mark.parametrize(("situation", "problem"), IMPOSSIBLE)
def test_impossible_players_and_boards_are_refused(situation, problem):
    players, board = situation
    with pytest.raises(CardError, match=f"^{problem}"):
        chances(players, parse_cards(board))


def test_impossible_dead_cards_and_trials_are_refused():
    with pytest.raises(CardError, match=r"^2c is named twice$"):
        chances([holding("AhKd"), ANY_HOLDING], dead=parse_cards("2c2c"))
    with pytest.raises(CardError, match=r"^44 dead cards leave too few for 2 players and a board$"):
        chances([holding("AhKd"), ANY_HOLDING], dead=unseen_of(*parse_cards("AhKd"))[:44])
    with pytest.raises(CardError, match=r"^at least one showdown must be drawn, not 0$"):
        chances([holding("AhKd"), ANY_HOLDING], trials=0)


def test_the_holdings_of_a_class():
    for number in range(len(STARTING_HANDS)):
        assert all(starting_hand(hole) == number for hole in holdings_of(number))
    everything = [hole for number in range(len(STARTING_HANDS)) for hole in holdings_of(number)]
    assert sorted(everything) == list(ANY_HOLDING)
