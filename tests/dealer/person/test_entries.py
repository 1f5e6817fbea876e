"""Entries of a person: actions, and refusals of unclear input."""

from __future__ import annotations

import pytest

from bots.errors import UnclearEntry
from dealer.person.entries import read_entry
from engine import CALL, FOLD, RAISE, Action, raise_to
from tests.dealer.person.scenes import scene_of

LIMIT_BET_TO = "1:0:cc/r:|AhKs/2c7d9h"
LIMIT_CHECKED_TO = "0:0:cc/:AhKs|/2c7d9h"
LIMIT_CAPPED = "1:0:crrr:|AhKs"
OPENING = "1:0::|AhKs"
FLOP = "1:0:r300c/r500:|AhKs/2c7d9h"
"""A flop with 200 to call into a pot of 800."""
ALL_IN = "0:0:r20000:AhKs|"


@pytest.mark.parametrize(
    ("game", "state", "entry", "action"),
    [
        ("limit", LIMIT_BET_TO, " FOLD ", FOLD),
        ("limit", LIMIT_BET_TO, "call", CALL),
        ("limit", LIMIT_BET_TO, "raise to 20", RAISE),
        ("limit", LIMIT_BET_TO, "20", RAISE),
        ("limit", LIMIT_BET_TO, "m", RAISE),
        ("limit", LIMIT_CHECKED_TO, "k", CALL),
        ("limit", LIMIT_CHECKED_TO, "c", CALL),
        ("limit", LIMIT_CHECKED_TO, "b", RAISE),
        ("limit", LIMIT_CHECKED_TO, "bet 10", RAISE),
        ("nolimit", OPENING, "200", raise_to(200)),
        ("nolimit", OPENING, "min", raise_to(200)),
        ("nolimit", OPENING, "pot", raise_to(300)),
        ("nolimit", OPENING, "r p/2", raise_to(200)),
        ("nolimit", OPENING, "1,250", raise_to(1250)),
        ("nolimit", OPENING, "a", raise_to(20000)),
        ("nolimit", OPENING, "all in", raise_to(20000)),
        ("nolimit", FLOP, "400", raise_to(700)),
        ("nolimit", FLOP, "raise to 450", raise_to(750)),
        ("nolimit", FLOP, "r 450", raise_to(750)),
        ("nolimit", FLOP, "m", raise_to(700)),
        ("nolimit", FLOP, "p/2", raise_to(1000)),
        ("nolimit", FLOP, "2p", raise_to(2500)),
        ("nolimit", FLOP, "1.5 p", raise_to(2000)),
        ("nolimit", FLOP, "3/4p", raise_to(1250)),
        ("nolimit", FLOP, "p/3", raise_to(833)),
        ("nolimit", FLOP, "75 % pot", raise_to(1250)),
        ("nolimit", FLOP, "19700", raise_to(20000)),
        ("nolimit", ALL_IN, "c", CALL),
        ("nolimit", ALL_IN, "a", CALL),
    ],
)
def test_clear_and_legal_input_is_an_action(game: str, state: str, entry: str, action: Action) -> None:
    scene = scene_of(game, state)
    assert read_entry(entry, scene) == action
    scene.betting.check(action)


LIMIT_CHOICES = "Enter f to fold, c to call 10 or r to raise to 20."
FLOP_CHOICES = "Enter f to fold, c to call 200 or r N to raise to N, from 400 (m) to 19,700 (a), or by p/2, p, 2p."


@pytest.mark.parametrize(
    ("game", "state", "entry", "sentence"),
    [
        ("limit", LIMIT_BET_TO, "", f"Nothing was entered. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "check", f"You cannot check, because there are 10 to call. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "zz", f"'zz' is not clear. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "-5", f"'-5' is not clear. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "raise a lot", f"'a lot' is not a size. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "30", f"30 is not possible here. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "a", f"There is no all-in, because the game fixes the size. {LIMIT_CHOICES}"),
        ("limit", LIMIT_BET_TO, "x" * 90, f"'{'x' * 40}...' is not clear. {LIMIT_CHOICES}"),
        ("limit", LIMIT_CHECKED_TO, "f", "There is no bet to fold to. Enter c to check or r to bet 10."),
        ("limit", LIMIT_CAPPED, "r", "You cannot raise here. Enter f to fold or c to call 10."),
        ("nolimit", FLOP, "r", f"How much? {FLOP_CHOICES}"),
        ("nolimit", FLOP, "399", f"399 is not possible here. {FLOP_CHOICES}"),
        ("nolimit", FLOP, "99p", f"99,200 is not possible here. {FLOP_CHOICES}"),
        ("nolimit", FLOP, "p/0", f"'p/0' is not a size. {FLOP_CHOICES}"),
        ("nolimit", FLOP, "1,00", f"'1,00' is not clear. {FLOP_CHOICES}"),
        ("nolimit", FLOP, "٣٠٠", f"'٣٠٠' is not clear. {FLOP_CHOICES}"),
        ("nolimit", ALL_IN, "25000", "You cannot raise here. Enter f to fold or c to call 19,900, all-in."),
    ],
)
def test_unclear_input_is_refused_with_the_choices(game: str, state: str, entry: str, sentence: str) -> None:
    with pytest.raises(UnclearEntry) as refused:
        read_entry(entry, scene_of(game, state))
    assert str(refused.value) == sentence


def test_stack_may_allow_one_size_only() -> None:
    scene = scene_of("nolimit", "0:0:r10100:AhKs|")
    assert read_entry("r", scene) == read_entry("a", scene) == raise_to(20000)
    with pytest.raises(UnclearEntry, match=r"f to fold, c to call 10,000 or r to raise to 20,000, all-in\."):
        read_entry("15000", scene)


def test_entry_needs_the_turn_of_the_person() -> None:
    with pytest.raises(ValueError, match="turn"):
        read_entry("c", scene_of("limit", "0:0::AhKs|"))
