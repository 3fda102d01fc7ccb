"""What is proved of the functions: minima, inflections, bounds, distances, tails and limits, with 36 digits each.

The facts are stored in data/facts.json, which `python tools/make_facts.py` writes: reading them needs nothing else. The
modules here that prove them compute with Arb (python-flint, extra `prove`).
"""

from __future__ import annotations

from .base import Fact, stored_facts

__all__ = ["Fact", "stored_facts"]
