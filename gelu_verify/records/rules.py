"""Rules for what was read from disk: a rule is a function of a value that says what is wrong with it, or None.

`rule_of` makes the rule of a record's field from its declared type. Every value is one that JSON can hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from ..formats import Format
from .fields import BitsOfDtype, Matching, OneOf, Within
from .serialize import keys_of, without_none

Rule = Callable[[Any], str | None]
LARGEST_INTEGER = 1 << 64


def anything(value: Any) -> str | None:
    return None


def number(least: float = 0.0, most: float = math.inf) -> Rule:
    def rule(value: Any) -> str | None:
        if type(value) not in (int, float) or (type(value) is int and abs(value) > LARGEST_INTEGER):
            return f"is {_shown(value)}, not a number"
        return None if math.isfinite(value) and least <= value <= most else f"is {_shown(value)}, which cannot be"

    return rule


def integer(least: float = 0, most: float = LARGEST_INTEGER) -> Rule:
    def rule(value: Any) -> str | None:
        good = type(value) is int and least <= value <= most
        return None if good else f"is {_shown(value)}, not an integer from {least:g} on"

    return rule


def text(pattern: str = "(?s).*", what: str = "text") -> Rule:
    matches = re.compile(pattern).fullmatch

    def rule(value: Any) -> str | None:
        good = isinstance(value, str) and matches(value)
        return None if good else f"is {_shown(value)}, not {what}"

    return rule


def one_of(accepted: Collection[str]) -> Rule:
    def rule(value: Any) -> str | None:
        good = isinstance(value, str) and value in accepted
        return None if good else f"is {_shown(value)} (known: {', '.join(map(str, accepted))})"

    return rule


def boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"is {_shown(value)}, not true or false"


def or_null(inner: Rule) -> Rule:
    return lambda value: None if value is None else inner(value)


def list_of(inner: Rule) -> Rule:
    def rule(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"is {_shown(value)}, not a list"
        return next((f"[{k}]{_joined(wrong)}" for k, each in enumerate(value) if (wrong := inner(each))), None)

    return rule


def object_of(inner: Rule, key: Rule = anything) -> Rule:
    """Any keys of one kind, all with values of one kind."""

    def rule(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"is {_shown(value)}, not an object"
        found = ((name, key(name) or inner(each)) for name, each in value.items())
        return next((f".{name:.40}{_joined(wrong)}" for name, wrong in found if wrong), None)

    return rule


def shape(keys: Mapping[str, Rule], optional: Iterable[str] = ()) -> Rule:
    """An object with these keys, some of which may be missing."""
    required = [key for key in keys if key not in set(optional)]

    def rule(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"is {_shown(value)}, not an object"
        missing = [key for key in required if key not in value]
        if missing:
            return f"lacks {', '.join(missing)}"
        for key, check in keys.items():
            if key in value and (wrong := check(value[key])):
                return f".{key}{_joined(wrong)}"
        return None

    return rule


def _joined(wrong: str) -> str:
    return wrong if wrong[0] in ".[" else f" {wrong}"


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return (
        f"{value:.4g}" if isinstance(value, float) else f"{value!r:.60}" if not isinstance(value, int) else "a number"
    )


# ---- rules of declared types ---------------------------------------------------------------------


def rules_of(kind: Any, fmt: Format) -> dict[str, Rule]:
    """The rule of each key of a record, whose bits are those of a dtype."""
    found = {}
    for each in keys_of(kind):
        rule = rule_of(without_none(each.hint), fmt)
        found[each.key] = or_null(rule) if each.null is not None else rule
    return found


def rule_of(hint: Any, fmt: Format) -> Rule:
    """The rule of a declared type."""
    if get_origin(hint) is Annotated:
        kind, limit = get_args(hint)
        return _limited(kind, limit, fmt)
    if get_origin(hint) is Literal:
        return one_of(get_args(hint))
    if get_origin(hint) is tuple:
        return list_of(rule_of(get_args(hint)[0], fmt))
    if get_origin(hint) is Mapping:
        key, inner = get_args(hint)
        return object_of(rule_of(inner, fmt), rule_of(key, fmt))
    kind = hint
    if is_dataclass(hint):
        optional = [each.key for each in keys_of(kind) if each.omitted]
        return shape(rules_of(kind, fmt), optional)
    return {str: text(), bool: boolean, float: number(-math.inf), int: integer(-LARGEST_INTEGER)}[hint]


def _limited(kind: type, limit: object, fmt: Format) -> Rule:
    match limit:
        case Within(least, most):
            return number(least, most) if kind is float else integer(least, min(most, LARGEST_INTEGER))
        case Matching(pattern, what):
            return text(pattern, what)
        case OneOf(names):
            return one_of(names)
        case BitsOfDtype():
            return text(f"0x[0-9a-f]{{{fmt.width // 4}}}", f"bits of {fmt.name}")
    raise TypeError(f"{limit!r} limits nothing")
