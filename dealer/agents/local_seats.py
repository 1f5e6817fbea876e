"""Matches of an agent on this machine: started, continued and resigned.

A match is a run like that of `arena table`, in a folder of its own whose name is the id of the match. ``agent.json``
marks the folder and keeps what the run does not: whether the match is over, and the number of refused actions.
`TableSession` keeps the seat, so that a restarted process continues at the same decision.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from bots.errors import StaleEntry
from bots.sdk.registry import describe, is_bot_name
from dealer.agents.agent_seats import MAX_FINISHED_HANDS, MAX_WAIT_S, AgentSeats
from dealer.agents.seat_data import (
    ActData,
    BotData,
    BotsData,
    FinishedHand,
    GameData,
    GamesData,
    Move,
    RateData,
    ResultData,
    SeatMoment,
    StateData,
    entry_for,
    finished_hand,
    seen_scene,
)
from dealer.errors import AgentError, DealerError, PlayerError
from dealer.person.table_sentences import game_sentence, waiting_sentence
from dealer.person.table_session import TableSession
from dealer.person.table_settings import HANDS, SEAT, table_config
from dealer.run.ending import Outcome
from dealer.run.folder import unused_folder
from dealer.run.results import read_result
from dealer.run.results.result_sentences import contest_sentence
from dealer.run.run import Run, new_run, reopen
from dealer.run.run_settings import BotSettings
from dealer.table.players import parse_player
from engine.errors import quoted
from engine.text import count_of, listed
from logs.errors import LogError
from logs.estimation import AnyTimeMean, Estimate, score_bounds
from logs.hand_source import find
from logs.whole_file import write_whole
from protocol import find_game
from protocol.game_definition import short_name

AGENT_FILE: Final = "agent.json"
_MATCH_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,199}")
_MAX_ACTIVE: Final = 50
"""Matches that this process plays at a time."""
_MAX_LISTED: Final = 20
"""Names in a sentence."""
_MAX_QUOTED: Final = 60
_FIXED: Final = "for a number of hands set before the match"
_ANY_TIME: Final = "at any time, also if you choose when to stop"


@dataclass(frozen=True, slots=True)
class SavedMatch:
    """State of a match that its run does not keep.

    Attributes:
        is_over: no further hand is played.
        is_resigned: the agent has ended it.
        refused_actions: number of illegal actions that were refused.
    """

    is_over: bool = False
    is_resigned: bool = False
    refused_actions: int = 0


_SAVED_MATCH: Final = TypeAdapter(SavedMatch)


def read_saved_match(folder: Path) -> SavedMatch | None:
    """Read the state of a match; None if the folder is not that of an agent's match."""
    try:
        return _SAVED_MATCH.validate_json((folder / AGENT_FILE).read_bytes())
    except OSError:
        return None
    except ValueError:
        # The counts are lost, and the run itself is intact.
        return SavedMatch()


@dataclass(slots=True)
class _LocalMatch:
    """A match that this process plays or has read."""

    key: str
    session: TableSession
    task: asyncio.Task[None]
    saved: SavedMatch

    def save(self, **changes: Any) -> None:
        """Change the saved state.

        Raises:
            OSError: the file cannot be written.
        """
        self.saved = replace(self.saved, **changes)
        _write_saved(self.session.run.folder, self.saved)

    @property
    def decision(self) -> str:
        """Name of the open decision; empty without one."""
        session = self.session
        scene = session.scene
        if scene is not None and session.is_dealing and session.moments.is_asked and scene.is_your_turn:
            return session.moments.name
        return ""

    @property
    def status(self) -> Any:
        if self.saved.is_resigned:
            return "resigned"
        result = self.session.result
        if result is None or result.outcome is Outcome.INTERRUPTED:
            return "playing"
        return "finished" if result.outcome.is_complete else "stopped"


def _write_saved(folder: Path, saved: SavedMatch) -> None:
    write_whole(folder / AGENT_FILE, _SAVED_MATCH.dump_json(saved), is_synced=False)


