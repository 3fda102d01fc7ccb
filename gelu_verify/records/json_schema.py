"""The declarations of records as a JSON Schema (2020-12): of what this version writes.

Keys may be added until version 2, so that none is forbidden. The name of a function, to which users
and plugins add, is a text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from ..formats import FORMATS
from ..functions import FUNCTIONS
from .fields import BitsOfDtype, Matching, OneOf, Within
from .serialize import Key, keys_of, without_none

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NULL = {"type": "null"}
_WIDTHS = sorted({fmt.width // 4 for fmt in FORMATS.values()})
_BITS = f"^0x({'|'.join(f'[0-9a-f]{{{width}}}' for width in _WIDTHS)})$"
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}

ANYTHING = r"[\s\S]"

Schema = dict[str, Any]


def schema_of(kind: Any, place: str = "#/$defs/") -> Schema:
    """That of an object, with those inside of it in `$defs`; `place`: where a reader finds these."""
    definitions: dict[str, Schema] = {}
    return {"$schema": DIALECT, "title": kind.__name__, **_object(kind, place, definitions), "$defs": definitions}


def list_schema(kind: Any) -> Schema:
    """That of a list of such objects, as `--json` prints it."""
    found = schema_of(kind)
    definitions = found.pop("$defs")
    dialect, item = found.pop("$schema"), {kind.__name__: found}
    return {
        "$schema": dialect,
        "type": "array",
        "items": {"$ref": f"#/$defs/{kind.__name__}"},
        "$defs": item | definitions,
    }


def _object(kind: Any, place: str, definitions: dict[str, Schema]) -> Schema:
    keys = keys_of(kind)
    return {
        "description": " ".join(str(kind.__doc__).partition("\n\n")[0].split()),
        "type": "object",
        "properties": {each.key: _property(each, place, definitions) for each in keys},
        "required": [each.key for each in keys if not each.omitted],
    }


def _property(key: Key, place: str, definitions: dict[str, Schema]) -> Schema:
    found = _schema(without_none(key.hint), place, definitions)
    if key.null is not None:
        found = {"anyOf": [found, NULL]}
    return found | {"description": key.described()}


def _schema(hint: Any, place: str, definitions: dict[str, Schema]) -> Schema:
    """That of a declared type."""
    if get_origin(hint) is Annotated:
        kind, limit = get_args(hint)
        return _schema(kind, place, definitions) | _limited(limit)
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0], place, definitions)}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _schema(get_args(hint)[1], place, definitions)}
    bare: Any = hint
    if is_dataclass(hint):
        if bare.__name__ not in definitions:
            definitions[bare.__name__] = {}  # so that the name comes before those inside of it
            definitions[bare.__name__] |= _object(bare, place, definitions)
        return {"$ref": f"{place}{bare.__name__}"}
    return {"type": _TYPES[bare]}


def _limited(limit: object) -> Schema:
    match limit:
        case Within(least, most):
            ends = {"minimum": least, "maximum": most}
            return {name: end for name, end in ends.items() if math.isfinite(end)}
        case Matching(pattern, _):
            return {"pattern": f"^{pattern.replace('(?s).', ANYTHING)}$"}
        case BitsOfDtype():
            return {"pattern": _BITS}
        case OneOf(names):
            return {} if names is FUNCTIONS else {"enum": list(names)}
    raise TypeError(f"{limit!r} limits nothing")
