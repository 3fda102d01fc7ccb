"""`attribute`: how much of a target's error is the formula's, its constants', its building blocks'."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from .options import SEED
from .program import say, stdout_for_results

if TYPE_CHECKING:
    from ..measure.verification import Selector
    from ..targets import Target


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
@click.option("--kwarg", "kwargs", multiple=True, metavar="K=V", help="Keyword argument for a callable; may repeat.")
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
    from ..report.attribution_text import attribution_lines
    from ..speed.throughput import one_thread_each
    from .children import selector

    one_thread_each()
    with stdout_for_results(), selector() as select:
        one, dtype = _one(target, typed, select)
        found = take_apart(
            one,
            dtype,
            typed["plan"],
            typed["seed"],
            form=typed["form"],
            working=typed["working"],
            constants=_pairs("--constant", typed["constants"]) or None,
            blocks=_pairs("--block", typed["blocks"]),
        )
    found.record["repeat"] += _also(typed)
    if as_json:
        click.echo(json.dumps(found.record, indent=1, allow_nan=False))
    else:
        for line in attribution_lines(found.record):
            say(line)
    if out is not None:
        from ..report.attribution_page import write_attribution

        for path in write_attribution(found, out):
            say(f"written: {path}", err=as_json)


_OPTIONS = ("array", "call", "shape", "compile", "cflags")
DTYPE = "float32"  # of a target that is there in several dtypes


def _one(name: str, typed: dict[str, Any], select: Selector) -> tuple[Target, str]:
    """The target, and the dtype that is asked for, else its own."""
    kwargs = {key: _literal(value) for key, value in _pairs("--kwarg", typed["kwargs"]).items()}
    options = {option: typed[option] for option in _OPTIONS}
    targets, _ = select([name], function=typed["function"], dtype=typed["dtype"], kwargs=kwargs, **options)
    if len(targets) != 1:
        found = ", ".join(each.name for each in targets)
        raise UsageError(f"{name!r} stands for {len(targets)} targets: {found}; name one")
    (target,) = targets
    return target, typed["dtype"] or (DTYPE if DTYPE in target.dtypes else target.dtypes[0])


def _also(typed: dict[str, Any]) -> str:
    """What an attribution does not know of the command that repeats it."""
    words = [word for each in typed["kwargs"] for word in ("--kwarg", each)]
    words += [f"--{option}={typed[option]}" for option in _OPTIONS if typed[option]]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for each in texts:
        name, equals, value = each.rpartition("=")
        if not equals or not name:
            raise UsageError(f"{option} {each!r} cannot be used (accepted: name=value)")
        pairs[name.strip()] = value.strip()
    return pairs


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
