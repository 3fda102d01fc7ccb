"""The declarations of a record as the tables of docs/json.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from gelu_verify.records.fields import BitsOfDtype
from gelu_verify.records.result import Record
from gelu_verify.records.serialize import Key, bare_type, keys_of, without_none


def key_tables(root: Any = Record, elsewhere: Any = None) -> str:
    """A table of the keys of an object, and of each object inside of it but `elsewhere`; default: of a result."""
    parts = [_table(root)]
    for kind in _parts(root, elsewhere):
        parts.append(f"`{kind.__name__}`: {_sentence(kind)}\n\n{_table(kind)}")
    return "\n".join(parts)


def _sentence(kind: Any) -> str:
    """What an object is: the first line of its docstring."""
    line = str(kind.__doc__).partition("\n")[0].rstrip(".")
    return f"{line[0].lower()}{line[1:]}."


def _table(kind: Any) -> str:
    lines = ["| key | type | value |", "|---|---|---|"]
    lines += [f"| `{each.key}` | {_type(each)} | {each.described()}{_presence(each)} |" for each in keys_of(kind)]
    return "\n".join(lines) + "\n"


def _presence(key: Key) -> str:
    """Where the key is not there."""
    return "; not in schema 1" if key.since > 1 else ""


def _type(key: Key) -> str:
    other = "" if key.null is None else " or null"
    return _name(without_none(key.hint)) + (" or no key" if key.omitted else other)


def _name(hint: Any) -> str:
    """A declared type in the words of JSON."""
    if get_origin(hint) is Annotated:
        kind, limit = get_args(hint)
        return "bits" if isinstance(limit, BitsOfDtype) else _name(kind)
    if get_origin(hint) is tuple:
        return f"list of {_name(get_args(hint)[0])}"
    if get_origin(hint) is Mapping:
        return f"object of {_name(get_args(hint)[1])}"
    if is_dataclass(hint):
        return f"`{getattr(hint, '__name__', '')}`"
    if get_origin(hint) is Literal:
        return "text"
    return {str: "text", bool: "boolean", int: "integer", float: "number"}[hint]


def _parts(kind: Any, elsewhere: Any) -> Iterable[Any]:
    """The objects inside of a record, each once, in the order in which they come."""
    found: dict[Any, None] = {}
    for each in keys_of(kind):
        inner = bare_type(each.hint)
        while get_origin(inner) in (tuple, Mapping):
            inner = bare_type(get_args(inner)[0 if get_origin(inner) is tuple else 1])
        if is_dataclass(inner) and inner is not elsewhere:
            found |= dict.fromkeys([inner, *_parts(inner, elsewhere)])
    return found
