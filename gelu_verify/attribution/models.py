"""What a target is taken to do: by its description, and by which model explains its results best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from ..errors import UsageError, one_of
from ..formats import differ, get_format, ordinals, to_float64
from ..isa import split_level
from ..parsing import parse_real
from ..targets import Target
from .blocks import blocks_of
from .evaluation import FLUSHING, smallest_normal
from .expression import constants
from .forms import FORMS, Form
from .ladder import Model

SAMPLE = 4096  # inputs on which models compete
CLEARLY = 0.8  # a model that is not the first choice must explain the results this much better


def forms_for(target_name: str, function: str, description: str, kernel_form: str = "") -> list[Form]:
    """The forms that a target may use, the likeliest first: named by it, spelled out in its description, then any."""
    plain = _plain(description)
    able = [form for form in FORMS.values() if form.function == function]
    direct = [form for form in able if form.name == f"{function}_{kernel_form}"]
    if direct:
        return direct
    spelled = [(max((len(s) for s in form.spellings if s in plain), default=0), form) for form in able]
    fitting = [form for length, form in sorted(spelled, key=lambda pair: -pair[0]) if length]
    fitting += [form for form in able if split_level(target_name)[0] in form.targets and form not in fitting]
    return fitting


def executed(form: Form) -> Iterator[Form]:
    """The operations that a description of it may stand for: x/sqrt(2) also for a division, a*b + c for one fma."""
    for each in filter(None, (form, FORMS.get(f"{form.name}_div"))):
        yield from (each, *each.variants())


def _plain(description: str) -> str:
    """Without spaces, parentheses, signs of multiplication and the names of modules: '0.5x1+erfx/sqrt2'."""
    return re.sub(r"[\s()*]|\b(?:nn|lax|special)\.(?!gelu|silu)", "", description.lower())


def forms_of(function: str) -> list[Form]:
    """The forms of a function."""
    return [form for form in FORMS.values() if form.function == function]


def known_forms(function: str) -> list[str]:
    """Their names."""
    return [form.name for form in forms_of(function)]


def model_of(
    target: Target, dtype: str, x_bits: np.ndarray, measured: np.ndarray, *, form: str | None = None,
    working: str | None = None, stored: Mapping[str, str] | None = None, blocks: Mapping[str, str] | None = None,
) -> Model:  # fmt: skip
    """The model that explains `measured` best, within what the user gave; UsageError where there is no form."""
    candidates = [form_named(target.function, form)] if form else forms_for(
        target.name, target.function, f"{target.form}; {target.note}", target.form
    )  # fmt: skip
    if not candidates:
        accepted = ", ".join(known_forms(target.function)) or "none"
        raise UsageError(f"{target.name} has no form: name one with --form (of {target.function}: {accepted})")
    if not form:
        candidates = [each for candidate in candidates for each in executed(candidate)]
    step = max(1, len(x_bits) // SAMPLE)
    x, got = np.ascontiguousarray(x_bits[::step]), np.ascontiguousarray(measured[::step])
    best, lowest = None, np.inf
    for model in _models(candidates, target, dtype, working, stored, dict(blocks or {})):
        score = distance(dtype, model.bits(dtype, x), got)
        if best is None or score < CLEARLY * lowest:
            best, lowest = model, score
    assert best is not None
    return best if stored is not None else with_constants(best, dtype, x, got, lowest)


def _models(
    candidates: list[Form], target: Target, dtype: str, working: str | None, stored: Mapping[str, str] | None,
    named: dict[str, str],
) -> Iterator[Model]:  # fmt: skip
    """Every candidate in every dtype that it may compute in, with its library's building blocks or the C library's."""
    wider = [dtype, "float32"] if get_format(dtype).width == 16 else [dtype]
    for family, form, inner in product((target.family, "kernels"), candidates, [working] if working else wider):
        check_constants(form, stored or {})
        yield Model(form, inner, dict(stored or {}), blocks_of(form, inner, family, named))


def with_constants(model: Model, dtype: str, x: np.ndarray, got: np.ndarray, lowest: float) -> Model:
    """The same with constants as libraries also store them, one after the other, while that explains clearly more."""
    alternatives = [
        (each.text, decimal)
        for each in constants(model.form.root)
        for decimal in (*each.also, *(["float32"] if model.working == "float64" else []))
    ]
    while True:
        others = [replace(model, stored={**model.stored, name: decimal}) for name, decimal in alternatives]
        scores = [distance(dtype, other.bits(dtype, x), got) for other in others]
        if not scores or min(scores) >= CLEARLY * lowest:
            return model
        lowest = min(scores)
        model = others[scores.index(lowest)]


def with_flushing(model: Model, dtype: str, x_bits: np.ndarray, measured: np.ndarray) -> Model:
    """The same with subnormals taken as zeros, where at most half as many results then differ of those near them."""
    fmt = get_format(dtype)
    bits = model.bits(dtype, x_bits)
    smallest = max(smallest_normal(each) for each in (fmt, get_format(model.working)))
    near = np.zeros(len(x_bits), bool)
    for each in (x_bits, bits):
        size = np.abs(to_float64(fmt, each))
        near |= (size > 0) & (size < 4 * smallest)
    x, got = np.ascontiguousarray(x_bits[near]), measured[near]
    models = [model, *(replace(model, flush=flush) for flush in FLUSHING)]
    differing = [int(np.count_nonzero(differ(fmt, each.bits(dtype, x), got))) for each in models]
    fewest = min(differing)
    return models[differing.index(fewest)] if 2 * fewest <= differing[0] and differing[0] else model


def distance(dtype: str, ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far apart two arrays of results are: the mean of log2(1 + floats between them)."""
    fmt = get_format(dtype)
    a, b = ordinals(fmt, ours), ordinals(fmt, theirs)
    apart = np.maximum(a, b).view(np.uint64) - np.minimum(a, b).view(np.uint64)  # float64 would lose the last bits
    return float(np.mean(np.log2(1 + apart.astype(np.float64))))


def form_named(function: str, name: str) -> Form:
    """A form by its name, with or without that of the function; with "+fma" behind it, its fused variant."""
    accepted = known_forms(function)
    plain = name.partition("+")[0]
    for each in (plain, f"{function}_{plain}"):
        if each in accepted:
            variants = {form.name: form for form in (FORMS[each], *FORMS[each].variants())}
            wanted = each + name[len(plain) :]
            if wanted in variants:
                return variants[wanted]
            raise one_of("variant of a form", wanted, list(variants))
    raise one_of(f"form of {function}", name, accepted)


def check_constants(form: Form, stored: Mapping[str, str]) -> None:
    accepted = [each.text for each in constants(form.root)]
    for name, text in stored.items():
        if name not in accepted:
            raise one_of(f"constant of {form.name}", name, accepted)
        if text != "float32":
            parse_real(f"constant {name}", text, -1e300, 1e300)
