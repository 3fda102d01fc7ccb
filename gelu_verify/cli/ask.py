"""`ask`: what implementations return for an input, beside what is right."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ..errors import printable
from .lines import aligned
from .options import (
    PARAMETERS,
    check_given,
    check_order,
    naming_options,
    parsed_inputs,
    takes_target,
    whole_number,
    with_parameters,
)
from .program import OVER_BUDGET, stdout_for_results

DIGITS = 17  # those of a float64


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]})
@click.argument("target")
@click.argument("dtype")
@click.argument("x", nargs=-1)
@click.option("--function", metavar="F", help="Function that TARGET computes; default: the one that it names.")
@PARAMETERS
@takes_target()
@click.option(
    "--digits",
    type=whole_number(1, 5000),
    default=DIGITS,
    show_default=True,
    help="Significant digits of decimal values.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list with an object for each X.")
def ask(
    target: str, dtype: str, x: tuple[str, ...], function: str | None,
    parameters: tuple[tuple[str, str], ...], digits: int, as_json: bool, **typed: Any,
) -> None:  # fmt: skip
    """Print what TARGET returns for X, and what is right.

    TARGET is named as in run; a library, such as torch, stands for all its implementations (of --function). X is
    written as in lookup. Each X is given to TARGET alone and in a call of 1,000 (or in calls of --length); where the
    results differ, all are printed. One TARGET is asked for the neighbours of X in DTYPE, too. The exit code is 1 when
    TARGET failed.
    """
    from ..formats import get_format
    from ..functions import get_function
    from ..measure.jobs import find_jobs, selecting
    from ..measure.one_input import outputs_at
    from ..measure.request import Request
    from ..speed.throughput import one_thread_each
    from ..truth.lookup import answer
    from .progress import OnStderr

    check_order("ask", target, dtype)
    check_given(x)
    fmt, inputs = get_format(dtype), parsed_inputs(dtype, x)
    with naming_options():
        functions = with_parameters((function,) if function else (), parameters)
        request = Request(targets=(target,), functions=functions, dtypes=(fmt.name,), **typed)
    one_thread_each()
    entries: list[dict[str, Any]] = []
    with stdout_for_results(), selecting(request, OnStderr()) as select:
        jobs = find_jobs(request, select).jobs
        for bits in inputs:
            for name in dict.fromkeys(job.plan.function for job in jobs):
                found = [
                    outputs_at(job.target, name, fmt.name, bits, request.length, digits)
                    for job in jobs
                    if job.plan.function == name
                ]
                entries.append({**answer(get_function(name).name, fmt.name, bits, digits), "targets": found})
    if as_json:
        click.echo(json.dumps(entries, indent=1, allow_nan=False))
    else:
        click.echo("\n\n".join("\n".join(_lines(entry)) for entry in entries))
    if any(each["failure"] for entry in entries for each in entry["targets"]):
        sys.exit(OVER_BUDGET)


def _lines(entry: dict[str, Any]) -> Iterator[str]:
    """The input and its right result, then what each target returned; of one target, the same of the neighbours."""
    yield f"{entry['function']} in {entry['dtype']}"
    around = entry["neighbours"] if len(entry["targets"]) == 1 else {}
    sides = {"": entry, **{f"{side}: ": pair for side, pair in around.items() if pair}}
    rows: list[Sequence[str]] = []
    for side, pair in sides.items():
        for label, name in ((f"{side}x", "x"), ("right", "y")):
            rows.append((label, *(pair[f"{name}{part}"] for part in ("_bits", "_hex", ""))))
        rows += _of_targets(entry["targets"], pair["x_bits"])
    yield from aligned(rows)
    for each in entry["targets"]:
        if each["failure"]:
            yield f"  {each['target']} failed {printable(each['failure'])}"
    if len(entry["targets"]) == 1 and (program := entry["targets"][0]["program"]):
        yield f"\nThe same by {entry['targets'][0]['target'].partition('.')[0]} alone:\n"
        yield textwrap.indent(program.rstrip(), "    ")


def _of_targets(targets: list[dict[str, Any]], x_bits: str) -> Iterator[Sequence[str]]:
    for each in targets:
        got = [one for one in each["got"] if one["x_bits"] == x_bits]
        for one in got:
            where = f" in a call of {one['length']:,}" if len(got) > 1 else ""
            yield f"{each['target']}{where}", one["bits"], one["hex"], one["decimal"], _verdict(one)


def _verdict(one: dict[str, Any]) -> str:
    if one["is_correctly_rounded"]:
        return "correctly rounded"
    error = one["error_ulp"]
    text = "wrong" if error is None else f"{error:+.3g} ULP" if error else "the other zero"
    return f"{text}, faithful" if one["is_faithful"] else text
