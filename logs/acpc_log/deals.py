"""Whether a log holds the cards of a seed: for who was given the key of secret cards when they had all been dealt."""

from __future__ import annotations

import os
from collections.abc import Iterator

from engine import Deal, Seed, deals, logged_seed
from logs.acpc_log.header import read_log_header
from logs.acpc_log.reader import read_log
from logs.errors import LogError

__all__ = ["check_deals"]


def check_deals(path: str | os.PathLike[str], seed: Seed) -> int:
    """Compare all cards of a log with those that a seed deals; returns the number of hands.

    Args:
        path: of the log.
        seed: of its match, a number or a key.

    Raises:
        LogError: the header names another seed, or a hand has other cards.
        DamagedLogError: a line is damaged.
        OSError: the file cannot be read.
    """
    header, shown = read_log_header(path), os.fspath(path)
    named = None if header is None else header.seed
    if named != logged_seed(seed):
        raise LogError(shown, f"its header names the seed {named}, not {logged_seed(seed)}")
    dealt: Iterator[Deal] = iter(())
    hands = 0
    for record in read_log(path, strict=True):
        if not hands:
            dealt = deals(record.game, seed, record.hand_number)
        deal, board = next(dealt), record.deal.board
        if (record.deal.hole_cards, board) != (deal.hole_cards, deal.board[: len(board)]):
            raise LogError(shown, f"hand {record.hand_number} has other cards than {logged_seed(seed)} deals")
        hands += 1
    return hands
