"""Calls of an agent, which matches of this machine and matches of a server answer.

Calls may come in parallel and may be cancelled. Whatever a cancelled call has begun is completed.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from dealer.agents.seat_data import ActData, BotsData, FinishedHand, GamesData, Move, ResultData, StateData

_Value = TypeVar("_Value")
MAX_WAIT_S: Final = 30.0
"""Longest wait of a call for other players, below the usual time limit of a client."""
MAX_FINISHED_HANDS: Final = 10
"""Finished hands in the response to an action; `hand` shows earlier ones."""


class AgentSeats(ABC):
    """Seats of an agent. Leaving the context manager stops the matches so that they can be continued.

    Every method raises `AgentError` for a call that is refused. An empty `match` means the only match that is not over.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    @abstractmethod
    async def __aenter__(self) -> AgentSeats: ...

    @abstractmethod
    async def __aexit__(self, *error: object) -> None: ...

    @abstractmethod
    async def list_games(self) -> GamesData: ...

    @abstractmethod
    async def list_bots(self, game: str) -> BotsData:
        """List the opponents in a game; an empty name means any game."""

    @abstractmethod
    async def start_match(self, game: str, opponents: list[str], hands: int, seed: int | None) -> StateData:
        """Start a match, and wait for the first decision."""

    @abstractmethod
    async def state(self, match: str) -> StateData:
        """Wait for a decision or the end of the match, and return the state."""

    @abstractmethod
    async def act(self, match: str, decision: str, action: Move, to: int | None) -> ActData:
        """Play an action, and wait for the next decision. A decision that was made before is not changed."""

    @abstractmethod
    async def result(self, match: str) -> ResultData: ...

    @abstractmethod
    async def hand(self, match: str, number: int | None) -> FinishedHand:
        """Return a finished hand; None for the last one."""

    @abstractmethod
    async def resign(self, match: str) -> ResultData:
        """Check or fold to the end of the current hand, and end the match."""

    async def complete(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Await work that continues if the caller is cancelled."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Retrieved, because a cancelled caller no longer does it.
            task.exception()
