"""`attribute`: how much of a target's error comes from its formula, its constants and its building blocks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from .options import SEED, naming_options, takes_target
from .program import say, stdout_for_results


@click.command()
@click.argument("target")
@click.option("--function", metavar="F", help="Function that TARGET computes.")
@click.option("--dtype", metavar="D", help="Dtype to test; default: the one that TARGET names, else float32.")
@click.option("--form", metavar="NAME", help="Formula to compare with (erf, erfc, tanh, ...); default: the best fit.")
@click.option("--working", metavar="D", help="Dtype that each operation is rounded to; default: the best fit.")
@click.option("--constant", "constants", multiple=True, metavar="NAME=V",
              help="Value of a constant in TARGET, such as 'sqrt(2/pi)=0.797885'; may be repeated.")  # fmt: skip
@click.option("--block", "blocks", multiple=True, metavar="NAME=BY",
              help="Library whose erf, tanh, ... TARGET calls: libm, exact, torch.erf; may be repeated.")  # fmt: skip
@click.option(
    "--plan", default="default", show_default=True, metavar="P", help="Which inputs (see `list`), at most a million."
)
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Seed of the sampled inputs.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write an HTML page with the plot, and CSV files."
)
@takes_target()
@click.option("--json", "as_json", is_flag=True, help="Print only JSON on stdout.")
def attribute(
    target: str, function: str | None, dtype: str | None, form: str | None, working: str | None,
    constants: tuple[str, ...], blocks: tuple[str, ...], out: Path | None, as_json: bool, **typed: Any,
) -> None:  # fmt: skip
    """Explain where the error of a target comes from.

    TARGET is named as in run. The formula of an installed library is known. Your own code is compared with all known
    formulas, constants and building blocks; the report says which of them explain its results and how well, or that
    none does.

    The formula is evaluated in steps: exactly, with rounded constants, with every operation and building block
    correctly rounded, and with the building blocks of TARGET. Each step adds one source of error. What is left after
    the last step is unexplained.
    """
    from ..attribution import attribute as take_apart
    from ..measure.jobs import one_target, selecting
    from ..measure.request import Request
    from ..report.attribution_text import attribution_lines
    from ..speed.throughput import one_thread_each
    from .progress import OnStderr

    with naming_options():
        request = Request(
            targets=(target,),
            functions=(function,) if function else (),
            dtypes=(dtype,) if dtype else (),
            **typed,
        )
    one_thread_each()
    observer = OnStderr()
    with stdout_for_results(), selecting(request, observer) as select:
        one = one_target(request, select)
        if one.executions:  # no formula has the worst outputs of several
            request = replace(request, approximations="nearest")
            one = one_target(request, select)
            observer.warn("PTX leaves results open: this is the execution that --approximations nearest has")
        found = take_apart(
            one,
            dtype or (DTYPE if DTYPE in one.dtypes else one.dtypes[0]),
            request.plan,
            request.seed,
            length=request.length,
            form=form,
            working=working,
            constants=_pairs("--constant", constants) or None,
            blocks=_pairs("--block", blocks),
        )
    found.record["repeat"] += request.further_options
    if as_json:
        click.echo(json.dumps(found.record, indent=1, allow_nan=False))
    else:
        for line in attribution_lines(found.record):
            say(line)
    if out is not None:
        from ..report.attribution_page import write_attribution

        for path in write_attribution(found, out):
            say(f"written: {path}", err=as_json)


DTYPE = "float32"  # of a target that is there in several dtypes


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for each in texts:
        name, equals, value = each.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{option} {each!r} cannot be used (accepted: name=value)")
        pairs[name.strip()] = value.strip()
    return pairs
