"""Offers to a person: every button is a legal entry, and the limits of the offers are explained."""

from __future__ import annotations

import pytest

from dealer.person.entries import offers, read_entry, size_offers
from dealer.person.table_sentences import reasons
from tests.dealer.person.scenes import scene_of


@pytest.mark.parametrize(
    ("game", "states", "labels", "sizes"),
    [
        ("limit", ["1:0::|AhKs"], ["Fold", "Call 5", "Raise to 20"], []),
        ("limit", ["0:0:cc/:AhKs|/2c7d9h"], ["Check", "Bet 10"], []),
        ("limit", ["1:0:crrr:|AhKs"], ["Fold", "Call 10"], []),
        (
            "nolimit",
            ["1:0::|AhKs"],
            ["Fold", "Call 50"],
            ["smallest (200)", "⅔ pot (233)", "pot (300)", "2 × pot (500)", "all-in (20,000)"],
        ),
        ("nolimit", ["0:0:r20000:AhKs|"], ["Fold", "Call 19,900, all-in"], []),
        ("nolimit", ["0:0:r19950:AhKs|"], ["Fold", "Call 19,850", "Raise to 20,000, all-in"], []),
        ("kuhn", ["0:0::Ks|"], ["Check", "Raise to 2"], []),
    ],
)
def test_legal_choices_are_offered(game: str, states: list[str], labels: list[str], sizes: list[str]) -> None:
    scene = scene_of(game, *states)
    assert [offer.label for offer in offers(scene)] == labels
    assert [offer.label for offer in size_offers(scene)] == sizes
    for offer in (*offers(scene), *size_offers(scene)):
        read_entry(offer.entry, scene)


def test_nothing_is_offered_while_others_act() -> None:
    scene = scene_of("limit", "0:0::AhKs|")
    assert offers(scene) == ()
    assert size_offers(scene) == ()
    assert reasons(scene) == ()


@pytest.mark.parametrize(
    ("game", "state", "words"),
    [
        (
            "limit",
            "1:0:crrr:|AhKs",
            "You cannot raise, because this round has as many raises as the game allows.",
        ),
        ("nolimit", "0:0:r20000:AhKs|", "You cannot raise, because no other player has chips left."),
        ("limit", "1:0::|AhKs", "you win more than 25.0 % of the showdowns"),
        ("limit", "0:0:cc/:AhKs|/2c7d9h", "so you may check"),
        ("nolimit", "1:0::|AhKs", "raise to anything from 200, which is as much more as the last bet or raise"),
        ("nolimit", "0:0:cc/:AhKs|/2c7d9h", "bet anything from 100, which is the big blind, to 19,900"),
        ("nolimit", "0:0:r19950:AhKs|", "raise to 20,000, which is all-in"),
    ],
)
def test_limits_are_explained(game: str, state: str, words: str) -> None:
    assert words in " ".join(reasons(scene_of(game, state)))
