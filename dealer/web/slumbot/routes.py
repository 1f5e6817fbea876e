"""The addresses of Slumbot's interface: ``/api/login``, ``/api/new_hand``, ``/api/act``, below ``/`` or ``/slumbot``.

``/slumbot/BOT/api/...`` chooses the opponent. What goes wrong is told as ``{"error_msg": "..."}``: with status 200
where the client only has to act otherwise, as clients expect that look for the message.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import DealerError, WebError
from dealer.server.accounts import Passwords, RateLimit
from dealer.server.server import ServerParts
from dealer.web.slumbot.sessions import SlumbotSessions
from dealer.web.visitor import visitor_of

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
                raise WebError(401, "Call login first: guests do not play here.")
            self._count(address)
        return await self._sessions.new_hand(token, address, request.path_params.get("bot", ""))

    async def act(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        return await self._sessions.act(_word(sent, "token"), sent.get("incr"), visitor_of(request).address)

    def _count(self, address: str) -> None:
        if wait_s := self._begin_limit.take(address):
            sentence = f"{_SESSIONS_PER_MINUTE} sessions a minute may begin; keep the token of yours."
            raise WebError(429, sentence, "sessions", wait_s)
