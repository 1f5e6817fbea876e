"""Strategies of small games by betting, board and card, as texts. A line is one state of one card:

    crc/Qr K 0.25 0.5 0.25

The betting as in a match state, with the rank of the board card behind the stroke; the rank held; the probabilities of
fold, call and raise, 0 for what the rules refuse. Suits make no difference: there are no flushes of two cards.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from os.path import dirname, join
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from bots.sdk.view import View
from engine import CARD_TEXTS
from engine.errors import TableError

__all__ = ["CHECKSUMS", "Chances", "Table", "read", "state_of", "strategy_table", "table_path", "write"]

CHECKSUMS: Final[Mapping[str, int]] = {"kuhn-depth": 0xCA0CA9F3, "leduc": 0x5B394B5E}
"""CRC-32 of the files, by the short names of their games; the hashes of OpenSSL take longer to load than a table."""

_LETTERS: Final = "fcr"


class Chances(NamedTuple):
    """The probabilities of the three actions in one state."""

    fold: float
    call: float
    raise_: float


Table: TypeAlias = Mapping[tuple[str, str], Chances]
"""By betting with board, and by the rank held."""


def state_of(view: View) -> tuple[str, str]:
    """The betting with the board, and the rank held, as a table has them."""
    rounds = ["".join([_LETTERS[action.kind] for _, action in round_]) for round_ in view.betting.rounds]
    board = [CARD_TEXTS[card][0] for card in view.board]
    betting = "/".join([rounds[0], *(rank + letters for rank, letters in zip(board, rounds[1:], strict=True))])
    return betting, CARD_TEXTS[view.hole_cards[0]][0]


def table_path(name: str) -> str:
    """The file of a game."""
    return join(dirname(__file__), f"{name}.txt")


@cache
def strategy_table(name: str) -> Table:
    """The shipped strategy of a game.

    Raises:
        OSError: the file is missing from the installation.
        TableError: it is damaged.
    """
    with open(table_path(name), "rb") as file:
        return read(file.read(), CHECKSUMS[name])


def write(table: Table) -> bytes:
    """The bytes of a file."""
    lines = [f"{betting or '-'} {card} {' '.join(map(repr, chances))}\n" for (betting, card), chances in table.items()]
    return "".join(lines).encode()


def read(data: bytes, checksum: int) -> Table:
    """The table that `write` was given.

    Raises:
        TableError: these bytes do not have the checksum.
    """
    if zlib.crc32(data) != checksum:
        raise TableError("a strategy of the bot equilibrium is damaged or of another version; reinstall it")
    table = {}
    for line in data.decode().splitlines():
        betting, card, *chances = line.split()
        table["" if betting == "-" else betting, card] = Chances(*map(float, chances))
    return MappingProxyType(table)