class LocalSeats(AgentSeats):
    """Matches of this machine.

    Args:
        runs: folder of the matches.
        games: names or files of the games that the agent may choose, by their names.
        bots: players that the agent may choose, by their names.
        name: name of the agent.
    """

    def __init__(self, runs: Path, *, games: Mapping[str, str], bots: Mapping[str, str], name: str) -> None:
        super().__init__()
        self._runs = runs
        self._games = games
        self._bots = bots
        self._name = name
        self._matches: dict[str, _LocalMatch] = {}
        # Two calls must not open the same folder.
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> LocalSeats:
        return self

    async def __aexit__(self, *error: object) -> None:
        matches = list(self._matches.values())
        for match in matches:
            match.session.run.interrupt()
        tasks = {*self._tasks, *(match.task for match in matches)}
        if tasks:
            await asyncio.wait(tasks)

    # ---- games and bots

    async def list_games(self) -> GamesData:
        games = []
        for name, text in self._games.items():
            game = find_game(text)[1]
            games.append(GameData(name=name, players=game.num_players, description=game_sentence(game)))
        return GamesData(games=games)

    async def list_bots(self, game: str) -> BotsData:
        names = list(self._games)
        if game:
            names = [self._find_game(game)]
        # The bots are imported, which can take seconds.
        return BotsData(bots=await asyncio.to_thread(self._describe_bots, names))

    def _describe_bots(self, names: Sequence[str]) -> list[BotData]:
        games = [find_game(self._games[name])[1] for name in names]
        bots = []
        for bot, text in self._bots.items():
            description = "a program of this machine"
            try:
                refusals: Sequence[str | None] = parse_player(text, None, games, in_process=True).refusals
            except PlayerError:
                continue
            if is_bot_name(text):
                description = describe(text).summary
            played = [name for name, refusal in zip(names, refusals or [None] * len(names), strict=True) if not refusal]
            if played:
                bots.append(BotData(name=bot, description=description, games=played))
        return bots

    def _find_game(self, name: str) -> str:
        """Return the name under which a game is listed."""
        for known in (name, short_name(name)):
            if known in self._games:
                return known
        raise AgentError(f"There is no game {quoted(name, _MAX_QUOTED)}. The games are {_listed(self._games)}.")

    # ---- matches

    async def start_match(self, game: str, opponents: list[str], hands: int, seed: int | None) -> StateData:
        match = await self.complete(self._start(game, opponents, hands, seed))
        return await self.state(match.key)

    async def _start(self, game: str, opponents: list[str], hands: int, seed: int | None) -> _LocalMatch:
        game_text = self._games[self._find_game(game)]
        bots = []
        for name in opponents:
            if name not in self._bots:
                raise AgentError(f"There is no bot {quoted(name, _MAX_QUOTED)}. The bots are {_listed(self._bots)}.")
            bots.append(BotSettings(bot=self._bots[name]))
        if not bots:
            raise AgentError("Name the opponents: one for all seats, or one for each seat besides yours.")
        async with self._opening:
            active = [match for match in self._matches.values() if match.session.is_dealing]
            if len(active) >= _MAX_ACTIVE:
                raise AgentError(f"{count_of(_MAX_ACTIVE, 'match', 'matches')} are being played. Resign one first.")
            try:
                config = await asyncio.to_thread(table_config, game_text, bots, name=self._name, deals=hands, seed=seed)
                folder = unused_folder((self._name, *opponents), self._runs)
                run = await asyncio.to_thread(new_run, config, folder)
                _write_saved(folder, SavedMatch())
            except (DealerError, OSError) as error:
                raise AgentError(f"The match cannot be started: {error}.") from None
            return await self._play(folder.name, run, SavedMatch())

    async def _play(self, key: str, run: Run[Any], saved: SavedMatch) -> _LocalMatch:
        session = await asyncio.to_thread(TableSession, run)
        # The scores without luck take seconds, during which other matches go on.
        task = asyncio.create_task(session.play(asyncio.to_thread))
        match = self._matches[key] = _LocalMatch(key, session, task, saved)
        return match

    async def _find(self, key: str) -> _LocalMatch:
        """Return a match, reopened if another process has played it before."""
        return await self.complete(self._open(key))

    async def _open(self, key: str) -> _LocalMatch:
        async with self._opening:
            if not key:
                key = await asyncio.to_thread(self._only_match)
            match = self._matches.get(key)
            if match is not None and not match.session.problem:
                return match
            folder = self._runs / key
            # The agent chooses the key, which must not lead out of the folder.
            saved = read_saved_match(folder) if _MATCH_ID.fullmatch(key) else None
            if saved is None:
                raise AgentError(f"There is no match {quoted(key, _MAX_QUOTED)}. Leave it out to use the only one.")
            try:
                run = await asyncio.to_thread(reopen, folder)
                if saved.is_over and run.finished is None:
                    # A resigned match has deals left, which nobody plays.
                    run.finished = await asyncio.to_thread(read_result, folder)
                return await self._play(key, run, saved)
            except (DealerError, OSError) as error:
                raise AgentError(f"The match {key} cannot be continued: {error}.") from None

    def _only_match(self) -> str:
        """Return the id of the only match that is not over, or of the last one if all are."""
        matches = {}
        if self._runs.is_dir():
            for folder in sorted(self._runs.iterdir()):
                saved = read_saved_match(folder)
                if saved is not None:
                    matches[folder.name] = saved
        unfinished = [key for key, saved in matches.items() if not saved.is_over]
        if len(unfinished) > 1:
            raise AgentError(f"Several matches are not over, so name one: {_listed(unfinished)}.")
        if not matches:
            raise AgentError("There is no match yet. Call start_match.")
        return (unfinished or list(matches))[-1]

    # ---- the seat

    async def state(self, match: str) -> StateData:
        local = await self._find(match)
        first = local.session.last_hand + 1
        await self._settle(local)
        return self._moment(local, first).data()

    async def act(self, match: str, decision: str, action: Move, to: int | None) -> ActData:
        local = await self._find(match)
        # A match that was reopened needs time to return to the decision.
        await self._settle(local)
        session = local.session
        accepted = False
        if decision and decision == local.decision:
            assert session.scene is not None
            try:
                entry = entry_for(action, to, session.scene)
            except AgentError:
                local.save(refused_actions=local.saved.refused_actions + 1)
                raise
            # Another call may have answered it in the meantime.
            with contextlib.suppress(StaleEntry):
                await self.complete(session.enter(decision, entry))
                accepted = True
            await self._settle(local)
        moment = self._moment(local, _hand_number(decision, session.last_hand + 1))
        if not accepted:
            note = f"Decision {quoted(decision, _MAX_QUOTED)} is not open, so nothing was played. This is the state."
            moment = replace(moment, notes=(note, *moment.notes))
        return ActData(**dict(moment.data()), accepted=accepted)

    async def _settle(self, local: _LocalMatch) -> None:
        """Wait for a decision or the end of the match, and continue after finished hands."""
        session = local.session
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + MAX_WAIT_S
        while await session.wait_until_asked(max(0.0, deadline_s - loop.time())):
            scene = session.scene
            if scene is None or not scene.finished or not session.moments.is_asked:
                break
            with contextlib.suppress(StaleEntry):
                await session.enter(session.moments.name, "")
        if session.problem:
            raise AgentError(f"The match {local.key} cannot be played: {session.problem}.")
        if not session.is_dealing and not local.saved.is_over and local.status != "playing":
            local.save(is_over=True)

    def _moment(self, local: _LocalMatch, first_hand: int) -> SeatMoment:
        """Return the state of a match, with the hands finished from a hand on."""
        session = local.session
        notes = []
        if session.is_dealing and session.last_hand + 1 >= session.hands:
            notes.append("All hands are played, and the result is being computed.")
        elif waiting := waiting_sentence(session):
            notes.append(waiting)
        if not session.is_dealing:
            notes.append(f"The match is over ({local.status}). Call result.")
        last = session.last_hand
        finished_hands = []
        for number in range(max(first_hand, last + 1 - MAX_FINISHED_HANDS), last + 1):
            record = session.record(number)
            if record is not None:
                finished_hands.append(finished_hand(seen_scene(record, SEAT)))
        return SeatMoment(
            match=local.key,
            game=session.game,
            names=session.names,
            hands=None if session.hands == HANDS else session.hands,
            scene=session.scene,
            decision=local.decision,
            is_over=not session.is_dealing,
            notes=tuple(notes),
            finished_hands=tuple(finished_hands),
        )

    async def hand(self, match: str, number: int | None) -> FinishedHand:
        local = await self._find(match)
        await self._settle(local)
        session = local.session
        if number is None:
            number = session.last_hand
        record = session.record(number)
        if record is None:
            raise AgentError(f"Hand {number} is not among the last finished hands; the last is {session.last_hand}.")
        return finished_hand(seen_scene(record, SEAT))

    async def resign(self, match: str) -> ResultData:
        local = await self._find(match)
        await self.complete(self._resign(local))
        return await self.result(local.key)

    async def _resign(self, local: _LocalMatch) -> None:
        session = local.session
        if not session.is_dealing:
            return
        # To the end of the hand, since nobody may escape a bad one.
        while await session.wait_until_asked(MAX_WAIT_S):
            scene = session.scene
            if scene is None or scene.finished or not session.is_dealing:
                break
            with contextlib.suppress(StaleEntry):
                await session.enter(session.moments.name, "f" if scene.view.can_fold else "c")
        else:
            # The wait has timed out: another player is thinking.
            raise AgentError(f"{waiting_sentence(session)} Resign again later.")
        session.run.interrupt()
        await asyncio.wait([local.task])
        is_resigned = session.result is not None and not session.result.outcome.is_complete
        local.save(is_over=True, is_resigned=is_resigned)

    async def result(self, match: str) -> ResultData:
        local = await self._find(match)
        await self._settle(local)
        session = local.session
        status = local.status
        result = session.result if status != "playing" else None
        counts = await asyncio.to_thread(_count_hands, session)
        won = None
        if counts.hands:
            won = _rate_data(counts.estimate, _ANY_TIME)
        corrected = None
        times = None
        sentence = f"The match continues, with {count_of(counts.hands, 'hand')} of {session.hands:,} finished."
        if result is not None:
            times = result.players[SEAT]
            sentence = contest_sentence(result, shows_output=False)
            if status == "resigned":
                sentence = f"You resigned after {count_of(counts.hands, 'hand')} of {session.hands:,}."
            elif times.won is not None:
                won = _rate_data(times.won.raw, _FIXED)
                if times.won.corrected is not None:
                    corrected = _rate_data(times.won.corrected, _FIXED)
        return ResultData(
            match=local.key,
            status=status,
            sentence=sentence,
            players=list(session.names),
            hands=counts.hands,
            chips=dict(zip(session.names, counts.chips, strict=True)),
            won=won,
            corrected=corrected,
            seed=None if result is None else result.seed,
            decisions=None if times is None else times.actions,
            refused_actions=local.saved.refused_actions,
            median_s=None if times is None or times.median_us is None else times.median_us / 1e6,
            p99_s=None if times is None or times.p99_us is None else times.p99_us / 1e6,
            folder=None if result is None else str(session.run.folder),
        )


