"""Records to and from the objects of docs/json.md: the one serialiser, which the declarations of the fields drive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from .fields import key_of
from .grades import bound_of
from .result import Record

T = TypeVar("T")
Converter = Callable[[Any], Any]


class Key(NamedTuple):
    """A field as JSON has it."""

    field: str
    key: str
    omitted: bool  # a null is not written
    null: str | None  # when it is null; None where it never is
    since: int  # the first schema that has it
    text: str
    hint: Any

    def described(self, null: str = "null") -> str:
        """What it holds, and when that is null (or an empty column)."""
        return f"{self.text}; {null} {self.null}" if self.null else self.text


@cache
def keys_of(kind: Any) -> tuple[Key, ...]:
    """The keys of a record, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_key(each, hints[each.name]) for each in fields(kind) if each.metadata)


def _key(field: Field[Any], hint: Any) -> Key:
    omitted, null, since, text = (field.metadata[name] for name in ("omitted", "null", "since", "text"))
    return Key(field.name, key_of(field), omitted, null, since, text, hint)


# ---- to JSON -------------------------------------------------------------------------------------


def to_json(record: Any) -> dict[str, Any]:
    """The documented object of a record (or of a part of one)."""
    lacking = record.lacking if isinstance(record, Record) else ()
    found: dict[str, Any] = {}
    kind: Any = type(record)
    for each in keys_of(kind):
        value = getattr(record, each.field)
        if not ((value is None and each.omitted) or each.key in lacking):
            found[each.key] = _json(value)
    if isinstance(record, Record):
        found.update(record.unknown)
    return found


def _json(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return [_json(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _json(each) for key, each in value.items()}
    return to_json(value)


# ---- from JSON -----------------------------------------------------------------------------------


def from_json(kind: Callable[..., T], document: Mapping[str, Any]) -> T:
    """The record of an object that is valid (`schema.py`); keys that are not there are as in a new record."""
    read: Callable[[Mapping[str, Any]], T] = _reader(kind)
    return read(document)


def record_from_json(document: Mapping[str, Any]) -> Record:
    """A whole result, which remembers what it lacks and what is unknown here.

    What its grade stands on follows, where an earlier version did not write it, from its inputs.
    """
    keys = [each.key for each in keys_of(Record)]
    lacking = frozenset(key for key in keys if key not in document)
    unknown = {key: value for key, value in document.items() if key not in keys}
    record = replace(from_json(Record, document), lacking=lacking, unknown=unknown)
    if record.grade is None or record.grade_bound is not None:
        return record
    return replace(record, grade_bound=bound_of(record, record.grade))


@cache
def _reader(kind: Any) -> Converter:
    """What makes a record of a document."""
    readers = [(each.field, each.key, _converter(each.hint)) for each in keys_of(kind)]

    def read(document: Mapping[str, Any]) -> Any:
        found = {}
        for field, key, convert in readers:
            if key in document:
                value = document[key]
                found[field] = value if convert is None or value is None else convert(value)
        return kind(**found)

    return read


def _converter(hint: Any) -> Converter | None:
    """What turns a JSON value that is not null into a field; None where it stays as it is."""
    bare = bare_type(hint)
    kind: Any = bare if is_dataclass(bare) else None
    if kind:
        return _reader(kind)
    if get_origin(bare) is tuple:
        return _list_of(_converter(get_args(bare)[0]))
    if get_origin(bare) is Mapping:
        return _object_of(_converter(get_args(bare)[1]))
    return None


def _list_of(inner: Converter | None) -> Converter:
    return tuple if inner is None else lambda value: tuple(map(inner, value))


def _object_of(inner: Converter | None) -> Converter | None:
    return None if inner is None else lambda value: {key: inner(each) for key, each in value.items()}


def bare_type(hint: Any) -> Any:
    """A type without its annotations, and without None."""
    if get_origin(hint) is Annotated:
        return bare_type(get_args(hint)[0])
    inner = without_none(hint)
    return hint if inner is hint else bare_type(inner)


def without_none(hint: Any) -> Any:
    """T of `T | None`; other types as they are."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    (inner,) = (each for each in get_args(hint) if each is not NoneType)
    return inner
