"""`bench`: the throughput of our correctly rounded kernels and of other libraries, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import click

from ..errors import MissingMeasurement
from ..parsing import parse_whole
from .options import Several
from .program import stdout_for_results, warn


@click.command()
@click.argument("functions", nargs=-1, metavar="[FUNCTION]...")
@click.option("--against", cls=Several, metavar="R,R",
              help="Compared with torch, copy (a memory copy), onnxruntime, jax, ...; default: torch,copy where "
              "torch is installed, else copy.")  # fmt: skip
@click.option("--dtype", "dtypes", cls=Several, default=("float32",), show_default=True, metavar="D,D", help="Dtypes.")
@click.option("--sizes", cls=Several, default=("2^14,2^18,2^24",), show_default=True, metavar="N,N",
              help="Array sizes in elements; 2^14..2^24 grows by factors of 4.")  # fmt: skip
@click.option("--threads", cls=Several, default=("1",), show_default=True, metavar="T,T",
              help="Numbers of threads that each side runs on.")  # fmt: skip
@click.option("--scale", "scales", cls=Several, default=("2",), show_default=True, metavar="S,S",
              help="Inputs are S*randn, S from 1 to 1000.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print only JSON on stdout.")
def bench(
    functions: tuple[str, ...],
    against: tuple[str, ...],
    dtypes: tuple[str, ...],
    sizes: tuple[str, ...],
    threads: tuple[str, ...],
    scales: tuple[str, ...],
    as_json: bool,
) -> None:
    """Time our correctly rounded kernels beside other libraries.

    FUNCTION defaults to all eight correctly rounded functions. Outputs are preallocated on both
    sides; calls are interleaved, in this process; the numbers are medians of at least 9 rounds. The exit code does not
    depend on the timings; it is 3 when a library given by --against is not installed, or when nothing was timed.
    """
    from ..machine import machine, versions
    from ..speed import bench as timing
    from ..truth.correctly_rounded import FUNCTIONS

    with stdout_for_results():
        rivals = list(against) or timing.default_rivals()
        cases = [
            timing.TimedCase(*case)
            for case in product(
                functions or FUNCTIONS,
                dtypes,
                timing.sizes(sizes),
                [parse_whole("--threads", each, 1, 64) for each in threads],
                [parse_whole("--scale", each, 1, 1000) for each in scales],
            )
        ]
        for case in cases:
            timing.check_case(case)
        timing.check_rivals(rivals)
    if not as_json:
        click.echo(_HEAD)
    rows: list[dict[str, Any]] = []
    missing: dict[str, None] = {}
    for case in cases:
        with stdout_for_results():
            found, reasons = timing.compare(case, rivals)
        rows += found
        if not as_json:
            for line in _lines(found):
                click.echo(line)
        missing |= dict.fromkeys(reasons.values())
    if as_json:
        origin = {"machine": machine(), "versions": versions(["gelu-verify", "numpy", *rivals])}
        click.echo(json.dumps({**origin, "results": rows, "missing": list(missing)}, indent=1, allow_nan=False))
    if not rows:
        raise MissingMeasurement(f"nothing was timed: {'; '.join(missing) or 'there is no other library'}")
    for reason in missing:
        warn(f"not compared: {reason}")


_HEAD = (
    f"{'':46s} {'ours':>18s}  {'':11s} {'theirs':>14s}\n"
    f"{'function':17s} {'dtype':8s} {'size':>5s} scale threads {'Melem/s':>7s} {'GB/s':>4s} IQR %  {'rival':11s} "
    f"{'Melem/s':>7s}  IQR % ratio"
)


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield (
            f"{row['function']:17s} {row['dtype']:8s} {_size(row['n']):>5s} {row['scale']:5d} {row['threads']:7d} "
            f"{_millions(row['ours'])} {row['ours']['bytes_per_s'] / 1e9:4.1f} {_spread(row['ours'])}  "
            f"{row['rival']:11s} {_millions(row['theirs'])}  {_spread(row['theirs'])} {row['ratio']:5.2f}"
        )


def _millions(side: dict[str, float]) -> str:
    return f"{side['elements_per_s'] / 1e6:7.0f}"


def _spread(side: dict[str, float]) -> str:
    return f"{100 * side['spread']:5.0f}"


def _size(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)