def _listed(names: Mapping[str, Any] | Sequence[str]) -> str:
    words = list(names)
    if len(words) > _MAX_LISTED:
        words = [*words[:_MAX_LISTED], f"{len(words) - _MAX_LISTED} others"]
    return listed(words)


def _hand_number(decision: str, default: int) -> int:
    """Return the number of the hand of a decision, or a default for a text that names none."""
    number, _, _ = decision.partition(".")
    if number.isascii() and number.isdigit() and len(number) < 12:
        return int(number)
    return default


def _rate_data(estimate: Estimate, holds: str) -> RateData:
    return RateData(mbb_per_hand=estimate.mean, half_width_95=estimate.half_width, holds=holds)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Hands that the agent has seen to their end, with net chips by seat."""

    hands: int
    chips: tuple[float, ...]
    estimate: Estimate


def _count_hands(session: TableSession) -> _Counts:
    """Count the hands of a match from its log, with an interval that holds at every moment."""
    game = session.game
    name = session.names[SEAT]
    chips = [0.0] * len(session.names)
    mean = AnyTimeMean((), score_bounds(game))
    last = session.last_hand if session.is_dealing else session.hands
    # A new run has no log.
    with contextlib.suppress(LogError):
        for record in find([session.run.folder], on_problem=lambda problem: None).hands():
            if record.hand_number > last:
                break
            for seat, value in zip(record.seats, record.values, strict=True):
                chips[seat] += value
            mean.add(record.values[record.names.index(name)] * 1000 / game.big_blind)
    return _Counts(mean.count, tuple(chips), mean.estimate)
