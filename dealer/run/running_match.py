"""Interface of a match of a contest during play, in this process or another one."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dealer.match.causes import Failure
from dealer.run.ending import AwaitedPlayer, Wait
from dealer.run.tally import Tally


class RunningMatch(ABC):
    """Match played in steps, between which a contest examines all its matches.

    Attributes:
        tally: counts of the match, including those of an earlier run.
        failure: reason why the match ended early, or None.
    """

    tally: Tally
    failure: Failure | None

    @property
    def start_time_left_s(self) -> float | None:
        """Seconds left for players to connect; None without a limit."""
        return None

    def waiting_for(self) -> list[AwaitedPlayer]:
        """Return the players that are not connected."""
        return []

    def waits(self) -> list[Wait]:
        """Return the waits for players without which the match cannot continue, however short."""
        return []

    @abstractmethod
    async def play_until(self, hands: int) -> None:
        """Play until this many hands of the match are finished, or until it fails.

        Raises:
            LaunchError: a bot or socket cannot be started, or the folder cannot be written.
        """

    def hold(self) -> bool:
        """Stop after the current hand; return whether one is in progress."""
        return False

    @abstractmethod
    async def finish(self) -> None:
        """End the match here, with its score.

        Raises:
            LaunchError: a file cannot be written.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the files and end the bots. An unfinished match can be resumed later."""
