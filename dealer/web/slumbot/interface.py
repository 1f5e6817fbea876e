"""Slumbot's interface: ``/api/login``, ``/api/new_hand``, ``/api/act``, below ``/`` or ``/slumbot``.

``/slumbot/BOT/api/...`` chooses the opponent. An error is answered as ``{"error_msg": "..."}``. Its status is 200 where
the client only has to send another action, because existing clients look for the message.

Betting is written ``k`` check, ``c`` call, ``f`` fold, ``bN`` bet or raise to N, a total for the street. ``/`` ends
every street but the last, including streets that are not played after a called all-in (``b20000c///``).

A session is a table whose person is the client's program. The table stores a hash of the session's token, so that
sessions survive restarts of the server. No client can escape a bad hand. If it asks for a new hand in the middle of
one, opens too many sessions, or sends nothing for `slumbot_forfeit_hours`, the interface checks and folds for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bots.errors import StaleEntry, UnclearEntry
from dealer.errors import DealerError, WebError
from dealer.person.seat import Scene
from dealer.person.table_session import TableSession
from dealer.server.accounts import RateLimit, hash_secret
from dealer.server.db.run_changes import TableRow
from dealer.server.db.users import User
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame
from dealer.server.server_tables import table_settings
from dealer.server.table_manager import TableManager
from dealer.web.slumbot import luck
from dealer.web.slumbot.luck import LuckCorrection
from dealer.web.visitor import get_visitor
from engine import CARD_TEXTS, Card, DealKey, Game, Move
from engine.betting import BettingState, betting_steps
from engine.holdem import is_holdem
from logs import HandRecord
from logs.hand_source import find

_log = logging.getLogger(__name__)
_STACK: Final = 20_000
_BLINDS: Final = [50, 100]
_SIZE: Final = re.compile(r"b[0-9]{1,6}")
_LETTERS: Final = {Move.FOLD: "f", Move.CHECK: "k", Move.CALL: "c"}
_STRENGTH: Final = ("cfr", "mfs", "rembrant", "", "random", "calling", "raising", "constant", "folding")
"""Built-in bots, the strongest first; the empty name is the rank of all other bots."""
_PREFIXES: Final = ("/api", "/slumbot/api", "/slumbot/{bot}/api")
_OWNER: Final = "slumbot "
_TIDY_EVERY_S: Final = 30.0
_ANSWER_S: Final = 600.0
"""Time limit for the bot's part of a response."""
_SESSIONS_PER_MINUTE: Final = 60
_SESSIONS_EACH: Final = 5
"""Maximum number of sessions with a table for a user or an address."""
_MAX_SESSIONS: Final = 10_000
"""Sessions kept in memory; a session that was dropped is found again by the owner of its table."""
_MAX_CHARACTERS: Final = 256


def find_server_bots(parts: ServerParts) -> list[tuple[ServerGame, str]]:
    """Find the bots that play the interface's game, the strongest first.

    The order is `cfr`, `mfs` and `rembrant`, then all other bots as configured, then the built-in bots that play no
    serious strategy.
    """

    def rank(entry: tuple[ServerGame, str]) -> int:
        game, bot = entry
        program = game.bots[bot].bot.partition("?")[0]
        return _STRENGTH.index(program if program in _STRENGTH else "")

    entries = [(game, bot) for game in parts.settings.games if _is_slumbot_game(game.game) for bot in game.bots]
    return sorted(entries, key=rank)


def _is_slumbot_game(game: Game) -> bool:
    return (
        game.num_players == 2
        and not game.is_limit
        and is_holdem(game)
        and sorted(game.blinds) == _BLINDS
        and set(game.stacks) == {_STACK}
    )


def _format_betting(betting: BettingState) -> str:
    rounds = [""] * len(betting.rounds)
    for step in betting_steps(betting):
        rounds[step.round] += _LETTERS.get(step.move) or f"b{step.street_total}"
    return "/".join(rounds)


def _parse_action(action: object, scene: Scene) -> str:
    """Return the entry at a table for a client's action.

    Raises:
        WebError: the action is malformed or illegal.
    """
    view = scene.view
    letters = ["f", "c"] if view.to_call else ["k"]
    sizes = range(0)
    if view.can_raise:
        sizes = range(view.min_raise_street_total, view.max_raise_street_total + 1)
    if isinstance(action, str):
        is_size = _SIZE.fullmatch(action) is not None and int(action[1:]) in sizes
        if is_size or action in letters:
            return action
    legal = letters
    if sizes:
        legal = [*letters, f"b{sizes[0]} to b{sizes[-1]}"]
    raise WebError(200, f"Illegal action; incr may be {', '.join(legal)}.")


