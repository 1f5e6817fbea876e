"""An address of the interface as a value, from which its route and its description are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dealer.errors import WebError
from dealer.server.accounts import Scope
from dealer.web.api.callers import Caller, Callers

__all__ = ["PREFIX", "Call", "Operation", "Parameter"]

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A word of the query.

    Attributes:
        name: of it.
        kind: its type, with bounds (`typing.Annotated`).
        about: what it is.
        default: when it is left out.
    """

    name: str
    kind: Any
    about: str
    default: object = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request that has been found to be in order.

    Attributes:
        request: as it came.
        caller: who calls.
        path: the numbers and words in the address.
        query: by name, with the defaults.
        body: what was sent, of the operation's model; None without one.
    """

    request: Request
    caller: Caller
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Any = None


Answer: TypeAlias = BaseModel | Response


@dataclass(frozen=True, slots=True)
class Operation:
    """An address with a method.

    Attributes:
        method: of HTTP.
        path: below `PREFIX`, as starlette writes it.
        name: a word that no other operation has.
        about: what it does, in a sentence.
        scope: that the token needs.
        answer: the model of the answer, or its media type where that is a file.
        handler: makes the answer.
        body: the model of what is sent; None for nothing.
        query: words of the query.
        status: of the answer.
        headers: of the request that mean something, each with a sentence.
    """

    method: str
    path: str
    name: str
    about: str
    scope: Scope
    answer: type[BaseModel] | str
    handler: Callable[[Call], Awaitable[Answer]]
    body: type[BaseModel] | None = None
    query: tuple[Parameter, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def query_model(self) -> type[BaseModel]:
        """The query as a model."""
        fields: dict[str, Any] = {one.name: (one.kind, Field(one.default)) for one in self.query}
        return create_model(f"{self.name}_query", __config__=ConfigDict(extra="forbid"), **fields)

    def route(self, callers: Callers) -> Route:
        """The route that answers it."""
        query_model = self.query_model
        body = None if self.body is None else TypeAdapter(self.body)

        async def answer(request: Request) -> Response:
            caller = callers.caller_of(request, self.scope)
            query = _checked(lambda: query_model.model_validate(dict(request.query_params)), "query")
            sent = None
            if body is not None:
                data = await request.body()
                sent = _checked(lambda: body.validate_json(data), "body")
            given = {name: getattr(query, name) for name in query_model.model_fields}
            made = await self.handler(Call(request, caller, request.path_params, given, sent))
            if isinstance(made, Response):
                return made
            return Response(made.model_dump_json(), self.status, media_type="application/json")

        return Route(PREFIX + self.path, answer, methods=[self.method], name=self.name)


def _checked(check: Callable[[], Any], where: str) -> Any:
    try:
        return check()
    except ValidationError as error:
        problems = []
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            place = ".".join(map(str, one["loc"]))
            problems.append(f"{place}: {one['msg'][:1].lower()}{one['msg'][1:]}" if place else one["msg"])
        raise WebError(422, f"The {where} is not as it should be: {'; '.join(problems)}.") from None
