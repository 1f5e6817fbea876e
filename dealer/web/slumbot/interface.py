"""Slumbot's interface: ``/api/login``, ``/api/new_hand``, ``/api/act``, below ``/`` or ``/slumbot``.

``/slumbot/BOT/api/...`` chooses the opponent. What goes wrong is answered as ``{"error_msg": "..."}``: with status 200
where the client only has to act otherwise, as clients expect that look for the message.

Betting: ``k`` check, ``c`` call, ``f`` fold, ``bN`` bet or raise to N, a total for the street; ``/`` stands after each
finished street but the last, and after an all-in that is called for each street that is not played: ``b20000c///``.

A session is a table like those of people, whose person is the client's program. A token stands for a session, and the
table has the hash of the token: sessions outlive restarts of the server. A hand cannot be escaped. A client that asks
for a new hand in the middle of one, opens one session too many, or sends nothing for `slumbot_forfeit_hours`, checks
and folds that hand to its end, and it counts.
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
"""Built-in bots, the strongest first; all others stand where the empty name is."""
_PREFIXES: Final = ("/api", "/slumbot/api", "/slumbot/{bot}/api")
_OWNER: Final = "slumbot "
_TIDY_EVERY_S: Final = 30.0
_ANSWER_S: Final = 600.0
"""For a bot's part of an answer."""
_SESSIONS_PER_MINUTE: Final = 60
_SESSIONS_EACH: Final = 5
"""With a table, of one user or one address."""
_MOST_SESSIONS: Final = 10_000
"""Remembered; a table that is not remembered is found again by its owner."""
_MOST_LETTERS: Final = 256


def find_server_bots(parts: ServerParts) -> list[tuple[ServerGame, str]]:
    """The server's bots that play the interface's game, the strongest first.

    These are the built-in `cfr`, `mfs` and `rembrant`, in this order; then all others, as they are configured; last the
    built-in bots that only show what an opponent can be.
    """

    def rank(one: tuple[ServerGame, str]) -> int:
        game, bot = one
        name = game.bots[bot].bot.partition("?")[0]
        return _STRENGTH.index(name if name in _STRENGTH else "")

    return sorted(
        ((game, bot) for game in parts.settings.games if _is_the_game(game.game) for bot in game.bots), key=rank
    )


def _is_the_game(game: Game) -> bool:
    return (
        game.num_players == 2
        and not game.is_limit
        and is_holdem(game)
        and sorted(game.blinds) == _BLINDS
        and set(game.stacks) == {_STACK}
    )


def _action_text(betting: BettingState) -> str:
    rounds = [""] * len(betting.rounds)
    for step in betting_steps(betting):
        rounds[step.round] += _LETTERS.get(step.move) or f"b{step.street_total}"
    return "/".join(rounds)


def _entry_of(incr: object, scene: Scene) -> str:
    """What a person at the table would enter for an action.

    Raises:
        WebError: it is none, or illegal.
    """
    view = scene.view
    letters = ["f", "c"] if view.to_call else ["k"]
    sizes = range(view.min_raise_street_total, view.max_raise_street_total + 1) if view.can_raise else range(0)
    if isinstance(incr, str) and (incr in letters or (_SIZE.fullmatch(incr) and int(incr[1:]) in sizes)):
        return incr
    possible = [*letters, *([f"b{sizes[0]} to b{sizes[-1]}"] if sizes else [])]
    raise WebError(200, f"Illegal action; incr may be {', '.join(possible)}.")


