"""What the OpenAPI document says for programs that make clients of it, besides what FastAPI finds in the routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from ..formats import FORMATS, MODES
from ..functions import FUNCTIONS
from ..inputs.plans import PLANS
from .encoding import JSON_TYPE

Responses = dict[int | str, dict[str, Any]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
BINARY = {"type": "string", "format": "binary"}
_HEADERS = {
    "Cache-Control": "How long caches may keep the response.",
    "Content-Disposition": "A name for the file.",
    "Content-Location": "A URL at which this content never changes.",
    "ETag": "A hash of the content, for `If-None-Match`.",
    "Location": "URL of the job.",
    "RateLimit": "How many more requests the client could send now, for each queue.",
    "RateLimit-Policy": "How many requests the client may have, for each queue.",
    "Retry-After": "Seconds after which to try again.",
    "WWW-Authenticate": "How a token is sent.",
    "X-Inputs-Count": "Number of inputs.",
    "X-Inputs-Sha256": "sha256 of the inputs.",
    "X-Request-Id": "The request in the log of the server; that of the proxy if it sent one.",
}
HEADERS = {name: {"description": about, "schema": {"type": "string"}} for name, about in _HEADERS.items()}
"""Of responses: the components that routes name."""
_NAMES = {
    tuple(FUNCTIONS): "FunctionName",
    tuple(FORMATS): "DtypeName",
    tuple(PLANS): "PlanName",
    tuple(MODES): "RoundingMode",
}
_MODELS: dict[str, Any] = {}
_WIDE = {"number": "double", "integer": "int64"}
_OF_ALL = ("Cache-Control", "RateLimit", "RateLimit-Policy", "X-Request-Id")
_OF_ERRORS = ("Retry-After", "WWW-Authenticate")


def headers(*names: str) -> Responses:
    """Of the response of a route."""
    return {200: {"headers": _referred(names)}}


def json_route(
    router: APIRouter, path: str, operation: str, summary: str, model: type[BaseModel] | str, static: str = ""
) -> Callable[[Endpoint], Endpoint]:
    """A route with JSON of a model, or of a schema of ours; also at `static`, its name in a static copy."""
    if isinstance(model, str):
        options = _route(JSON_TYPE, {"$ref": f"#/components/schemas/{model}"}, ["ETag"])
    else:
        options = {"response_model": model, "responses": headers("ETag")}

    def add(endpoint: Endpoint) -> Endpoint:
        again = "The same, under its name in a static copy"
        router.get(static or f"{path}.json", operation_id=f"{operation}Json", summary=again, **options)(endpoint)
        return router.get(path, operation_id=operation, summary=summary, **options)(endpoint)

    return add


def file(operation: str, media_type: str, *names: str) -> dict[str, Any]:
    """Arguments of a route: its name in clients, and a response that is a file, with these headers."""
    if media_type.endswith("+json"):
        schema = {"type": "object"}
    else:
        schema = {"type": "string"} if media_type.startswith("text/") else BINARY
    return {"operation_id": operation, **_route(media_type, schema, names)}


def body(media_type: str) -> dict[str, Any]:
    """A request whose body is a file."""
    return {"requestBody": {"required": True, "content": {media_type: {"schema": BINARY}}}}


def model_body(model: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    """A request whose body is JSON of this model, which the route reads by itself."""
    _MODELS[model.__name__] = model.model_json_schema()
    content = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}, "example": example}
    return {"requestBody": {"required": True, "content": {JSON_TYPE: content}}}


def complete(schema: dict[str, Any]) -> None:
    """Add the headers of all responses, and one type for each list of names; order arguments as paths have them."""
    schema["components"]["headers"] = HEADERS
    schema["components"]["schemas"] |= _MODELS
    _widen(schema)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            given = operation.get("parameters", [])
            given.sort(key=lambda each: path.find(f"{{{each['name']}}}") if each["in"] == "path" else len(path))
            for each in given:
                _share_names(each["schema"], schema["components"]["schemas"])
            for status, response in operation["responses"].items():
                names = (*_OF_ALL, *(_OF_ERRORS if status == "default" else ()))
                response.setdefault("headers", {}).update(_referred(names))


def _widen(node: Any) -> None:
    """Say of numbers that they have 64 bits: generators assume 32."""
    if isinstance(node, dict):
        kind = node.get("type")
        if isinstance(kind, str) and kind in _WIDE:
            node.setdefault("format", _WIDE[kind])
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            _widen(each)


def _share_names(schema: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Refer to the type of a list of names, in the place of the list."""
    name = _NAMES.get(tuple(schema.get("enum", ())))
    if name is not None:
        schemas[name] = {"type": "string", "enum": schema.pop("enum"), "title": name}
        for key in ("type", "title"):
            del schema[key]
        schema["$ref"] = f"#/components/schemas/{name}"


def _referred(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _route(media_type: str, schema: dict[str, str], names: Iterable[str]) -> dict[str, Any]:
    responses = {200: {"content": {media_type: {"schema": schema}}, "headers": _referred(names)}}
    return {"response_class": Response, "responses": responses}
