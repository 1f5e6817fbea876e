"""Kuhn poker for two and three players and Leduc in sequence form."""

from __future__ import annotations

from functools import cache

import pytest

from bots.solving.engine_games import small_game
from bots.solving.sequence_form import SequenceForm, sequence_form
from engine import Game
from protocol import find_game


@cache
def _form(name: str) -> SequenceForm:
    return sequence_form(small_game(find_game(name)[1]))


@pytest.fixture
def kuhn() -> SequenceForm:
    return _form("kuhn")


@pytest.fixture
def leduc() -> SequenceForm:
    return _form("leduc")


@pytest.fixture
def kuhn3() -> SequenceForm:
    return _form("kuhn3")


@pytest.fixture(params=["kuhn", "leduc"])
def played(request: pytest.FixtureRequest) -> tuple[Game, SequenceForm]:
    return find_game(request.param)[1], _form(request.param)
