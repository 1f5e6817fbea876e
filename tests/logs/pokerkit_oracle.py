"""PokerKit, an independent player of hand histories, as an oracle; skipped if not installed.

PokerKit ranks every player's cards again each time it determines who can still win. The best hand of the same cards
is always the same, so this module caches it.

"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pytest

pokerkit = pytest.importorskip("pokerkit")

_best_hand = lru_cache(1 << 14)(pokerkit.StandardHighHand.from_game)


def _remembered(hole_cards: Iterable[Any], board_cards: Iterable[Any] = ()) -> Any:
    return _best_hand(tuple(hole_cards), tuple(board_cards))


pokerkit.StandardHighHand.from_game = staticmethod(_remembered)
