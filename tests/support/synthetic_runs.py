"""Runs that were never measured but look like it: what the tests of the report read.

The model of an implementation: results carry `noise` ULP, and where `1 + erf` cancels an error
that grows as 1/Phi(x) until everything is lost. So the shapes, witnesses and magnitudes are those
of real libraries (torch float32: 1.7e7 ULP, zero from -5.54).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from gelu_verify.buckets.table import HIST_EDGES, SUM_CLIP, SUM_SCALE
from gelu_verify.formats import Format, from_ordinals, get_format, to_float64
from gelu_verify.records.result import Record
from gelu_verify.records.serialize import record_from_json

EDGES = (-math.inf, -8, -5, -3, -1, 0, 1, math.inf)
REGIONS = ("(-inf,-8)", "[-8,-5)", "[-5,-3)", "[-3,-1)", "[-1,0)", "[0,1)", "[1,inf)")
ALL = ("float16", "bfloat16", "float32", "float64")
SMALL = ("float16", "bfloat16")
INPUTS = {"float16": 65536, "bfloat16": 65536, "float32": 262144, "float64": 65536}
THRESHOLDS = {"float16": -5.7238548, "bfloat16": -13.56152, "float32": -14.356068, "float64": -38.58014022}
MEASURES = (
    "max_ulp", "witness", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "max_rank",
    "nonfinite", "zero_from", "zero_threshold", "approximation", "variant", "throughput", "buckets", "sha256",
)  # fmt: skip


@dataclass
class SyntheticRun:
    """A run in memory: the same door as a stored one."""

    manifest: dict[str, Any]
    results: list[Record] = field(default_factory=list)

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        whole = bucket_table(self.results[index].dtype, *self.results[index].unknown["_model"])
        return whole if columns is None else whole[list(columns)]


@cache
def _inputs(dtype: str) -> tuple[np.ndarray, ...]:
    """Each bucket of finite inputs, x in it, and Phi(x)."""
    fmt = get_format(dtype)
    reach = fmt.infinity >> (fmt.width - 16)
    bucket = np.arange(0x8000 - reach, 0x8000 + reach)
    x = _x_of(fmt, bucket)
    return bucket, x, np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in np.clip(x, -37, 8)])


@cache
def _errors(dtype: str, noise: float, cancels: bool, nonfinite_below: float) -> tuple[np.ndarray, np.ndarray]:
    """The largest error of each bucket for one model of an implementation, and whether a result is not finite."""
    fmt, (bucket, x, phi) = get_format(dtype), _inputs(dtype)
    spread = np.random.default_rng(7).uniform(0.55, 1.0, len(bucket))
    error = np.where(np.abs(x) < 2.0**-12, 0.5, noise) * spread
    if cancels:
        error = np.where(x < -0.5, np.minimum(error / phi, 2.0**fmt.precision - 1), error)
    error = np.where(x < THRESHOLDS[dtype], 0.3 * spread, error)
    return error, (x < nonfinite_below).astype(np.uint32)


@cache
def bucket_table(dtype: str, *model: Any) -> pd.DataFrame:
    """The stored columns of the buckets for one model."""
    fmt, (bucket, x, _), (error, bad) = get_format(dtype), _inputs(dtype), _errors(dtype, *model)
    sign = np.where(np.arange(len(bucket)) % 3 == 0, -1.0, 1.0)
    table = {
        "bucket": bucket.astype(np.uint16),
        "n": np.uint32(1),
        "error_sum": np.rint(sign * np.minimum(error, SUM_CLIP) * SUM_SCALE).astype(np.int64),
        "nonfinite": bad,
        "max_error": error,
        **_witnesses(fmt, bucket, x, error > 0.5),
    }
    edges = np.searchsorted(HIST_EDGES, error)
    return pd.DataFrame(table | {f"hist_{k:02d}": (edges == k).astype(np.uint32) for k in range(len(HIST_EDGES))})


def _witnesses(fmt: Format, bucket: np.ndarray, x: np.ndarray, wrong: np.ndarray) -> dict[str, np.ndarray]:
    """Bits of the worst input of each bucket, of what is due there, x/2 rounded somehow, and a neighbour of it."""
    bits = from_ordinals(fmt, (bucket - 0x8000) << (fmt.width - 16)).astype(np.uint64)
    want = np.where(np.abs(x) > 2.0**-10, bits - (np.uint64(1) << np.uint64(fmt.precision - 1)), bits)
    return {"max_error_x": bits, "max_error_got": want + wrong.astype(np.uint64), "max_error_want": want}


def result(target: str, function: str, dtype: str, **fields: Any) -> Record:
    """One result as a sweep would report it; `fields` replace any of its keys, as JSON has them."""
    return record_from_json(document(target, function, dtype, **fields))


def document(
    target: str, function: str, dtype: str, *, noise: float = 1.2, cancels: bool = False, **fields: Any
) -> dict[str, Any]:
    """The same as an object of JSON."""
    fmt, family = get_format(dtype), target.partition(".")[0]
    model = (noise, cancels, fields.pop("nonfinite_below", -math.inf))
    (_, x, _), (error, bad) = _inputs(dtype), _errors(dtype, *model)
    worst = int(error.argmax())
    checks, findings = _checks(fmt, function, cancels, family in ("kernels", "scipy"))
    zero = THRESHOLDS[dtype] if function in ("gelu", "gelu_tanh") else None
    approximation = {
        "function": "gelu",
        "max_ulp": 4.1e3 * 2.0 ** (fmt.precision - 11),
        "max_abs": 4.7324e-4,
        "x_bits": _bits(fmt, -2.69894),
    }
    values = {
        "target": target,
        "family": family,
        "function": function,
        "dtype": dtype,
        "form": target.rpartition("_")[2],
        "note": "contiguous input, one thread",
        "version": {"torch": "2.13.0+cpu", "jax": "0.10.2", "scipy": "1.17.1"}.get(family, "1.31.1"),
        "plan": "default",
        "seed": 20260921,
        "n": INPUTS[dtype],
        "bound": "=" if dtype in SMALL else ">=",
        "max_ulp": float(error[worst]),
        "witness": _witness(fmt, float(x[worst]), -0.0 if cancels else float(x[worst]) / 2),
        "mean_ulp": -0.0132 if cancels else 0.0021,
        "p50_ulp": 0.25,
        "p99_ulp": 512.0 if cancels else 1.0,
        "correctly_rounded": 1.0 if noise <= 0.5 and not cancels else 0.83217,
        "faithful": 0.97114,
        "max_rank": 2**60 + 1 if cancels and dtype == "float64" else 796_885_535 if cancels else 3,
        "nonfinite": {"count": int(bad.sum()), "x_bits": None},
        "zero_from": _point(fmt, -5.54) if cancels and zero else None,
        "zero_threshold": _point(fmt, zero) if zero else None,
        "regions": list(_regions(fmt, x, error)),
        "approximation": approximation if function == "gelu_tanh" else None,
        "variant": function,
        "checks": checks,
        "findings": findings,
        "throughput": {
            "elements_per_s": 6.3e8 / (1 + noise),
            "spread": 0.021,
            "copy_ratio": 0.31 / (1 + noise / 7),
            "n": 262144,
        },
        **_graded(fmt, noise, cancels, bool(bad.any())),
        "conventions": [] if family in ("kernels", "scipy") else ["NaN at -inf"],
        "failure": None,
        "repeat": f"gelu-verify run {target} --function {function} --dtype {dtype} --seed 20260921",
        "buckets": "buckets/000.parquet",
        "sha256": "0" * 64,
        "_model": model,
    }
    return values | fields


def failed(target: str, function: str, dtype: str, line: str, **fields: Any) -> Record:
    """The result of a target that raised: no measures."""
    nothing = dict.fromkeys(MEASURES) | {"failure": line, "regions": [], "checks": {}, "findings": {}}
    nothing |= {"grade": "broken", "sentence": "raises an exception.", "conventions": [], "accurate_range": None}
    return result(target, function, dtype, **(nothing | fields))


def manifest(**fields: Any) -> dict[str, Any]:
    """A manifest without its results; `fields` replace any of its keys."""
    return {
        "schema": 1,
        "command": "gelu-verify run",
        "created": "2026-09-21T10:12:13Z",
        "seed": 20260921,
        "plan": "default",
        "versions": {"gelu-verify": "0.1.0", "numpy": "2.5.3", "torch": "2.13.0+cpu", "scipy": "1.17.1"},
        "machine": {
            "cpu": "AMD EPYC 7B13",
            "isa": ["avx2", "fma", "f16c"],
            "cores": 2,
            "os": "Linux 6.1",
            "python": "3.11.9",
            "compiler": "gcc 12.2.0 -O3",
        },
        "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
        "copy_bytes_per_s": 1.13e10,
        "absent": {"tensorflow": "No module named 'tensorflow'", "openvino": "import failed: libtbb.so.12 not found"},
        "results": [],
    } | fields


def large_run() -> SyntheticRun:
    """About 250 results: every function, frameworks and our kernels, all dtypes, two failures."""
    return SyntheticRun(manifest(), list(_large()))


@cache
def _large() -> tuple[Record, ...]:
    results = [result(f"torch.{f}", f, d, noise=8.7, cancels=True) for f in ("gelu", "gelu_tanh") for d in ALL]
    for function in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        results += _forward(function)
    for function in ("gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad"):
        for family in ("torch", "jax", "kernels"):
            name = f"{family}.{function}"
            results += [result(name, function, d, noise=4.3, cancels=family == "torch") for d in ALL]
    for block in ("erf", "erfc", "normcdf", "tanh", "sigmoid", "exp", "relu", "elu"):
        for family in ("scipy", "kernels"):
            results += [result(f"{family}.{block}", block, d, noise=0.98) for d in ("float32", "float64")]
    why = "raised NotImplemented: Could not find an implementation for QuickGelu(1) <node> & co"
    results.append(failed("onnxruntime.gelu_quick", "gelu_sigmoid", "float16", f"onnxruntime.gelu_quick {why}"))
    why = "returned shape (0,) for an input of shape (4096,)"
    results.append(failed("torch.gelu_sparse", "gelu", "float32", f"torch.gelu_sparse {why}"))
    return tuple(results)


def _forward(function: str) -> list[Record]:
    results = []
    for k, name in enumerate(("jax.{}", "jax.{}_jit", "onnxruntime.{}", "scipy.{}", "torch.{}_compiled")):
        cancels = k in (2, 4) and function != "silu"
        for dtype in ALL:
            below = -1000.0 if k == 1 and dtype == "float16" else -math.inf
            noise = 1.1 + 1.7 * k
            target = name.format(function)
            results.append(result(target, function, dtype, noise=noise, cancels=cancels, nonfinite_below=below))
    for k, form in enumerate(("erf", "erfc", "as7126")):
        name = f"kernels.{function}_{form}"
        results += [result(name, function, d, noise=1.4 + 28 * k, cancels=form == "erf") for d in ALL]
        results += [result(f"{name}-f32", function, d, noise=0.5) for d in SMALL]
    return results


def _regions(fmt: Format, x: np.ndarray, error: np.ndarray) -> Any:
    for name, low, high in zip(REGIONS, EDGES[:-1], EDGES[1:], strict=True):
        inside = np.flatnonzero((x >= low) & (x < high))
        at = inside[error[inside].argmax()]
        witness = _witness(fmt, float(x[at]), float(x[at]) / 2)
        yield {"region": name, "n": len(inside), "max_ulp": float(error[at]), "witness": witness}


def _graded(fmt: Format, noise: float, cancels: bool, is_broken: bool) -> dict[str, Any]:
    """What `records/grades.py` would say of such a model, near enough."""
    good = {0.5: "correctly_rounded", 1.0: "faithful", 4.0: "accurate"}
    grade = next((grade for limit, grade in good.items() if noise <= limit), "absolute")
    ends, where = (fmt.max_finite | fmt.sign_mask, fmt.max_finite), f"within {noise:g} ULP at every finite input"
    if cancels:
        low = -0.7 - 0.5 / noise
        ends, where = (fmt.parse(repr(low)), fmt.max_finite), f"within 4 ULP for x >= {low:.3g}; zero from -5.54 on"
        grade = "accurate_range"
    bits, values = [fmt.bits_text(end) for end in ends], [float(fmt.fraction(end)) for end in ends]
    return {
        "grade": "broken" if is_broken else grade,
        "sentence": f"NaN for x <= -1000; {where}." if is_broken else f"{where}.",
        "accurate_range": dict(zip(("low_bits", "high_bits", "low", "high"), bits + values, strict=True)),
    }


def _checks(fmt: Format, function: str, cancels: bool, keeps_limit: bool) -> tuple[dict[str, str], dict[str, Any]]:
    shape = "not applicable" if function.endswith("_grad") else "pass"
    checks = dict.fromkeys(("plus_infinity", "nan", "signed_zero", "finite", "range", "half_slope", "variant"), "pass")
    checks |= {"minus_infinity": "pass" if keeps_limit else "fail", "sign": shape}
    checks |= {"tail_zero": "fail" if cancels else shape, "monotone": "fail" if cancels else "pass"}
    limit = "-0" if keeps_limit else "nan"
    findings = {
        "plus_infinity": _finding("f(+inf) = inf", fmt, "inf", "inf", "inf"),
        "minus_infinity": _finding(f"f(-inf) = {limit}, the limit is -0", fmt, "-inf", limit, "-0"),
        "nan": _finding("f(NaN) = nan", fmt, "nan", "nan", "nan"),
        "signed_zero": _finding("f(-0) = -0", fmt, "-0", "-0", "-0"),
    }
    if cancels:
        findings["tail_zero"] = _finding("zero from x = -5.54, too early", fmt, "-5.54", "0", "-8.2e-8")
        findings["monotone"] = _finding("rises 107721 times where it falls", fmt, "-5.12", "-7.6e-7", "-7.8e-7")
    return checks, findings


def _finding(detail: str, fmt: Format, *values: str) -> dict[str, Any]:
    bits = [fmt.bits_text(fmt.parse(v)) for v in values]
    return {"detail": detail, **dict(zip(("x_bits", "got_bits", "want_bits"), bits, strict=True))}


def _x_of(fmt: Format, bucket: np.ndarray) -> np.ndarray:
    return to_float64(fmt, from_ordinals(fmt, (bucket - 0x8000) << (fmt.width - 16)))


def _bits(fmt: Format, x: float) -> str:
    return fmt.bits_text(fmt.parse(repr(x)))


def _point(fmt: Format, x: float) -> dict[str, Any]:
    return {"x_bits": _bits(fmt, x), "x": x}


def _witness(fmt: Format, x: float, got: float) -> dict[str, str]:
    want = x * 0.5 * math.erfc(-x / math.sqrt(2))
    return {"x_bits": _bits(fmt, x), "got_bits": _bits(fmt, got), "want_bits": _bits(fmt, want)}
