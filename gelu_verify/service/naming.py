"""Names that come in URLs, as OpenAPI describes them: functions, dtypes, numbers, plans."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BeforeValidator

from ..errors import UsageError
from ..formats import DTYPES, FORMATS, Format, get_format
from ..functions import FUNCTIONS, get_function
from ..inputs.plans import PLANS, get_plan
from .problems import not_found

# Decimal, hex float, bits of up to 64, or a name; the text is checked against the dtype by Format.parse.
NUMBER = (
    r"^([+-]?(([0-9]{1,40}(\.[0-9]{0,800})?|\.[0-9]{1,800})([eE][+-]?[0-9]{1,8})?"
    r"|0[xX]([0-9a-fA-F]{1,40}(\.[0-9a-fA-F]{0,40})?|\.[0-9a-fA-F]{1,40})[pP][+-]?[0-9]{1,8}"
    r"|[iI][nN][fF]|[nN][aA][nN])|0[xX][0-9a-fA-F]{1,16})$"
)


def _among(names: Any, example: str, title: str) -> dict[str, Any]:
    return {"json_schema_extra": {"enum": list(names), "example": example}, "description": title}


FunctionName = Annotated[str, Path(**_among(FUNCTIONS, "gelu", "Name of a function."))]
DtypeName = Annotated[str, Path(**_among(FORMATS, "float32", "Name of a dtype."))]
JudgedDtypeName = Annotated[str, Path(**_among(DTYPES, "float32", "A dtype in which implementations are judged."))]
PlanName = Annotated[str, Path(**_among(PLANS, "default", "Which inputs."))]
FunctionQuery = Annotated[str, Query(**_among(FUNCTIONS, "gelu", "Name of a function."))]
DtypeQuery = Annotated[str, Query(**_among(DTYPES, "float32", "A dtype in which implementations are judged."))]
PlanQuery = Annotated[str, Query(**_among(PLANS, "default", "Which inputs."))]


def _plain(text: Any) -> Any:
    """Refuses what `int` would read beside decimal digits: 1_000, ' 5', 5.0."""
    if isinstance(text, str) and not (text.isascii() and text.isdecimal()):
        raise ValueError("accepted are whole numbers in decimal digits")
    return text


PLAIN = BeforeValidator(_plain)
Seed = Annotated[int, PLAIN, Query(ge=0, le=2**31 - 1, description="Decides the sampled inputs.")]
NumberText = Annotated[
    str,
    Path(
        json_schema_extra={"pattern": NUMBER, "example": "-6.5"},
        description="A decimal, a hex float (-0x1.ap+2), bits (0xc0d00000), inf or nan; rounded to the dtype once.",
    ),
]


def checked(function: str, dtype: str) -> Format:
    """The format, of names that are part of a path; Problem 404 where nothing bears them."""
    try:
        get_function(function)
        return get_format(dtype)
    except UsageError as error:
        raise not_found(str(error)) from None


def checked_plan(plan: str, function: str, dtype: str) -> Format:
    """The same for a plan; only dtypes in which implementations are judged."""
    fmt = checked(function, dtype)
    try:
        get_plan(plan)
    except UsageError as error:
        raise not_found(str(error)) from None
    if dtype not in DTYPES:
        raise not_found(f"implementations are judged in {', '.join(DTYPES)}, not in {dtype}")
    return fmt


def parsed(fmt: Format, text: str, longest: int) -> int:
    """Bits of a number in a path; Problem 404 where the dtype has no such number."""
    if len(text) > longest:
        raise not_found(f"x has {len(text)} characters (accepted: up to {longest})")
    try:
        return fmt.parse(text)
    except UsageError as error:
        raise not_found(str(error)) from None