def _format_cards(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def _end_fields(scene: Scene, record: HandRecord | None) -> dict[str, Any]:
    """Return the additional fields of the response that ends a hand.

    Args:
        record: the hand with all cards; None if the table no longer has it.
    """
    assert scene.values is not None
    won = round(scene.values[scene.position])
    pot = scene.betting.pot
    won_pot = 0
    if won > 0:
        won_pot = pot
    elif won < 0:
        won_pot = -pot
    fields: dict[str, Any] = {
        "winnings": won,
        "won_pot": won_pot,
        "session_num_hands": scene.score.hands,
        "session_total": round(scene.score.yours),
    }
    if record is not None:
        bot = 1 - record.names.index(scene.names[scene.position])
        fields["bot_hole_cards"] = _format_cards(record.deal.hole_cards[bot])
    return fields


@dataclass(slots=True)
class _Session:
    """Session of a client, played at a table.

    Attributes:
        owner: owner of its table, with the hash of the token.
        client: user or address whose sessions are limited together.
        user: user who has logged in; None for a guest.
        bot: name of the opponent; empty for the strongest.
        table: None before the first hand.
        shown: number of the last hand that the client has seen.
        reported: number of the last hand whose end the client has received or given up.
        corrected: number of the last hand in `worth`.
        worth: chips without the luck of the cards, before the last corrected hand and after it.
        lock: held during a request.
    """

    owner: str
    client: str
    user: User | None = None
    bot: str = ""
    table: TableRow | None = None
    shown: int = -1
    reported: int = -1
    corrected: int = -1
    worth: tuple[float, float] = (0.0, 0.0)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SlumbotSessions:
    """All sessions, and the handlers of their requests."""

    def __init__(self, parts: ServerParts, table_manager: TableManager) -> None:
        self._parts = parts
        self._table_manager = table_manager
        self._forfeit_s = 3600 * parts.settings.web.slumbot_forfeit_hours
        self._sessions: dict[str, _Session] = {}
        self._correction = LuckCorrection()
        self._begin_limit = RateLimit(_SESSIONS_PER_MINUTE)

    def routes(self) -> list[BaseRoute]:
        handlers = {"login": self._log_in, "new_hand": self._new_hand, "act": self._act}
        routes: list[BaseRoute] = []
        for prefix in _PREFIXES:
            for name, handler in handlers.items():
                routes.append(Route(f"{prefix}/{name}", _make_endpoint(handler), methods=["POST"]))
        return routes

    async def keep(self) -> None:
        """Expire idle sessions until cancelled."""
        while True:
            await asyncio.sleep(min(_TIDY_EVERY_S, self._forfeit_s))
            for table in self._table_manager.table_store.of(None):
                if table.owner.startswith(_OWNER) and time.time() - table.seen_s > self._forfeit_s:
                    await self._end(table)

    async def close(self) -> None:
        """End the process that corrects hands for luck."""
        await self._correction.close()

    # ---- requests

    async def _log_in(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        address = get_visitor(request).address
        name = _require_text(fields, "username")
        password = _require_text(fields, "password")
        user = await self._parts.accounts.log_in_person(name, password, address)
        if user is None:
            raise WebError(401, "The user name, or the password or token, is wrong.")
        token, _ = self._begin(request, user)
        return {"token": token}

    async def _new_hand(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Deal the next hand of a session, or the first of a new one."""
        if fields.get("token"):
            token = _require_text(fields, "token")
            session = self._find(token, request)
        elif self._parts.settings.web.guests_may_play:
            token, session = self._begin(request, None)
        else:
            raise WebError(401, "Guests may not play on this server. Call login first.")
        async with session.lock:
            if session.table is None:
                session.table = await self._open(session, get_visitor(request).address)
            table_session = await self._table_manager.table_session(session.table)
            scene = await _wait_for_turn(table_session)
            if not scene.finished and scene.hand_number == session.shown:
                scene = await _give_up(table_session)
                session.reported = scene.hand_number
            if scene.finished and scene.hand_number <= session.reported:
                # An empty entry goes to the next hand.
                await table_session.enter(table_session.moments.name, "")
                scene = await _wait_for_turn(table_session)
            return {"token": token} | await self._show(session, table_session, scene, "")

    async def _act(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        """Play an action, and return the state at the client's next turn."""
        token = _require_text(fields, "token")
        session = self._find(token, request)
        async with session.lock:
            if session.table is None:
                raise WebError(200, "No hand is in play. Call new_hand.")
            table_session = await self._table_manager.table_session(session.table)
            scene = await _wait_for_turn(table_session)
            if scene.finished:
                raise WebError(200, "The hand is over. Call new_hand.")
            await _enter(table_session, _parse_action(fields.get("incr"), scene))
            next_scene = await _wait_for_turn(table_session)
            old_action = _format_betting(scene.betting)
            return {"token": token} | await self._show(session, table_session, next_scene, old_action)

    # ---- sessions and tables

    def _begin(self, request: Request, user: User | None) -> tuple[str, _Session]:
        address = get_visitor(request).address
        if wait_s := self._begin_limit.take(address):
            sentence = f"Only {_SESSIONS_PER_MINUTE} sessions may begin in a minute. Keep using your token."
            raise WebError(429, sentence, "sessions", wait_s)
        token = secrets.token_urlsafe(24)
        client = f"address {address}" if user is None else f"user {user.id}"
        session = _Session(owner_for_token(token), client, user, request.path_params.get("bot", ""))
        return token, self._remember(session)

    def _remember(self, session: _Session) -> _Session:
        self._sessions[session.owner] = session
        if len(self._sessions) > _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return session

    def _find(self, token: str, request: Request) -> _Session:
        owner = owner_for_token(token)
        tables = self._table_manager.table_store.of(owner)
        # Removed and added again, so that the dict has the least recently used session first.
        session = self._sessions.pop(owner, None)
        if session is not None and (session.table is None or tables):
            return self._remember(session)
        if not tables:
            raise WebError(401, "This token is unknown or has expired. Log in, or call new_hand without a token.")
        client = f"address {get_visitor(request).address}"
        return self._remember(_Session(owner, client, table=tables[0]))

    async def _open(self, session: _Session, address: str) -> TableRow:
        entries = find_server_bots(self._parts)
        entry = next((entry for entry in entries if session.bot in ("", entry[1])), None)
        if entry is None:
            names = ", ".join(bot for _, bot in entries) or "none"
            raise WebError(404, f"There is no such bot; the bots are {names}.")
        await self._end_excess_sessions(session.client)
        game, bot = entry
        self._correction.prepare(game.game)
        seed = DealKey.new()
        return await self._table_manager.open(
            session.owner,
            lambda: table_settings(self._parts, game, [bot], session.user, seed),
            game=game.name,
            players=(bot,),
            user=None if session.user is None else session.user.id,
            address=address,
            seed=seed,
        )

    async def _end_excess_sessions(self, client: str) -> None:
        """End the client's oldest sessions, so that it may have one more."""
        open_sessions = (session for session in self._sessions.values() if session.table is not None)
        sessions = [session for session in open_sessions if session.client == client]
        excess_count = max(0, len(sessions) - _SESSIONS_EACH + 1)
        for session in sessions[:excess_count]:
            # Waits for a request in progress, which may end the table itself.
            async with session.lock:
                if session.table is not None:
                    await self._end(session.table)

    async def _end(self, table: TableRow) -> None:
        """Play the current hand to its end and close the table."""
        try:
            table_session = await self._table_manager.table_session(table)
            scene = await _wait_for_turn(table_session)
            # A finished hand is already counted.
            if not scene.finished:
                await _give_up(table_session)
        except (DealerError, WebError) as error:
            _log.warning("a session in %s: %s", table.folder, error)
        await self._table_manager.end(table, "the session is over")
        if (session := self._sessions.pop(table.owner, None)) is not None:
            session.table = None

    async def _show(
        self, session: _Session, table_session: TableSession, scene: Scene, old_action: str
    ) -> dict[str, Any]:
        session.shown = scene.hand_number
        fields: dict[str, Any] = {
            "old_action": old_action,
            "action": _format_betting(scene.betting),
            "client_pos": 0 if scene.game.blinds[scene.position] == max(_BLINDS) else 1,
            "hole_cards": _format_cards(scene.hole_cards),
            "board": _format_cards(scene.board),
        }
        if not scene.finished:
            return fields
        session.reported = scene.hand_number
        fields |= _end_fields(scene, table_session.record(scene.hand_number))
        if await self._correct(session, table_session, scene):
            # Clients read whole chips. Rounded totals make the hands add up to the session.
            before, total = map(round, session.worth)
            fields["baseline_winnings"] = total - before
            fields["session_baseline_total"] = total
        return fields

    async def _correct(self, session: _Session, table_session: TableSession, scene: Scene) -> bool:
        """Correct all hands so far for the luck of the cards.

        Returns:
            False if the time is up; the next call continues with the remaining hands.
        """
        until_s = asyncio.get_running_loop().time() + luck.PATIENCE_S
        name = scene.names[scene.position]
        records = await asyncio.to_thread(_find_records, table_session, session.corrected + 1, scene.hand_number)
        while records and asyncio.get_running_loop().time() < until_s:
            values = await self._correction.values(scene.game, records)
            if not values:
                return False
            for record, hand_values in zip(records, values, strict=False):
                total = session.worth[1]
                session.worth = (total, total + hand_values[record.names.index(name)])
                session.corrected = record.hand_number
            del records[: len(values)]
        return session.corrected >= scene.hand_number


async def _wait_for_turn(table_session: TableSession) -> Scene:
    """Wait until the client must act or the hand ends."""
    await table_session.wait_until_asked(_ANSWER_S)
    scene = table_session.scene
    has_stopped = not table_session.is_dealing and not (scene is not None and scene.finished)
    if scene is None or has_stopped or not table_session.moments.is_asked:
        problem = table_session.problem or "it has not answered in time."
        raise WebError(503, f"The bot does not play: {problem}")
    return scene


async def _enter(table_session: TableSession, entry: str) -> None:
    try:
        await table_session.enter(table_session.moments.name, entry)
    except (StaleEntry, UnclearEntry) as error:
        raise WebError(200, str(error)) from None


async def _give_up(table_session: TableSession) -> Scene:
    """Check, or fold to a bet, until the hand is over."""
    scene = await _wait_for_turn(table_session)
    number = scene.hand_number
    while not scene.finished and scene.hand_number == number:
        await _enter(table_session, "f" if scene.is_your_turn and scene.view.to_call else "k")
        scene = await _wait_for_turn(table_session)
    return scene


def _find_records(table_session: TableSession, first: int, last: int) -> list[HandRecord]:
    """Return the finished hands from `first` to `last`, or none if one of them is missing.

    A table that was suspended has only its later hands in memory. The others are in its log.
    """
    records: dict[int, HandRecord] = {}
    for number in range(first, last + 1):
        record = table_session.record(number)
        if record is not None:
            records[number] = record
    count = last + 1 - first
    if len(records) < count:
        source = find([table_session.run.folder], on_problem=lambda problem: None)
        for record in source.hands():
            if first <= record.hand_number <= last:
                records.setdefault(record.hand_number, record)
    # A partial list would make a sum that leaves out a hand.
    if len(records) < count:
        return []
    return [records[number] for number in range(first, last + 1)]


def owner_for_token(token: str) -> str:
    """Return the owner of a session's table, a hash: a reader of the database cannot play the session."""
    return _OWNER + hash_secret(token).hex()


_Handler: TypeAlias = Callable[[Request, dict[str, Any]], Awaitable[dict[str, Any]]]


def _make_endpoint(handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return JSONResponse(await handler(request, await _read_fields(request)))
        except WebError as error:
            headers = {"Retry-After": str(error.wait_s)} if error.wait_s else {}
            return JSONResponse({"error_msg": error.sentence}, error.status, headers)
        except DealerError as error:
            return JSONResponse({"error_msg": f"{error}."}, 503)

    return respond


async def _read_fields(request: Request) -> dict[str, Any]:
    try:
        fields = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise WebError(400, "The body is not JSON.") from None
    if not isinstance(fields, dict):
        raise WebError(400, "The body is not a JSON object.")
    return fields


def _require_text(fields: dict[str, Any], name: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str) or not text or len(text) > _MAX_CHARACTERS:
        raise WebError(400, f"{name} must be a text of 1 to {_MAX_CHARACTERS} characters.")
    return text
