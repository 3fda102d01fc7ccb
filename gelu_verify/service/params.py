"""Parameters of URLs and their OpenAPI descriptions: functions, dtypes, numbers, plans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BeforeValidator

from ..errors import UsageError
from ..formats import DTYPES, FORMATS, MODES, Format, Mode, get_format, get_mode
from ..functions import FUNCTIONS, get_function, named
from ..inputs.plans import PLANS, get_plan
from .problems import Problem, bad_request, not_found

# A decimal, hex float, up to 64 bits, inf or nan; Format.parse checks the text against the dtype.
NUMBER = (
    r"^([+-]?(([0-9]{1,40}(\.[0-9]{0,800})?|\.[0-9]{1,800})([eE][+-]?[0-9]{1,8})?"
    r"|0[xX]([0-9a-fA-F]{1,40}(\.[0-9a-fA-F]{0,40})?|\.[0-9a-fA-F]{1,40})[pP][+-]?[0-9]{1,8}"
    r"|[iI][nN][fF]|[nN][aA][nN])|0[xX][0-9a-fA-F]{1,16})$"
)


def _among(names: Any, example: str, title: str) -> dict[str, Any]:
    return {"json_schema_extra": {"enum": list(names), "example": example}, "description": title}


FunctionName = Annotated[str, Path(**_among(FUNCTIONS, "gelu", "Name of a function."))]
DtypeName = Annotated[str, Path(**_among(FORMATS, "float32", "Name of a dtype."))]
TestedDtypeName = Annotated[str, Path(**_among(DTYPES, "float32", "A dtype in which implementations are tested."))]
PlanName = Annotated[str, Path(**_among(PLANS, "default", "Which inputs."))]
FunctionQuery = Annotated[str, Query(**_among(FUNCTIONS, "gelu", "Name of a function."))]
DtypeQuery = Annotated[str, Query(**_among(DTYPES, "float32", "A dtype in which implementations are tested."))]
PlanQuery = Annotated[str, Query(**_among(PLANS, "default", "Which inputs."))]


def _decimal_digits(text: Any) -> Any:
    """Refuse what `int` accepts besides decimal digits: 1_000, ' 5', 5.0."""
    if isinstance(text, str) and not (text.isascii() and text.isdecimal()):
        raise ValueError("accepted: a whole number in decimal digits")
    return text


DECIMAL_DIGITS = BeforeValidator(_decimal_digits)


def whole_number(low: int, high: int, description: str) -> Any:
    """A query parameter; pydantic forgets the limits in the schema of an integer with a validator."""
    limits = {"minimum": low, "maximum": high}
    return Query(ge=low, le=high, description=description, json_schema_extra=limits)


Seed = Annotated[int, DECIMAL_DIGITS, whole_number(0, 2**31 - 1, "Seed of the sampled inputs.")]
NumberText = Annotated[
    str,
    Path(
        json_schema_extra={"pattern": NUMBER, "example": "-6.5"},
        description="A decimal, a hex float (-0x1.ap+2), bits (0xc0d00000), inf or nan; rounded once to the dtype.",
    ),
]


Exact = Annotated[
    str,
    Query(
        description="A parameter of the function, exactly: a decimal, a fraction (1/3) or a hex float (0x1.8p-1).",
        max_length=100,
        json_schema_extra={
            "pattern": r"^([+-]?([0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|[0-9]+/[0-9]+|0x[0-9a-f.p+-]+))?$"
        },
    ),
]


Rounding = Annotated[
    str,
    Query(
        description="How results are rounded: to nearest even, up, down, towards zero, or to odd.",
        max_length=20,
        json_schema_extra={"enum": list(MODES)},
    ),
]


def mode_of(rounding: str) -> Mode:
    """The rounding mode of a query; Problem 422 naming the accepted ones."""
    try:
        return get_mode(rounding)
    except UsageError as error:
        raise Problem(422, "invalid", str(error)) from None


async def parameters(**given: str) -> dict[str, str]:
    """The parameters of the function that a query gives."""
    return {name: text for name, text in given.items() if text}


PARAMETERS = sorted({each.name for function in FUNCTIONS.values() for each in function.parameters})
"""What a query may give: the parameters of all functions."""
parameters.__signature__ = Signature(  # type: ignore[attr-defined]
    [Parameter(name, Parameter.KEYWORD_ONLY, default="", annotation=Exact) for name in PARAMETERS]
)


Parameters = Annotated[dict[str, str], Depends(parameters)]


async def function_of_path(function: FunctionName, given: Parameters) -> str:
    return with_parameters(function, given)


async def function_of_query(function: FunctionQuery, given: Parameters) -> str:
    return with_parameters(function, given)


async def function_or_gelu(given: Parameters, function: FunctionQuery = "gelu") -> str:
    return with_parameters(function, given)


ParameterizedPath = Annotated[str, Depends(function_of_path)]
ParameterizedQuery = Annotated[str, Depends(function_of_query)]
ParameterizedOrGelu = Annotated[str, Depends(function_or_gelu)]


def _query_fields(dependant: Any) -> Iterator[Any]:
    """The query parameters of a route and of what it depends on."""
    yield from dependant.query_params
    for each in dependant.dependencies:
        yield from _query_fields(each)


async def known_query(request: Request) -> None:
    """Refuse query parameters that the route does not have: each would be another entry of every cache."""
    if request.query_params and request.scope["route"].include_in_schema:  # a page says it in its own words
        check_query(request)


def check_query(request: Request) -> None:
    """The same, of any route."""
    given = [name for name, _ in request.query_params.multi_items()]
    fields = {field.alias: field for field in _query_fields(request.scope["route"].dependant)}
    for name in given:
        if name not in fields:
            raise bad_request(f"unknown query parameter {name[:40]!r} (accepted: {', '.join(fields) or 'none'})")
        if given.count(name) > 1 and "list" not in str(fields[name].field_info.annotation):
            raise bad_request(f"the query parameter {name!r} was given {given.count(name)} times (accepted: once)")


def with_parameters(function: str, texts: Mapping[str, str]) -> str:
    """The name of the function with these parameters; Problem 404 if there is none, as for that name in a path."""
    if not texts or function not in FUNCTIONS:  # the route says what is wrong with the name
        return function
    try:
        return get_function(named(function, texts)).name
    except UsageError as error:
        raise not_found(str(error)) from None


def file_name(function: str) -> str:
    """The function in the name of a file: gelu_mu=0.5_sigma=1_3_."""
    return re.sub(r"[^A-Za-z0-9_.=+-]", "_", function)


def checked(function: str, dtype: str) -> Format:
    """The format of a dtype in a path; Problem 404 if the function or the dtype does not exist."""
    try:
        get_function(function)
        return get_format(dtype)
    except UsageError as error:
        raise not_found(str(error)) from None


def checked_tested(function: str, dtype: str) -> Format:
    """The same, only for dtypes in which implementations are tested."""
    fmt = checked(function, dtype)
    if dtype not in DTYPES:
        raise not_found(f"implementations are tested in {', '.join(DTYPES)}, not in {dtype}")
    return fmt


def checked_plan(plan: str, function: str, dtype: str) -> Format:
    """The same for a plan."""
    fmt = checked_tested(function, dtype)
    try:
        get_plan(plan)
    except UsageError as error:
        raise not_found(str(error)) from None
    return fmt


def parsed(fmt: Format, text: str, max_length: int) -> int:
    """Bits of a number in a path; Problem 404 if the text is not a number of the dtype."""
    if len(text) > max_length:
        raise not_found(f"x has {len(text)} characters (accepted: up to {max_length})")
    try:
        return fmt.parse(text)
    except UsageError as error:
        raise not_found(str(error)) from None
