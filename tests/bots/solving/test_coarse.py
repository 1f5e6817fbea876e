"""Suits make no difference in Leduc: without them it is a third of the size, and the same game."""

from __future__ import annotations

from itertools import islice

import pytest

from bots.equilibrium.generate import form_of_ranks
from bots.solving.plans import nash_conv
from bots.solving.regret_matching import cfr_plus
from bots.solving.sequence_form import SequenceForm
from protocol import find_game


def test_leduc_without_suits(leduc: SequenceForm) -> None:
    ranks = form_of_ranks(find_game("leduc")[1])
    assert ranks.game.classes == (("Q", "K", "A"),) * 2
    assert sum(len(choices) * 3 for choices in ranks.choices) == 288
    assert ranks.game.matrices.sum() == pytest.approx(leduc.game.matrices.sum(), abs=1e-12)
    for one, other in islice(zip(cfr_plus(ranks), cfr_plus(leduc), strict=True), 20):
        assert nash_conv(ranks, one) == pytest.approx(nash_conv(leduc, other), rel=1e-9)


def test_three_players_without_suits() -> None:
    """With one suit nothing changes."""
    ranks = form_of_ranks(find_game("kuhn3")[1])
    assert ranks.game.classes == (("J", "Q", "K", "A"),) * 3
    assert ranks.game.matrices.shape[1:] == (3, 4, 4, 4)
