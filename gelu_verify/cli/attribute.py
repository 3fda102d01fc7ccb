"""`attribute`: how much of a target's error is the formula's, its constants', its building blocks'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from .options import SEED, Keyword, naming_options
from .program import say, stdout_for_results


@click.command()
@click.argument("target")
@click.option("--function", metavar="F", help="The path of TARGET that computes F; what a callable claims to compute.")
@click.option("--dtype", metavar="D", help="In which dtype; default the one that TARGET says, else float32.")
@click.option("--form", metavar="NAME", help="Compare with this formula (erf, erfc, tanh, ...), not with the best one.")
@click.option(
    "--working", metavar="D", help="Dtype that operations are rounded to; default: what explains TARGET best."
)
@click.option("--constant", "constants", multiple=True, metavar="NAME=V",
              help="A constant as TARGET has it, such as 'sqrt(2/pi)=0.797885'; may repeat.")  # fmt: skip
@click.option("--block", "blocks", multiple=True, metavar="NAME=BY",
              help="Whose erf, tanh, ... TARGET calls: libm, exact, or torch.erf, ...; may repeat.")  # fmt: skip
@click.option("--plan", default="default", show_default=True, metavar="P", help="Which inputs, up to a million.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of sampled inputs.")
@click.option("--array", metavar="KIND", help="What a callable is given, as in run.")
@click.option(
    "--kwarg",
    "kwargs",
    type=Keyword(),
    multiple=True,
    metavar="K=V",
    help="Keyword argument for a callable; may repeat.",
)
@click.option("--call", metavar="LINE", help="How it is called, as in run: 'f(x, out=y)'.")
@click.option("--shape", metavar="S", help="Shape of the arrays that a callable is given, as in run.")
@click.option("--compile", metavar="KIND", help="Compile a callable, as in run.")
@click.option("--cflags", metavar="FLAGS", help="Flags that a source file is compiled with; default -O2.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a page with the plot, and CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
def attribute(target: str, out: Path | None, as_json: bool, **typed: Any) -> None:
    """Take the error of TARGET apart: constants, formula, building blocks, and the rest.

    TARGET is named as in run. Of a library's path the formula is known; of your own code all known formulas, constants
    and building blocks are compared with its results, and the report says which explains them, how well, or that none
    does.
    The formula is evaluated exactly, then with rounded constants, then with every operation and building block
    rounded correctly, then with TARGET's own building blocks; what is still missing is the rest.
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
            functions=(typed["function"],) if typed["function"] else (),
            dtypes=(typed["dtype"],) if typed["dtype"] else (),
            kwargs=dict(typed["kwargs"]),
            **{name: typed[name] for name in ("plan", "seed", "array", "call", "shape", "compile", "cflags")},
        )
    one_thread_each()
    with stdout_for_results(), selecting(request, OnStderr()) as select:
        one = one_target(request, select)
        found = take_apart(
            one,
            typed["dtype"] or (DTYPE if DTYPE in one.dtypes else one.dtypes[0]),
            request.plan,
            request.seed,
            form=typed["form"],
            working=typed["working"],
            constants=_pairs("--constant", typed["constants"]) or None,
            blocks=_pairs("--block", typed["blocks"]),
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
