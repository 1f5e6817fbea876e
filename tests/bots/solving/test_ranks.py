"""Suits are irrelevant in Leduc: without them the game is a third of the size, and equivalent."""

from __future__ import annotations

from itertools import islice

import pytest

from bots.errors import SolvingError
from bots.solving.engine_games import rank_game
from bots.solving.equilibria import regret_matching
from bots.solving.sequence_form import SequenceForm, nash_conv, sequence_form
from protocol import find_game


def test_leduc_without_suits(leduc: SequenceForm) -> None:
    ranks = sequence_form(rank_game(find_game("leduc")[1]))
    assert ranks.game.classes == (("Q", "K", "A"),) * 2
    assert sum(len(choices) * 3 for choices in ranks.choices) == 288
    assert ranks.game.matrices.sum() == pytest.approx(leduc.game.matrices.sum(), abs=1e-12)
    for one, other in islice(zip(*(regret_matching(form, is_plus=True) for form in (ranks, leduc)), strict=True), 20):
        assert nash_conv(ranks, one) == pytest.approx(nash_conv(leduc, other), rel=1e-9)


def test_three_players_without_suits() -> None:
    """With one suit nothing changes."""
    ranks = sequence_form(rank_game(find_game("kuhn3")[1]))
    assert ranks.game.classes == (("J", "Q", "K", "A"),) * 3
    assert ranks.game.matrices.shape[1:] == (3, 4, 4, 4)


def test_where_suits_matter() -> None:
    with pytest.raises(SolvingError, match="suits matter where a player sees 5 cards"):
        rank_game(find_game("limit")[1])
