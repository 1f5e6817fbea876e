"""Dependencies and routes that the operations of the HTTP interface share.

    @router.get("/games")
    async def games(caller: Reader, parts: Parts) -> models.Games: ...

`Authorization: Bearer TOKEN` identifies the caller. Requests are limited per token. Wrong tokens count against the
client's address, as wrong logins do.
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
    """Identify callers by their tokens and limit their requests."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._limit = RateLimit(parts.settings.web.requests_per_minute)

    def authenticate(
        self, request: HTTPConnection, credentials: HTTPAuthorizationCredentials | None, scope: Scope | None = None
    ) -> Token:
        """Return the token of a request that needs one.

        Raises:
            WebError: the token is missing, unknown or lacks the scope, or a limit is reached.
        """
        address = get_visitor(request).address
        if wait_s := self._parts.accounts.guesses.wait_s(address):
            raise WebError(429, "Too many wrong tokens came from your address.", "login", wait_s)
        if credentials is None:
            raise WebError(401, "This request needs a token. Send it as Authorization: Bearer TOKEN.")
        token = self._parts.accounts.find_token(credentials.credentials)
        if token is None:
            self._parts.accounts.guesses.record_failure(address)
            raise WebError(401, "This token is unknown or has been revoked.")
        request.scope[KNOWN_KEY] = True
        self._limit.count(f"token {token.id}")
        if scope is not None and scope not in token.scopes and Scope.ADMIN not in token.scopes:
            raise WebError(403, f"This token lacks the scope '{scope}'. Its user can create one with that scope.")
        return token

    def count_anonymous(self, request: Request) -> None:
        """Count a request without a token against the client's address.

        Raises:
            WebError: the limit is reached.
        """
        self._limit.count(f"address {get_visitor(request).address}")


PREFIX: Final = "/api/v1"
_PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
bearer: Final = HTTPBearer(scheme_name="token", auto_error=False)


def describe_errors(**descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Describe the error responses of an operation for OpenAPI; keys are the letter s and the status (``s404``)."""
    responses: dict[int | str, dict[str, Any]] = {}
    for status, text in descriptions.items():
        response: dict[str, Any] = {"description": text}
        if status != "s304":
            response["content"] = _PROBLEM
        responses[int(status[1:])] = response
    return responses


_COMMON_ERRORS: Final = describe_errors(
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


async def _parts(request: Request) -> ServerParts:
    parts: ServerParts = request.app.state.parts
    return parts


_Credentials: TypeAlias = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


def _check_query(request: Request) -> None:
    # FastAPI ignores unknown parameters, so that a misspelt filter would return everything.
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    unknown = sorted({*request.query_params} - known)
    if unknown:
        raise WebError(422, f"The query has no parameter {shown(unknown[0])}.")


def _caller(scope: Scope) -> Any:
    async def caller(request: Request, credentials: _Credentials) -> Token:
        callers: Callers = request.app.state.callers
        token = callers.authenticate(request, credentials, scope)
        _check_query(request)
        return token

    return Depends(caller)


async def _anyone(request: Request) -> None:
    callers: Callers = request.app.state.callers
    if credentials := await bearer(request):
        callers.authenticate(request, credentials)
    else:
        callers.count_anonymous(request)
    _check_query(request)


Parts: TypeAlias = Annotated[ServerParts, Depends(_parts)]
Anyone: TypeAlias = Annotated[None, Depends(_anyone)]
"""Operations on data that the pages show to everyone; a token is optional."""
Reader: TypeAlias = Annotated[Token, _caller(Scope.READ)]
Player: TypeAlias = Annotated[Token, _caller(Scope.PLAY)]
Organiser: TypeAlias = Annotated[Token, _caller(Scope.ADMIN)]


class _Route(APIRoute):
    """Accept any Content-Type as JSON; answer 304 if the caller has the response."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "GET" in (self.methods or ()):
            self.methods = {"GET", "HEAD"}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            # `curl -d` declares every body a form.
            headers = [(name, value) for name, value in request.scope["headers"] if name != b"content-type"]
            request.scope["headers"] = [*headers, (b"content-type", b"application/json")]
            try:
                response = await handle(Request(request.scope, request.receive))
            except HTTPException as error:
                # FastAPI wraps every exception raised while it reads the body.
                if isinstance(error.__cause__, WebError | ClientDisconnect):
                    raise error.__cause__ from None
                raise WebError(422, "The body is not JSON.") from None
            if "GET" not in (self.methods or ()):
                return response
            return _answer_conditionally(request, response)

        return answer


def _answer_conditionally(request: Request, response: Response) -> Response:
    """Tag a response; replace it by an empty 304 if the caller has one with the same tag."""
    body = getattr(response, "body", None)
    if body:
        response.headers["etag"] = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    tag = response.headers.get("etag")
    if tag is None or response.status_code != 200:
        return response
    response.headers["cache-control"] = "private, no-cache"
    # Compressing proxies turn tags into weak ones.
    header = request.headers.get("if-none-match", "")
    known_tags = [text.strip().removeprefix("W/") for text in header.split(",")]
    if tag not in known_tags and "*" not in known_tags:
        return response
    headers = {name: response.headers[name] for name in ("etag", "cache-control")}
    return Response(status_code=304, headers=headers, background=response.background)


router: Final = APIRouter(
    route_class=_Route, responses=_COMMON_ERRORS, generate_unique_id_function=lambda route: route.name
)
"""Routes of all operations; `operations` adds them."""
