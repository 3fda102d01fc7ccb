"""A fact, and the file in which all facts are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from ..errors import UsageError
from ..paths import resource

DIGITS = 36
COMMAND = "python tools/make_facts.py"
Topic = Literal["shape", "distance", "tail", "limit", "claim", "said"]
TOPICS: dict[Topic, str] = {
    "shape": "Minimum, inflections, bounds, Lipschitz constants",
    "distance": "Distance from GELU",
    "tail": "Tails",
    "limit": "Limits and asymptotics",
    "claim": "Claims of Hendrycks and Gimpel (arXiv 1606.08415)",
    "said": "Said of GELU by others",
}


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One statement about a function that has been proved."""

    name: str
    """Unique: "gelu.minimum"."""
    topic: Topic
    statement: str
    """For readers; names the values."""
    values: dict[str, str]
    """Decimals of 36 significant digits, correctly rounded from an enclosure; fewer digits where the value is exact."""
    proof: str
    """How it is proved."""
    verdict: str = ""
    """Of a statement of others (topics claim and said): confirmed, or corrected."""


@cache
def stored_facts() -> tuple[Fact, ...]:
    """All facts, in the order of the file."""
    content = json.loads(resource("data/facts.json").read_text(encoding="utf-8"))
    return tuple(Fact(**entry) for entry in content["facts"])


def selected(facts: Iterable[Fact], words: Iterable[str]) -> list[Fact]:
    """The facts whose name, or a part of it between dots, or whose topic is one of `words`; all without words."""
    facts, words = list(facts), list(words)
    for word in words:
        if not any(_is_meant(fact, word) for fact in facts):
            names = sorted({fact.name.partition(".")[0] for fact in facts})
            accepted = ", ".join(dict.fromkeys([*names, *TOPICS]))
            raise UsageError(f"there is no fact about {word!r} (accepted: {accepted}, or the name of a fact)")
    return [fact for fact in facts if not words or any(_is_meant(fact, word) for word in words)]


def _is_meant(fact: Fact, word: str) -> bool:
    return word in (fact.name, fact.topic) or word in fact.name.split(".")


def document(facts: Iterable[Fact]) -> dict[str, Any]:
    """The content of data/facts.json."""
    return {"generated_by": COMMAND, "digits": DIGITS, "facts": [asdict(fact) for fact in facts]}
