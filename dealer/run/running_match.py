"""A match of a contest while it is played, in this process or in another."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dealer.match.causes import Failure
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.tally import Tally


class RunningMatch(ABC):
    """One match, played in steps so that several matches can be examined together between them.

    Attributes:
        tally: counts of the match, earlier hands included.
        failure: why the match ended early, otherwise None.
    """

    tally: Tally
    failure: Failure | None

    @property
    def start_time_left_s(self) -> float | None:
        """The time left for players to connect; None without a limit."""
        return None

    def waiting_for(self) -> list[AwaitedPlayer]:
        """The players that are not connected."""
        return []

    def waits(self) -> list[Wait]:
        """The players without which the match cannot continue, even for a moment."""
        return []

    @abstractmethod
    async def play_until(self, hands: int) -> None:
        """Play until this many hands of the match are finished, or it has failed.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
        """

    def hold(self) -> bool:
        """Stop after the current hand; return whether one is in progress."""
        return False

    @abstractmethod
    async def finish(self) -> None:
        """End the match here, with its score.

        Raises:
            LaunchError: its files cannot be written.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the files and end the bots; a match that is not over can be resumed later."""
