"""What the declaration of a field of a record says beside its type: its text in docs/json.md, its key, its limits.

The types are those of JSON, so that one declaration serves the serialiser (`serialize.py`), what is refused on reading
(`rules.py`) and the documentation (tools/key_tables.py).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import Field, dataclass
from typing import Annotated, Any

LATER = 3  # a schema that there is not yet


@dataclass(frozen=True, slots=True)
class Within:
    """Limits of a number, both included."""

    least: float = 0
    most: float = math.inf


@dataclass(frozen=True, slots=True)
class Matching:
    """A text that a regular expression matches; `what` names it in an error."""

    pattern: str
    what: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A name of a registry, which may grow while the program runs."""

    names: Collection[str]


@dataclass(frozen=True, slots=True)
class BitsOfDtype:
    """Hex text as wide as the dtype of the result."""


Bits = Annotated[str, BitsOfDtype()]
Count = Annotated[int, Within()]
Positive = Annotated[int, Within(1)]
Size = Annotated[float, Within()]  # a number that is not negative
Ulp = Size  # an absolute error in ULP of the exact value
Share = Annotated[float, Within(0, 1)]
Name = Annotated[str, Matching("(?s).+", "a name")]  # a program may be a script of several lines
Line = Annotated[str, Matching(".+", "a line")]
Sha256 = Annotated[str, Matching("[0-9a-f]{64}", "a sha256")]


def about(
    text: str,
    *,
    null: str | None = None,
    key: str = "",
    since: int = 1,
    always_since: int | None = None,
    omitted: bool = False,
) -> dict[str, Any]:
    """Metadata of a field.

    Parameters
    ----------
    text : what the value is, and its unit, for docs/json.md
    null : when it is null ("where nothing was scored"; "": the reader can see why); None: never
    key : its JSON key; default the name of the field
    since : the first schema that has the key
    always_since : the first schema in which no result lacks it; default `since`
    omitted : a null is not written: the key is not there then
    """
    optional_until = since if always_since is None else always_since
    return {"text": text, "null": null, "key": key, "since": since, "always_since": optional_until, "omitted": omitted}


def key_of(field: Field[Any]) -> str:
    """JSON key of a field."""
    return field.metadata["key"] or field.name
