"""Which formula explains the results of code without a description: all of them compete.

A candidate is a form (as it is written, with products from the left, with a*b + c fused), the dtype that it is computed
in, and whose building blocks it calls; the constants of the best ones are then fitted. Forms of the function's siblings
take part, because code may compute another variant than it says. They compete on the inputs that tell them apart:
results that are x, a zero or a limit are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import distinct
from ..errors import UsageError
from ..formats import differ, get_format, is_finite, is_zero, to_float64
from ..targets import Target
from ..truth.values import reference_bits
from .blocks import Block, blocks_of
from .expression import constants
from .fitting import fitted
from .forms import Form
from .ladder import Model, regions
from .models import CLEARLY, check_constants, distance, form_named, forms_of, with_constants

FIRST, THEN = 1024, 4096  # informative inputs: for all candidates, for the best
FINALISTS = 8  # candidates that are looked at again
SAME = 2e-3  # mean of log2(1 + floats between): below, two explain equally well
EXPLAINS = 0.98  # of the informative inputs at which the very bits must be the measured ones
LEAST = 32  # informative inputs in a region of x: fewer do not say which formula holds there
SMALLEST = 2.0**-8  # |x| of an informative input
SIBLINGS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")


@dataclass(frozen=True)
class Choice:
    """The model that is compared with a target, and how sure that is.

    `how`: "described" (the target's own description says the form), "asked" (the user), "found" (it explains the
    results best); `agreement`: share of the informative inputs at which it gives the measured bits; `rounded`: share at
    which the correctly rounded results are the measured bits; `alike`: other forms that explain as much.
    """

    model: Model
    how: str
    agreement: float
    rounded: float
    alike: tuple[str, ...] = ()

    @property
    def explains(self) -> bool:
        return self.agreement >= EXPLAINS


@dataclass(frozen=True)
class Sample:
    """Inputs of one dtype, and what was measured for them; `at`: their indices in the inputs that they are from."""

    dtype: str
    x: np.ndarray
    got: np.ndarray
    at: np.ndarray

    def of(self, most: int) -> Sample:
        """Every so many of them."""
        step = max(1, len(self.x) // most)
        x, got, at = (np.ascontiguousarray(each[::step]) for each in (self.x, self.got, self.at))
        return Sample(self.dtype, x, got, at)

    def distance(self, model: Model) -> float:
        return distance(self.dtype, model.bits(self.dtype, self.x), self.got)

    def agreement(self, bits: np.ndarray) -> float:
        """Share of the inputs at which `bits` are the measured ones; every NaN is one."""
        return float(np.mean(~differ(get_format(self.dtype), bits, self.got))) if len(bits) else 1.0


def informative_sample(function: str, dtype: str, x_bits: np.ndarray, measured: np.ndarray) -> Sample:
    """The inputs whose correctly rounded results are neither x, nor a zero, nor 1 or -1; all where there are none."""
    fmt = get_format(dtype)
    want = np.asarray(reference_bits(function, dtype, x_bits))
    uninformative = (want == x_bits) | is_zero(fmt, want) | (want & fmt.uint.type(fmt.sign_mask - 1) == fmt.one)
    with np.errstate(invalid="ignore"):
        chosen = (
            is_finite(fmt, x_bits)
            & is_finite(fmt, want)
            & ~uninformative
            & (np.abs(to_float64(fmt, x_bits)) >= SMALLEST)
        )
    at = np.flatnonzero(chosen if chosen.any() else is_finite(fmt, x_bits))
    return Sample(dtype, np.ascontiguousarray(x_bits[at]), np.ascontiguousarray(measured[at]), at)


def searched(
    target: Target, sample: Sample, *, form: str | None = None, working: str | None = None,
    stored: Mapping[str, str] | None = None, blocks: Mapping[str, str] | None = None,
) -> tuple[Model, tuple[str, ...]]:  # fmt: skip
    """The model that explains the sample best, within what is given, and the other forms that explain as much."""
    forms = [form_named(target.function, form)] if form else list(_forms(target.function))
    if not forms:
        raise UsageError(
            f"no formula of {target.function} is known, so its error cannot be attributed (gelu-verify run measures it)"
        )
    first, then = sample.of(FIRST), sample.of(THEN)
    models = list(_candidates(forms, target, sample.dtype, working, stored, dict(blocks or {})))
    scored = sorted(((first.distance(model), at) for at, model in enumerate(models)))
    rows = []
    for _, at in _best_of_each_form(scored, models):
        row = Scored(models[at], then.distance(models[at]), at)
        rows.append(row if stored is not None else _with_fitted_constants(row, then))
    best = _best(rows, target.function)[0]
    if best.model.stored and stored is None:  # with these constants, another form, dtype or library may explain more
        rows += [
            Scored(again := replace(model, stored=best.model.stored), then.distance(again), at)
            for at, model in enumerate(models)
            if model.form.function == best.model.form.function
            and best.model.stored.keys() <= {each.text for each in constants(model.form.root)}
        ]
    best, *equal = _best(rows, target.function)
    names = dict.fromkeys(_plain(row.model.form) for row in equal if len(row.model.stored) <= len(best.model.stored))
    return best.model, tuple(name for name in names if name != _plain(best.model.form))


def explaining_regions(target: Target, sample: Sample) -> list[Model]:
    """The candidates that explain most of the results in each region of x."""
    few = sample.of(THEN)
    models = list(_candidates(list(_forms(target.function)), target, sample.dtype, None, None, {}))
    return [models[at] for at in best_by_region(few, [model.bits(sample.dtype, few.x) for model in models])]


def best_by_region(sample: Sample, results: Sequence[np.ndarray]) -> list[int]:
    """Indices of the results that are the measured ones most often in a region of x, the first of equal ones."""
    same = np.array([~differ(get_format(sample.dtype), bits, sample.got) for bits in results])
    place = regions(sample.dtype, sample.x)
    counts = {region: same[:, place == region].sum(axis=1) for region in distinct(place)} if len(same) else {}
    return list(dict.fromkeys(int(np.argmax(count)) for count in counts.values() if count.max() >= LEAST))


@dataclass(frozen=True)
class Scored:
    """A model, how far its results are from the measured ones, and its place among the candidates."""

    model: Model
    score: float
    at: int


def _best(rows: Sequence[Scored], function: str) -> list[Scored]:
    """Those that explain as much as the best one, which is the first; the plainest first where they are equal.

    A form of a sibling must explain clearly more than those of the function itself.
    """
    least = min(row.score for row in rows)
    own = [row for row in rows if row.model.form.function == function]
    if own and CLEARLY * min(row.score for row in own) <= least:
        rows, least = own, min(row.score for row in own)
    equal = [row for row in rows if row.score <= max(least / CLEARLY, least + SAME)]
    return sorted(equal, key=lambda row: (row.score, "+" in row.model.form.name, bool(row.model.form.private), row.at))


def _plain(form: Form) -> str:
    return form.name.partition("+")[0]


def siblings(function: str) -> list[str]:
    """The function, then its variants, which code may compute instead."""
    gradient = "_grad" if function.endswith("_grad") else ""
    variants = [f"{name}{gradient}" for name in SIBLINGS] if function.removesuffix("_grad") in SIBLINGS else []
    return list(dict.fromkeys([function, *variants]))


def _forms(function: str) -> Iterator[Form]:
    """Forms of the function, then of its siblings, each as it is and in its variants."""
    for name in siblings(function):
        plain = forms_of(name)
        yield from plain
        yield from (variant for form in plain for variant in form.variants())


def _candidates(
    forms: Iterable[Form], target: Target, dtype: str, working: str | None, stored: Mapping[str, str] | None,
    named: dict[str, str],
) -> Iterator[Model]:  # fmt: skip
    """Every form in every dtype that it may be computed in, with every library's blocks; equal ones once."""
    for form in forms:
        check_constants(form, stored or {})
        for inner in [working] if working else _working(dtype):
            tried: list[dict[str, Block]] = []
            for families in (("",),) if named else _libraries(target):
                found: dict[str, Block] = {}
                for family in families:
                    found = {**blocks_of(form, inner, family, named), **found}
                if found not in tried:
                    tried.append(found)
                    yield Model(form, inner, dict(stored or {}), found)


