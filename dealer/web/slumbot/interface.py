"""Slumbot's interface: ``/api/login``, ``/api/new_hand``, ``/api/act``, below ``/`` or ``/slumbot``.

``/slumbot/BOT/api/...`` chooses the opponent. What goes wrong is answered as ``{"error_msg": "..."}``: with status 200
where the client only has to act otherwise, as clients expect that look for the message.

Betting: ``k`` check, ``c`` call, ``f`` fold, ``bN`` bet or raise to N, a total for the street; ``/`` stands after each
finished street but the last, and after an all-in that is called for each street that is not played: ``b20000c///``.

A session is a table like those of people, whose person is the client's program. A token stands for a session, and the
table has the hash of the token: sessions outlive restarts of the server. A hand cannot be escaped. A client that asks
for a new hand in the middle of one, opens one session too many, or sends nothing for `forfeit_s`, checks and folds that
hand to its end, and it counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bots.errors import StaleEntry, UnclearEntry
from bots.human import Scene
from dealer.errors import DealerError, WebError
from dealer.person.settings import table_config
from dealer.person.table_session import TableSession
from dealer.run.settings import RunSettings
from dealer.server.access import Visibility, table_visibility
from dealer.server.accounts import Passwords, RateLimit, User
from dealer.server.db.runs import GUEST_NAME, TableRow
from dealer.server.server import ServerParts
from dealer.server.server_bots import process_environment, process_settings
from dealer.server.settings import ServerBot, ServerGame, player_name
from dealer.web.slumbot.luck import LuckCorrection
from dealer.web.tables import TableManager
from dealer.web.visitor import visitor_of
from engine import CARD_TEXTS, Card, DealKey, Game, Move
from engine.betting import BettingState, betting_steps
from engine.holdem import is_holdem
from logs import HandRecord
from logs.hand_source import find

_STACK: Final = 20_000
_BLINDS: Final = [50, 100]
_INCR: Final = re.compile(r"[kcf]|b[0-9]{1,6}")
_LETTERS: Final = {Move.FOLD: "f", Move.CHECK: "k", Move.CALL: "c"}


def is_the_game(game: Game) -> bool:
    """Whether a game is the one that the interface plays."""
    return (
        game.num_players == 2
        and not game.is_limit
        and is_holdem(game)
        and sorted(game.blinds) == _BLINDS
        and set(game.stacks) == {_STACK}
    )


def action_text(betting: BettingState) -> str:
    """A betting."""
    rounds = [""] * len(betting.rounds)
    for step in betting_steps(betting):
        rounds[step.round] += _LETTERS.get(step.move) or f"b{step.street_total}"
    return "/".join(rounds)


def possible(scene: Scene) -> str:
    """What may be sent now."""
    choices = scene.choices
    if choices is None:
        return "nothing"
    found = ["f", "c"] if choices.to_call else ["k"]
    if choices.raises is not None:
        found.append(f"b{choices.raises.street_min} to b{choices.raises.street_max}")
    return ", ".join(found)


def entry_of(incr: object, scene: Scene) -> str | None:
    """What a person at the table would enter for an action; None for what is none, or an illegal one."""
    choices = scene.choices
    if not isinstance(incr, str) or choices is None or not _INCR.fullmatch(incr):
        return None
    if incr == "f":
        return incr if choices.to_call and choices.can_fold else None
    if incr in "kc":
        return incr if (incr == "c") == bool(choices.to_call) else None
    raises, size = choices.raises, int(incr[1:])
    return incr if raises is not None and raises.street_min <= size <= raises.street_max else None


def won(scene: Scene) -> int:
    """What the client won in a finished hand, in chips."""
    assert scene.values is not None
    return round(scene.values[scene.position])


def _texts(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def fields(scene: Scene, old_action: str, record: HandRecord | None) -> dict[str, Any]:
    """The answer that shows a moment of a hand.

    Args:
        scene: the moment, from the client's seat.
        old_action: the betting before its last action.
        record: the hand with all cards, once it is over.
    """
    answer: dict[str, Any] = {
        "old_action": old_action,
        "action": action_text(scene.betting),
        "client_pos": 0 if scene.game.blinds[scene.position] == max(_BLINDS) else 1,
        "hole_cards": _texts(scene.hole_cards),
        "board": _texts(scene.board),
    }
    if not scene.finished:
        return answer
    value = won(scene)
    if record is not None:
        seats = zip(record.names, record.deal.hole_cards, strict=True)
        own = scene.names[scene.position]
        answer["bot_hole_cards"] = next((_texts(cards) for name, cards in seats if name != own), [])
    pot = scene.betting.pot
    return answer | {
        "winnings": value,
        "won_pot": pot if value > 0 else -pot if value < 0 else 0,
        "session_num_hands": scene.score.hands,
        "session_total": round(scene.score.yours),
    }


_log = logging.getLogger(__name__)
_OWNER: Final = "slumbot "
_TIDY_EVERY_S: Final = 30.0
_MOST_SESSIONS: Final = 10_000
"""Remembered; a table that is not remembered is found again by its owner."""
_STRENGTH: Final = ("cfr", "mfs", "rembrant", "", "random", "calling", "raising", "constant", "folding")
"""Built-in bots, the strongest first; all others stand where the empty name is."""


def server_bots(parts: ServerParts) -> tuple[tuple[ServerGame, ServerBot], ...]:
    """The server's bots that play the interface's game, the strongest first.

    These are the built-in `cfr`, `mfs` and `rembrant`, in this order; then all others, as they are configured; last the
    built-in bots that only show what an opponent can be.
    """
    games = [game for game in parts.settings.games if is_the_game(game.game)]

    def rank(one: tuple[ServerGame, ServerBot]) -> int:
        name = one[1].settings.bot.partition("?")[0]
        return _STRENGTH.index(name if name in _STRENGTH else "")

    return tuple(sorted(((game, bot) for game in games for bot in game.bots), key=rank))


@dataclass(slots=True)
class _CorrectedTotal:
    """What the client's hands are worth without the luck of the cards.

    Attributes:
        counted: the number of the last hand that is counted.
        total: of all hands that are, in chips. last: the total before the last one, and after it.
    """

    counted: int = -1
    total: float = 0.0
    last: tuple[float, float] = (0.0, 0.0)


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
        corrected: of its hands without the luck of the cards.
        lock: one call at a time.
    """

    owner: str
    who: str
    user: User | None = None
    bot: str = ""
    table: TableRow | None = None
    shown: int = -1
    reported: int = -1
    corrected: _CorrectedTotal = field(default_factory=lambda: _CorrectedTotal())
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SlumbotSessions:
    """All sessions."""

    def __init__(
        self,
        parts: ServerParts,
        table_manager: TableManager,
        *,
        sessions_each: int = 5,
        forfeit_s: float = 86_400.0,
        answer_s: float = 600.0,
        correction_s: float = 10.0,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """Begin with the sessions that are open.

        Args:
            parts: the server.
            table_manager: of its tables.
            sessions_each: with a table, of one user or one address.
            forfeit_s: a session in which nothing happens for so long is over.
            answer_s: for a bot's part of an answer.
            correction_s: for the luck of the cards to be counted; an answer that has to wait longer is sent without.
            clock_s: the time, in seconds since 1970.
        """
        self._parts = parts
        self._table_manager = table_manager
        self._sessions_each = sessions_each
        self._forfeit_s = forfeit_s
        self._answer_s = answer_s
        self._correction_s = correction_s
        self._clock_s = clock_s
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._correction = LuckCorrection(process_environment(parts.folder), patience_s=correction_s)
        self._preparing: set[asyncio.Task[Any]] = set()

    # ---- the calls

    def log_in(self, user: User, bot: str) -> str:
        """A session of a user; returns its token."""
        return self._new(f"user {user.id}", user, bot)[0]

    async def new_hand(self, token: str | None, address: str, bot: str) -> dict[str, Any]:
        """The next hand of a session, or the first of a new one.

        Raises:
            WebError: it cannot be dealt.
        """
        if token is None:
            token, session = self._new(f"address {address}", None, bot)
        else:
            session = self._find(token, address)
        async with session.lock:
            if session.table is None:
                session.table = await self._open(session, address)
            table_session = await self._table_manager.table_session(session.table)
            scene = await self._asked(table_session)
            if not scene.finished and scene.hand_number == session.shown:
                scene = await self._give_up(table_session)
                session.reported = scene.hand_number
            if scene.finished and scene.hand_number <= session.reported:
                await table_session.enter(table_session.moments.name, "")
                scene = await self._asked(table_session)
            session.shown = scene.hand_number
            return {"token": token} | await self._shown(session, table_session, scene, "")

    async def act(self, token: str, incr: object, address: str) -> dict[str, Any]:
        """What an action of the client leads to.

        Raises:
            WebError: there is no hand in play, or the action is none or illegal; nothing is done.
        """
        session = self._find(token, address)
        async with session.lock:
            if session.table is None:
                raise WebError(200, "There is no hand in play: call new_hand.")
            table_session = await self._table_manager.table_session(session.table)
            scene = await self._asked(table_session)
            if scene.finished:
                raise WebError(200, "The hand is over: call new_hand.")
            entry = entry_of(incr, scene)
            if entry is None:
                raise WebError(200, f"Illegal action; incr may be {possible(scene)}.")
            before = action_text(scene.betting)
            await self._enter(table_session, entry)
            session.shown = scene.hand_number
            after = await self._asked(table_session)
            return {"token": token} | await self._shown(session, table_session, after, before)

    async def keep(self) -> None:
        """End sessions in which nothing happens any more, for ever."""
        while True:
            await asyncio.sleep(min(_TIDY_EVERY_S, self._forfeit_s))
            await self.end_abandoned()

    async def end_abandoned(self) -> None:
        """End the sessions in which nothing has happened for too long."""
        for table in self._table_manager.table_store.of(None):
            if table.owner.startswith(_OWNER) and self._clock_s() - table.seen_s > self._forfeit_s:
                await self._end(table)

    async def close(self) -> None:
        """End what counts the luck of the cards."""
        for task in self._preparing:
            task.cancel()
        await self._correction.close()

    # ---- inside

    def _new(self, who: str, user: User | None, bot: str) -> tuple[str, _Session]:
        token = secrets.token_urlsafe(24)
        session = _Session(_owner_of(token), who, user, bot)
        self._remember(session)
        return token, session

    def _remember(self, session: _Session) -> None:
        self._sessions[session.owner] = session
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def _find(self, token: str, address: str) -> _Session:
        owner = _owner_of(token)
        session = self._sessions.get(owner)
        if session is not None and (session.table is None or self._table_manager.table_store.of(owner)):
            self._sessions.move_to_end(owner)
            return session
        tables = [
            table
            for table in self._table_manager.table_store.of(owner)
            if table_visibility(table.owner, owner) is Visibility.OWN
        ]
        if not tables:
            raise WebError(401, "This token is unknown, or its session is over: log in, or call new_hand without one.")
        session = _Session(owner, f"address {address}", table=tables[0])
        self._remember(session)
        return session

    async def _open(self, session: _Session, address: str) -> TableRow:
        there = server_bots(self._parts)
        chosen = [(game, bot) for game, bot in there if session.bot in ("", bot.name)]
        if not chosen:
            raise WebError(404, f"The bots here are {', '.join(bot.name for _, bot in there) or 'none'}.")
        await self._make_room(session)
        game, bot = chosen[0]
        self._prepare(game.game)
        seed = DealKey.new()
        return await self._table_manager.open(
            session.owner,
            lambda: self._config(session, game, bot, seed),
            game=game.name,
            players=(bot.name,),
            user=None if session.user is None else session.user.id,
            address=address,
            seed=seed,
        )

    def _config(self, session: _Session, game: ServerGame, bot: ServerBot, seed: DealKey) -> RunSettings:
        name = player_name(GUEST_NAME if session.user is None else session.user.name)
        if name == player_name(bot.name):
            name = f"{name}-client"
        others = process_settings(self._parts.settings, [bot], process_environment(self._parts.folder))
        directory = self._parts.settings.directory
        return table_config(game.path, others, name=name, seed=seed, directory=directory, export=[])

    async def _make_room(self, session: _Session) -> None:
        """End the oldest sessions of who has too many; those that are being called wait."""
        mine = [one for one in self._sessions.values() if one.who == session.who and one.table is not None]
        for one in mine[: max(0, len(mine) - self._sessions_each + 1)]:
            async with one.lock:
                if one.table is not None:
                    await self._end(one.table)
                one.table = None
                self._sessions.pop(one.owner, None)

    async def _end(self, table: TableRow) -> None:
        """Play a hand that is open to its end, and close the table."""
        try:
            table_session = await self._table_manager.table_session(table)
            scene = await self._asked(table_session)
            # A hand in which the client has done nothing is not the client's.
            if not scene.finished:
                await self._give_up(table_session)
        except (DealerError, WebError) as error:
            _log.warning("a session in %s: %s", table.folder, error)
        await self._table_manager.end(table, "the session is over")
        self._sessions.pop(table.owner, None)

    async def _give_up(self, table_session: TableSession) -> Scene:
        """Check, and fold to a bet, until the hand is over."""
        scene = await self._asked(table_session)
        number = scene.hand_number
        while not scene.finished and scene.hand_number == number:
            choices = scene.choices
            await self._enter(table_session, "f" if choices is not None and choices.to_call else "k")
            scene = await self._asked(table_session)
        return scene

    @staticmethod
    async def _enter(table_session: TableSession, entry: str) -> None:
        try:
            await table_session.enter(table_session.moments.name, entry)
        except (StaleEntry, UnclearEntry) as error:
            raise WebError(200, str(error)) from None

    async def _asked(self, table_session: TableSession) -> Scene:
        """The next moment at which the client is asked, or that ends the hand."""
        await table_session.wait_until_asked(self._answer_s)
        scene = table_session.scene
        if scene is None or not table_session.moments.is_asked or (not table_session.is_dealing and not scene.finished):
            raise WebError(503, f"The bot does not play: {table_session.problem or 'it has not answered in time.'}")
        return scene

    async def _shown(self, session: _Session, table_session: TableSession, scene: Scene, before: str) -> dict[str, Any]:
        if not scene.finished:
            return fields(scene, before, None)
        session.reported = scene.hand_number
        answer = fields(scene, before, table_session.record(scene.hand_number))
        if not await self._count(session.corrected, table_session, scene):
            return answer
        # In whole chips, as clients read them; rounded so that those of the hands add up to the session's.
        total_before, total = map(round, session.corrected.last)
        return answer | {"baseline_winnings": total - total_before, "session_baseline_total": total}

    async def _count(self, corrected: _CorrectedTotal, table_session: TableSession, scene: Scene) -> bool:
        """Count the luck of the cards of all hands up to this one; False if it takes too long and is continued
        later."""
        until_s = asyncio.get_running_loop().time() + self._correction_s
        if corrected.counted >= scene.hand_number:
            return True
        name = scene.names[scene.position]
        records = await asyncio.to_thread(_records, table_session, corrected.counted + 1, scene.hand_number)
        while records and asyncio.get_running_loop().time() < until_s:
            values = await self._correction.values(scene.game, records)
            if not values:
                return False
            for record, of_hand in zip(records, values, strict=False):
                before = corrected.total
                corrected.total += of_hand[record.names.index(name)]
                corrected.last = before, corrected.total
                corrected.counted = record.hand_number
            del records[: len(values)]
        return corrected.counted >= scene.hand_number

    def _prepare(self, game: Game) -> None:
        """Have what counts ready by the end of the first hand."""
        task = asyncio.create_task(self._correction.values(game, ()))
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)


