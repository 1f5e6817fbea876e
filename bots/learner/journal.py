"""What a learner learns from one hand, as the text of a line: the reward, then each cell with the decision taken there.

    -500 510212211:2 511212111:1

Rewards are in thousandths of a big blind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bots.errors import LearnerFileError
from bots.formula.decisions import Decision
from bots.learner.cells import Cell
from bots.learner.memory import Matrix
from bots.learning import read_journal
from engine.errors import quoted

__all__ = ["format_hand", "learn_journal"]

_REWARD: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_TAKEN: Final = re.compile(r"([0-9]{9}):([1-5])", re.ASCII)


def format_hand(decisions: Sequence[tuple[Cell, Decision]], reward: int) -> str:
    """The text of a hand; see `Matrix.learn` for the arguments."""
    return " ".join([str(reward), *[f"{cell.text}:{decision.value}" for cell, decision in decisions]])


def learn_journal(matrix: Matrix, path: str) -> None:
    """Learn all hands of a journal.

    Raises:
        LearnerFileError: it cannot be read, or a line is not that of a hand.
    """
    for hand, learnt in read_journal(path):
        reward, *taken = learnt.split(" ")
        found = [_TAKEN.fullmatch(text) for text in taken]
        if not _REWARD.fullmatch(reward) or None in found:
            raise LearnerFileError(path, f"hand {hand}: {quoted(learnt)} is not what a learner learns from a hand")
        matrix.learn([(Cell.parse(one[1]), Decision(int(one[2]))) for one in found if one], int(reward))
