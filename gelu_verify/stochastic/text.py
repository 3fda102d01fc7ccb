"""A verification in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .named import NAMED
from .planted import lower_end
from .report import MapVerdict, Phase, Planted
from .request import MapRequest
from .verify import Planned, planned

BIASES = (1e-2, 1e-3, 1e-4)


def plan_lines(request: MapRequest, plan: Planned) -> Iterator[str]:
    """What is asked, and how many samples a bias needs, before anything is drawn."""
    named = f" ({NAMED[request.target].text})" if request.target in NAMED else ""
    yield f"{request.target}{named}, {request.dtype}: {request.judged_as().described()}"
    yield f"A correct map fails with a probability of at most {request.false_alarm:g}."
    yield from planted_lines(plan.planted)
    yield "samples by bias:    " + ", ".join(
        f"{bias:g} {planned(replace(request, bias=bias), simulating=False).samples:.2g}"
        for bias in sorted({*BIASES, request.bias}, reverse=True)
    )
    wanted = {
        region: plan.frequencies.wanted(region)
        for region in plan.frequencies.regions
        if not region.startswith(("tiny", "large"))
    }
    fewest, most = min(wanted, key=wanted.__getitem__), max(wanted, key=wanted.__getitem__)
    yield f"samples by region:  {wanted[fewest]:.2g} ({fewest}) to {wanted[most]:.2g} ({most})"


def planted_lines(planted: tuple[Planted, ...]) -> Iterator[str]:
    """What simulated runs found."""
    yield "Simulated runs of this size, with an error of P(kept) planted in a correct map, found it in the frequencies:"
    for each in planted:
        least = f", {lower_end(each):.1%} or more with 99 % confidence" if each.found else ""
        yield f"  {each.bias:g} in {each.where}: in {each.found:,} of {each.runs:,}{least}"


def phase_line(phase: Phase) -> str:
    """One phase."""
    tests = f"{phase.tests} tests, smallest p {phase.smallest_p:.2g}" if phase.smallest_p is not None else ""
    return f"{phase.name:<18} {'pass' if phase.passed else 'FAIL'}  {phase.samples:>14,} samples  {tests}".rstrip()


def verdict_lines(verdict: MapVerdict) -> Iterator[str]:
    """What was found."""
    for phase in verdict.phases:
        yield phase_line(phase)
        yield from (f"    {finding}" for finding in phase.findings)
    if verdict.regions:
        yield ""
        yield f"{'region':<14} {'samples':>14} {'mean':>13} {'exact':>13} {'variance':>13} {'exact':>13} {'p-value':>8}"
    for each in verdict.regions:
        yield (
            f"{each.region:<14} {each.samples:>14,} {each.mean:>13.7g} {each.mean_expected:>13.7g} "
            f"{each.variance:>13.7g} {each.variance_expected:>13.7g} {each.p_value:>8.2g}"
        )
    if verdict.tails:
        yield ""
        yield f"{'rare outcome':<12} {'probability':>12} {'samples':>14} {'count':>7}  99.9 % interval"
    for tail in verdict.tails:
        yield (
            f"{tail.outcome:<12} {tail.probability:>12.4g} {tail.samples:>14,} {tail.count:>7}  "
            f"{tail.low:.3g} to {tail.high:.3g}"
        )
    yield ""
    yield from _facts(verdict)
    if verdict.failure is not None:
        yield f"failed: {verdict.failure}"
    yield f"{verdict.target}: {'pass' if verdict.passed else 'FAIL'}"


def _facts(verdict: MapVerdict) -> Iterator[str]:
    if verdict.bits_found is not None:
        yield f"the comparison u < p has about {verdict.bits_found} bits"
    elif verdict.bits_excluded is not None:
        yield f"the comparison u < p has more than {verdict.bits_excluded} bits"
    if verdict.zero_sign is not None:
        yield "dropped x < 0 is " + ("-0, as 0 x is" if verdict.zero_sign == "of x" else "+0")
    yield from verdict.notes
