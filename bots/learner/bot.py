"""The player `learner`: look up the cell, take the decision that earned most, and remember what it earned."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from bots.baseline import HandRandom
from bots.errors import BotFileError
from bots.formula.formulas import Decision, Observation, action_of, in_words, observe
from bots.learner.memory import (
    Constants,
    Memory,
    MemoryCell,
    MemoryFile,
    Row,
    best_decision,
    cell_of,
    memory_bytes,
    read_memory,
    reward_mbb,
    shipped_memory,
)
from bots.sdk.chance import EquityCounter, holdem_refusal
from bots.sdk.learning import LearningBot, LearningJournal, read_journal
from bots.sdk.options import FilePath
from bots.sdk.view import View
from engine import Action, Game
from engine.equity import DEFAULT_TRIALS, compile_kernels
from engine.errors import quoted
from protocol import format_action

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances

_HANDS_BETWEEN_WRITES: Final = 1000
"""A memory is written whenever so many hands have been learnt, and at the end of a match."""


class LearnerBot(LearningBot):
    """Plays what has earned most in states like this, and learns on.

    Algorithm: nine quantities of the state fall into levels (`bots.learner.memory`); in the cell of these levels it
        remembers how often each of five decisions (`bots.formula.formulas`) was taken there and what the hand earned
        then. It takes the decision with the best mean (`bots.learner.memory`). While it learns, it takes a decision at
        random now and then: the source says nothing of that, but without it only the first decision is ever tried.

    Source: V. S. Fazio, 2008, section 3.4.5; `bots.learner` lists what is ours.

    Other games: limit and no-limit hold'em of two to ten players. Games other than hold'em are refused.

    With `learn=false` it plays the same in every hand. With `learn=true` what it plays depends on the hands before:
        in a contest that is training (docs/learner.md).
    """

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return holdem_refusal(game)

    def __init__(
        self,
        *,
        memory: Annotated[
            FilePath | None,
            "the file of what it remembers, read and, while it learns, written; a file that does not exist yet "
            "begins empty; without one it starts from the memory that comes with the arena for the game, and forgets",
        ] = None,
        empty: Annotated[
            bool, "whether it starts from nothing instead of the memory that comes with the arena"
        ] = False,
        learn: Annotated[bool, "whether it learns; if not, it always takes the decision that earned most"] = True,
        explore: Annotated[
            float, "how often it takes one of the five decisions at random while it learns: 0 to 1"
        ] = 0.1,
        constants: Constants = Constants(),  # noqa: B008 - frozen
        trials: Annotated[
            int, "how many showdowns are drawn to estimate the chance against two or more opponents"
        ] = DEFAULT_TRIALS,
        explain: Annotated[
            bool,
            "whether to send a comment with the quantities, the cell, what each decision has earned how often "
            "and the decision before each action",
        ] = False,
        seed: Annotated[int | None, "where the draws of showdowns and decisions start; random by default"] = None,
    ) -> None:
        if not 0 <= explore <= 1:
            raise ValueError(f"explore must be from 0 to 1, not {explore}")
        if memory is not None and empty:
            raise ValueError("give either memory or empty: a file that does not exist yet begins empty")
        self._path = memory
        self._learns = learn
        self._explore = explore if learn else 0.0
        self._constants = constants
        self._explains = explain
        self.chance = EquityCounter(trials=trials, seed=seed)
        self._random = HandRandom(seed)
        self._taken: list[tuple[MemoryCell, Decision]] = []
        self._file: MemoryFile | None = None
        self._journal: LearningJournal | None = None
        self._unwritten_hands = 0
        self._memory: Memory | None = Memory(constants) if memory is not None or empty else None
        """What it remembers; None before the game is known."""
        if memory is not None and (os.path.exists(memory) or not learn):
            try:
                self._memory = read_memory(memory, constants)
            except BotFileError as error:
                raise ValueError(str(error)) from error

    # ---- the match

    def prepare(self, game: Game) -> None:
        """Take the file of the memory, so that no other bot writes it, or the memory that comes with the arena."""
        if self._path is not None and self._learns and self._journal is None and self._file is None:
            self._file = MemoryFile(self._path, self._constants)
            self._memory = self._file.start
        self._knowledge(game)

    def prepare_for_many_hands(self) -> None:
        compile_kernels()

    def hand_started(self, view: View) -> None:
        """Start the numbers of the hand; an earlier one whose end was not seen is not learnt from."""
        self._random.begin_hand(view.hand_number)
        self._taken = []

    def act(self, view: View) -> Action:
        seen, cell = self._look(view)
        row = self._knowledge(view.game).row(cell)
        decision = best_decision(row)
        is_drawn = self._explore > 0 and self._random.random() < self._explore
        if is_drawn:
            decision = Decision(self._random.integer(Decision.FOLD, Decision.LARGE_RAISE))
        if self._learns:
            self._taken.append((cell, decision))
        action = action_of(decision, view)
        if self._explains:
            how = ", drawn at random" if is_drawn else ""
            view.comment(
                f"{in_words(view, seen)}; cell {cell.text} {_earned(row)} -> {decision.value} {decision.words}{how}, "
                f"{format_action(action)}"
            )
        return action

    def hand_finished(self, view: View) -> None:
        if not self._learns:
            return
        reward = reward_mbb(view.value, view.big_blind)
        self._knowledge(view.game).learn(self._taken, reward)
        if self._journal is not None:
            self._journal.write(view.hand_number, format_hand(self._taken, reward))
        elif self._file is not None:
            self._unwritten_hands += 1
            if self._unwritten_hands >= _HANDS_BETWEEN_WRITES:
                self._write(self._file)
        self._taken = []

    def match_finished(self) -> None:
        """Write what was learnt and release the file."""
        self.end_training()
        if self._file is not None:
            file = self._file
            self._file = None
            try:
                if self._unwritten_hands:
                    self._write(file)
            finally:
                file.close()

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Frozen, probability 1 for the one action; None while it learns, or where samples have no given seed."""
        if self._learns or not self.chance.is_reproducible(view):
            return None
        _, cell = self._look(view)
        return {action_of(best_decision(self._knowledge(view.game).row(cell)), view): 1.0}

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """Frozen, one action with each holding, against one opponent; None elsewhere."""
        if self._learns or len(view.active_positions) > 2:
            return None
        import numpy as np

        from bots.sdk.holdings import pure_policy
        from engine.ranges import HOLDINGS, are_free, chances_of_all

        percent = 100 * chances_of_all(view.board).equity
        levels = (np.nan_to_num(percent) / self._constants.chance_interval).astype(np.int64)
        levels = np.minimum(levels, self._constants.big_qty - 1)
        free = are_free(view.board)
        decisions = np.zeros(len(HOLDINGS), np.int64)
        for one in np.unique(levels[free]).tolist():
            number = int(np.flatnonzero(free & (levels == one))[0])
            cell = cell_of(observe(view, float(percent[number])), self._constants)
            decisions[levels == one] = best_decision(self._knowledge(view.game).row(cell))
        return pure_policy(view, decisions, lambda decision: action_of(Decision(decision), view))

    def _look(self, view: View) -> tuple[Observation, MemoryCell]:
        seen = observe(view, self.chance.percent(view))
        return seen, cell_of(seen, self._constants)

    def _knowledge(self, game: Game) -> Memory:
        if self._memory is None:
            self._memory = shipped_memory(game, self._constants)
        return self._memory

    def _write(self, file: MemoryFile) -> None:
        file.write(self.memory)
        self._unwritten_hands = 0

    # ---- what it remembers

    @property
    def memory(self) -> Memory:
        return self._memory or Memory(self._constants)

    @property
    def is_learning(self) -> bool:
        return self._learns

    @property
    def memory_path(self) -> str | None:
        return self._path if self._learns else None

    def start_memory(self, game: Game) -> bytes:
        return memory_bytes(self._knowledge(game))

    def train(self, start: str, journal: str) -> None:
        self._memory = read_memory(start, self._constants)
        _learn_journal(self._memory, journal)
        self._journal = LearningJournal(journal)

    def end_training(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def merged(self, start: str, journals: Sequence[str]) -> bytes:
        memory = read_memory(start, self._constants)
        for journal in journals:
            _learn_journal(memory, journal)
        return memory_bytes(memory)


def _earned(row: Row) -> str:
    earned = [
        f"{one.value} {results.mean_mbb:+.0f} ({results.taken})"
        for one, results in zip(Decision, row, strict=True)
        if results.taken
    ]
    return f"earned {', '.join(earned)} mbb (times)" if earned else "never met"


_REWARD: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_TAKEN: Final = re.compile(r"([0-9]{9}):([1-5])", re.ASCII)


def format_hand(decisions: Sequence[tuple[MemoryCell, Decision]], reward: int) -> str:
    return " ".join([str(reward), *[f"{cell.text}:{decision.value}" for cell, decision in decisions]])


def _learn_journal(memory: Memory, path: str) -> None:
    for hand, learnt in read_journal(path):
        reward, *taken = learnt.split(" ")
        found = [_TAKEN.fullmatch(text) for text in taken]
        if not _REWARD.fullmatch(reward) or None in found:
            raise BotFileError(path, f"hand {hand}: {quoted(learnt)} is not what a learner learns from a hand")
        memory.learn([(MemoryCell.parse(one[1]), Decision(int(one[2]))) for one in found if one], int(reward))