def _records(table_session: TableSession, first: int, last: int) -> list[HandRecord]:
    """Finished hands of a table by their numbers: as it keeps them, or from its log where it has been asleep since.

    None at all where one cannot be had, so that no sum leaves it out.
    """
    known = [table_session.record(number) for number in range(first, last + 1)]
    if None not in known:
        return [record for record in known if record is not None]
    of_log = {
        record.hand_number: record
        for record in find([table_session.run.folder], on_problem=lambda problem: None).hands()
        if first <= record.hand_number <= last
    }
    found = [one or of_log.get(number) for number, one in enumerate(known, first)]
    return [] if None in found else [record for record in found if record is not None]


def _owner_of(token: str) -> str:
    return _OWNER + hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


_PREFIXES: Final = ("/api", "/slumbot/api", "/slumbot/{bot}/api")
_SESSIONS_PER_MINUTE: Final = 60
_MOST_LETTERS: Final = 256
_Answerer: TypeAlias = Callable[[Request, dict[str, Any]], Awaitable[dict[str, Any]]]


def routes(parts: ServerParts, slumbot_sessions: SlumbotSessions) -> list[BaseRoute]:
    """The addresses of this room."""
    calls = _Calls(parts, slumbot_sessions)
    answerers = {"login": calls.log_in, "new_hand": calls.new_hand, "act": calls.act}
    return [
        Route(f"{prefix}/{name}", _answering(answerer), methods=["POST"])
        for prefix in _PREFIXES
        for name, answerer in answerers.items()
    ]


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


