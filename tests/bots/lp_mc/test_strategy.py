"""The shipped strategies before the flop: complete, and read without a solver."""

from __future__ import annotations

from math import isclose
from pathlib import Path

import pytest

from bots.lp_mc.preflop import PreflopRules
from bots.lp_mc.strategy import (
    BETTINGS,
    STRATEGIES,
    PreflopStrategy,
    preflop_strategy,
)
from engine import CALL, RAISE, STARTING_HANDS, BettingState, betting_start
from engine.errors import TableError
from tests.bots.lp_mc.generate import write
from tests.programs import loaded_by


def state_after(betting: str) -> BettingState:
    state = betting_start(PreflopRules().game)
    for letter in betting:
        state = state.after(CALL if letter == "c" else RAISE)
    return state


def test_file_belongs_to_the_code() -> None:
    data = Path(STRATEGIES.path).read_bytes()
    assert write(preflop_strategy(), preflop_strategy(as_published=True)) == data


@pytest.mark.parametrize("damage", ["empty", "no magic", "cut", "one byte"])
def test_damaged_file_is_refused(damage: str) -> None:
    data = Path(STRATEGIES.path).read_bytes()
    damaged = {
        "empty": b"",
        "no magic": b"X" + data[1:],
        "cut": data[:-1],
        "one byte": data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
    }[damage]
    with pytest.raises(TableError, match="the table of strategies before the flop is damaged or of another version"):
        STRATEGIES.numbers(damaged)


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("betting", BETTINGS)
def test_every_hand_has_probabilities_everywhere(betting: str, as_published: bool) -> None:
    strategy = preflop_strategy(as_published=as_published)
    legal = state_after(betting).legal_actions()
    for hand in range(len(STARTING_HANDS)):
        chances = strategy.chances(betting, hand)
        assert min(chances) >= 0
        assert isclose(sum(chances), 1, abs_tol=1e-12)
        assert legal.can_raise or chances.raise_ == 0
        assert legal.can_fold or chances.fold == 0 or as_published


def test_bettings_are_complete() -> None:
    bettings, states = set(), [""]
    while states:
        betting = states.pop()
        state = state_after(betting)
        if not state.finished:
            bettings.add(betting)
            states += [betting + "c"] + ([betting + "r"] if state.legal_actions().can_raise else [])
    assert bettings == set(BETTINGS)


def test_some_well_known_decisions() -> None:
    equilibrium, published = preflop_strategy(), preflop_strategy(as_published=True)
    deuce_trey, aces = STARTING_HANDS.index("32o"), STARTING_HANDS.index("AA")
    assert equilibrium.chances("", deuce_trey) == (1, 0, 0)
    assert equilibrium.chances("c", deuce_trey) == (0, 1, 0)
    assert equilibrium.chances("rrr", aces) == (0, 1, 0)
    assert published.chances("", STARTING_HANDS.index("J2s")) == (1, 0, 0)
    assert published.chances("", aces) == (0, 0, 1)
    assert isinstance(hash(equilibrium), int)
    assert equilibrium != published
    assert equilibrium == PreflopStrategy(equilibrium.numbers)


def test_strategies_load_nothing_heavy() -> None:
    code = "from bots.lp_mc.strategy import preflop_strategy; preflop_strategy()"
    assert loaded_by(code, ["numpy", "numba", "highspy", "scipy"]) == []
