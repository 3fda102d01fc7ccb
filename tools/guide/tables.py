"""The tables of docs/guide.md, in Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from make_matrix import error, grade

from gelu_verify.formats import DTYPES
from gelu_verify.records.result import Record
from gelu_verify.report.text import NONE, ulp_text

from . import fixed_point
from .figures import zero_rows
from .measure import ROOT
from .sources import fact, matrix, measured

TABLES: dict[str, Callable[[], str]] = {}


def _table(make: Callable[[], str]) -> Callable[[], str]:
    TABLES[make.__name__] = make
    return make


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def short(value: str, digits: int = 4) -> str:
    """A decimal to so many digits."""
    number = Decimal(value)
    return f"{Decimal(f'{number:.{digits}g}'):f}" if 1e-5 <= abs(number) < 1e5 else f"{number:.{digits - 2}e}"


@_table
def forms_table() -> str:
    rows = []
    for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        cells = [NONE, NONE, NONE, NONE]
        if name != "gelu":
            found = [fact(f"{each}.distance", label) for each in (name, f"{name}_grad") for label in ("d", "x")]
            cells = [short(found[0]), "±" + short(found[1]), short(found[2]), "±" + short(found[3])]
        zero = [
            short(fact(f"{name}.thresholds", f"{dtype}: zero below")) for dtype in ("float16", "bfloat16", "float32")
        ]
        rows.append([f"`{name}`", *cells, *zero])
    head = [
        "function",
        "farthest from GELU",
        "at x =",
        "gradient",
        "at x =",
        "zero below: float16",
        "bfloat16",
        "float32",
    ]
    return _markdown(head, rows)


@_table
def tail_table() -> str:
    places = (2, 4, 6, 8, 10)
    rows = [
        [f"`{name}`", *(short(fact(f"{name}.tail", f"{name}(-{x})/gelu(-{x})"), 3) for x in places)]
        for name in ("gelu_tanh", "gelu_sigmoid", "silu")
    ]
    return _markdown(["f(x)/gelu(x)", *(f"x = -{x}" for x in places)], rows)


def _cell(record: Record) -> str:
    """Grade and largest error: "accurate, =1.62"."""
    return ", ".join(filter(None, (grade(record), error(record))))


_REGIONS = ("(-inf,-8)", "[-8,-5)", "[-5,-3)", "[-3,-1)", "[-1,0)", "[0,1)", "[1,inf)")


def region_error(record: Record, name: str) -> str:
    """The largest error of a region, without its bound."""
    found = next(each for each in record.regions if each.region == name)
    return ulp_text(found.max_ulp, record.bound)


@_table
def regions_table() -> str:
    names = ("gelu_erf", "gelu_as7126", "gelu_erfc", "gelu_cr", "gelu_tanh_tanh", "gelu_tanh_sigmoid", "gelu_tanh_cr")
    rows = []
    for name in names:
        function = "gelu_tanh" if name.startswith("gelu_tanh") else "gelu"
        record = matrix()[f"kernels.{name}", function, "float32"]
        rows.append([f"`kernels.{name}`", *(region_error(record, region) for region in _REGIONS)])
    return _markdown(["kernel", *_REGIONS], rows)


@_table
def zero_table() -> str:
    rows = [[f"`{target}`", f"{found:.2f}", f"{right:.2f}"] for target, right, found in zero_rows()]
    return _markdown(["implementation, float32", "zero from x =", "should be from x ="], rows)


@_table
def sixteen_table() -> str:
    names = ("gelu_erf", "gelu_erf-f32", "gelu_erfc", "gelu_erfc-f32", "gelu_cr")
    rows = []
    for name in names:
        found = [matrix()[f"kernels.{name}", "gelu", dtype] for dtype in ("float16", "bfloat16")]
        zeros = [NONE if each.zero_from is None else f"{each.zero_from.x:.2f}" for each in found]
        rows.append([f"`kernels.{name}`", _cell(found[0]), zeros[0], _cell(found[1]), zeros[1]])
    return _markdown(["kernel", "float16", "zero too early, from x =", "bfloat16", "zero too early, from x ="], rows)


def _cells(targets: Sequence[tuple[str, str]]) -> str:
    rows = []
    for target, function in targets:
        found = [matrix().get((target, function, dtype)) for dtype in DTYPES]
        rows.append([f"`{target}`", *("" if each is None else _cell(each) for each in found)])
    return _markdown(["implementation", *DTYPES], rows)


@_table
def gradient_table() -> str:
    names = ("gelu_grad_erf", "gelu_grad_erf-f32", "gelu_grad_erfc", "gelu_grad_erfc-f32", "gelu_grad_cr")
    return _cells([(f"kernels.{name}", "gelu_grad") for name in names])


_LIBRARIES = (
    "torch",
    "torch_compiled",
    "onnxruntime",
    "openvino",
    "tensorflow",
    "keras",
    "jax",
    "paddle",
    "mlx",
    "scipy",
)


@_table
def libraries_table() -> str:
    exact = [(f"{name}.gelu", "gelu") for name in _LIBRARIES]
    tanh = [(f"{name}.gelu_tanh", "gelu_tanh") for name in ("torch", "onnxruntime", "jax", "tinygrad")]
    return _cells([*exact, ("litert.gelu", "gelu"), *tanh, ("huggingface.gelu_new", "gelu_tanh")])


@_table
def library_gradients_table() -> str:
    exact = (
        "torch.gelu_grad",
        "torch_compiled.gelu_grad",
        "jax.gelu_grad-jit",
        "tensorflow.gelu_grad",
        "paddle.gelu_grad",
    )
    tanh = ("torch.gelu_tanh_grad", "jax.gelu_tanh_grad-jit", "huggingface.gelu_new_grad")
    return _cells([*((name, "gelu_grad") for name in exact), *((name, "gelu_tanh_grad") for name in tanh)])


@_table
def defaults_table() -> str:
    names = {"gelu": "exact", "gelu_tanh": "tanh form", "gelu_sigmoid": "sigmoid form"}
    rows = [
        [
            each["call"] if " " in each["call"] else f"`{each['call']}`",
            f"{each['library']} {each['version']}",
            names[each["function"]],
        ]
        for each in measured()["defaults"]
    ]
    return _markdown(["call", "library", "computes"], rows)


# ---- speed ---------------------------------------------------------------------------------------


def _timings() -> dict[str, dict[str, Any]]:
    """The newest committed timings of each instruction-set level."""
    found = sorted((ROOT / "docs" / "speed").glob("*-avx*.json"))
    return {path.stem.rpartition("-")[2]: json.loads(path.read_text(encoding="utf-8")) for path in found}


_SIZE, _SCALE = 1 << 18, 2


@_table
def speed_note() -> str:
    versions = {run["versions"]["torch"] for run in _timings().values()}
    return f"2^{_SIZE.bit_length() - 1} elements of {_SCALE}*randn, torch {', '.join(sorted(versions))}"


@_table
def speed_table() -> str:
    rows = []
    for level, run in sorted(_timings().items()):
        for function in ("gelu", "gelu_tanh", "gelu_grad", "gelu_tanh_grad"):
            ratio = {
                row["dtype"]: f"{row['ours']['elements_per_s'] / 1e6:.0f} ({row['theirs']['elements_per_s'] / 1e6:.0f})"
                for row in run["results"]
                if (row["function"], row["n"], row["scale"], row["rival"]) == (function, _SIZE, _SCALE, "torch")
            }
            rows.append([level, f"`{function}`", *(ratio.get(dtype, NONE) for dtype in DTYPES)])
    return _markdown(["instruction set", "function", *DTYPES], rows)


# ---- integers ------------------------------------------------------------------------------------


@_table
def eight_bit_table() -> str:
    rows = []
    for form, gap in fixed_point.errors():
        place = abs(gap).argmax()
        at = abs(fixed_point.inputs()[place]) * fixed_point.UNIT
        rows.append([form.name, form.text, str(fixed_point.eight_bits(form)), f"{abs(gap[place]):.3g}", f"±{at:.3g}"])
    return _markdown(["formula", "", "inputs", "largest distance from GELU", "at x ="], rows)


_SHOWN = (32, 64, 128, 256, 512, 1024)


@_table
def table_table() -> str:
    rows = [[name, *(f"{fixed_point.largest(name, size):.2f}" for size in _SHOWN)] for name in fixed_point.METHODS]
    return _markdown(["entries", *map(str, _SHOWN)], rows)
