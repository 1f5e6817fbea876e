"""Seats of an agent on a server, which it joins as a bot of its user, also on the ladder.

The server decides when a match begins: after `start_match` or, on the ladder, by itself. A match of the server has a
seat for each seating, one after the other. A decision is named by the numbers of its seat and its hand, and by the
number of actions so far, as in ``7.12.3``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from bots.errors import BotsError
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
)
from dealer.errors import AgentError, JoinError
from dealer.joining.connection import JoinSettings
from dealer.joining.server_client import JoinedServer, JoinEnding, Joining, News, PlayedSeat
from dealer.person.entries import read_entry
from dealer.person.seat import HumanSeat, Scene
from dealer.person.table_sentences import game_sentence
from dealer.person.table_settings import SEAT
from dealer.table.loop import Changes
from engine.errors import quoted
from protocol import find_game
from protocol.game_definition import short_name
from protocol.joining import DEFAULT_TERMS, Challenge, ChallengeState, ContestTerms, RunOver, RunStanding, SeatText

_KEPT_HANDS: Final = 1000
_KEPT_SEATS: Final = 100
_KEPT_MATCHES: Final = 1000
_MAX_QUOTED: Final = 60
_BOTS_TIMEOUT_S: Final = 20.0


class ServerSeat(PlayedSeat):
    """Seat of a match on a server that the agent plays.

    Attributes:
        scene: current scene; None before the first hand.
        finished_hands: the last finished hands.
        is_resigned: the seat checks or folds by itself.
        on_change: called after every change.
    """

    def __init__(self, settings: JoinSettings, offer: Any, *, game: Path, on_change: Callable[[], None], **calls: Any):
        super().__init__(settings, offer, game=game, **calls)
        rules = find_game(str(game))[1]
        # A server does not name the opponents.
        opponents = ["opponent"]
        if rules.num_players > 2:
            opponents = [f"opponent-{number}" for number in range(1, rules.num_players)]
        self.game = rules
        self.names = (offer.player, *opponents)
        self.scene: Scene | None = None
        self.finished_hands: deque[FinishedHand] = deque(maxlen=_KEPT_HANDS)
        self.is_resigned = False
        self.on_change = on_change
        self._human = HumanSeat(rules, self.names, SEAT)
        self._answered = ""

    @property
    def decision(self) -> str:
        """Name of the open decision; empty without one."""
        scene = self.scene
        if scene is None or self.is_over or not scene.is_your_turn:
            return ""
        actions = sum(map(len, scene.betting.rounds))
        name = f"{self.offer.seat}.{scene.hand_number}.{actions}"
        return "" if name == self._answered else name

    async def play(self) -> None:
        """Play until the match is over."""
        self._transmit(self._human.open())
        await self._changes.wait_for(lambda: self.is_over)
        self.on_change()

    def receive(self, text: str) -> None:
        self.stream.received += 1
        try:
            for scene in self._human.receive_data(text.encode("latin-1", "replace")):
                self._see(scene)
        except BotsError as error:
            self._fail(str(error))
        self.on_change()

    def _see(self, scene: Scene) -> None:
        self.scene = scene
        if scene.finished:
            self.finished_hands.append(finished_hand(scene))
        self.play_on()

    def play_on(self) -> None:
        """Check or fold if the agent has resigned."""
        scene = self.scene
        if self.is_resigned and scene is not None and self.decision:
            self.answer("f" if scene.view.can_fold else "c")

    def answer(self, entry: str) -> None:
        """Answer the open decision by an entry of `dealer.person.entries`."""
        assert self.scene is not None
        action = read_entry(entry, self.scene)
        # Until the next state arrives, the same decision must not be answered again.
        self._answered = self.decision
        self._transmit(self._human.answer(action))

    def _transmit(self, data: bytes) -> None:
        text = data.decode("latin-1")
        self.stream.send(text)
        self._send(SeatText(self.offer.seat, text))


class ServerSeats(AgentSeats):
    """Seats of an agent that has joined a server.

    Args:
        settings: settings of the client.
    """

    def __init__(self, settings: JoinSettings) -> None:
        super().__init__()
        self._settings = settings
        self._joining = Joining(settings, self._note, make_seat=self._make_seat)
        self._changes = Changes()
        self._task: asyncio.Task[JoinEnding] | None = None
        self._seats: deque[ServerSeat] = deque(maxlen=_KEPT_SEATS)
        self._is_joined = False
        self._matches: list[str] = []
        """Matches in the order of their begin or request."""
        self._resigned: set[str] = set()
        self._overs: dict[str, dict[int, RunOver]] = {}
        """Ended runs by match and number. After a lost connection, the server repeats them."""
        self._standings: dict[str, RunStanding] = {}
        self._refusals: dict[str, str] = {}
        self._refused_actions = 0

    async def __aenter__(self) -> ServerSeats:
        """Join the server.

        Raises:
            JoinError: the server rejects the agent or cannot be reached.
        """
        self._task = asyncio.create_task(self._joining.run())
        self._task.add_done_callback(lambda _: self._changes.notify())
        await self._changes.wait_for(lambda: self._is_joined or self._has_left)
        if self._has_left:
            self._task.result()
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task, *self._tasks])

    @property
    def _has_left(self) -> bool:
        return self._task is not None and self._task.done()

    # ---- news of the server

    def _make_seat(self, settings: JoinSettings, offer: Any, **options: Any) -> PlayedSeat:
        seat = ServerSeat(settings, offer, on_change=self._changes.notify, **options)
        # A match that was resigned may have further seats, one for each seating.
        seat.is_resigned = offer.match in self._resigned
        self._seats.append(seat)
        self._remember(offer.match)
        return seat

    def _remember(self, match: str) -> None:
        if match in self._matches:
            return
        self._matches.append(match)
        if len(self._matches) > _KEPT_MATCHES:
            oldest = self._matches.pop(0)
            for facts in (self._overs, self._standings, self._refusals):
                facts.pop(oldest, None)
            self._resigned.discard(oldest)

    def _note(self, news: News) -> None:
        """Receive news of the client."""
        match news:
            case JoinedServer():
                self._is_joined = True
            case RunOver():
                self._remember(news.match)
                self._overs.setdefault(news.match, {})[news.run] = news
            case RunStanding():
                self._standings[news.match] = news
            case ChallengeState(tag, _, reason):
                self._refusals[f"{self._joining.user}.{tag}"] = reason
        self._changes.notify()

    # ---- games and bots

    async def list_games(self) -> GamesData:
        games = []
        for name, path in self._joining.games.items():
            game = find_game(str(path))[1]
            games.append(GameData(name=short_name(name), players=game.num_players, description=game_sentence(game)))
        return GamesData(games=games)

    async def list_bots(self, game: str) -> BotsData:
        return await asyncio.to_thread(self._request_bots, game)

    def _request_bots(self, game: str) -> BotsData:
        settings = self._settings
        address = f"{settings.address.rstrip('/')}/api/v1/bots"
        if game:
            address += f"?game={quote(game)}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {settings.token}"})
        context = None
        if settings.ca is not None:
            context = ssl.create_default_context(cafile=str(settings.ca))
        try:
            with urllib.request.urlopen(request, timeout=_BOTS_TIMEOUT_S, context=context) as response:
                rows = json.load(response)["bots"]
        except (OSError, ValueError, KeyError) as error:
            raise AgentError(f"The server does not list its bots: {error}.") from None
        games_by_bot: dict[str, list[str]] = {}
        for row in rows:
            if row["name"] != settings.player.name:
                games_by_bot.setdefault(row["name"], []).append(short_name(row["game"]))
        bots = [
            BotData(name=name, description="a bot of the server", games=games) for name, games in games_by_bot.items()
        ]
        return BotsData(bots=bots)

    # ---- matches

    async def start_match(self, game: str, opponents: list[str], hands: int, seed: int | None) -> StateData:
        names = {short_name(name): path for name, path in self._joining.games.items()}
        path = names.get(short_name(game))
        if path is None:
            raise AgentError(f"There is no game {quoted(game, _MAX_QUOTED)}. Call list_games.")
        if not opponents:
            raise AgentError("Name the opponents: one for all seats, or one for each seat besides yours.")
        if len(opponents) == 1:
            opponents = opponents * (find_game(str(path))[1].num_players - 1)
        name = self._settings.player.name
        tag = f"{name[:40]}-{secrets.token_hex(4)}"
        terms = ContestTerms(deals=hands, seed=DEFAULT_TERMS.seed if seed is None else seed)
        self._joining.challenge(Challenge(tag, game, (name, *opponents), terms=terms))
        match = f"{self._joining.user}.{tag}"
        self._remember(match)
        return await self.state(match)

    async def state(self, match: str) -> StateData:
        self._check(match)
        await self._settle(match)
        return self._moment(match, ()).data()

    async def act(self, match: str, decision: str, action: Move, to: int | None) -> ActData:
        self._check(match)
        seat = next((seat for seat in self._seats if decision and seat.decision == decision), None)
        if seat is None:
            note = f"Decision {quoted(decision, _MAX_QUOTED)} is not open, so nothing was played. This is the state."
            await self._settle(match)
            moment = self._moment(match, (note,))
            return ActData(**dict(moment.data()), accepted=False)
        assert seat.scene is not None
        try:
            entry = entry_for(action, to, seat.scene)
        except AgentError:
            self._refused_actions += 1
            raise
        first = seat.scene.hand_number
        seat.answer(entry)
        await self._settle(seat.offer.match)
        hands = [hand for hand in seat.finished_hands if hand.number >= first]
        moment = self._moment(seat.offer.match, (), hands[-MAX_FINISHED_HANDS:])
        return ActData(**dict(moment.data()), accepted=True)

    def _check(self, match: str) -> None:
        """Refuse a match that does not exist or is not played, and every call without a server."""
        if self._has_left:
            assert self._task is not None
            error = None if self._task.cancelled() else self._task.exception()
            reason = error if isinstance(error, JoinError) else "restart arena mcp"
            raise AgentError(f"The agent has left the server: {reason}.")
        if match and match not in self._matches:
            raise AgentError(f"There is no match {quoted(match, _MAX_QUOTED)}. Leave it out to use the current one.")
        if match in self._refusals:
            raise AgentError(f"The server does not play the match: {self._refusals[match].rstrip('.')}.")

    async def _settle(self, match: str) -> None:
        """Wait for a decision or the end of a match."""

        def is_settled() -> bool:
            if self._has_left or any(seat.decision for seat in self._seats_of(match)):
                return True
            return bool(match) and (self._is_over(match) or match in self._refusals)

        await self._changes.wait_for(is_settled, MAX_WAIT_S)
        self._check(match)

    def _seats_of(self, match: str) -> list[ServerSeat]:
        return [seat for seat in self._seats if not match or seat.offer.match == match]

    def _is_over(self, match: str) -> bool:
        overs = self._overs.get(match, {})
        return any(len(overs) >= over.runs for over in overs.values())

    def _moment(self, match: str, notes: tuple[str, ...], hands: list[FinishedHand] | None = None) -> SeatMoment:
        seats = self._seats_of(match)
        seat = next((seat for seat in seats if seat.decision), seats[-1] if seats else None)
        if match:
            is_over = self._is_over(match)
        else:
            is_over = False
            match = "" if seat is None else seat.offer.match
        if is_over:
            notes = (*notes, "The match is over. Call result.")
        elif seat is None:
            notes = (*notes, "The server has not begun a match with you.")
        elif seat.is_over:
            notes = (*notes, "The next part of the match has not begun.")
        return SeatMoment(
            match=match,
            game=None if seat is None else seat.game,
            names=(self._settings.player.name,) if seat is None else seat.names,
            hands=None if seat is None else seat.offer.hands or None,
            scene=None if seat is None else seat.scene,
            decision="" if seat is None else seat.decision,
            is_over=is_over,
            notes=notes,
            finished_hands=tuple(hands or ()),
        )

    async def hand(self, match: str, number: int | None) -> FinishedHand:
        self._check(match)
        for seat in reversed(self._seats_of(match)):
            for hand in reversed(seat.finished_hands):
                if number is None or hand.number == number:
                    return hand
        raise AgentError("There is no such finished hand.")

    async def resign(self, match: str) -> ResultData:
        self._check(match)
        match = match or self._last_match()
        self._resigned.add(match)
        for seat in self._seats_of(match):
            seat.is_resigned = True
            seat.play_on()
        return await self.result(match)

    def _last_match(self) -> str:
        if not self._matches:
            raise AgentError("There is no match yet. Call start_match, or state to wait for a match of the ladder.")
        return self._matches[-1]

    async def result(self, match: str) -> ResultData:
        self._check(match)
        match = match or self._last_match()
        overs = list(self._overs.get(match, {}).values())
        standing = self._standings.get(match)
        sentence = "The match has not begun."
        hands = 0
        won = None
        status: Any = "playing"
        if overs:
            over = overs[-1]
            sentence = over.reason
            hands = sum(run.hands for run in overs)
            if over.mbb_per_game is not None:
                won = RateData(
                    mbb_per_hand=over.mbb_per_game,
                    half_width_95=over.half_width_95,
                    holds="for a number of hands set before the match",
                )
            if self._is_over(match):
                status = "finished" if over.state == "finished" else "stopped"
        elif standing is not None:
            hands = standing.hands
            sentence = f"{hands:,} of {standing.planned:,} hands. {standing.rate}".strip()
        if status == "finished" and match in self._resigned:
            status = "resigned"
        return ResultData(
            match=match,
            status=status,
            sentence=sentence,
            players=[],
            hands=hands,
            chips={},
            won=won,
            corrected=None,
            seed=None,
            decisions=None,
            refused_actions=self._refused_actions,
            median_s=None,
            p99_s=None,
            folder=None,
        )
