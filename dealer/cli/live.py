"""The progress of a run: one line, redrawn on a terminal and printed now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple

from rich.live import Live
from rich.text import Text

from dealer.cli.console import Terminal
from dealer.cli.working import duration
from dealer.match.sentences import stray_sentence
from dealer.run.plan import ContestPlan
from dealer.run.sentences import expectation, rounded_up
from dealer.run.tournament import AwaitedPlayer, Progress
from engine.text import count_of

_PLAIN_EVERY_S = 10.0


class LiveLine:
    """Shows the progress of a run, and where the players are awaited that somebody else has to start."""

    def __init__(self, terminal: Terminal, *, is_silent: bool) -> None:
        """Prepare to show.

        Args:
            is_silent: whether to say only where players are awaited.
        """
        self._terminal = terminal
        self._is_silent = is_silent
        self._live = None
        if terminal.err.is_terminal and not is_silent:
            self._live = Live(Text(""), console=terminal.err, auto_refresh=False, transient=True)
        self._shown = ""
        self._next_s = time.monotonic() + _PLAIN_EVERY_S
        self._announced: tuple[AwaitedPlayer, ...] = ()
        self._strays_said = 0
        self._versions_said: frozenset[str] = frozenset()

    def __enter__(self) -> LiveLine:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def expect(self, plan: ContestPlan) -> None:
        """Say how long a stop rule is likely to take."""
        sentence = expectation(plan)
        if sentence is not None and not self._is_silent:
            self._terminal.say(f"--stop {sentence}")

    def __call__(self, progress: Progress) -> None:
        """Show how the run stands."""
        remote = tuple(player for player in progress.awaited if player.is_remote)
        if remote != self._announced:
            self._announced = remote
            if remote:
                self._terminal.say(_waiting(remote, progress.start_time_left_s))
        if self._is_silent:
            return
        new, self._strays_said = progress.strays - self._strays_said, progress.strays
        for name, stray in progress.latest_strays[-new:] if new else ():
            self._terminal.say(stray_sentence(stray, name))
        if new > len(progress.latest_strays):
            self._terminal.say(f"{new - len(progress.latest_strays):,} more connections were closed")
        for name in sorted(progress.other_versions - self._versions_said):
            self._terminal.say(f"{name} names another version of the protocol than the dealer's, 2.0.0; it plays on.")
        self._versions_said |= progress.other_versions
        line = status_line(progress, None if self._live is None else self._terminal.err.width)
        if self._live is not None:
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif time.monotonic() >= self._next_s and line != self._shown:
            self._shown = line
            self._next_s = time.monotonic() + _PLAIN_EVERY_S
            self._terminal.say(line)


class _Part(NamedTuple):
    """A part of the line, and how early it is left out where the line is too long; 0 for never."""

    text: str
    expendable: int = 0


def status_line(progress: Progress, width: int | None = None) -> str:
    """How a run stands, in one line.

    Args:
        width: how many characters there is room for: what matters least is left out; None for any number.
    """
    parts = _parts(progress)
    for least in range(max(part.expendable for part in parts), 0, -1):
        if width is None or len(_joined(parts)) <= width:
            break
        parts = [part for part in parts if part.expendable != least]
    return _joined(parts)


def _joined(parts: Sequence[_Part]) -> str:
    return " · ".join(part.text for part in parts)


def _parts(progress: Progress) -> list[_Part]:
    waiting = _waiting(progress.awaited, progress.start_time_left_s) if progress.awaited else ""
    if waiting and not progress.hands and progress.contests == 1:
        return [_Part(waiting)]
    speed = progress.hands_per_second
    # Of a single contest, it is said below where a player that is to connect is awaited.
    waits = [wait for wait in progress.waits if progress.contests > 1 or wait.hand_number is not None]
    parts = [_Part(str(waits[0]), 1)] if waits else []
    parts += [_Part(f"{progress.contests_ended}/{progress.contests} contests", 4)] if progress.contests > 1 else []
    parts += [_Part(f"{progress.deals:,}/{progress.deals_planned:,} deals"), _Part(f"{speed:,.0f} hands/s", 6)]
    if progress.rate is not None:
        parts.append(_Part(str(progress.rate), 3))
    elif progress.players and progress.hands:
        # Where rotations are played one after the other, no deal is complete until the last one begins.
        parts.append(_Part(f"{' over '.join(progress.players)}: no complete duplicate yet", 7))
    left = progress.deals_planned - progress.deals
    if progress.has_stop_rule:
        needed = progress.deals_needed
        left = left if needed is None else min(left, needed)
        about = f"about {rounded_up(left):,} more deals needed" if left else "enough is known"
        parts.append(_Part("deals needed: unknown yet" if needed is None else about, 5))
    if speed and progress.deals_planned:
        hands = left * progress.hands_planned / progress.deals_planned
        parts.append(_Part(f"{duration(hands / speed)} left", 2))
    if progress.faults:
        parts.append(_Part(count_of(progress.faults, "fault"), 4))
    return [*parts, _Part(waiting, 1)] if waiting and progress.contests == 1 else parts


def _waiting(players: tuple[AwaitedPlayer, ...], left_s: float | None) -> str:
    names = " and ".join(f"{player.name} at {player.address}" for player in players)
    return f"waiting for {names}, " + ("without limit" if left_s is None else f"{left_s:.0f} s left")
