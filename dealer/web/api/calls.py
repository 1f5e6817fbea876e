"""What the functions that answer programs have in common: who calls, the server, routes that know what was sent before.

@router.get("/games")
async def games(caller: Reader, parts: Parts) -> models.Games: ...

`Authorization: Bearer TOKEN` identifies the caller. Every token has a bucket of requests that fills at a steady rate;
wrong tokens count against the address they come from, as wrong logins do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response

from dealer.errors import WebError
from dealer.server.accounts import RateLimit, Scope, Token
from dealer.server.server import ServerParts
from dealer.web.visitor import KNOWN_KEY, get_visitor
from engine.text import shown


class Callers:
    """Finds out who calls."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._limit = RateLimit(parts.settings.web.requests_per_minute)

    def token_of(
        self, request: HTTPConnection, given: HTTPAuthorizationCredentials | None, scope: Scope | None = None
    ) -> Token:
        """The token of a call.

        Raises:
            WebError: it is missing, unknown or not good for this, or there are too many calls.
        """
        address = get_visitor(request).address
        if wait_s := self._parts.accounts.guesses.wait_s(address):
            raise WebError(429, "Too many wrong tokens came from your address.", "login", wait_s)
        if given is None:
            raise WebError(401, "This needs a token: Authorization: Bearer TOKEN.")
        token = self._parts.accounts.find_token(given.credentials)
        if token is None:
            self._parts.accounts.guesses.record_failure(address)
            raise WebError(401, "This token is unknown or has been revoked.")
        request.scope[KNOWN_KEY] = True
        self._limit.count(f"token {token.id}")
        if scope is not None and scope not in token.scopes and Scope.ADMIN not in token.scopes:
            raise WebError(403, f"This token has no scope '{scope}'; its user can get one that has.")
        return token

    def count_stranger(self, request: Request) -> None:
        """Count a call that needs no token and has none.

        Raises:
            WebError: there are too many calls.
        """
        self._limit.count(f"address {get_visitor(request).address}")


PREFIX: Final = "/api/v1"
_PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
bearer: Final = HTTPBearer(scheme_name="token", auto_error=False)


def answers(**about: str) -> dict[int | str, dict[str, Any]]:
    """Answers of a call that are no success, for its description: by status (``s404``), what each means."""
    return {
        int(status[1:]): {"description": text} | ({} if status == "s304" else {"content": _PROBLEM})
        for status, text in about.items()
    }


_EVERYWHERE: Final = answers(
    s304="unchanged since the answer with the tag in If-None-Match",
    s400="the body's length is not a number, or is given in two ways",
    s401="the token is missing, unknown or revoked",
    s403="the token lacks the scope, or the object belongs to another user, or is not public yet",
    s408="the request was too slow",
    s413="the body is too long",
    s421="the host name is not one of this server",
    s422="the query, a header or the body is invalid",
    s429="a limit is reached; Retry-After gives the seconds to wait",
    s500="an error of the server; its log has the details",
    s503="the server cannot access its data; Retry-After gives the seconds to wait",
)
"""What every call can meet."""


async def _parts(request: Request) -> ServerParts:
    parts: ServerParts = request.app.state.parts
    return parts


_Given: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


def _check_query(request: Request) -> None:
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    if unknown := sorted({*request.query_params} - known):
        raise WebError(422, f"The query is not as it should be: {shown(unknown[0])}: there is no such parameter.")


def _caller(scope: Scope) -> Any:
    async def caller(request: Request, given: _Given) -> Token:
        callers: Callers = request.app.state.callers
        token = callers.token_of(request, given, scope)
        _check_query(request)
        return token

    return Depends(caller)


async def _anyone(request: Request) -> None:
    callers: Callers = request.app.state.callers
    if given := await bearer(request):
        callers.token_of(request, given)
    else:
        callers.count_stranger(request)
    _check_query(request)


Parts: TypeAlias = Annotated[ServerParts, Depends(_parts)]
Anyone: TypeAlias = Annotated[None, Depends(_anyone)]
"""What the pages show to everyone needs no token."""
Reader: TypeAlias = Annotated[Token, _caller(Scope.READ)]
Player: TypeAlias = Annotated[Token, _caller(Scope.PLAY)]
Organiser: TypeAlias = Annotated[Token, _caller(Scope.ADMIN)]


class _Route(APIRoute):
    """Takes JSON whatever it is called, and does not send again what the caller has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "GET" in (self.methods or ()):
            self.methods = {"GET", "HEAD"}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            # `curl -d` calls everything a form.
            headers = [(name, value) for name, value in request.scope["headers"] if name != b"content-type"]
            request.scope["headers"] = [*headers, (b"content-type", b"application/json")]
            try:
                made = await handle(Request(request.scope, request.receive))
            except HTTPException as error:
                # Whatever is raised while the body is read.
                if isinstance(error.__cause__, WebError | ClientDisconnect):
                    raise error.__cause__ from None
                raise WebError(422, "The body is not JSON.") from None
            return _unless_known(request, made) if "GET" in (self.methods or ()) else made

        return answer


def _unless_known(request: Request, made: Response) -> Response:
    """An answer with its tag; the tag alone where the caller has that answer."""
    body = getattr(made, "body", None)
    if body:
        made.headers["etag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    tag = made.headers.get("etag")
    if tag is None or made.status_code != 200:
        return made
    made.headers["cache-control"] = "private, no-cache"
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    if tag not in known and "*" not in known:
        return made
    kept = {name: made.headers[name] for name in ("etag", "cache-control")}
    return Response(status_code=304, headers=kept, background=made.background)


router: Final = APIRouter(
    route_class=_Route, responses=_EVERYWHERE, generate_unique_id_function=lambda route: route.name
)
"""Has the functions that answer programs."""
