"""`stochastic`: a random map verified as a random procedure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .forms import show, takes_form
from .options import check_apart, check_used, naming_options, real_number, takes_target, whole_number
from .program import OVER_BUDGET, say, stdout_for_results

if TYPE_CHECKING:
    from ..stochastic.request import MapRequest

_MAPS = ("gelu", "adaptive_dropout", "dropout", "relu_dropout", "zoneout")


@click.command()
@click.argument("target")
@click.option("--map", "map_", type=click.Choice(_MAPS), metavar="MAP",
              help=f"What it claims to be: {', '.join(_MAPS)}; default: what its name says, else gelu.")  # fmt: skip
@click.option("--dtype", default="float32", show_default=True, metavar="D", help="dtype of the inputs.")
@click.option("--rate", type=real_number(0.0, 1.0), default=0.5, show_default=True, metavar="P",
              help="Probability of being dropped, of all maps but gelu and adaptive_dropout.")  # fmt: skip
@click.option(
    "--scaled/--unscaled", default=None, help="Whether kept values of dropout are x/(1 - P); default: they are."
)
@click.option("--bias", type=real_number(1e-6, 0.1), default=1e-4, show_default=True, metavar="B",
              help="Error of a probability, over a region of x, that decides how many samples are drawn.")  # fmt: skip
@click.option("--quick", is_flag=True, help="The same as --bias 1e-3: a hundredth of the samples.")
@click.option("--power", type=real_number(0.5, 0.999999), default=0.999, show_default=True, metavar="P",
              help="With this probability a formula finds it; what simulated runs find is printed.")  # fmt: skip
@click.option("--false-alarm", type=real_number(1e-12, 0.5), default=1e-6, show_default=True, metavar="P",
              help="Probability, at most, that a correct map fails: of all tests together.")  # fmt: skip
@click.option("--min-bits", type=whole_number(4, 128), default=20, show_default=True, metavar="N",
              help="Bits that the comparison u < p must have: a probability may be off by 2^-N.")  # fmt: skip
@click.option(
    "--seed", type=whole_number(0, (1 << 31) - 1), default=0, show_default=True, metavar="N", help="The first seed."
)
@click.option("--no-seed", is_flag=True, help="It cannot be seeded: do not ask for reproducibility.")
@click.option("--plan", "plan_only", is_flag=True, help="Print how many samples are needed, and draw none.")
@click.option("--keep-going", is_flag=True, help="Make all phases, also after one has failed.")
@takes_target(
    *("kwargs", "array", "call", "time_limit", "memory_limit", "isolate"),
    call="How to call it, in Python, with x, seed, call, rng, generator, key, rate and h (the old state): "
    "'f(x, rate, key=seed)'.",
)
@takes_form(text="Of what was found.")
def stochastic(map_: str | None, quick: bool, plan_only: bool, form: str, **options: Any) -> None:
    """Verify a random 0-1 map: the stochastic GELU m x with m ~ Bernoulli(Phi(x)), dropout, zoneout and the like.

    TARGET is a sampler of ours (gelu, dropout, ...), torch.dropout, torch.gelu, numpy.dropout, numpy.dropout_float32,
    jax.dropout, cuda.gelu, ptx.gelu, or a callable: module:function, path/file.py:function. By the names of its
    parameters it gets a seed (seed, rng, generator, key), the rate (p, rate), the old state (h); docs/stochastic.md.

    Exit codes: 0 it passed, 1 it did not, 2 wrong usage, 3 something that it needs is missing.
    """
    from ..stochastic.text import plan_lines, verdict_document
    from ..stochastic.verify import planned, verify

    check_apart("--quick", "--bias")
    check_apart("--no-seed", "--seed")
    with naming_options():
        request = _request(map_ or "", 1e-3 if quick else options.pop("bias"), options)
    judged_as = request.judged_as()
    other = "" if map_ else " (--map says which map it is)"
    check_used(judged_as.law == "constant", f"{judged_as.name} keeps x by a probability of its own{other}", "--rate")
    check_used(judged_as.can_be_scaled, f"{judged_as.name} scales nothing", "--scaled")
    plan = planned(request)
    for line in plan_lines(request, plan):
        say(line, err=form != "text")
    if plan_only:
        return
    with stdout_for_results(), _progress(plan.samples) as advance:
        verdict = verify(request, advance)
    if form == "text":
        say("")
    show(verdict, form, document=verdict_document)
    if not verdict.passed:
        sys.exit(OVER_BUDGET)


def _request(map_: str, bias: float, options: dict[str, Any]) -> MapRequest:
    from ..stochastic.request import MapRequest

    options.pop("bias", None)
    return MapRequest(map=map_, bias=bias, seeded=not options.pop("no_seed"), **options)


@contextmanager
def _progress(samples: int) -> Iterator[Callable[[str, int], None]]:
    """A bar on stderr where somebody is watching."""
    from .progress import OnStderr

    bar = OnStderr()

    def advance(phase: str, n: int) -> None:
        bar.start(phase)
        bar.advance(n)

    with bar.phase(samples):
        yield advance
