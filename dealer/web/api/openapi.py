"""The description of the interface (OpenAPI 3.1), made from its operations and models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from dealer.web.api.models import Problem
from dealer.web.api.operations import PREFIX, Operation

__all__ = ["description"]

_REF = "#/components/schemas/{model}"
_PROBLEMS = {
    "401": "there is no token, or it is unknown",
    "403": "the token is not good for this, or its user may not see it",
    "404": "there is nothing here",
    "422": "the query or the body is not as it should be",
    "429": "a limit is reached; Retry-After says how long to wait",
}


def description(operations: Sequence[Operation]) -> dict[str, Any]:
    """The document that describes operations."""
    models: dict[type[BaseModel], None] = {Problem: None}
    for operation in operations:
        for model in (operation.answer, operation.body):
            if isinstance(model, type):
                models[model] = None
    names, schemas = models_json_schema([(model, "serialization") for model in models], ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", PREFIX + operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "acpc-arena",
            "version": version("acpc-arena"),
            "description": "Have matches of poker programs played, and read everything that came out.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(operation: Operation, names: Any) -> dict[str, Any]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if kind == "int" else "string"},
        }
        for name, kind in re.findall(r"\{(\w+)(?::(\w+))?\}", operation.path)
    ]
    query = operation.query_model.model_json_schema(ref_template=_REF)
    defined = query.get("$defs", {})
    for one in operation.query:
        schema = _inlined(query["properties"][one.name], defined)
        schema.pop("title", None)
        parameters.append({"name": one.name, "in": "query", "description": one.about, "schema": schema})
    parameters += [
        {"name": name, "in": "header", "description": about, "schema": {"type": "string"}}
        for name, about in operation.headers
    ]
    made: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "description": f"Needs a token with the scope '{operation.scope}'.",
        "parameters": parameters,
        "responses": {
            str(operation.status): {"description": "the answer", "content": _content(operation.answer, names)}
        }
        | {status: {"description": about, "content": _content(Problem, names)} for status, about in _PROBLEMS.items()},
    }
    if operation.body is not None:
        made["requestBody"] = {"required": True, "content": _content(operation.body, names)}
    return made


def _inlined(schema: Any, defined: dict[str, Any]) -> Any:
    """A schema without references to definitions beside it."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(defined[schema["$ref"].rpartition("/")[2]], defined)
        return {name: _inlined(value, defined) for name, value in schema.items()}
    return [_inlined(one, defined) for one in schema] if isinstance(schema, list) else schema


def _content(model: type[BaseModel] | str, names: Any) -> dict[str, Any]:
    if isinstance(model, str):
        return {model: {"schema": {"type": "string"}}}
    return {"application/json": {"schema": names[model, "serialization"]}}
