"""Expected shares in hold'em: enumerated, looked up, and sampled compared with a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from engine import CALL, FOLD, RAISE, Deal, betting_start, parse_cards, rank_hand
from engine.equity import showdown_odds
from engine.splitmix import MASK_64, STEP, mixed
from logs.variance.terms import DRAWS, PotRow, Shares, chance_terms, term_values
from protocol import find_game


def drawn_shares(deal: Deal, stream: int) -> list[float]:
    """Shares before the flop on the boards that the kernel samples, one card after the other."""
    taken = {card for hole in deal.hole_cards for card in hole}
    deck = [card for card in range(52) if card not in taken]
    counter = mixed(mixed(stream * STEP & MASK_64))
    shares = [0.0] * len(deal.hole_cards)
    for _ in range(DRAWS):
        for draw in range(5):
            if draw % 2 == 0:
                counter = (counter + STEP) & MASK_64
                word = mixed(counter)
            half = word >> 32 if draw % 2 == 0 else word & 0xFFFFFFFF
            place = draw + (half * (len(deck) - draw) >> 32)
            deck[draw], deck[place] = deck[place], deck[draw]
        ranks = [rank_hand(hole + tuple(deck[:5])) for hole in deal.hole_cards]
        winners = [at for at, rank in enumerate(ranks) if rank == max(ranks)]
        for at in winners:
            shares[at] += 1 / len(winners) / DRAWS
    return shares


@pytest.mark.slow
def test_drawn_boards_are_those_of_a_slow_twin() -> None:
    game = find_game("holdem.limit.3p")[1]
    deal = Deal((parse_cards("AhKd"), parse_cards("QsQc"), parse_cards("7h7s")), parse_cards("2c3c4c5c6c"))
    for stream in (0, 12345):
        shares = Shares(game).of([deal], np.array([0]), [PotRow(0b111, 0)], [stream])[0]
        assert shares.tolist() == pytest.approx(drawn_shares(deal, stream), abs=1e-12)


@pytest.mark.slow  # numba compiles
def test_terms_of_a_hand_between_two() -> None:
    game = find_game("limit")[1]
    betting = betting_start(game)
    for action in (RAISE, CALL, RAISE, CALL, CALL, CALL, RAISE, FOLD):
        betting = betting.after(action)
    holes = (parse_cards("AhKd"), parse_cards("QsQc"))
    deal = Deal(tuple(holes), parse_cards("2h7dTc3sAc"))
    ((pots, shares),) = [
        np.split(values, 2) for values in term_values(Shares(game), [deal], [chance_terms(betting)], [0])[0, :1]
    ]
    equities = [showdown_odds(holes, deal.board[:known]).equities[0] for known in (3, 4, 5)]
    # Pots before the cards: 40 for the flop after one raise each way, 60 after the bet on the flop, 60 again
    assert pots[2] == pytest.approx(60 * (equities[0] - equities[1]))
    assert pots[3] == pytest.approx(60 * (equities[1] - equities[2]))
    assert shares[2:] * 1.0 == pytest.approx(pots[2:] / 60 * game.big_blind)
    before = 0.5 - pots[0] / 15
    assert pots[1] == pytest.approx(40 * (before - equities[0]))
    assert before == pytest.approx(showdown_odds(holes).equities[0], abs=1e-12)


def test_shares_of_two_before_the_flop_are_exact() -> None:
    game = find_game("nolimit")[1]
    rng = np.random.default_rng(4)
    for _ in range(6):
        one, two, three, four = rng.choice(52, 4, replace=False).tolist()
        holes = (one, two), (three, four)
        shares = Shares(game).of([Deal(holes, ())], np.array([0, 0]), [PotRow(0b11, 0), PotRow(0b10, 0)], [7])
        assert shares[0].tolist() == pytest.approx(showdown_odds(holes).equities, abs=1e-12)
        assert shares[1].tolist() == [0, 1]


def test_shares_before_the_flop_are_right_on_average() -> None:
    game = find_game("holdem.limit.3p")[1]
    holes = (parse_cards("AhKd"), parse_cards("QsQc"), parse_cards("7h7s"))
    deal = Deal(tuple(holes), ())
    row = next(iter(chance_terms(betting_start(game)).rows))
    shares = Shares(game).of([deal] * 400, np.arange(400), [row] * 400, range(400))
    exact = showdown_odds(holes).equities
    errors = shares.std(axis=0) / 20
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.abs(shares.mean(axis=0) - exact).max() < 5 * errors.max()


def test_shares_on_boards_are_those_of_all_boards() -> None:
    game = find_game("holdem.nolimit.6p")[1]
    rng = np.random.default_rng(3)
    for _ in range(6):
        cards = rng.permutation(52).tolist()
        holes = tuple([tuple(cards[2 * at : 2 * at + 2]) for at in range(6)])
        deal = Deal(holes, tuple(cards[12:17]))
        inside = sorted(rng.choice(6, rng.integers(1, 7), replace=False).tolist())
        members = sum([1 << position for position in inside])
        dead = [card for at in range(6) if at not in inside for card in holes[at]]
        for known in (3, 4, 5):
            row = PotRow(members, known)
            shares = Shares(game).of([deal], np.array([0]), [row], [7])[0]
            exact = showdown_odds([holes[at] for at in inside], deal.board[:known], dead=dead).equities
            assert shares[inside] == pytest.approx(exact, abs=1e-12)
            assert shares.sum() == pytest.approx(1)
