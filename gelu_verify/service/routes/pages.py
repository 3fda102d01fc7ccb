"""`/` and `/assets/...`: the web page; `/lookup` and `/embed`: one value as a page without JavaScript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from jinja2 import Environment, StrictUndefined, Template
from starlette.responses import Response

from ...formats import FORMATS, Mode
from ...functions import FUNCTIONS, base_name, get_function
from ...functions.parameters import split_name
from ..caching import FRESH, REVALIDATE, cached_response
from ..disconnection import unless_client_left
from ..encoding import all_quick, look_up
from ..page_bundle import MEDIA_TYPES, assets, index, policy, text
from ..params import Parameters, check_query, checked, mode_of, parsed, with_parameters
from ..problems import Problem, not_found
from ..settings import DIGITS
from ..state import state_of

router = APIRouter(include_in_schema=False)
ROUNDED: dict[str, str] = {
    "nearest": "correctly rounded", "up": "rounded up", "down": "rounded down", "zero": "rounded towards zero",
    "odd": "rounded to odd",
}  # fmt: skip
"""What a result is, by the rounding mode."""


@router.get("/")
async def page(request: Request) -> Response:
    """All of it, so that it needs no second request."""
    settings = state_of(request).settings
    found = index(settings.documentation, settings.source)
    response = cached_response(request, found.content, MEDIA_TYPES["html"], REVALIDATE)
    response.headers["Content-Security-Policy"] = found.policy
    return response


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    content = assets().get(name)
    if content is None:
        raise not_found("no such file")
    response = cached_response(request, content, MEDIA_TYPES[name.rpartition(".")[2]], REVALIDATE)
    response.headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
    return response


@router.get("/robots.txt")
async def robots(request: Request) -> Response:
    """Programs that follow links find the pages, not what is computed on request, of which there is no end."""
    text = "User-agent: *\nDisallow: /v1/\nAllow: /v1/versions\nDisallow: /lookup\nDisallow: /embed\n"
    return cached_response(request, text.encode(), "text/plain", FRESH)


@router.get("/lookup")
async def lookup(
    request: Request, given: Parameters, x: str = "-6.5", function: str = "gelu", dtype: str = "float32",
    rounding: str = "nearest",
) -> Response:  # fmt: skip
    """One value: for browsers without JavaScript, and for programs that show what is behind a link."""
    return await _answer(request, given, x, function, dtype, rounding, embedded=False)


@router.get("/embed")
async def embed(
    request: Request, given: Parameters, x: str = "-6.5", function: str = "gelu", dtype: str = "float32",
    rounding: str = "nearest",
) -> Response:  # fmt: skip
    """The same in a small frame, for pages of other sites."""
    return await _answer(request, given, x, function, dtype, rounding, embedded=True)


async def _answer(
    request: Request, given: Mapping[str, str], x: str, function: str, dtype: str, rounding: str, *, embedded: bool
) -> Response:
    css, status = text("page.css"), 200
    frame = f"{request.base_url}embed?{request.url.query}"
    base = base_name(function)
    values: dict[str, Any] = {
        "base": base, "given": given, "parameters": FUNCTIONS[base].parameters if base in FUNCTIONS else (),
        "x": x, "function": function, "dtype": dtype, "embedded": embedded, "css": css, "dtypes": list(FORMATS),
        "functions": FUNCTIONS.values(), "problem": "", "root": "./", "embed": frame,
        "link": f"lookup?{request.url.query}", "rounding": rounding, "rounded": ROUNDED,
    }  # fmt: skip
    try:
        check_query(request)
        values["function"] = function = with_parameters(function, given)
        values |= await _found(request, x.strip().replace("\N{MINUS SIGN}", "-"), function, dtype, mode_of(rounding))
    except Problem as problem:
        status, title = problem.status, "gelu-verify"
        values |= {"problem": problem.detail, "title": title, "description": "Correctly rounded values of GELU."}
    content = _template().render(values).encode()
    response = cached_response(request, content, MEDIA_TYPES["html"], FRESH if status == 200 else REVALIDATE)
    if response.status_code == 200:
        response.status_code = status
    response.headers["Content-Security-Policy"] = policy(css, frames="*" if embedded else "'none'")
    return response


async def _found(request: Request, x: str, function: str, dtype: str, mode: Mode) -> dict[str, Any]:
    """What the template shows of a value."""
    state, fmt = state_of(request), checked(function, dtype)
    bits = parsed(fmt, x, state.limits.number_text)
    query = (function, dtype, bits, DIGITS, x, tuple(name for name in FORMATS if name != dtype), mode)
    body = look_up(*query) if all_quick(*query) else await unless_client_left(request, state.admission.look_up(*query))
    answer = json.loads(body)
    every = {dtype: answer, **answer["also"]}
    return {
        "given": split_name(function)[1], "formula": get_function(function).formula,
        "answer": answer, "every": [every[name] for name in FORMATS],
        "title": f"{function}({_shortest(answer['x'])}) = {answer['exact'] or answer['y']}",
        "description": f"{ROUNDED[mode].capitalize()} in {dtype}: {answer['y_hex']} = {answer['y_bits']}",
    }  # fmt: skip


def _shortest(decimal: str) -> str:
    """Without zeros at the end."""
    significand, mark, exponent = decimal.partition("e")
    return (significand.rstrip("0").rstrip(".") if "." in significand else significand) + mark + exponent


@cache
def _template() -> Template:
    source = (files("gelu_verify.service") / "page" / "answer.jinja").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
