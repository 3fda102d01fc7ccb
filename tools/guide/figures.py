"""The figures of docs/guide.md, each one function: what is drawn, and from what."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from gelu_verify.buckets.bins import layout
from gelu_verify.formats import from_ordinals, get_format, to_float64
from gelu_verify.show.chart import MINUS, Mark, ReferenceLine, Ticks, decade_text, power_text
from gelu_verify.truth.values import reference

from . import fixed_point
from .drawing import Series, intervals, landmark, lines, ticks
from .measure import PER_BINADE
from .sources import fact, matrix, octaves

FIGURES: dict[str, Callable[[], str]] = {}


def figures() -> dict[str, str]:
    """The SVG files, by name."""
    return {name: draw() for name, draw in FIGURES.items()}


def _figure(draw: Callable[[], str]) -> Callable[[], str]:
    FIGURES[draw.__name__.replace("_", "-")] = draw
    return draw


def _value(name: str, label: str) -> float:
    return float(fact(name, label))


def _curve(label: str, function: str, x: np.ndarray, **parameters: object) -> Series:
    return label, x.tolist(), np.asarray(reference(function, x, **parameters)).tolist()


@_figure
def functions() -> str:
    """GELU beside what it is compared with, and its proved landmarks."""
    x = np.linspace(-4, 3, 281)
    bend = _value("gelu.inflections", "x")
    bends = [
        landmark(at, float(reference("gelu", at)), "inflection", side)
        for at, side in ((-bend, "above"), (bend, "left"))
    ]
    return lines(
        title="GELU and its relatives",
        x_title="x",
        y_title="f(x)",
        series=[_curve(name, name, x) for name in ("gelu", "silu", "relu", "elu", "gelu_sigmoid")],
        marks=[*bends, landmark(_value("gelu.minimum", "x"), _value("gelu.minimum", "f(x)"), "minimum", "below")],
        x_ticks=ticks(range(-4, 4)),
    )


@_figure
def gradients() -> str:
    """The derivatives, and where that of GELU leaves [0, 1]."""
    x = np.linspace(-5, 5, 321)
    bend = _value("gelu.inflections", "x")
    marks = [
        landmark(bend, _value("gelu.inflections", "f'(x)"), "largest slope"),
        landmark(-bend, _value("gelu.inflections", "f'(-x)"), "smallest slope", "below"),
        landmark(_value("gelu.minimum", "x"), 0.0, "zero", "right"),
    ]
    names = ("gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad")
    return lines(
        title="The derivatives",
        x_title="x",
        y_title="f'(x)",
        series=[_curve(name, name, x) for name in names],
        marks=marks,
        x_ticks=ticks(range(-5, 6)),
        span=(-0.25, 1.25),
    )


@_figure
def distance() -> str:
    """How far the approximations are from GELU, on a logarithmic axis."""
    x = np.linspace(-8, 8, 641)
    names = {"gelu_tanh": "tanh form", "gelu_sigmoid": "sigmoid form", "silu": "silu"}
    series = [(text, x.tolist(), _log10(reference(name, x) - reference("gelu", x))) for name, text in names.items()]
    marks = [
        landmark(_value(f"{name}.distance", "x"), math.log10(_value(f"{name}.distance", "d")), "max", side)
        for name, side in (("gelu_tanh", "below"), ("gelu_sigmoid", "below"), ("silu", "above"))
    ]
    return lines(
        title="Distance from GELU, exactly evaluated",
        x_title="x",
        y_title="|f(x) - gelu(x)|",
        series=series,
        marks=marks,
        x_ticks=ticks(range(-8, 9, 2)),
        y_ticks=ticks(range(-10, 1, 2), decade_text),
        span=(-10, 1),
    )


@_figure
def tails() -> str:
    """How each function vanishes on the left."""
    x = np.linspace(-14, 0, 561)
    names = {"gelu": "gelu", "gelu_tanh": "tanh form", "gelu_sigmoid": "sigmoid form", "silu": "silu"}
    lowest = get_format("float32").min_exponent * math.log10(2)
    return lines(
        title="The left tail",
        x_title="x",
        y_title="|f(x)|",
        series=[(text, x.tolist(), _log10(reference(name, x))) for name, text in names.items()],
        x_ticks=ticks(range(-14, 1, 2)),
        y_ticks=ticks(range(-60, 1, 10), decade_text),
        span=(-60, 0),
        rules=[ReferenceLine(lowest, label="smallest float32", at_end=True)],
    )


def _log10(y: np.ndarray) -> list[float]:
    with np.errstate(divide="ignore"):
        found: list[float] = np.log10(np.abs(np.asarray(y))).tolist()
    return found


# ---- over the ordinal axis: every binade has the same width --------------------------------------

_AXIS = ((-4, "1/16"), (-2, "1/4"), (0, "1"), (1, "2"), (2, "4"), (4, "16"))
_BINS = 8 * PER_BINADE  # of a side: 1/16 <= |x| < 16; nearer to 0 and farther out nothing happens


def _sides(values: np.ndarray) -> list[float]:
    """The bins of both sides, and a gap between them."""
    bins = layout("float32", PER_BINADE)
    first, zero = bins.position(-4), bins.size // 2
    start = 2 * zero - first
    inner = [*values[start - _BINS : start], math.nan, *values[first : first + _BINS]]
    return [float(value) for value in inner]


def _ordinal_ticks() -> Ticks:
    right = [(_BINS + 1.0 + (e + 4) * PER_BINADE, text) for e, text in _AXIS]
    left = [(2 * _BINS + 1 - at, MINUS + text) for at, text in reversed(right[1:])]
    return [*left, (_BINS + 0.5, "±1/16"), *right[1:]]


def _on_the_ordinal_axis(
    title: str, series: Sequence[tuple[str, np.ndarray]], highest: int, marks: Sequence[Mark] = ()
) -> str:
    places, lowest = (np.arange(2 * _BINS + 1) + 0.5).tolist(), -4
    return lines(
        title=title,
        x_title="x, in the order of the floats",
        y_title="largest error, ULP",
        series=[(label, places, _sides(values)) for label, values in series],
        marks=marks,
        x_ticks=_ordinal_ticks(),
        y_ticks=ticks(range(lowest, highest + 1, 4), power_text),
        span=(lowest, highest),
        rules=[ReferenceLine(2.0, label="4 ULP", at_end=True)],
    )


@_figure
def approximations_in_ulp() -> str:
    """The distance of each approximation from GELU, in units in the last place of the float32 result."""
    bins, fmt = layout("float32", PER_BINADE), get_format("float32")
    edges = (bins.edges - 0x8000) << (fmt.width - 16)
    ordinals = np.concatenate([np.linspace(a, b, 5)[:-1] for a, b in pairwise(edges)]).astype(np.int64)
    x = to_float64(fmt, from_ordinals(fmt, np.clip(ordinals, -1 - fmt.max_finite, fmt.max_finite)))
    want = reference("gelu", x)
    unit = np.maximum(np.floor(np.log2(np.maximum(np.abs(want), 2.0**-1000))), fmt.emin) - fmt.precision + 1
    series = []
    for name, label in (("gelu_tanh", "tanh form"), ("gelu_sigmoid", "sigmoid form"), ("silu", "silu")):
        with np.errstate(divide="ignore"):
            error = np.log2(np.abs(reference(name, x) - want)) - unit
        series.append((label, np.maximum(error.reshape(-1, 4).max(axis=1), -20.0)))
    return _on_the_ordinal_axis("Approximations in float32, exactly evaluated", series, 32)


@_figure
def erf_or_erfc() -> str:
    """What the form costs in float32."""
    series = [
        ("1 + erf", octaves("kernels.gelu_erf", "float32")),
        ("erfc", octaves("kernels.gelu_erfc", "float32")),
        ("erf by A&S 7.1.26", octaves("kernels.gelu_as7126", "float32")),
        ("correctly rounded", octaves("kernels.gelu_cr", "float32")),
    ]
    return _on_the_ordinal_axis("Forms of exact GELU in float32", series, 28)


@_figure
def tanh_or_sigmoid() -> str:
    """The same for the tanh form."""
    series = [
        ("1 + tanh(u)", octaves("kernels.gelu_tanh_tanh", "float32")),
        ("x/(1 + exp(-2u))", octaves("kernels.gelu_tanh_sigmoid", "float32")),
    ]
    return _on_the_ordinal_axis("Forms of gelu_tanh in float32", series, 28)


@_figure
def gradient_in_float32() -> str:
    """Two forms of the derivative."""
    series = [
        ("by erf", octaves("kernels.gelu_grad_erf", "float32")),
        ("by erfc", octaves("kernels.gelu_grad_erfc", "float32")),
    ]
    erf = _sides(octaves("kernels.gelu_grad_erf", "float32"))
    place = max(range(_BINS), key=lambda at: erf[at])  # the bin of the derivative's zero
    mark = landmark(place + 0.5, erf[place], "the derivative is 0", "right")
    return _on_the_ordinal_axis("Forms of the derivative in float32", series, 28, [mark])


@_figure
def bfloat16() -> str:
    """Rounding every operation against rounding once."""
    series = [
        ("1 + erf, every operation rounded", octaves("kernels.gelu_erf", "bfloat16")),
        ("1 + erf in float32, rounded once", octaves("kernels.gelu_erf-f32", "bfloat16")),
        ("erfc in float32, rounded once", octaves("kernels.gelu_erfc-f32", "bfloat16")),
    ]
    return _on_the_ordinal_axis("GELU in bfloat16", series, 12)


@_figure
def zeros() -> str:
    """From where on each library returns zero in float32, and from where on it should."""
    return intervals(
        "Where results become zero, float32", "x", "implementation", zero_rows(), ("correctly rounded", "measured")
    )


ZERO_TARGETS = (
    ("torch.gelu", "gelu"),
    ("huggingface.gelu_python", "gelu"),
    ("onnxruntime.gelu", "gelu"),
    ("openvino.gelu", "gelu"),
    ("paddle.gelu", "gelu"),
    ("mlx.gelu", "gelu"),
    ("tensorflow.gelu", "gelu"),
    ("keras.gelu", "gelu"),
    ("jax.gelu", "gelu"),
    ("scipy.gelu", "gelu"),
    ("torch.gelu_tanh", "gelu_tanh"),
    ("onnxruntime.gelu_tanh", "gelu_tanh"),
    ("tinygrad.gelu_tanh", "gelu_tanh"),
    ("jax.gelu_tanh", "gelu_tanh"),
)


def zero_rows() -> list[tuple[str, float, float]]:
    """Target, from where on it should be zero, from where on it is."""
    rows = []
    for target, function in ZERO_TARGETS:
        found = matrix()[target, function, "float32"].zero_from
        right = _value(f"{function}.thresholds", "float32: zero below")
        rows.append((target, right, right if found is None else found.x))
    return rows


# ---- integers ------------------------------------------------------------------------------------


@_figure
def table_size() -> str:
    """The largest error over all 16-bit inputs, by the size of the table."""
    places = [float(math.log2(size)) for size in fixed_point.SIZES]
    series = [
        (name, places, [math.log2(fixed_point.largest(name, size)) for size in fixed_point.SIZES])
        for name in fixed_point.METHODS
    ]
    return lines(
        title="Tables of GELU in Q4.12",
        x_title="entries of the table",
        y_title="largest error, units of 1/4096",
        series=series,
        x_ticks=[(place, str(size)) for place, size in zip(places, fixed_point.SIZES, strict=True)],
        y_ticks=ticks(range(-2, 13, 2), power_text),
        span=(-2, 12),
        rules=[ReferenceLine(-1.0, label="rounding alone")],
    )


@_figure
def cheap_forms() -> str:
    """Error of what hardware computes in place of GELU."""
    x = fixed_point.inputs()[::64] * fixed_point.UNIT
    inside = np.abs(x) <= 6
    series = [(form.name, x[inside].tolist(), error[::64][inside].tolist()) for form, error in fixed_point.errors()]
    return lines(
        title="What cheap formulas give up",
        x_title="x",
        y_title="f(x) - gelu(x)",
        series=series,
        x_ticks=ticks(range(-6, 7, 2)),
    )
