"""All facts, proved anew: needs python-flint (extra `prove`)."""

from __future__ import annotations

import flint

from . import limits, said, shape, tails
from .balls import BITS
from .base import TOPICS, Fact


def proved_facts() -> list[Fact]:
    """The facts in the order of data/facts.json. OracleError where one does not hold."""
    with flint.ctx.workprec(BITS):
        found = [*shape.facts(), *tails.facts(), *limits.facts(), *limits.claims(), *said.facts()]
    return sorted(found, key=lambda fact: [*TOPICS].index(fact.topic))
