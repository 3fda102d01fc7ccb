"""`facts`: what is proved of the functions, with its digits."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ..errors import MissingMeasurement, ResultsError
from .program import say


@click.command()
@click.argument("about", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of facts.")
@click.option("--prove", is_flag=True, help="Prove all facts anew with Arb, and compare them with what is stored.")
def facts(about: tuple[str, ...], as_json: bool, prove: bool) -> None:
    """Print what is proved of the functions: minima, inflections, bounds, distances, tails and limits.

    ABOUT is a function (gelu_tanh), a topic (shape, distance, tail, limit, claim), or the name of a fact
    (gelu.minimum); without it all are printed.
    """
    from ..facts import stored_facts
    from ..facts.base import selected
    from ..facts.text import lines

    chosen = selected(stored_facts(), about)
    if prove:
        _prove()
    if as_json:
        click.echo(json.dumps([asdict(fact) for fact in chosen], indent=2))
    else:
        for line in lines(chosen):
            say(line)


def _prove() -> None:
    from ..facts import stored_facts

    try:
        from ..facts.proofs import proved_facts
    except ImportError:
        raise MissingMeasurement("--prove needs python-flint (accepted: pip install 'gelu-verify[prove]')") from None
    proved = proved_facts()
    different = [fact.name for fact, stored in zip(proved, stored_facts(), strict=False) if fact != stored]
    if different or len(proved) != len(stored_facts()):
        raise ResultsError(f"what is proved differs from data/facts.json: {', '.join(different) or 'other facts'}")
    say(f"gelu-verify: {len(proved)} facts proved anew", err=True)
