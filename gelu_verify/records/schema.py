"""What a manifest may say: keys, types and ranges, and what follows from one key for another.

The rules of a result follow from the declarations of `result.py`. Nothing here knows the buckets (`runs/integrity.py`
derives a result from them again). Keys that no rule knows are kept: a later version may add some.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache
from typing import Any

from ..errors import ResultsError
from ..formats import FORMATS, Format
from ..functions.regions import REGIONS
from .fields import key_of
from .grades import GRADED, graded, is_graded_so
from .manifest import Manifest
from .measures import MEASURES
from .parts import RegionErrors, Witness
from .result import Record
from .rules import (
    Rule,
    anything,
    list_of,
    rules_of,
    shape,
)
from .serialize import keys_of, record_from_json, to_json

SCHEMA = 2
SCHEMAS = (1, SCHEMA)  # that this version reads
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
IDENTITY = (
    *("target", "family", "function", "dtype", "form", "note", "version", "plan", "repeat"),
    *("seed", "n", "bound"),
)  # what is asked for first: an error names the result by it


def parsed_results(manifest: Any) -> list[Record]:
    """The results of a manifest; ResultsError, in one line, when it is none of a schema that this version reads."""
    if not isinstance(manifest, dict) or "schema" not in manifest:
        raise ResultsError("is not a gelu-verify manifest: it has no schema number")
    schema = manifest["schema"]
    if type(schema) is not int or schema not in SCHEMAS:
        raise ResultsError(f"has schema {schema!r:.40} (this version reads {' and '.join(map(str, SCHEMAS))})")
    _refuse(_MANIFEST(manifest))
    is_condensed = bool(manifest.get("recorded", {}).get("condensed"))
    return [_parsed(index, document, schema, is_condensed) for index, document in enumerate(manifest["results"])]


def _parsed(index: int, document: Any, schema: int, is_condensed: bool) -> Record:
    wrong = _wrong_condensed_document(document) if is_condensed else _wrong_document(document, schema)
    if not wrong:
        record = record_from_json(document)
        wrong = _wrong_condensed(record) if is_condensed else _wrong_record(record, schema)
        if not wrong:
            return record
    raise _refused(f"result {index}{wrong if wrong.startswith('.') else f' {wrong}'}")


def check_measured(record: Record, has_buckets: bool) -> None:
    """ResultsError when a result that was just measured, and is not stored, is none that could be."""
    stored = replace(record, buckets="buckets/000.parquet", sha256="0" * 64) if has_buckets else record
    wrong = _wrong_document(to_json(stored), SCHEMA) or _wrong_record(stored, SCHEMA)
    _refuse(wrong and f"{record.target}: {wrong}")


def _refuse(wrong: str | None) -> None:
    if wrong:
        raise _refused(wrong)


def _refused(wrong: str) -> ResultsError:
    return ResultsError(f"cannot be trusted: {wrong.lstrip('.')}")


# ---- a manifest ----------------------------------------------------------------------------------

_MANIFEST = shape(
    rules_of(Manifest, FORMATS["float32"]) | {"results": list_of(anything)},
    optional=[each.key for each in keys_of(Manifest) if each.omitted],
)

# ---- a result ------------------------------------------------------------------------------------

_SINCE = {key_of(each): each.metadata["since"] for each in fields(Record) if each.metadata}
_ALWAYS_SINCE = {key_of(each): each.metadata["always_since"] for each in fields(Record) if each.metadata}


@cache
def _rules(dtype: str) -> dict[str, Rule]:
    return rules_of(Record, FORMATS[dtype])


def _wrong_identity(document: Any) -> str | None:
    rules = _rules("float32")
    return shape({key: rules[key] for key in IDENTITY})(document)


def _wrong_document(document: Any, schema: int) -> str | None:
    """What is wrong with the keys and the types of a result."""
    if wrong := _wrong_identity(document):
        return wrong
    rules = _rules(document["dtype"])
    if wrong := shape(rules, [key for key in rules if _ALWAYS_SINCE[key] > 1])(document):
        return wrong
    unknown = [key for key in document if _SINCE.get(key, SCHEMA) > schema]
    unknown += [f"a check {name}" for name in document["checks"] if schema == 1 and name not in CHECKS_OF_1]
    if unknown:
        return f"has {unknown[0]:.40}, which schema {schema} has not"
    missing = [key for key in rules if _ALWAYS_SINCE[key] <= schema and key not in document]
    return f"lacks {', '.join(missing)}" if missing else None


def _wrong_record(record: Record, schema: int) -> str | None:
    """What does not fit together in one result."""
    if wrong := _wrong_bound(record):
        return wrong
    return _wrong_unmeasured(record) if record.buckets is None else _wrong_measured(record, schema)


def _wrong_bound(record: Record) -> str | None:
    width = FORMATS[record.dtype].width
    is_whole = record.n == 1 << width and not record.ranges and (record.second is None or record.second.bound == "=")
    if (record.bound == "=") != is_whole:
        return f".n is {record.n} with the bound {record.bound}"
    if record.bound_kind and (record.bound_kind == "exhaustive") != (record.bound == "="):
        return f".bound_kind is {record.bound_kind} with the bound {record.bound}"
    return None


def _wrong_unmeasured(record: Record) -> str | None:
    """A result without buckets: it failed, and there are no measures."""
    if record.failure is None:
        return ".buckets is null, and there is no failure"
    there = [key for key in MEASURES if getattr(record, key) is not None] + ["checks"] * bool(record.checks)
    if there:
        return f".{there[0]} is there without buckets to derive it from"
    if any(int(end, 16) >> FORMATS[record.dtype].width for end in (record.failure_range or "0").split(":")):
        return f".failure_range is {record.failure_range:.60}, which {record.dtype} has not"
    again = graded(record, None) if is_graded_so(record) else record
    wrong = [key for key in GRADED if getattr(record, key) != getattr(again, key)]
    return f".{wrong[0]} is not that of a target that failed" if wrong else None


def _wrong_measured(record: Record, schema: int) -> str | None:
    checks, findings = record.checks, record.findings
    missing = [name for name in FIRST_CHECKS if name not in checks]
    unfit = [name for name, outcome in checks.items() if (outcome != "not applicable") != (name in findings)]
    unfit += [name for name in findings if name not in checks]
    if missing:
        return f".checks lacks {', '.join(missing)}"
    if unfit:
        return f".findings does not fit checks at {unfit[0]:.40}"
    needed = ["correctly_rounded", "faithful", "nonfinite", "regions", "sha256"]
    needed += [key for key in _SINCE if _SINCE[key] == _ALWAYS_SINCE[key] == 2 and schema > 1]
    empty = [key for key in needed if getattr(record, key) is None]
    if empty:
        return f".{empty[0]} is null, and there are buckets"
    if any(part.n is None for part in record.regions or ()):
        return ".regions have no n, and there are buckets"
    return _wrong_errors(record)


def _wrong_errors(record: Record) -> str | None:
    if [part.region for part in record.regions or ()] != [region.name for region in REGIONS]:
        return ".regions are not all there once, in their order"
    if (record.max_ulp is None) != (record.witness is None):
        return ".witness does not fit max_ulp"
    return None if "beside" in record.lacking else _wrong_grade(record)


def _wrong_grade(record: Record) -> str | None:
    """A grade, a check or a largest error that something else of the record contradicts."""
    fmt, beside, largest = FORMATS[record.dtype], record.beside or (), record.max_ulp or 0.0
    if any((each.ulp or 0.0) > largest for each in beside):
        return ".max_ulp is smaller than an error beside the plan"
    spoiled = any(each.ulp is None and fmt.is_finite(int(each.x_bits, 16)) and not fmt.is_finite(int(each.got_bits, 16))
                  and fmt.is_finite(int(each.want_bits, 16)) for each in beside)  # fmt: skip
    spoiled |= bool(record.nonfinite and record.nonfinite.count)
    if spoiled and record.checks.get("finite") == "pass":
        return ".checks has finite as passed, and there are results that are not"
    defects = [name for name, each in record.findings.items() if each.severity == "defect"]
    if (spoiled or defects) and record.grade != "broken":
        return f".grade is {record.grade}, in spite of {defects[0] if defects else 'results that are not finite'}"
    limit = {"correctly_rounded": 0.5000001, "faithful": 1.0}.get(record.grade or "", math.inf)
    if record.witness and is_subnormal(fmt, record.witness):  # of which an error does not count
        return None
    return f".grade is {record.grade}, and max_ulp {largest:.6g}" if largest > limit else None


def is_subnormal(fmt: Format, witness: Witness) -> bool:
    """Whether its input is, or its correctly rounded result before it is rounded."""
    least_normal = 1 << (fmt.precision - 1)
    x, want = (fmt.magnitude(int(bits, 16)) for bits in (witness.x_bits, witness.want_bits))
    return x < least_normal or want <= least_normal


# ---- a condensed result --------------------------------------------------------------------------

CONDENSED = (
    *("target", "family", "function", "dtype", "form", "note", "version", "plan", "seed", "n", "bound", "repeat"),
    *("max_ulp", "witness", "nonfinite", "zero_from", "regions", "checks", "failure", "expression", "executed"),
    *("dispatch", *GRADED),
)  # the keys of a result of a condensed run, whose `checks` are those that failed


def condensed(record: Record) -> Record:
    """The record with the numbers of the published matrix only."""
    regions = tuple(RegionErrors(part.region, None, part.max_ulp, None) for part in record.regions or ())
    values = {name: getattr(record, name) for name in CONDENSED}
    values["regions"] = None if record.regions is None else regions
    values["checks"] = dict.fromkeys(record.failed_checks, "fail")
    return Record(**values, lacking=frozenset(_SINCE) - frozenset(CONDENSED))


def _wrong_condensed_document(document: Any) -> str | None:
    if wrong := _wrong_identity(document):
        return wrong
    if unknown := [key for key in document if key not in CONDENSED]:
        return f"has {unknown[0]:.40}, which a condensed run has not"
    rules = _rules(document["dtype"])
    later = ("expression", "executed", "dispatch", *GRADED)  # which runs before 2026-11-22 lack
    return shape({key: rules[key] for key in CONDENSED}, later)(document)


def _wrong_condensed(record: Record) -> str | None:
    if wrong := _wrong_bound(record):
        return wrong
    if set(record.checks.values()) - {"fail"}:
        return ".checks has one that did not fail"
    if record.regions is None:
        return None if record.failure is not None else ".regions is null, and there is no failure"
    return _wrong_errors(record)
