"""What we know: a target's results, bit for bit against every kernel that we ship.

A candidate is a re-implementation (`published.*`) or one of our kernels, in the target's dtype; or in another one: with
x rounded to 16 bits first, as a table has it, or computed in a wider dtype and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import distinct
from ..formats import DTYPES, converted, differ, from_ordinals, get_format, numpy_dtype, to_float64
from ..functions import get_function
from ..inputs.plans import core
from ..kernels import KERNELS
from ..kernels.published import PUBLISHED
from ..targets import Target, find
from .evaluation import FLUSHING, flushed
from .models import forms_for
from .search import EXPLAINS, Sample, best_by_region, siblings

SCREENED = 2048  # informative inputs on which all candidates are compared
KEPT = 12  # candidates that are compared on all inputs
RUNS, LONG = 16, 4096  # of consecutive floats, for who reproduces all others
LIKELY = {  # whose code a library calls, by family: named first among equal ones
    "torch": ("published.onednn", "published.pytorch"),
    "onnxruntime": ("published.mlas",),
    "openvino": ("published.onednn",),
    "tensorflow": ("published.eigen",),
}
# Published as x/sqrt(2), computed as x*sqrt(1/2), which rounds otherwise.
MULTIPLY = ("onednn-gelu_erf_avx2", "onednn-gelu_erf_grad_avx2", "ttnn-gelu_erf")


@dataclass(frozen=True)
class Candidate:
    """A kernel, the dtype that it computes in, and what is rounded or flushed around it."""

    kernel: Target
    inner: str
    rounds_x: str = ""  # dtype that x is rounded to first
    flush: str = ""  # of FLUSHING: of x and of the result

    def bits(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        """What it returns in `dtype`."""
        x = _flushed(dtype, x_bits) if "inputs" in self.flush else x_bits
        if self.rounds_x:
            x = _in(self.rounds_x, _in(dtype, x, self.rounds_x), dtype)
        y = _in(self.inner, self.kernel.evaluate(self.inner, _in(dtype, x, self.inner)), dtype)
        return _flushed(dtype, y) if "results" in self.flush else y

    def how(self, dtype: str) -> str:
        """What is done around the kernel, for people; empty: nothing."""
        wider = get_format(self.inner).width > get_format(dtype).width
        words = [f"in {self.inner}{', rounded once' if wider else ''}"] if self.inner != dtype else []
        words += [f"of x rounded to {self.rounds_x}"] if self.rounds_x else []
        words += [f"with subnormal {self.flush} flushed to zero"] if self.flush else []
        return ", ".join(words)

    def text(self, dtype: str) -> str:
        """The kernel and what is done around it."""
        return " ".join(filter(None, (self.kernel.name, self.how(dtype))))


@dataclass(frozen=True)
class Known:
    """The candidate that reproduces most of a target's results.

    It was compared at `x_bits`, where the target returned `got` and the candidate `bits`, and at `beyond` more inputs
    in runs of consecutive floats. `agreement`: share of the results that distinguish formulas which it reproduces;
    `alike`: other candidates with the same bits at all of `x_bits`; `others`: those that were compared there as well.
    """

    dtype: str
    candidate: Candidate
    x_bits: np.ndarray
    got: np.ndarray
    bits: np.ndarray
    agreement: float
    beyond: int = 0
    alike: tuple[str, ...] = ()
    others: tuple[Candidate, ...] = ()

    @cached_property
    def differs(self) -> np.ndarray:
        """Where the bits are others; every NaN is one."""
        return differ(get_format(self.dtype), self.bits, self.got)

    @property
    def name(self) -> str:
        return self.candidate.kernel.name

    @property
    def exact(self) -> bool:
        return not self.differs.any()

    @property
    def explains(self) -> bool:
        return self.agreement >= EXPLAINS

    def record(self) -> dict[str, object]:
        """The JSON object of docs/json.md."""
        fmt, where = get_format(self.dtype), np.flatnonzero(self.differs)
        formula, source = described(self.candidate.kernel, self.candidate.inner)
        first = (
            [fmt.bits_text(int(each[where[0]])) for each in (self.x_bits, self.got, self.bits)] if len(where) else []
        )
        return {
            "name": self.name,
            "how": self.candidate.how(self.dtype),
            "formula": formula,
            "source": source,
            "n": len(self.x_bits) + self.beyond,
            "differing": len(where),
            "explains": self.agreement,
            "first": dict(zip(("x_bits", "got_bits", "known_bits"), first, strict=True)) if first else None,
            "alike": list(self.alike),
        }


def described(kernel: Target, dtype: str) -> tuple[str, str]:
    """(formula, where it is published) of one of our kernels in a dtype; the latter is empty for our own."""
    short = kernel.name.partition(".")[2]
    for each in KERNELS if kernel.family == "kernels" else PUBLISHED:
        if (each.name, each.dtype) == (short, dtype):
            note = each.note.rpartition("; ")[0] or each.note
            if kernel.family == "published":
                return each.form.replace("x/sqrt(2)", "x*sqrt(1/2)") if short in MULTIPLY else each.form, note
            form, *_ = [*forms_for(kernel.name, kernel.function, note, kernel.form), None]
            return note if form is None else form.text, ""
    return kernel.form, ""  # the correctly rounded ones have no formula


def known(target: Target, sample: Sample, x_bits: np.ndarray, measured: np.ndarray) -> Known | None:
    """The candidate whose results are the target's at most of the inputs; None where none has any in common.

    Parameters
    ----------
    sample : the informative inputs among x_bits
    """
    dtype, few = sample.dtype, sample.of(SCREENED)
    able = list(candidates(target.name, target.family, target.function, dtype))
    results = [each.bits(dtype, few.x) for each in able]
    agreements = [few.agreement(bits) for bits in results]
    order = sorted(range(len(able)), key=lambda at: -agreements[at])[:KEPT]
    kept = [able[at] for at in sorted({*order, *best_by_region(few, results)}) if agreements[at] > 0]
    found = [_compared(each, sample, x_bits, measured) for each in kept]
    best = _fewest(found)
    if best is None:
        return None
    if not best.exact:
        flushing = [replace(best.candidate, flush=flush) for flush in FLUSHING]
        best = _fewest([best, *(_compared(each, sample, x_bits, measured) for each in flushing)]) or best
    alike = [each for each in found if each is not best and not differ(get_format(dtype), each.bits, best.bits).any()]
    names = tuple(dict.fromkeys(each.name for each in alike if each.name != best.name))
    best = replace(best, alike=names, others=tuple(each.candidate for each in found if each is not best))
    return _beyond(best, target) if best.exact else best


def nearest_candidates(target: Target, sample: Sample) -> list[Candidate]:
    """Those with the most of the results in some region of x."""
    few = sample.of(SCREENED)
    able = list(candidates(target.name, target.family, target.function, sample.dtype))
    return [able[at] for at in best_by_region(few, [each.bits(sample.dtype, few.x) for each in able])]


def candidates(name: str, family: str, function: str, dtype: str) -> Iterator[Candidate]:
    """Those that compute the function or a sibling, the likeliest first; never the target of that name itself."""
    likely = LIKELY.get(family, ())
    functions = siblings(function)
    kernels = [each for each in find(["kernels", "published"])[0] if each.function in functions]
    kernels = [each for each in kernels if each.name != name]
    kernels.sort(key=lambda each: (functions.index(each.function), not each.name.startswith(likely or "-")))
    width = get_format(dtype).width
    yield from (Candidate(each, dtype) for each in kernels if dtype in each.dtypes)
    others = [inner for inner in DTYPES if get_format(inner).width != width]
    yield from (Candidate(each, inner) for inner in others for each in kernels if inner in each.dtypes)
    narrower = [inner for inner in DTYPES if get_format(inner).width < width and get_format(inner).width == 16]
    yield from (Candidate(each, dtype, inner) for inner in narrower for each in kernels if dtype in each.dtypes)


def _compared(each: Candidate, sample: Sample, x_bits: np.ndarray, measured: np.ndarray) -> Known:
    bits = each.bits(sample.dtype, x_bits)
    agreement = sample.agreement(bits[sample.at])
    return Known(sample.dtype, each, x_bits, measured, bits, agreement)


def _fewest(found: Sequence[Known]) -> Known | None:
    """The first of those that differ at the fewest inputs."""
    return min(found, key=lambda each: int(np.count_nonzero(each.differs)), default=None)


def _beyond(best: Known, target: Target) -> Known:
    """Compared at runs of consecutive floats too, which the inputs of a plan are not; not where they are all inputs."""
    fmt = get_format(best.dtype)
    if fmt.width == 16:
        return best
    least, left, right = core(get_function(target.function), fmt)
    half = RUNS // 2
    starts = [*np.linspace(-1 - left, -1 - least - LONG, half), *np.linspace(least, right - LONG, half)]
    runs = distinct(np.concatenate([np.arange(int(start), int(start) + LONG) for start in starts]))
    x = from_ordinals(fmt, runs)
    got, bits = target.evaluate(best.dtype, x), best.candidate.bits(best.dtype, x)
    at = np.flatnonzero(differ(get_format(best.dtype), bits, got))
    together = (np.concatenate(pair) for pair in ((best.x_bits, x[at]), (best.got, got[at]), (best.bits, bits[at])))
    x_bits, got, bits = together
    return replace(best, x_bits=x_bits, got=got, bits=bits, beyond=len(x) - len(at))


def _in(dtype: str, bits: np.ndarray, to: str) -> np.ndarray:
    """Bits of one dtype rounded once to another."""
    if dtype == to:
        return bits
    if {dtype, to} == {"float32", "float64"}:  # the processor does it, and rounds once
        with np.errstate(all="ignore"):
            return bits.view(numpy_dtype(dtype)).astype(numpy_dtype(to)).view(get_format(to).uint)
    return converted(get_format(dtype), bits, get_format(to))


def _flushed(dtype: str, bits: np.ndarray) -> np.ndarray:
    fmt = get_format(dtype)
    carried = to_float64(fmt, bits)
    return np.where(flushed(fmt, carried) == 0, bits & fmt.uint.type(fmt.sign_mask), bits)
