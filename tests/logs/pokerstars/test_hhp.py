"""No-limit hands read by hhp, an independent parser for node, with the same results.

Requires node and the package: installed here, or elsewhere with ``NODE_PATH`` set to that ``node_modules``. Hands that
hhp does not support are left out: two or more side pots, and blinds that put a player all-in.

"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pytest

from logs import HandRecord
from logs.formats.export_format import ExportOptions
from logs.pokerstars import format_pokerstars, format_pokerstars_file
from tests.logs.hands import random_hands
from tests.logs.pokerstars.checker import check_file
from tests.logs.pokerstars.test_writer import odd_game
from tests.outside import find_program

SCRIPT = Path(__file__).with_name("hhp_nets.js")
LF = ExportOptions(crlf=False)
NO_LIMIT = ("nolimit", "nolimit3", "nolimit6", "nolimit10")


def node_path() -> str | None:
    """Folder of the package, or None if the package or node is missing."""
    folders = [*os.environ.get("NODE_PATH", "").split(os.pathsep), "node_modules"]
    packages = [folder for folder in folders if folder and (Path(folder) / "hhp").is_dir()]
    return str(Path(packages[0]).resolve()) if packages and find_program("node") else None


pytestmark = pytest.mark.skipif(node_path() is None, reason="needs node and the package hhp")


def assert_read(hands: Iterable[HandRecord], options: ExportOptions = LF) -> int:
    """Check that every hand is read with the record's results; return their number."""
    hands = [hand for hand in hands if is_readable(hand)]
    text = "".join(format_pokerstars_file(hands, options))
    environment = os.environ | {"NODE_PATH": node_path() or ""}
    printed = subprocess.run(
        ["node", str(SCRIPT)], input=text.encode(), stdout=subprocess.PIPE, env=environment, check=True
    ).stdout
    read = json.loads(printed)
    assert len(read) == len(hands)
    for hand, nets in zip(hands, read, strict=True):
        wanted = [float(Decimal(str(options.chip_value)) * Decimal(value)) for value in hand.values]
        assert [nets[name] for name in hand.names] == pytest.approx(wanted, abs=0.021)
    return len(hands)


def is_readable(hand: HandRecord) -> bool:
    text = format_pokerstars(hand, LF)
    all_in = any(" blind " in line and line.endswith("all-in") for line in text.splitlines())
    return not all_in and len(check_file(text)[0].pots) <= 2


@pytest.mark.parametrize("name", NO_LIMIT)
def test_random_hands(name: str) -> None:
    assert_read(random_hands(name, 100, seed=3))
    cents = ExportOptions(hero="Bob", chip_value="0.01", currency="EUR")
    assert_read(random_hands(name, 50, seed=4), cents)


def test_short_stacks_and_a_side_pot() -> None:
    count = 0
    for seed in range(40):
        game = odd_game(seed)
        if not game.is_limit:
            count += assert_read(random_hands(game, 10, seed=seed, fold=0.1))
    assert count > 80
