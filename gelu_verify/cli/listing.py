"""`list`: the targets, functions, plans and checks that can be named on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from .program import say, stdout_for_results


@click.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(as_json: bool) -> None:
    """List targets, functions, plans and checks.

    Targets have the versions that are installed here; families that are not used are listed with the reason.
    """
    found = _found()
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        for line in _lines(found):
            say(line)


def _found() -> dict[str, Any]:
    from ..checks import CHECKS
    from ..functions import FUNCTIONS
    from ..inputs.plans import PLANS
    from ..measure.jobs import selecting
    from ..measure.levels import levels_of
    from ..measure.request import Request
    from ..targets.kinds import kinds
    from .progress import OnStderr

    with stdout_for_results(), selecting(Request(), OnStderr()) as select:
        targets, absent = select([])
    return {
        "targets": [
            {
                "target": target.name,
                "family": target.family,
                "function": target.function,
                "dtypes": list(target.dtypes),
                "form": target.form,
                "note": target.note,
                "version": target.version,
                "levels": levels_of(target.family),
            }
            for target in targets
        ],
        "absent": absent,
        "kinds": {syntax: f"{kind.name}: {text}" for kind in kinds().values() for syntax, text in kind.syntax.items()},
        "functions": {function.name: function.formula for function in FUNCTIONS.values()},
        "plans": {name: _first_line(chooser.__doc__) for name, chooser in PLANS.items()},
        "checks": {check.name: check.reason for check in CHECKS.values()},
    }


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _lines(found: dict[str, Any]) -> Iterator[str]:
    family = None
    wide = max((len(target["target"]) for target in found["targets"]), default=0)
    yield "TARGETS"
    for target in found["targets"]:
        if target["family"] != family:
            family = target["family"]
            versions = dict.fromkeys(t["version"] for t in found["targets"] if t["family"] == family and t["version"])
            levels = " ".join(f"@{level}" for level in target["levels"])
            yield f"  {family}  {next(iter(versions)) if len(versions) == 1 else ''}  {levels}".rstrip()
        yield f"    {target['target']:{wide}s}  {target['function']:17s}  {' '.join(target['dtypes'])}"
    for family, reason in found["absent"].items():
        yield f"  {family}  not run: {reason}"
    for title in ("kinds", "functions", "plans", "checks"):
        yield from ("", title.upper())
        wide = max(map(len, found[title]), default=0)
        yield from (f"  {name:{wide}s}  {text}" for name, text in found[title].items())
