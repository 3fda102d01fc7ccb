"""What is proved of the functions (data/facts.json), for the entries that state it: each value is written down once."""

from __future__ import annotations

import json
from functools import cache

from ..paths import resource


def proved(fact: str, value: str) -> str:
    """A decimal of 36 digits: `proved("gelu.minimum", "x")`."""
    return _values()[fact][value]


def negative(decimal: str) -> str:
    """The decimal with the other sign."""
    return decimal.removeprefix("-") if decimal.startswith("-") else f"-{decimal}"


@cache
def _values() -> dict[str, dict[str, str]]:
    content = json.loads(resource("data/facts.json").read_text(encoding="utf-8"))
    return {fact["name"]: fact["values"] for fact in content["facts"]}
