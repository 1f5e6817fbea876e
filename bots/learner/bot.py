"""The player `learner`, which takes the decision with the best mean reward in its cell, and records the reward."""

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
"""Hands after which a memory is written. It is also written at the end of a match."""


class LearnerBot(LearningBot):
    """Takes the decision with the best mean reward in similar states, and learns while it plays.

    Algorithm: nine quantities of a state are divided into levels, and states with the same levels share a cell
        (`bots.learner.memory`). A cell has the number and the rewards of each of five decisions
        (`bots.formula.formulas`). The bot takes the decision with the best mean reward. While it learns, it sometimes
        takes a random decision. The source does not mention this, but without it only the first decision is ever tried.

    Source: V. S. Fazio, 2008, section 3.4.5; `bots.learner.memory` marks our additions.

    Other games: limit and no-limit hold'em of two to ten players. Games other than hold'em are refused.

    With `learn=false` its strategy never changes. With `learn=true` it depends on the hands before, so a contest is a
        training (docs/learner.md).
    """

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        return holdem_refusal(game)

    def __init__(
        self,
        *,
        memory: Annotated[
            FilePath | None,
            "file of the memory, which is also written while the bot learns; a new file begins empty; without a "
            "file it starts from the built-in memory for the game and keeps nothing",
        ] = None,
        empty: Annotated[bool, "whether it starts with an empty memory instead of the built-in one"] = False,
        learn: Annotated[bool, "whether it learns; if not, it always takes the decision that earned most"] = True,
        explore: Annotated[
            float, "probability with which it takes one of the five decisions at random while it learns, 0 to 1"
        ] = 0.1,
        constants: Constants = Constants(),  # noqa: B008 - frozen
        trials: Annotated[
            int, "number of showdowns drawn to estimate the chance against two or more opponents"
        ] = DEFAULT_TRIALS,
        explain: Annotated[
            bool,
            "whether to send a comment before each action, with the quantities, the cell, the earnings and the "
            "count of each decision, and the decision",
        ] = False,
        seed: Annotated[int | None, "seed of the draws of showdowns and decisions; random by default"] = None,
    ) -> None:
        if not 0 <= explore <= 1:
            raise ValueError(f"explore must be from 0 to 1, not {explore}")
        if memory is not None and empty:
            raise ValueError("give either memory or empty: a file that does not exist yet begins empty")
        self._path = memory
        self._learns = learn
        self._explore = 0.0
        if learn:
            self._explore = explore
        self._constants = constants
        self._explains = explain
        self.chance = EquityCounter(trials=trials, seed=seed)
        self._random = HandRandom(seed)
        self._taken: list[tuple[MemoryCell, Decision]] = []
        self._file: MemoryFile | None = None
        self._journal: LearningJournal | None = None
        self._unwritten_hands = 0
        # None until the game is known, which selects a shipped memory.
        self._memory: Memory | None = None
        if memory is not None or empty:
            self._memory = Memory(constants)
        if memory is not None and (os.path.exists(memory) or not learn):
            try:
                self._memory = read_memory(memory, constants)
            except BotFileError as error:
                raise ValueError(str(error)) from error

    def prepare(self, game: Game) -> None:
        """Lock and read the file of the memory, or read the shipped memory of the game."""
        if self._path is not None and self._learns and self._journal is None and self._file is None:
            self._file = MemoryFile(self._path, self._constants)
            self._memory = self._file.start
        self._knowledge(game)

    def prepare_for_many_hands(self) -> None:
        compile_kernels()

    def hand_started(self, view: View) -> None:
        # Decisions of a hand without an end are not learnt.
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
            origin = ""
            if is_drawn:
                origin = ", drawn at random"
            view.comment(
                f"{in_words(view, seen)}; cell {cell.text} {_earned(row)} -> {decision.value} {decision.words}"
                f"{origin}, {format_action(action)}"
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
        """Write the memory and release its file."""
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
        """Return the action with probability 1, or None if it learns or depends on samples of an unknown seed."""
        if self._learns or not self.chance.is_reproducible(view):
            return None
        _, cell = self._look(view)
        row = self._knowledge(view.game).row(cell)
        return {action_of(best_decision(row), view): 1.0}

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        """Return an action for each holding against one opponent; None against more, or if it learns."""
        if self._learns or len(view.active_positions) > 2:
            return None
        import numpy as np

        from bots.sdk.holdings import pure_policy
        from engine.ranges import HOLDINGS, are_free, chances_of_all

        # Only CHANCE depends on the holding, so holdings with the same level of it share a cell.
        percent = 100 * chances_of_all(view.board).equity
        levels = (np.nan_to_num(percent) / self._constants.chance_interval).astype(np.int64)
        levels = np.minimum(levels, self._constants.big_qty - 1)
        free = are_free(view.board)
        decisions = np.zeros(len(HOLDINGS), np.int64)
        for level in np.unique(levels[free]).tolist():
            number = int(np.flatnonzero(free & (levels == level))[0])
            cell = cell_of(observe(view, float(percent[number])), self._constants)
            decisions[levels == level] = best_decision(self._knowledge(view.game).row(cell))

        def action_for(decision: int) -> Action:
            return action_of(Decision(decision), view)

        return pure_policy(view, decisions, action_for)

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
    """Format the mean reward and the number of trials of each decision."""
    texts = []
    for decision, results in zip(Decision, row, strict=True):
        if results.taken:
            texts.append(f"{decision.value} {results.mean_mbb:+.0f} ({results.taken})")
    if not texts:
        return "never met"
    return f"earned {', '.join(texts)} mbb (times)"


_REWARD: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_TAKEN: Final = re.compile(r"([0-9]{9}):([1-5])", re.ASCII)


def format_hand(decisions: Sequence[tuple[MemoryCell, Decision]], reward: int) -> str:
    """Format the reward and the decisions of a hand as a line of a journal."""
    words = [str(reward)]
    for cell, decision in decisions:
        words.append(f"{cell.text}:{decision.value}")
    return " ".join(words)


def _learn_journal(memory: Memory, path: str) -> None:
    """Add all hands of a journal to a memory.

    Raises:
        BotFileError: a line is invalid.
    """
    for hand, learnt in read_journal(path):
        reward, *words = learnt.split(" ")
        matches = [_TAKEN.fullmatch(word) for word in words]
        if not _REWARD.fullmatch(reward) or None in matches:
            raise BotFileError(path, f"hand {hand}: {quoted(learnt)} is not a record of a learner")
        decisions = []
        for match in matches:
            if match is not None:
                decisions.append((MemoryCell.parse(match[1]), Decision(int(match[2]))))
        memory.learn(decisions, int(reward))
