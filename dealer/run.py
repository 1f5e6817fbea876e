"""One match with everything around it: a folder, logs, bots started as processes, and a result in the end.

    run = MatchRun(plan)
    result = await run.play()

Whatever goes wrong ends in a `MatchResult` whose `reason` says what happened to whom; only what makes a start
impossible raises `LaunchError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dealer.clock import DEFAULT_LIMITS, TimeLimits
from dealer.faults import FaultKind, MatchFailure
from dealer.launcher import BotProcess, LaunchError, stop_all
from dealer.match import Match, MatchSetup, Phase
from dealer.network import Table
from dealer.observer import MatchObserver, Observers
from dealer.players import Player, PlayerKind, unique_names
from dealer.results import MatchResult, PlayerResult, result_sentence
from dealer.tally import Tally
from dealer.writers import LogWriter, TransactionWriter
from engine import Game, Seat
from logs import format_header
from logs.line_file import LineFile
from protocol import format_game_definition

__all__ = ["MatchPlan", "MatchRun"]

_POLL_S = 0.02
_DEATH_NOTICE_S = 0.5


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to be run.

    Attributes:
        name: of the match; its logs are named after it.
        game_name: as shown and logged.
        game: the game.
        players: by seat.
        hands: how many.
        seed: of the cards; built-in bots get seeds of their own that follow from it.
        folder: where everything about the match goes; it must exist.
        host: the address to listen on.
        ports: of the seats; missing ones and 0 mean any free port.
        limits: the players' clocks.
        fixed_seats: the button does not move.
        coalesce_s: see `dealer.network.Table`.
    """

    name: str
    game_name: str
    game: Game
    players: tuple[Player, ...]
    hands: int
    seed: int
    folder: Path
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = ()
    limits: TimeLimits = DEFAULT_LIMITS
    fixed_seats: bool = False
    coalesce_s: float | None = None


