"""What a verification found: a record whose JSON is documented in docs/stochastic.md."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..records.fields import Count, Line, Name, Positive, Share, Size, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase: all of its checks and tests."""

    name: Name = field(
        metadata=about(
            '`"values"`, `"reproducibility"`, `"independence"`, `"repeats"`, `"first frequencies"`, `"tails"`, '
            '`"frequencies"`'
        )
    )
    passed: bool = field(metadata=about("whether nothing was found"))
    samples: Count = field(metadata=about("elements that were drawn"))
    tests: Count = field(metadata=about("exact binomial tests; 0 where nothing is random about what was asked"))
    false_alarm: Share = field(metadata=about("probability, at most, that these tests accuse a correct map"))
    smallest_p: Share | None = field(metadata=about("smallest p-value", null="without tests"))
    findings: tuple[Line, ...] = field(metadata=about("what is wrong, the clearest first, at most ten"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRegion:
    """The outputs of one region of x, over all of its x; of the outputs the mean and the variance."""

    region: Name = field(metadata=about("which x"))
    samples: Positive = field(metadata=about("elements that were drawn"))
    kept: Count = field(metadata=about("how many were kept"))
    kept_expected: Size = field(metadata=about("how many are kept in the mean"))
    mean: float = field(metadata=about("mean of the outputs, as the samples have it"))
    mean_expected: float = field(metadata=about("its exact value"))
    variance: Size = field(metadata=about("variance of the outputs, as the samples have it"))
    variance_expected: Size = field(metadata=about("its exact value"))
    p_value: Share = field(metadata=about("of the number that was kept; two-sided"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """A rare outcome: its probability, beside that of the map."""

    outcome: Name = field(metadata=about('`"kept"` or `"dropped"`'))
    probability: Share = field(metadata=about("its exact probability"))
    samples: Positive = field(metadata=about("elements that were drawn"))
    count: Count = field(metadata=about("how often it happened"))
    low: Share = field(metadata=about("lower end of the 99.9 % interval of Clopper and Pearson for its probability"))
    high: Share = field(metadata=about("upper end"))
    p_value: Share = field(metadata=about("two-sided, of exactly that probability"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """An error of the probability that was planted in simulated runs of a correct map, at the sizes of this run."""

    where: Line = field(metadata=about("in which x; of several such places the one where it was found least often"))
    bias: Share = field(metadata=about("how much it was, up or down"))
    runs: Positive = field(metadata=about("how many runs were simulated"))
    found: Count = field(metadata=about("in how many of them a test of frequencies rejected"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MapVerdict:
    """A map, verified."""

    target: Name = field(metadata=about("what was typed"))
    version: str = field(metadata=about("version of the library that it is called with, or hash of the source"))
    map: Name = field(metadata=about("as which map it was judged"))
    described: Line = field(metadata=about("that map in words"))
    dtype: Name = field(metadata=about("dtype of the inputs"))
    rate: Share | None = field(metadata=about("probability of being dropped", null="where it depends on x"))
    seeded_by: Name | None = field(metadata=about("how it was seeded", null="where it could not be called"))
    seed: Count = field(metadata=about("the first seed"))
    passed: bool = field(metadata=about("whether nothing was found"))
    failure: Line | None = field(metadata=about("why the target could not be verified", null="where it was"))
    failure_kind: Name | None = field(metadata=about("as of a result of `run`", null="without a failure"))
    false_alarm: Share = field(metadata=about("probability, at most, that a correct map does not pass"))
    bias: Share = field(
        metadata=about("error of a probability, the same over a whole region of x, that decided the sizes")
    )
    power: Share = field(
        metadata=about("with this probability a formula finds it; `planted` has how often simulated runs did")
    )
    min_bits: Positive = field(metadata=about("probabilities within 2 to minus this of the exact ones count as right"))
    samples: Count = field(metadata=about("elements that were drawn"))
    samples_planned: Count = field(metadata=about("elements of all phases"))
    zero_sign: Name | None = field(
        metadata=about('of dropped x < 0: `"of x"` or `"+"`', null="without dropped x < 0, and in zoneout")
    )
    bits_excluded: Count | None = field(
        metadata=about(
            "uniforms of so many bits or fewer would have been found in the tails, with probability `power`",
            null="where no tail was tested",
        )
    )
    bits_found: Count | None = field(
        metadata=about(
            "the comparison u < p has about so many bits", null="where all tails are right, or none was tested"
        )
    )
    planted: tuple[Planted, ...] = field(
        default=(), metadata=about("what simulated runs of this size find; empty in documents of earlier versions")
    )
    phases: tuple[Phase, ...] = field(
        metadata=about("in the order in which they were made; the first failed one is the last")
    )
    regions: tuple[MapRegion, ...] = field(metadata=about("regions of x, of the last phase of frequencies"))
    tails: tuple[Tail, ...] = field(metadata=about("rare outcomes"))
    notes: tuple[Line, ...] = field(
        metadata=about("what is no fault: outputs at NaN and infinities, what it left behind")
    )
