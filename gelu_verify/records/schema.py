"""What a manifest may say: keys, types and ranges, and what follows from one key for another.

Nothing here knows the buckets (`integrity.py` derives a result from them again). A rule is a function of a value that
says what is wrong with it, or None. Keys that no rule knows are kept: a later version may add some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..buckets.summary import SUMMARY_KEYS
from ..errors import ResultsError
from ..formats import FORMATS, Format
from ..functions import FUNCTIONS
from ..functions.regions import INTERVALS, REGIONS

Rule = Callable[[Any], str | None]
SCHEMA = 2
SCHEMAS = (1, SCHEMA)  # that this version reads
VERDICTS = ("pass", "fail", "not applicable")
LARGEST_INTEGER = 1 << 64
WITNESS = ("x_bits", "got_bits", "want_bits")
# checks of the first version, which every measured result has; `cli/gate.py` asks for all that this version knows
FIRST_CHECKS = (
    *("finite", "half_slope", "minus_infinity", "monotone", "nan", "plus_infinity", "range", "sign", "signed_zero"),
    *("tail_zero", "variant"),
)
CHECKS_OF_1 = (
    *FIRST_CHECKS,
    *(
        "constants",
        "gradient_variant",
        "lane",
        "outlier",
        "plateau",
        "precision",
        "repeatable",
        "saturation",
        "subnormals",
    ),
)
SINCE_2 = ("inputs_sha256", "intervals", "bits_sha256")  # keys of a result that schema 1 has not


def check_manifest(manifest: Any) -> None:
    """ResultsError, in one line, when it is no manifest of a schema that this version reads."""
    if not isinstance(manifest, dict) or "schema" not in manifest:
        raise ResultsError("is not a gelu-verify manifest: it has no schema number")
    schema = manifest["schema"]
    if type(schema) is not int or schema not in SCHEMAS:
        raise ResultsError(f"has schema {schema!r:.40} (this version reads {' and '.join(map(str, SCHEMAS))})")
    _refuse(_MANIFEST(manifest))
    for index, result in enumerate(manifest["results"]):
        wrong = _result(result, schema)
        _refuse(wrong and f"result {index}{wrong if wrong.startswith('.') else f' {wrong}'}")


def check_measured(result: Mapping[str, Any], has_buckets: bool) -> None:
    """The same of a result that was just measured, and is not stored."""
    named = {"buckets": "buckets/000.parquet", "sha256": "0" * 64} if has_buckets else {}
    wrong = _result({**result, **named}, SCHEMA)
    _refuse(wrong and f"{result['target']}: {wrong}")


def _refuse(wrong: str | None) -> None:
    if wrong:
        raise ResultsError(f"cannot be trusted: {wrong.lstrip('.')}")


# ---- rules ---------------------------------------------------------------------------------------


def _anything(value: Any) -> str | None:
    return None


def _number(least: float = 0.0, most: float = math.inf) -> Rule:
    def rule(value: Any) -> str | None:
        if type(value) not in (int, float) or (type(value) is int and abs(value) > LARGEST_INTEGER):
            return f"is {_shown(value)}, not a number"
        return None if math.isfinite(value) and least <= value <= most else f"is {_shown(value)}, which cannot be"

    return rule


def _integer(least: int = 0, most: int = LARGEST_INTEGER) -> Rule:
    def rule(value: Any) -> str | None:
        good = type(value) is int and least <= value <= most
        return None if good else f"is {_shown(value)}, not an integer from {least} on"

    return rule


def _text(pattern: str = "", what: str = "text") -> Rule:
    def rule(value: Any) -> str | None:
        good = isinstance(value, str) and (not pattern or re.fullmatch(pattern, value))
        return None if good else f"is {_shown(value)}, not {what}"

    return rule


def _one_of(accepted: Iterable[Any]) -> Rule:
    names = tuple(accepted)

    def rule(value: Any) -> str | None:
        good = any(type(value) is type(name) and value == name for name in names)
        return None if good else f"is {_shown(value)} (known: {', '.join(map(str, names))})"

    return rule


def _or_null(inner: Rule) -> Rule:
    return lambda value: None if value is None else inner(value)


def _list(inner: Rule) -> Rule:
    def rule(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"is {_shown(value)}, not a list"
        return next((f"[{k}]{_joined(wrong)}" for k, each in enumerate(value) if (wrong := inner(each))), None)

    return rule


def _object(inner: Rule, key: Rule = _anything) -> Rule:
    """Any keys of one kind, all with values of one kind."""

    def rule(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"is {_shown(value)}, not an object"
        found = ((name, key(name) or inner(each)) for name, each in value.items())
        return next((f".{name:.40}{_joined(wrong)}" for name, wrong in found if wrong), None)

    return rule


def _shape(optional: Iterable[str] = (), /, **keys: Rule) -> Rule:
    """An object with these keys, of which some may lack."""
    may_lack = set(optional)

    def rule(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"is {_shown(value)}, not an object"
        missing = [key for key in keys if key not in value and key not in may_lack]
        if missing:
            return f"lacks {', '.join(missing)}"
        found = ((key, keys[key](value[key])) for key in keys if key in value)
        return next((f".{key}{_joined(wrong)}" for key, wrong in found if wrong), None)

    return rule


def _joined(wrong: str) -> str:
    return wrong if wrong[0] in ".[" else f" {wrong}"


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return (
        f"{value:.4g}" if isinstance(value, float) else f"{value!r:.60}" if not isinstance(value, int) else "a number"
    )


# ---- a manifest ----------------------------------------------------------------------------------

_TEXTS = _object(_text())
_MANIFEST = _shape(
    ("device", "recorded"),
    command=_text(),
    created=_text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "a time as 2026-09-21T10:12:13Z"),
    seed=_integer(),
    plan=_text(),
    versions=_TEXTS,
    machine=_shape(
        ("cpu", "architecture", "isa", "switches", "cores", "caches", "os", "python", "compiler", "libm"),
        **dict.fromkeys(("cpu", "architecture", "os", "python", "compiler", "libm"), _text()),
        isa=_list(_text()),
        switches=_TEXTS,
        cores=_integer(1),
        caches=_object(_integer()),
    ),
    device=_or_null(_TEXTS),
    git=_or_null(_shape(commit=_text("[0-9a-f]{7,64}", "a commit"), dirty=_one_of((True, False)))),
    copy_bytes_per_s=_or_null(_number()),
    absent=_TEXTS,
    recorded=_shape(date=_text(r"\d{4}-\d\d-\d\d", "a date"), device=_text()),
    results=_list(_anything),
)

# ---- a result ------------------------------------------------------------------------------------

_TIMES = _shape(
    (
        "threads",
        "elements_per_s",
        "bytes_per_s",
        "spread",
        "copy_ratio",
        "copy_bytes_per_s",
        "repeats",
        "left_out",
    ),
    level=_text(),
    n=_integer(),
    threads=_integer(1),
    **dict.fromkeys(("elements_per_s", "bytes_per_s", "spread", "copy_ratio", "copy_bytes_per_s"), _or_null(_number())),
    repeats=_or_null(_integer()),
    left_out=_or_null(_text()),
)
_IDENTITY = dict(
    target=_text(".+", "a name"),
    family=_text(".+", "a name"),
    function=_one_of(FUNCTIONS),
    dtype=_one_of(FORMATS),
    **dict.fromkeys(("form", "note", "version", "plan", "repeat"), _text()),
    seed=_integer(),
    n=_integer(1),
    bound=_one_of(("=", ">=")),
)
# keys that came after the first version: runs of before lack them
_LATER = (
    *("ranges", "bound_kind", "computes_in", "rounding", "flush", "root", "tolerances", "pair", "time"),
    *("failure_kind", "failure_range"),
)


def _rules_of(fmt: Format) -> dict[str, Rule]:
    """The rules of a result in a dtype, whose bits are as wide as it is."""
    bits = _text(f"0x[0-9a-f]{{{fmt.width // 4}}}", f"bits of {fmt.name}")
    ulp = _or_null(_number())
    witness = _or_null(_shape(**dict.fromkeys(WITNESS, bits)))
    part = {"max_ulp": ulp, "witness": witness}
    point = _or_null(_shape(x_bits=bits, x=_number(-math.inf)))
    counts = dict.fromkeys(("n", "correct", "faithful"), _integer())
    finding = _shape(detail=_text(), **dict.fromkeys(WITNESS, _or_null(bits)))
    pair = dict.fromkeys(("x_bits", "got_bits", "other_bits"), bits)
    size = _shape(
        ("sizes",), elements_per_s=_number(), spread=_number(), copy_ratio=_or_null(_number()), n=_integer(1),
        sizes=_list(_TIMES),
    )  # fmt: skip
    return dict(
        **_IDENTITY,
        ranges=_or_null(_list(_text("0x[0-9a-f]+:0x[0-9a-f]+", "a range of bits"))),
        bound_kind=_one_of(("exhaustive", "sampled", "searched")),
        **dict.fromkeys(("max_ulp", "p50_ulp", "p99_ulp"), ulp),
        witness=witness,
        mean_ulp=_or_null(_number(-math.inf)),
        **dict.fromkeys(("correctly_rounded", "faithful"), _or_null(_number(0, 1))),
        max_rank=_or_null(_integer()),
        nonfinite=_or_null(_shape(count=_integer(), x_bits=_or_null(bits))),
        zero_from=point,
        zero_threshold=point,
        regions=_or_null(_list(_shape(region=_one_of(r.name for r in REGIONS), n=_integer(), **part))),
        intervals=_or_null(
            _list(_shape(interval=_one_of(INTERVALS), max_ulp=ulp, **counts, **dict.fromkeys(WITNESS, _or_null(bits))))
        ),
        bits_sha256=_or_null(_text("[0-9a-f]{64}", "a sha256")),
        inputs_sha256=_text("[0-9a-f]{64}", "a sha256"),
        approximation=_or_null(
            _shape(function=_one_of(FUNCTIONS), max_ulp=_number(), max_abs=_number(), x_bits=bits)
        ),
        variant=_or_null(_text()),
        checks=_object(_one_of(VERDICTS), _text("[a-z][a-z0-9_]*", "a name")),
        findings=_object(finding),
        **dict.fromkeys(("computes_in", "rounding", "failure_kind", "failure_range"), _or_null(_text())),
        flush=_or_null(_shape(flushed=_text(), max_ulp=ulp)),
        root=_or_null(_shape(x_bits=bits, max_ulp=_number(), max_ulp_absolute=_number())),
        tolerances=_or_null(_object(_one_of((True, False)))),
        pair=_or_null(
            _shape(
                **{"with": _text()}, inputs=_integer(), differ=_integer(), floats=_integer(),
                witness=_or_null(_shape(**pair)), max_ulp=ulp,
            )
        ),
        throughput=_or_null(size),
        time=_or_null(_shape(sweep_s=_number(), target_s=_number(), threads=_integer(1), ratio=_number())),
        failure=_or_null(_text(".+", "a line")),
        buckets=_or_null(_text(r"buckets/[0-9]{3,8}\.parquet", "buckets/NNN.parquet")),
        sha256=_or_null(_text("[0-9a-f]{64}", "a sha256")),
    )  # fmt: skip


_RESULTS = {name: _rules_of(fmt) for name, fmt in FORMATS.items()}


def _result(result: Any, schema: int) -> str | None:
    """What is wrong with one result."""
    if wrong := _shape(**_IDENTITY)(result):
        return wrong
    fmt = FORMATS[result["dtype"]]
    rules = _RESULTS[result["dtype"]]
    if wrong := _shape((*_LATER, *SINCE_2), **rules)(result):
        return wrong
    unknown = [key for key in result if key not in rules or key in SINCE_2]
    unknown += [f"a check {name}" for name in result["checks"] if name not in CHECKS_OF_1]
    if schema == 1 and unknown:
        return f"has {unknown[0]:.40}, which schema 1 has not"
    if schema > 1 and (missing := [key for key in (*_LATER, *SINCE_2) if key not in result]):
        return f"lacks {', '.join(missing)}"
    if (result["bound"] == "=") != (result["n"] == 1 << fmt.width and not result.get("ranges")):
        return f".n is {result['n']} with the bound {result['bound']}"
    if result.get("bound_kind", "") and (result["bound_kind"] == "exhaustive") != (result["bound"] == "="):
        return f".bound_kind is {result['bound_kind']} with the bound {result['bound']}"
    if result["buckets"] is None:
        return _unmeasured(result)
    return _measured(result, schema)


def _unmeasured(result: Mapping[str, Any]) -> str | None:
    """A result without buckets: it failed, and there are no measures."""
    if result["failure"] is None:
        return ".buckets is null, and there is no failure"
    there = [key for key in SUMMARY_KEYS if result.get(key) is not None] + ["checks"] * bool(result["checks"])
    return f".{there[0]} is there without buckets to derive it from" if there else None


def _measured(result: Mapping[str, Any], schema: int) -> str | None:
    checks, findings = result["checks"], result["findings"]
    missing = [name for name in FIRST_CHECKS if name not in checks]
    untold = [name for name, verdict in checks.items() if (verdict != "not applicable") != (name in findings)]
    odd = [name for name in findings if name not in checks]
    if missing:
        return f".checks lacks {', '.join(missing)}"
    if untold or odd:
        return f".findings does not fit checks at {(untold + odd)[0]:.40}"
    empty = [key for key in ("correctly_rounded", "faithful", "nonfinite", "regions", "sha256") if result[key] is None]
    empty += [key for key in SINCE_2 if schema > 1 and result[key] is None]
    if empty:
        return f".{empty[0]} is null, and there are buckets"
    if [region["region"] for region in result["regions"]] != [region.name for region in REGIONS]:
        return ".regions are not all there once, in their order"
    if (result["max_ulp"] is None) != (result["witness"] is None):
        return ".witness does not fit max_ulp"
    return None
