"""Releases of a library that were never measured but look like it: what the tests of the pages of releases read.

`torch` has four releases, the second of which failed. Its erf form is broken in float32 before 2.0.0, where AVX2 and
AVX-512 give the same; in 3.0.0 AVX-512 gives other bits, no better and no worse. float16 is absent first. A formula
gets worse.
"""

from gelu_verify.buckets.bins import layout
from gelu_verify.formats import get_format
from gelu_verify.functions.regions import INTERVALS, REGIONS
from gelu_verify.records.result import Record
from gelu_verify.records.serialize import record_from_json
from gelu_verify.versions.store import CURVE, FINITE, KeptOutput, MeasuredRelease, keep

ERF, HALF, FORMULA = "torch.gelu/gelu/float32", "torch.gelu/gelu/float16", "torch.gelu_sigmoid/gelu_sigmoid/float32"
EXPRESSIONS = {
    "torch.gelu": "torch.nn.functional.gelu(x)",
    "torch.gelu_sigmoid": "x * torch.sigmoid(1.702 * x)",
    "numpy.tanh": "numpy.tanh(x)",
}
WITNESS = {
    "float32": {"x_bits": "0xc0c00000", "got_bits": "0x80000000", "want_bits": "0xb1cbb6a0"},
    "float16": {"x_bits": "0xc200", "got_bits": "0xa1a3", "want_bits": "0xa1a1"},
}


def output(key, digest, max_ulp, grade, checks=(), parts="0", tail=None):
    """What a path gives: `parts` begins the digest of each interval in its own way, `tail` is the error below -3."""
    target, function, dtype = key.split("/")
    tail = max_ulp if tail is None else tail
    finding = {"detail": "zero from -5.6", **WITNESS[dtype], "severity": "loss"}
    errors = [tail if each.upper is not None and each.upper <= -3 else max_ulp / 2 for each in REGIONS]
    record = record_from_json({
        "target": target, "family": target.partition(".")[0], "function": function, "dtype": dtype, "form": "erf",
        "note": "", "expression": EXPRESSIONS[target], "version": "1", "plan": "fixed", "seed": 0, "n": 65536,
        "inputs_sha256": "0" * 64, "bound": "=" if get_format(dtype).width == 16 else ">=", "repeat": "",
        "max_ulp": max(max_ulp, tail),
        "witness": WITNESS[dtype], "grade": grade, "grade_bound": "=" if grade == "broken" else ">=",
        "sentence": f"{grade}, at most {max_ulp:g} ULP.", "conventions": ["NaN at -inf"] if checks else [],
        "checks": dict.fromkeys(checks, "fail"), "findings": dict.fromkeys(checks, finding), "bits_sha256": digest * 4,
        "regions": [
            {"region": each.name, "n": None, "max_ulp": error, "witness": None}
            for each, error in zip(REGIONS, errors, strict=True)
        ],
        "intervals": [
            {"interval": name, "n": 1, "correct": 0, "faithful": 0, "max_ulp": max_ulp / 4, "x_bits": None,
             "got_bits": None, "want_bits": None}
            for name in FINITE
        ],
    })  # fmt: skip
    assert isinstance(record, Record)
    size = layout(dtype, CURVE).size
    curve = tuple(
        None if place < 4 else round(40 * place / size) - (20 if parts == "0" else 8) for place in range(size)
    )
    return KeptOutput(digest, record, dict.fromkeys(INTERVALS, parts * 8), curve)


OLD = output(ERF, "a" * 16, 3.5, "broken", ["tail_zero"], tail=16774748.2)
NEW = output(ERF, "b" * 16, 2.5, "accurate", parts="1")
OTHER = output(ERF, "c" * 16, 2.5, "accurate", parts="2")
SAME = output(HALF, "d" * 16, 0.75, "faithful")
GOOD, BAD = output(FORMULA, "e" * 16, 2.0, "accurate"), output(FORMULA, "f" * 16, 30.0, "coarse", parts="1")
REASON = "NotImplementedError: not implemented for 'Half'"
RELEASES = (
    MeasuredRelease(
        version="1.9.0", released="2021-06-15", measured="2026-11-26", python="3.9.1", packages={"numpy": "1.26.4"},
        machine={"cpu": "AMD EPYC"}, absent={HALF: REASON},
        results={ERF: {"avx2": OLD.digest, "avx512": OLD.digest}, FORMULA: {"avx2": GOOD.digest}},
    ),
    MeasuredRelease(version="1.10.0", released="2021-10-21", measured="2026-11-26", failure="no wheel for Linux"),
    MeasuredRelease(
        version="2.0.0", released="2023-03-15", measured="2026-11-26", python="3.11.7",
        results={
            ERF: {"avx2": NEW.digest, "avx512": NEW.digest},
            FORMULA: {"avx2": BAD.digest},
            HALF: {"avx2": SAME.digest, "avx512": SAME.digest},
        },
    ),
    MeasuredRelease(
        version="3.0.0", released="2026-01-21", measured="2026-11-26", python="3.11.7",
        results={
            ERF: {"avx2": NEW.digest, "avx512": OTHER.digest},
            FORMULA: {"avx2": BAD.digest},
            HALF: {"avx2": SAME.digest, "avx512": SAME.digest},
        },
    ),
)  # fmt: skip
TANH = output("numpy.tanh/tanh/float32", "9" * 16, 1.2, "accurate")


def write_history(root):
    """data/versions of two libraries; the folder."""
    for release in RELEASES:
        keep(root, "torch", release, [OLD, NEW, OTHER, SAME, GOOD, BAD])
    results = {"numpy.tanh/tanh/float32": {"avx2": TANH.digest}}
    keep(root, "numpy", MeasuredRelease(version="2.0.0", released="", measured="2026-11-26", results=results), [TANH])
    return root
