"""Application of the interface for programs, mounted at `PREFIX`, with its OpenAPI document and its errors."""

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
    """Return the mount of the interface."""

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(site, request, WebError(422, _describe_problems(error)))

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
        return Response(_make_document(), media_type="application/json")

    api.router.add_route("/openapi.json", describe)
    return [Mount(PREFIX, api)]


@cache
def _make_document() -> str:
    """Describe the interface as OpenAPI, in JSON, on first use.

    FastAPI takes longer for it than the server needs to start.
    """
    document = get_openapi(
        title="acpc-arena",
        version=version("acpc-arena"),
        description="Queue matches between poker programs, and read their results, hands and logs.",
        routes=[_without_head(route) for route in router.routes],
    )
    schemas = document["components"]["schemas"]
    # FastAPI includes models that functions return. Problems are raised instead.
    problem = models.Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs", {})
    schemas["Problem"] = problem
    # No response contains these: errors are problems, and a key or a user is serialised as text.
    for name in ("HTTPValidationError", "ValidationError", "DealKey", "User"):
        schemas.pop(name, None)
    document["paths"] = {PREFIX + path: operations for path, operations in document["paths"].items()}
    return json.dumps(document)


def _without_head(route: BaseRoute) -> BaseRoute:
    # HEAD would have the operation id of GET, and ids must be unique.
    described = copy.copy(route)
    if isinstance(described, APIRoute):
        described.methods = set(described.methods or ()) - {"HEAD"}
    return described


def _describe_problems(error: RequestValidationError) -> str:
    location = "request"
    problems = []
    for problem in error.errors():
        location, *path = problem["loc"]
        if problem["type"] == "json_invalid":
            return "The body is not JSON."
        sentence = problem["msg"].removeprefix("Value error, ")
        sentence = f"{sentence[:1].lower()}{sentence[1:]}"
        if path:
            field = ".".join(map(str, path))
            sentence = f"{field}: {sentence}"
        problems.append(sentence)
    return f"The {location} is invalid ({'; '.join(problems)})."
