"""`attribute`: how much of a target's error comes from its formula, its constants and its building blocks."""

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
@click.option("--array", metavar="KIND", help="Type that a callable is called with, as in run.")
@click.option(
    "--kwarg", "kwargs", multiple=True, metavar="K=V", help="Keyword argument for a callable; may be repeated."
)
@click.option("--call", metavar="LINE", help="How to call it, as in run: 'f(x, out=y)'.")
@click.option("--shape", metavar="S", help="Shape of the arrays that a callable is called with, as in run.")
@click.option("--compile", metavar="KIND", help="Compile a callable, as in run.")
@click.option("--cflags", metavar="FLAGS", help="Compiler flags for a source file; default -O2.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write an HTML page with the plot, and CSV files."
)
@click.option("--json", "as_json", is_flag=True, help="Print only JSON on stdout.")
def attribute(target: str, out: Path | None, as_json: bool, **typed: Any) -> None:
    """Explain where the error of a target comes from.

    TARGET is named as in run. The formula of an installed library is known. Your own code is compared with all known
    formulas, constants and building blocks; the report says which of them explain its results and how well, or that
    none does.

    The formula is evaluated in steps: exactly, with rounded constants, with every operation and building block
    correctly rounded, and with the building blocks of TARGET. Each step adds one source of error. What is left after
    the last step is unexplained.
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
        raise UsageError(f"{name!r} matches {len(targets)} targets: {found} (accepted: one of them)")
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
