"""Leak search: sums agree with the result, planted leaks rank first, equal players have none."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import pairwise

import pytest

from engine import Deal
from engine.holdem import position_names
from logs.leaks import BY_POSITION, Leaks, LeaksRefused, leaks_of
from logs.leaks.divergences import DIMENSIONS
from tests.logs.hands import random_hands
from tests.logs.leaks.players import (
    Change,
    LeakyPlayer,
    deals_of,
    folds_rivers,
    folds_to_bets,
    never_raises_draws,
    play_duplicates,
)


def leaks_between(hands: int, seed: int, change: Change | None = None) -> Leaks:
    player = LeakyPlayer(1000 + seed) if change is None else LeakyPlayer(1000 + seed, change)
    return leaks_of(play_duplicates([player, LeakyPlayer(2000 + seed)], hands, seed), "A")


def test_the_accounts_of_every_dimension_add_up_to_the_result() -> None:
    deals = list(play_duplicates([LeakyPlayer(1), LeakyPlayer(2)], 120, 4))
    leaks = leaks_of(deals, "A")
    won = sum(record.values[record.names.index("A")] for deal in deals for _, record in deal)
    for dimension in DIMENSIONS:
        cells = [cell for cell in leaks.cells if cell.dimension == dimension]
        assert sum(cell.won.mean for cell in cells) * 240 / 100 == pytest.approx(won)
        assert sum(cell.deals for cell in cells) == leaks.diverged
        assert all(one.won.mean <= other.won.mean for one, other in pairwise(cells))
    assert leaks == pickle.loads(pickle.dumps(leaks)) == leaks_of(deals, "A")


@pytest.mark.parametrize(("players", "hands"), [(3, 30), pytest.param(6, 31, marks=pytest.mark.slow)])
def test_among_more_players_each_is_compared_with_all_others(players: int, hands: int) -> None:
    """The slow twin compares the texts of every two hands of a deal, seat by seat."""
    deals = list(play_duplicates([LeakyPlayer(seed) for seed in range(players)], hands, 5))
    leaks = leaks_of(deals, "A")
    assert (leaks.deals, leaks.unpaired, leaks.is_multiway) == (hands, 0, True)
    assert leaks.others == tuple("BCDEF"[: players - 1])
    everything, diverged, by_position = 0.0, set(), [0.0] * players
    for number, deal in enumerate(deals):
        for _, own in deal:
            seat = own.names.index("A")
            for _, other_hand in deal:
                if other_hand is own:
                    continue
                surplus = (own.values[seat] - other_hand.values[seat]) / (players - 1)
                by_position[seat] += surplus
                texts = [[move for moves in one.betting.rounds for move in moves] for one in (own, other_hand)]
                first = next((at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), None)
                if first is not None and texts[0][first][0] == seat:
                    everything += surplus
                    diverged.add(number)
    hands_of_all = hands * players
    cells = {(cell.dimension, cell.name): cell for cell in leaks.cells}
    assert cells["everything", "all decisions"].won.mean * hands_of_all / 100 == pytest.approx(everything)
    assert cells["everything", "all decisions"].deals == leaks.diverged == len(diverged)
    for name, chips in zip(position_names(deals[0][0][1].game), by_position, strict=True):
        cell = cells[BY_POSITION, name]
        assert (cell.deals, cell.choices) == (hands, ())
        assert cell.won.mean * hands_of_all / 100 == pytest.approx(chips)
    for dimension in DIMENSIONS:
        of_dimension = [cell for cell in leaks.cells if cell.dimension == dimension]
        assert sum(cell.won.mean for cell in of_dimension) * hands_of_all / 100 == pytest.approx(everything)
    won = sum(record.values[record.names.index("A")] for deal in deals for _, record in deal)
    assert sum(by_position) == pytest.approx(won * players / (players - 1))


def test_seatings_that_are_not_whole_do_not_count() -> None:
    deals = list(play_duplicates([LeakyPlayer(seed) for seed in range(3)], 40, 5))
    leaks = leaks_of([*deals[:35], *(deal[:2] for deal in deals[35:])], "A")
    assert (leaks.deals, leaks.unpaired) == (35, 10)
    doubled = [[*deal, *deal[:2]] for deal in deals[35:]]
    assert leaks_of([*deals[:35], *doubled], "A").unpaired == 25, "B and C sit in some seats more often than in others"


@pytest.mark.slow
def test_planted_leaks_are_found_first_among_more_players() -> None:
    players, hands = 3, 4000
    for change, leak in ((folds_rivers, "river, facing a bet"), (never_raises_draws, "with draw: ")):
        deals = play_duplicates([LeakyPlayer(50, change), *map(LeakyPlayer, range(players - 1))], hands, 3)
        leaks = leaks_of(deals, "A")
        assert leak in leaks.leaks[0].name
        assert leaks.leaks[0].choices[0][0] in ("fold", "check", "call")


@pytest.mark.slow
@pytest.mark.parametrize(("players", "deals"), [(3, 100), (6, 50)])
def test_many_players_who_are_alike_have_no_leaks(players: int, deals: int) -> None:
    """At most one match in twenty reports a leak."""
    matches, shown = 80, 0
    for seed in range(matches):
        bots = [LeakyPlayer(100 * seed + at) for at in range(players)]
        shown += any(cell.is_leak for cell in leaks_of(play_duplicates(bots, deals, seed), "A").cells)
    # Binomial(80, 0.05) exceeds 11 in less than one of a thousand cases.
    assert shown <= 11


def test_folding_to_every_bet_is_the_first_leak() -> None:
    leak = leaks_between(800, 2, folds_to_bets).leaks[0]
    assert leak.name.startswith("flop, facing a bet")
    assert leak.choices[0][0] == "fold"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_planted_leaks_are_found_first(seed: int) -> None:
    assert leaks_between(6000, seed, folds_rivers).leaks[0].name.startswith("river, facing a bet")
    leaks = leaks_between(6000, seed, never_raises_draws)
    assert "with draw: " in leaks.leaks[0].name
    assert leaks.leaks[0].choices[0][0] in ("check", "call")


@pytest.mark.slow
def test_players_who_are_alike_have_no_leaks() -> None:
    """At most one match in twenty reports a leak."""
    matches = 120
    shown = sum(any(cell.is_leak for cell in leaks_between(200, seed).cells) for seed in range(matches))
    # Binomial(120, 0.05) exceeds 14 in one of a thousand cases.
    assert shown <= 14


def test_equal_players_never_diverge() -> None:
    leaks = leaks_of(play_duplicates([LeakyPlayer(1), LeakyPlayer(1)], 40, 1), "A")
    assert (leaks.diverged, leaks.questions, leaks.cells, leaks.leaks, leaks.worst) == (0, 0, (), (), ())


def test_unsuitable_hands_are_refused() -> None:
    deals = list(play_duplicates([LeakyPlayer(1), LeakyPlayer(2)], 40, 1))
    with pytest.raises(LeaksRefused, match="no player is called 'Zoe'; there are A, B"):
        leaks_of(deals, "Zoe")
    with pytest.raises(LeaksRefused, match="A played 29 deals in every seating; leaks need at least 30"):
        leaks_of(deals[:29], "A")
    with pytest.raises(LeaksRefused, match=r"no deal of A was played in every seating.*play duplicates"):
        leaks_of([deal[:1] for deal in deals], "A")
    with pytest.raises(LeaksRefused, match="there is no finished hand"):
        leaks_of([], "A")
    hidden = [
        (path, dataclasses.replace(record, deal=Deal((record.deal.hole_cards[0], ()), record.deal.board)))
        for path, record in deals[0]
    ]
    with pytest.raises(LeaksRefused, match=r"hand 0 of match\.a does not show all hole cards"):
        leaks_of([hidden, *deals[1:]], "A")
    with pytest.raises(LeaksRefused, match=r"no deal of .* was played in every seating.*play duplicates"):
        leaks_of(deals_of(random_hands("limit3", 3)))
    with pytest.raises(LeaksRefused, match="hold'em only"):
        leaks_of(deals_of(random_hands("leduc", 3)))
    with pytest.raises(LeaksRefused, match="different games"):
        leaks_of([*deals, *deals_of(random_hands("nolimit", 3, names=("A", "B")))], "A")


def test_hands_without_their_twins_are_counted_apart() -> None:
    deals = list(play_duplicates([LeakyPlayer(1), LeakyPlayer(2)], 40, 1))
    leaks = leaks_of([*deals[:35], *(deal[:1] for deal in deals[35:])], "A")
    assert (leaks.deals, leaks.unpaired) == (35, 5)
