"""`bench`: our correctly rounded kernels beside what others are as fast as."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import click

from ..errors import UsageError
from ..parsing import parse_whole
from .program import stdout_for_results, warn


@click.command()
@click.argument("functions", nargs=-1, metavar="[FUNCTION]...")
@click.option("--against", metavar="R,R", help="Rivals: torch, copy (of memory), onnxruntime, jax, ... Default "
              "torch,copy where torch is installed.")  # fmt: skip
@click.option("--dtype", "dtypes", default="float32", show_default=True, metavar="D,D", help="In which dtypes.")
@click.option("--sizes", default="2^14,2^18,2^24", show_default=True, metavar="N,N",
              help="Elements; 2^14..2^24 goes up by factors of 4.")  # fmt: skip
@click.option("--threads", default="1", show_default=True, metavar="T,T", help="On how many threads each side runs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
def bench(
    functions: tuple[str, ...], against: str | None, dtypes: str, sizes: str, threads: str, as_json: bool
) -> None:
    """Time our correctly rounded FUNCTIONs (default: all eight) and their rivals side by side in this process.

    Inputs are 2*randn; outputs are placed before, on both sides; calls take turns; medians of at least 9 rounds.
    Time decides nothing: the exit code is 0 whoever is faster, 3 when a rival that was named is not installed.
    """
    from ..machine import machine, versions
    from ..speed import bench as timing
    from ..truth.correctly_rounded import FUNCTIONS

    with stdout_for_results():
        rivals = _names(against) if against is not None else timing.default_rivals()
        cases = [
            timing.Case(*case)
            for case in product(
                functions or FUNCTIONS,
                _some("--dtype", dtypes),
                timing.sizes(sizes),
                map(_threads, _some("--threads", threads)),
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
    for reason in missing:
        warn(f"not compared: {reason}")


_HEAD = (
    f"{'':34s}{'ours':>15s}  {'':11s}{'theirs':>11s}\n"
    f"{'function':17s} {'dtype':8s} {'n':>4s} {'T':>2s} {'M/s':>5s} {'GB/s':>4s}  +-%  {'rival':11s} "
    f"{'M/s':>5s}  +-% ratio"
)


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield (
            f"{row['function']:17s} {row['dtype']:8s} {_size(row['n']):>4s} {row['threads']:2d} "
            f"{_millions(row['ours'])} {row['ours']['bytes_per_s'] / 1e9:4.1f} {_spread(row['ours'])}  "
            f"{row['rival']:11s} {_millions(row['theirs'])} {_spread(row['theirs'])} {row['ratio']:5.2f}"
        )


def _millions(side: dict[str, float]) -> str:
    return f"{side['elements_per_s'] / 1e6:5.0f}"


def _spread(side: dict[str, float]) -> str:
    return f"{100 * side['spread']:4.0f}"


def _size(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name for name in (part.strip() for part in text.split(",")) if name))


def _some(option: str, text: str) -> list[str]:
    if not (names := _names(text)):
        raise UsageError(f"{option} {text!r} is empty (accepted: one or more, separated by commas)")
    return names


def _threads(text: str) -> int:
    return parse_whole("--threads", text, 1, 64)
