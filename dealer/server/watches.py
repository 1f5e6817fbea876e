"""Who watches the matches of which run: callbacks that hear every event of a run as it happens."""

from __future__ import annotations

from collections.abc import Callable

from dealer.contest.contest import MatchEvent, Watch

__all__ = ["Watches"]


class Watches:
    """Hands the events of matches to all who watch them."""

    def __init__(self) -> None:
        self._by_run: dict[int, list[Watch]] = {}
        self._open: set[int] = set()

    def opened(self, run: int) -> Watch:
        """What a run that begins is to be played with."""
        self._open.add(run)
        watches = self._by_run.setdefault(run, [])

        def tell(event: MatchEvent) -> None:
            for watch in tuple(watches):
                watch(event)

        return tell

    def is_open(self, run: int) -> bool:
        """Whether a run goes on."""
        return run in self._open

    def closed(self, run: int) -> None:
        """A run has ended."""
        self._open.discard(run)
        self._by_run.pop(run, None)

    def add(self, run: int, watch: Watch) -> Callable[[], None]:
        """Have a callback hear what happens in a run that goes on, until what this returns is called.

        The callback must not raise, and must not wait. It hears what comes; what was before stands in the logs.
        """
        watches = self._by_run.setdefault(run, [])
        watches.append(watch)

        def end() -> None:
            if watch in watches:
                watches.remove(watch)
            if not watches and self._by_run.get(run) is watches and run not in self._open:
                del self._by_run[run]

        return end