def _texts(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def _end_fields(scene: Scene, record: HandRecord | None) -> dict[str, Any]:
    """What the answer with the end of a hand has besides; `record` is the hand with all cards."""
    assert scene.values is not None
    won, pot = round(scene.values[scene.position]), scene.betting.pot
    answer: dict[str, Any] = {
        "winnings": won,
        "won_pot": pot if won > 0 else -pot if won < 0 else 0,
        "session_num_hands": scene.score.hands,
        "session_total": round(scene.score.yours),
    }
    if record is not None:
        bot = 1 - record.names.index(scene.names[scene.position])
        answer["bot_hole_cards"] = _texts(record.deal.hole_cards[bot])
    return answer


@dataclass(slots=True)
class _Session:
    """A session.

    Attributes:
        owner: as in its table.
        who: the user's number, or the address, whose sessions are counted together.
        user: who has logged in; None for a guest.
        bot: the name of the opponent; empty for the strongest.
        table: where it is played; None before the first hand.
        shown: the number of the last hand that the client has been shown.
        reported: the number of the last hand whose end the client has received, or that it has given up.
        counted: the number of the last hand that is counted without the luck of the cards.
        worth: chips of the hands that are counted: without the last of them, and of all.
        lock: one call at a time.
    """

    owner: str
    who: str
    user: User | None = None
    bot: str = ""
    table: TableRow | None = None
    shown: int = -1
    reported: int = -1
    counted: int = -1
    worth: tuple[float, float] = (0.0, 0.0)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SlumbotSessions:
    """All sessions, and the calls of their clients."""

    def __init__(
        self,
        parts: ServerParts,
        table_manager: TableManager,
    ) -> None:
        """Begin with the sessions that are open.

        Args:
            parts: the server.
            table_manager: of its tables.
        """
        self._parts = parts
        self._table_manager = table_manager
        self._forfeit_s = 3600 * parts.settings.web.slumbot_forfeit_hours
        self._sessions: dict[str, _Session] = {}
        self._correction = LuckCorrection()
        self._begin_limit = RateLimit(_SESSIONS_PER_MINUTE)

    def routes(self) -> list[BaseRoute]:
        """The addresses of the calls."""
        answerers = {"login": self._log_in, "new_hand": self._new_hand, "act": self._act}
        return [
            Route(f"{prefix}/{name}", _answering(answerer), methods=["POST"])
            for prefix in _PREFIXES
            for name, answerer in answerers.items()
        ]

    async def keep(self) -> None:
        """End sessions in which nothing happens any more, for ever."""
        while True:
            await asyncio.sleep(min(_TIDY_EVERY_S, self._forfeit_s))
            for table in self._table_manager.table_store.of(None):
                if table.owner.startswith(_OWNER) and time.time() - table.seen_s > self._forfeit_s:
                    await self._end(table)

    async def close(self) -> None:
        """End what counts the luck of the cards."""
        await self._correction.close()

    # ---- the calls

    async def _log_in(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        address = get_visitor(request).address
        user = await self._parts.accounts.log_in_person(_word(sent, "username"), _word(sent, "password"), address)
        if user is None:
            raise WebError(401, "No user has this name with this password or token.")
        return {"token": self._begin(request, user)[0]}

    async def _new_hand(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        """The next hand of a session, or the first of a new one."""
        if sent.get("token"):
            token = _word(sent, "token")
            session = self._find(token, request)
        elif self._parts.settings.web.guests_may_play:
            token, session = self._begin(request, None)
        else:
            raise WebError(401, "Call login first: guests may not play on this server.")
        async with session.lock:
            if session.table is None:
                session.table = await self._open(session, get_visitor(request).address)
            table_session = await self._table_manager.table_session(session.table)
            scene = await _asked(table_session)
            if not scene.finished and scene.hand_number == session.shown:
                scene = await _give_up(table_session)
                session.reported = scene.hand_number
            if scene.finished and scene.hand_number <= session.reported:
                await table_session.enter(table_session.moments.name, "")
                scene = await _asked(table_session)
            return {"token": token} | await self._show(session, table_session, scene, "")

    async def _act(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        """What an action of the client leads to; nothing is done where it is none, or illegal."""
        token = _word(sent, "token")
        session = self._find(token, request)
        async with session.lock:
            if session.table is None:
                raise WebError(200, "There is no hand in play: call new_hand.")
            table_session = await self._table_manager.table_session(session.table)
            scene = await _asked(table_session)
            if scene.finished:
                raise WebError(200, "The hand is over: call new_hand.")
            await _enter(table_session, _entry_of(sent.get("incr"), scene))
            after = await _asked(table_session)
            return {"token": token} | await self._show(session, table_session, after, _action_text(scene.betting))

    # ---- inside

    def _begin(self, request: Request, user: User | None) -> tuple[str, _Session]:
        address = get_visitor(request).address
        if wait_s := self._begin_limit.take(address):
            sentence = f"{_SESSIONS_PER_MINUTE} sessions a minute may begin; keep the token of yours."
            raise WebError(429, sentence, "sessions", wait_s)
        token, who = secrets.token_urlsafe(24), f"address {address}" if user is None else f"user {user.id}"
        return token, self._remember(_Session(bot_owner(token), who, user, request.path_params.get("bot", "")))

    def _remember(self, session: _Session) -> _Session:
        self._sessions[session.owner] = session
        if len(self._sessions) > _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return session

    def _find(self, token: str, request: Request) -> _Session:
        owner = bot_owner(token)
        tables = self._table_manager.table_store.of(owner)
        session = self._sessions.pop(owner, None)
        if session is None or (session.table is not None and not tables):
            if not tables:
                sentence = "This token is unknown, or its session is over: log in, or call new_hand without one."
                raise WebError(401, sentence)
            session = _Session(owner, f"address {get_visitor(request).address}", table=tables[0])
        return self._remember(session)

    async def _open(self, session: _Session, address: str) -> TableRow:
        there = find_server_bots(self._parts)
        chosen = next(((game, bot) for game, bot in there if session.bot in ("", bot)), None)
        if chosen is None:
            raise WebError(404, f"The bots here are {', '.join(bot for _, bot in there) or 'none'}.")
        # The oldest sessions beyond those that one may have end; those that are being called wait.
        mine = [one for one in self._sessions.values() if one.who == session.who and one.table is not None]
        for one in mine[: max(0, len(mine) - _SESSIONS_EACH + 1)]:
            async with one.lock:
                if one.table is not None:
                    await self._end(one.table)
        game, bot = chosen
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

    async def _end(self, table: TableRow) -> None:
        """Play a hand that is open to its end, and close the table."""
        try:
            table_session = await self._table_manager.table_session(table)
            scene = await _asked(table_session)
            # A hand in which the client has done nothing is not the client's.
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
        answer: dict[str, Any] = {
            "old_action": old_action,
            "action": _action_text(scene.betting),
            "client_pos": 0 if scene.game.blinds[scene.position] == max(_BLINDS) else 1,
            "hole_cards": _texts(scene.hole_cards),
            "board": _texts(scene.board),
        }
        if not scene.finished:
            return answer
        session.reported = scene.hand_number
        answer |= _end_fields(scene, table_session.record(scene.hand_number))
        if not await self._count(session, table_session, scene):
            return answer
        # In whole chips, as clients read them; rounded so that those of the hands add up to the session's.
        before, total = map(round, session.worth)
        return answer | {"baseline_winnings": total - before, "session_baseline_total": total}

    async def _count(self, session: _Session, table_session: TableSession, scene: Scene) -> bool:
        """Count the luck of the cards of all hands up to this one; False if it takes too long and is continued
        later."""
        until_s = asyncio.get_running_loop().time() + luck.PATIENCE_S
        name = scene.names[scene.position]
        records = await asyncio.to_thread(_records, table_session, session.counted + 1, scene.hand_number)
        while records and asyncio.get_running_loop().time() < until_s:
            values = await self._correction.values(scene.game, records)
            if not values:
                return False
            for record, of_hand in zip(records, values, strict=False):
                total = session.worth[1]
                session.worth = total, total + of_hand[record.names.index(name)]
                session.counted = record.hand_number
            del records[: len(values)]
        return session.counted >= scene.hand_number


async def _asked(table_session: TableSession) -> Scene:
    """The next moment at which the client is asked, or that ends the hand."""
    await table_session.wait_until_asked(_ANSWER_S)
    scene = table_session.scene
    if scene is None or not table_session.moments.is_asked or (not table_session.is_dealing and not scene.finished):
        raise WebError(503, f"The bot does not play: {table_session.problem or 'it has not answered in time.'}")
    return scene


async def _enter(table_session: TableSession, entry: str) -> None:
    try:
        await table_session.enter(table_session.moments.name, entry)
    except (StaleEntry, UnclearEntry) as error:
        raise WebError(200, str(error)) from None


async def _give_up(table_session: TableSession) -> Scene:
    """Check, and fold to a bet, until the hand is over."""
    scene = await _asked(table_session)
    number = scene.hand_number
    while not scene.finished and scene.hand_number == number:
        await _enter(table_session, "f" if scene.is_your_turn and scene.view.to_call else "k")
        scene = await _asked(table_session)
    return scene


def _records(table_session: TableSession, first: int, last: int) -> list[HandRecord]:
    """Finished hands of a table by their numbers: as it keeps them, or from its log where it has been asleep since.

    None at all where one cannot be had, so that no sum leaves it out.
    """
    found = {number: table_session.record(number) for number in range(first, last + 1)}
    if None in found.values():
        source = find([table_session.run.folder], on_problem=lambda problem: None)
        found |= {one.hand_number: one for one in source.hands() if found.get(one.hand_number, one) is None}
    return [] if None in found.values() else [one for one in found.values() if one is not None]


def bot_owner(token: str) -> str:
    """The owner of a session's table: no one who reads the database can play the session."""
    return _OWNER + hash_secret(token).hex()


_Answerer: TypeAlias = Callable[[Request, dict[str, Any]], Awaitable[dict[str, Any]]]


def _answering(answerer: _Answerer) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(await answerer(request, await _sent(request)))
        except WebError as error:
            headers = {"Retry-After": str(error.wait_s)} if error.wait_s else {}
            return JSONResponse({"error_msg": error.sentence}, error.status, headers)
        except DealerError as error:
            return JSONResponse({"error_msg": f"{error}."}, 503)

    return answer


async def _sent(request: Request) -> dict[str, Any]:
    try:
        sent = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise WebError(400, "The body is not JSON.") from None
    if not isinstance(sent, dict):
        raise WebError(400, "The body is not a JSON object.")
    return sent


def _word(sent: dict[str, Any], name: str) -> str:
    word = sent.get(name)
    if not isinstance(word, str) or not word or len(word) > _MOST_LETTERS:
        raise WebError(400, f"{name} is missing, or is no text of at most {_MOST_LETTERS} letters.")
    return word