class _Calls:
    def __init__(self, parts: ServerParts, slumbot_sessions: SlumbotSessions) -> None:
        self._parts = parts
        self._sessions = slumbot_sessions
        self._passwords = Passwords(parts.store, parts.accounts, parts.guesses)
        self._begin_limit = RateLimit(_SESSIONS_PER_MINUTE)

    async def log_in(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        name, secret = _word(sent, "username"), _word(sent, "password")
        address = visitor_of(request).address
        user = await self._passwords.log_in(name, secret, address)
        if user is None:
            raise WebError(401, "No user has this name with this password or token.")
        self._count(address)
        return {"token": self._sessions.log_in(user, request.path_params.get("bot", ""))}

    async def new_hand(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        address = visitor_of(request).address
        token = _word(sent, "token") if sent.get("token") else None
        if token is None:
            if not self._parts.settings.web.guests_may_play:
                raise WebError(401, "Call login first: guests may not play on this server.")
            self._count(address)
        return await self._sessions.new_hand(token, address, request.path_params.get("bot", ""))

    async def act(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        return await self._sessions.act(_word(sent, "token"), sent.get("incr"), visitor_of(request).address)

    def _count(self, address: str) -> None:
        if wait_s := self._begin_limit.take(address):
            sentence = f"{_SESSIONS_PER_MINUTE} sessions a minute may begin; keep the token of yours."
            raise WebError(429, sentence, "sessions", wait_s)
