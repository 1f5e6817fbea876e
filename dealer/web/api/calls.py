"""What the functions that answer programs have in common: who calls, the server, routes that know what was sent before.

router = new_router()

@router.get("/games")
async def games(caller: Reader, parts: Parts) -> models.Games: ...
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, TypeAlias

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from dealer.errors import WebError
from dealer.server.accounts import Scope
from dealer.server.server import ServerParts
from dealer.web.api.callers import Caller

__all__ = ["PREFIX", "Parts", "Player", "Reader", "answers", "new_router"]

PREFIX: Final = "/api/v1"

_PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_bearer: Final = HTTPBearer(scheme_name="token", auto_error=False)


def answers(**about: str) -> dict[int | str, dict[str, Any]]:
    """Answers of a call that are no success, for its description: by status (``s404``), what each means."""
    return {
        int(status[1:]): {"description": text} | ({} if status == "s304" else {"content": _PROBLEM})
        for status, text in about.items()
    }


_EVERYWHERE: Final = answers(
    s304="the caller has the answer already: it has the tag that If-None-Match names",
    s400="the body's length is no number, or is given in two ways",
    s401="there is no token, or it is unknown or has been revoked",
    s403="the token has not the scope, or this is somebody else's, or cannot be seen yet",
    s408="the request came too slowly",
    s413="the body is too long",
    s421="the name that was called is not one of this server",
    s422="something in the query, a header or the body is not as it should be",
    s429="a limit is reached; Retry-After says how long to wait",
    s500="something is wrong with the server; its log says what",
    s503="the server cannot read or write what it keeps; Retry-After says how long to wait",
)
"""What every call can meet."""


async def _parts(request: Request) -> ServerParts:
    parts: ServerParts = request.app.state.parts
    return parts


def _caller(request: Request, scope: Scope) -> Caller:
    caller: Caller = request.app.state.callers.caller_of(request, scope)
    if request.query_params and not request.scope["route"].dependant.query_params:
        raise WebError(422, "This address takes no query.")
    return caller


async def _reader(request: Request, token: Annotated[Any, Depends(_bearer)]) -> Caller:
    return _caller(request, Scope.READ)


async def _player(request: Request, token: Annotated[Any, Depends(_bearer)]) -> Caller:
    return _caller(request, Scope.PLAY)


Parts: TypeAlias = Annotated[ServerParts, Depends(_parts)]
Reader: TypeAlias = Annotated[Caller, Depends(_reader)]
Player: TypeAlias = Annotated[Caller, Depends(_player)]


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


def new_router() -> APIRouter:
    """A router for functions that answer programs."""
    return APIRouter(route_class=_Route, responses=_EVERYWHERE, generate_unique_id_function=lambda route: route.name)
