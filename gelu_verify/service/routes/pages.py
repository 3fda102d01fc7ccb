"""`/` and `/assets/...`: the web page, from files of this package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..caching import REVALIDATE, cached_response
from ..problems import not_found

router = APIRouter(include_in_schema=False)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def assets() -> dict[str, bytes]:
    """{name: content} of the page's files."""
    folder = files("gelu_verify.service") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in MEDIA_TYPES}


@router.get("/")
async def index(request: Request) -> Response:
    return _file(request, "index.html")


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    return _file(request, name)


def _file(request: Request, name: str) -> Response:
    content = assets().get(name)
    if content is None:
        raise not_found("no such file")
    response = cached_response(request, content, MEDIA_TYPES[name.rpartition(".")[2]], REVALIDATE)
    response.headers["Content-Security-Policy"] = POLICY
    return response
