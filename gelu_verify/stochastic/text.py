"""A verification: in lines what is asked, and as a document what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..show.document import Block, Document, Heading, Inline, Items, Marked, Section, Text, TextTable
from .named import NAMED
from .planted import lower_end
from .report import MapVerdict, Phase, Planted
from .request import MapRequest
from .verify import Planned, planned

BIASES = (1e-2, 1e-3, 1e-4)
_MOMENTS = ("samples", "mean", "exact", "variance", "exact", "p-value")
_COUNTS = ("probability", "samples", "count", "99.9 %: from", "to")
_PASSED = {True: Marked("pass", "good"), False: Marked("FAIL", "bad")}


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


def verdict_document(verdict: MapVerdict) -> Document:
    """What was found: the phases first."""
    regions = [
        (e.region, f"{e.samples:,}", f"{e.mean:.7g}", f"{e.mean_expected:.7g}", f"{e.variance:.7g}",
         f"{e.variance_expected:.7g}", f"{e.p_value:.2g}") for e in verdict.regions
    ]  # fmt: skip
    tails = [
        (e.outcome, f"{e.probability:.4g}", f"{e.samples:,}", f"{e.count}", f"{e.low:.3g}", f"{e.high:.3g}")
        for e in verdict.tails
    ]
    blocks: list[Block] = [
        TextTable(("phase", "", *_numbers("samples", "tests", "smallest p")), [*map(_phase, verdict.phases)], "phases"),
        Items([f"{phase.name}: {finding}" for phase in verdict.phases for finding in phase.findings]),
        Section("By region", [TextTable(("region", *_numbers(*_MOMENTS)), regions)]),
        Section("Rare outcomes", [TextTable(("outcome", *_numbers(*_COUNTS)), tails)]),
        Items(list(_facts(verdict))),
        Text(f"failed: {verdict.failure}" if verdict.failure is not None else "", "bad"),
    ]
    headline = f"{verdict.target}: {_PASSED[verdict.passed].text}"
    return Document(title=f"the random map {verdict.target}", headline=headline, blocks=blocks)


def _numbers(*titles: str) -> list[Heading]:
    return [Heading(title, is_number=True) for title in titles]


def _phase(phase: Phase) -> tuple[Inline, ...]:
    tests = (str(phase.tests), f"{phase.smallest_p:.2g}") if phase.smallest_p is not None else ("", "")
    return phase.name, _PASSED[phase.passed], f"{phase.samples:,}", *tests


def _facts(verdict: MapVerdict) -> Iterator[str]:
    if verdict.bits_found is not None:
        yield f"the comparison u < p has about {verdict.bits_found} bits"
    elif verdict.bits_excluded is not None:
        yield f"the uniforms u of the comparison u < p are no multiples of 2^-{verdict.bits_excluded}"
    if verdict.zero_sign is not None:
        yield "dropped x < 0 is " + ("-0, as 0 x is" if verdict.zero_sign == "of x" else "+0")
    yield from verdict.notes
