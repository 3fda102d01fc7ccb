"""Facts as text, and as docs/facts.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .base import COMMAND, DIGITS, TOPICS, Fact


def lines(facts: Iterable[Fact]) -> Iterator[str]:
    """For a terminal: under each topic, the statements with their values."""
    topic = None
    for fact in facts:
        if fact.topic != topic:
            yield from ([] if topic is None else [""])
            topic = fact.topic
            yield TOPICS[topic].upper()
        verdict = f" [{fact.verdict}]" if fact.verdict else ""
        yield f"  {fact.name}{verdict}: {fact.statement}"
        wide = max(map(len, fact.values), default=0)
        yield from (f"      {label:{wide}s} = {value}" for label, value in fact.values.items())
        yield f"      {'because' if fact.verdict else 'proof'}: {fact.proof}"


def page(facts: Iterable[Fact]) -> str:
    """docs/facts.md."""
    facts = list(facts)
    parts = [
        f"<!-- Written by `{COMMAND}`: do not edit. -->\n# What is proved of the functions\n",
        f"Each value is correctly rounded to {DIGITS} significant digits, from an enclosure by Arb; one with "
        f"fewer digits is exact. "
        "`gelu-verify facts` prints them, `gelu-verify facts --json` as JSON, and `gelu-verify facts --prove` "
        "proves them anew on "
        "your machine (`pip install 'gelu-verify[prove]'`). phi and Phi are density and distribution function of "
        "the normal law, "
        "Q = 1 - Phi; s is the argument of the sigmoid of a function x sigmoid(s(x)), and w = sigmoid(s).\n",
    ]
    for topic, title in TOPICS.items():
        parts.append(f"## {title}\n")
        parts += [_item(fact) for fact in facts if fact.topic == topic]
    return "\n".join(parts)


def _item(fact: Fact) -> str:
    verdict = f", {fact.verdict}" if fact.verdict else ""
    rows = [f"**`{fact.name}`**{verdict}. {_escaped(fact.statement)}\n", f"*{_escaped(fact.proof)}*\n"]
    if fact.values:
        rows += ["| value | |", "|---|---|"]
        rows += [f"| {_escaped(label)} | {value} |" for label, value in fact.values.items()]
        rows.append("")
    return "\n".join(rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