def _working(dtype: str) -> list[str]:
    """The dtype itself, and wider ones."""
    wider = [dtype, "float32"] if get_format(dtype).width == 16 else [dtype]
    return list(dict.fromkeys([*wider, "float64"]))


def _libraries(target: Target) -> list[tuple[str, ...]]:
    """Whose building blocks it may call: correctly rounded ones, the C library's, those of its arrays' library."""
    found: list[tuple[str, ...]] = [("",), ("kernels",)]
    if target.name.endswith((":onnxruntime", ":openvino")):
        found.append((target.name.rpartition(":")[2],))
    for library, families in (("numpy", ("numpy", "scipy")), ("torch", ("torch",)), ("jax", ("jax",))):
        if f"{library} arrays" in target.note:
            found.append(families)
    return found


def _best_of_each_form(scored: Sequence[tuple[float, int]], models: Sequence[Model]) -> list[tuple[float, int]]:
    """The best candidates, and the best one of every form of the first few: constants may make the difference."""
    best = list(scored[:FINALISTS])
    forms = {models[at].form.name for _, at in best}
    for score, at in scored:
        if len(forms) >= 2 * FINALISTS:
            break
        if models[at].form.name not in forms:
            forms.add(models[at].form.name)
            best.append((score, at))
    return best


def _with_fitted_constants(row: Scored, sample: Sample) -> Scored:
    """With constants as libraries store them, or as the results say, while that explains clearly more."""
    model = with_constants(row.model, sample.dtype, sample.x, sample.got, row.score)
    score = sample.distance(model) if model.stored else row.score
    for _ in constants(model.form.root):
        if score <= SAME:
            break
        others = [replace(model, stored={**model.stored, name: decimal})
                  for name, decimal in fitted(model, sample.dtype, sample.x, sample.got)]  # fmt: skip
        scores = [sample.distance(other) for other in others]
        if not scores or min(scores) >= CLEARLY * score:
            break
        score = min(scores)
        model = others[scores.index(score)]
    return Scored(model, score, row.at)


def rounded_correctly(function: str, sample: Sample) -> float:
    """Share of the inputs at which the correctly rounded results are the measured bits."""
    return sample.agreement(np.asarray(reference_bits(function, sample.dtype, sample.x)))