class MatchRun:
    """One match being run.

    Attributes:
        plan: what is run.
        names: the players' names by seat.
        tally: how it stands.
        ports: by seat, once listening.
        started_s: on the monotonic clock, when all players were there; None before.
    """

    def __init__(self, plan: MatchPlan, observers: tuple[MatchObserver, ...] = ()) -> None:
        self.plan = plan
        self.names = unique_names(plan.players)
        self.tally = Tally(plan.game)
        self.ports: list[int] = []
        self.started_s: float | None = None
        self._opened_s = time.monotonic()
        self._setup = MatchSetup(
            plan.game, plan.name, plan.hands, plan.seed, self.names, plan.fixed_seats, limits=plan.limits
        )
        self._extra_observers = observers
        self._processes: dict[Seat, BotProcess] = {}
        self._files: list[LineFile] = []
        self._table: Table | None = None

    @property
    def log_path(self) -> Path:
        """The ACPC log."""
        return self.plan.folder / f"{self.plan.name}.log"

    def waiting_for(self) -> list[tuple[str, str]]:
        """Who has not connected yet: names, and the address where each seat is awaited."""
        if self._table is None or self.started_s is not None:
            return []
        host = f"[{self.plan.host}]" if ":" in self.plan.host else self.plan.host
        return [(self.names[seat], f"{host}:{self.ports[seat]}") for seat in self._table.missing_seats()]

    @property
    def start_time_left_s(self) -> float | None:
        """Until the players must be there; None without a limit."""
        start_us = self.plan.limits.start_us
        return None if start_us is None else max(0.0, start_us / 1e6 - (time.monotonic() - self._opened_s))

    async def play(self) -> MatchResult:
        """Run the match to its end.

        Raises:
            LaunchError: a bot or a socket cannot be started, or the folder cannot be written.
        """
        try:
            return await self._play()
        finally:
            for file in self._files:
                file.close()
            # In a thread: other matches of this loop go on meanwhile.
            await asyncio.shield(asyncio.to_thread(stop_all, list(self._processes.values())))

    async def _play(self) -> MatchResult:
        plan = self.plan
        match = Match(self._setup, Observers([*self._open_logs(), self.tally, _Start(self), *self._extra_observers]))
        table = self._table = Table(match, host=plan.host, coalesce_s=plan.coalesce_s)
        try:
            self.ports = table.listen(plan.ports)
        except OSError as error:
            port = plan.ports[int(error.filename)] if int(error.filename) < len(plan.ports) else 0
            raise LaunchError(
                f"cannot listen on {plan.host} port {port or 'any'}: {error.strerror}; choose another --host or --ports"
            ) from None
        self._opened_s = time.monotonic()
        outcome: Literal["finished", "failed", "interrupted"] = "finished"
        try:
            self._launch()
            async with asyncio.TaskGroup() as tasks:
                supervisor = tasks.create_task(self._supervise(match, table))
                await table.run()
                supervisor.cancel()
            reason = "all hands were played."
        except (asyncio.CancelledError, KeyboardInterrupt):
            outcome, reason = "interrupted", "it was interrupted."
        finally:
            table.close()
        if outcome == "finished" and match.failure is not None:
            outcome, reason = "failed", await self._explain(match.failure)
        return self._result(outcome, reason)

    def _open_logs(self) -> list[MatchObserver]:
        plan = self.plan
        try:
            (plan.folder / f"{plan.name}.game").write_text(format_game_definition(plan.game), "ascii")
            log = LineFile(self.log_path)
            self._files.append(log)
            limits = plan.limits
            log.write(
                format_header(
                    plan.name,
                    plan.game_name,
                    plan.hands,
                    plan.seed,
                    t_response_ms=limits.response_us // 1000,
                    t_hand_ms=limits.hand_us // 1000,
                    t_per_hand_ms=limits.per_hand_us // 1000,
                )
            )
            transactions = LineFile(plan.folder / f"{plan.name}.tlog")
            self._files.append(transactions)
        except OSError as error:
            raise LaunchError(f"cannot write to {plan.folder}: {error.strerror}") from None
        return [LogWriter(log, self.names), TransactionWriter(transactions)]

    def _launch(self) -> None:
        plan = self.plan
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(plan.host, plan.host)
        for seat, player in enumerate(plan.players):
            if player.kind is not PlayerKind.TCP:
                self._processes[Seat(seat)] = BotProcess(
                    player,
                    host=host,
                    port=self.ports[seat],
                    game=str((plan.folder / f"{plan.name}.game").absolute()),
                    seed=(plan.seed * 1000003 + seat) % 2**32,
                    output_path=plan.folder / f"{plan.name}.seat{seat + 1}.{self.names[seat].replace('#', '-')}.out",
                )

    async def _supervise(self, match: Match, table: Table) -> None:
        """Notice bots that end before they connect; later, the connection tells."""
        while match.phase is Phase.CONNECTING:
            for seat in table.missing_seats():
                process = self._processes.get(seat)
                if process is not None and process.exit_code is not None:
                    match.fail(MatchFailure(f"ERROR: seat {seat + 1} ended before it connected", seat, FaultKind.CRASH))
                    table.after_step()
                    return
            await asyncio.sleep(_POLL_S)

    async def _explain(self, failure: MatchFailure) -> str:
        """Why a match failed, in a sentence or two for people."""
        seat, kind = failure.seat, failure.kind
        if seat is None or kind is None:
            return str(failure).removeprefix("ERROR: ") + "."
        process = self._processes.get(seat)
        ended = ""
        if process is not None and kind is not FaultKind.TIMEOUT:
            # The connection may be gone a moment before the process is.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.to_thread(process.wait, _DEATH_NOTICE_S)
            if process.exit_code is not None:
                ended = f" Its process ended with {_exit_in_words(process.exit_code)}."
        is_before_start = self.started_s is None
        happened = _what_happened(failure, kind, is_before_start, self.tally.hands, self.plan.limits)
        text = f"{self.names[seat]} {happened}.{ended}"
        lines = process.last_lines() if process is not None else []
        if lines:
            text += " The last it wrote:\n" + "\n".join(f"    {line}" for line in lines)
        elif process is not None:
            text += " It wrote nothing."
        return text

    def _result(self, outcome: Literal["finished", "failed", "interrupted"], reason: str) -> MatchResult:
        plan, tally = self.plan, self.tally
        seconds = 0.0 if self.started_s is None else time.monotonic() - self.started_s
        players = []
        for seat, player in enumerate(plan.players):
            process = self._processes.get(Seat(seat))
            mbb = tally.mbb[seat]
            players.append(
                PlayerResult(
                    name=self.names[seat],
                    player=player.text,
                    seat=seat,
                    chips=tally.chips[seat],
                    mbb_per_game=mbb.mean if mbb.count else None,
                    half_width_95=mbb.half_width_95,
                    thinking_s=tally.used_us[seat] / 1e6,
                    faults=dict(tally.faults[seat]),
                    first_fault=tally.first_faults[seat],
                    exit_code=process.exit_code if process is not None and outcome == "failed" else None,
                )
            )
        return MatchResult(
            match=plan.name,
            game=plan.game_name,
            seed=plan.seed,
            hands_asked=plan.hands,
            hands_played=tally.hands,
            outcome=outcome,
            reason=reason,
            seconds=seconds,
            hands_per_second=tally.hands / seconds if seconds else 0.0,
            folder=str(plan.folder),
            players=players,
            sentence=result_sentence(players, plan.game_name, tally.hands, outcome, reason),
        )


class _Start(MatchObserver):
    """Notes when the match begins."""

    def __init__(self, run: MatchRun) -> None:
        self._run = run

    def match_started(self, at_us: int) -> None:
        """All players are there."""
        self._run.started_s = time.monotonic()


def _exit_in_words(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def _what_happened(
    failure: MatchFailure, kind: FaultKind, is_before_start: bool, hands: int, limits: TimeLimits
) -> str:
    if is_before_start:
        if kind is FaultKind.TIMEOUT:
            awaited = "connected" if str(failure).endswith("connect") else "named its version"
            return f"has not {awaited} within {(limits.start_us or 0) / 1e6:g} s"
        if kind is FaultKind.CRASH:
            return "ended before it connected"
        if kind is FaultKind.MALFORMED_REPLY:
            line = str(failure).removeprefix("ERROR: invalid version string ")
            return f"does not speak the protocol: its first line was {line!r}, not 'VERSION:2.0.0'"
        return "closed the connection before it named its version"
    if kind is FaultKind.TIMEOUT:
        if "ran out of time" in str(failure):
            return f"used more time than it had in hand {hands}"
        return f"did not answer within {limits.response_us / 1e6:g} s in hand {hands}"
    if kind is FaultKind.FLOOD:
        return f"did not read what it was sent in hand {hands}"
    if "could not send" in str(failure):
        return f"no longer took what it was sent in hand {hands}"
    return f"closed the connection in hand {hands}"
