"""The interface for programs: an application of its own below `PREFIX`, with its document and its errors.

The document (OpenAPI) is made from the functions that answer and from their models.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from importlib.metadata import version
from weakref import WeakValueDictionary

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount

from dealer.errors import WebError
from dealer.server.server import ServerParts
from dealer.web.api import models, operations
from dealer.web.api.calls import PREFIX, Callers, router
from dealer.web.pages.live import EventStreams
from dealer.web.site import Site, error_handlers, error_response


def routes(site: Site, server: ServerParts) -> list[BaseRoute]:
    """The addresses of this room."""

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(site, request, WebError(422, _sentence(error)))

    api = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={**error_handlers(site), RequestValidationError: on_invalid},
    )
    api.state.parts = server
    api.state.intake = site.intake
    api.state.callers = Callers(server)
    api.state.streams = EventStreams(operations.MAX_STREAMS_PER_USER, "This user")
    api.state.locks = WeakValueDictionary()
    api.router.routes.extend(router.routes)

    async def describe(request: Request) -> Response:
        return Response(_document(), media_type="application/json")

    api.router.add_route("/openapi.json", describe)
    return [Mount(PREFIX, api)]


@cache
def _document() -> str:
    """The document as JSON, made when it is first asked for: it takes longer than all else at a server's start."""
    made = get_openapi(
        title="acpc-arena",
        version=version("acpc-arena"),
        description="Queue matches between poker programs, and read their results, hands and logs.",
        routes=[_without_head(route) for route in router.routes],
    )
    schemas = made["components"]["schemas"]
    # Problems are raised, never returned, so that no function names their model.
    problem = models.Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs", {}) | {"Problem": problem}
    # No answer holds these: errors have a form of their own, and the others are not sent as what they are.
    for name in ("HTTPValidationError", "ValidationError", "DealKey", "User"):
        schemas.pop(name, None)
    made["paths"] = {PREFIX + path: operations for path, operations in made["paths"].items()}
    return json.dumps(made)


def _without_head(route: BaseRoute) -> BaseRoute:
    described = copy.copy(route)
    if isinstance(described, APIRoute):
        described.methods = set(described.methods or ()) - {"HEAD"}
    return described


def _sentence(error: RequestValidationError) -> str:
    where, problems = "request", []
    for one in error.errors():
        where, *place = one["loc"]
        if one["type"] == "json_invalid":
            return "The body is not JSON."
        sentence = one["msg"].removeprefix("Value error, ")
        sentence = f"{sentence[:1].lower()}{sentence[1:]}"
        problems.append(f"{'.'.join(map(str, place))}: {sentence}" if place else sentence)
    return f"The {where} is not as it should be: {'; '.join(problems)}."
