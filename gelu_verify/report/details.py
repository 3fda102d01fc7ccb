"""What the page's scripts read: every result in full, and its error along x, as compressed blocks in the page.

A block is decoded when it is first needed. Curves are as fine as the size of the page allows.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.bins import FINEST, FLOOR, HIGHEST, Layout, layout
from ..buckets.table import HIST_EDGES
from ..formats import get_format
from ..functions import FUNCTIONS
from ..functions.regions import REGIONS
from ..records.asking import ask_command
from ..records.claims import range_text
from ..records.grades import ORDER
from ..records.result import Record
from ..records.serialize import to_json
from .axis import edge_values, ticks
from .evidence import program_at
from .folds import COLUMNS, LEVELS, MEAN_LEVELS, Fold, signed_histogram, strip_layout
from .frames import RunLike
from .questions import roles
from .ranking import RankedResult
from .verdicts import group_of

if TYPE_CHECKING:
    import pandas as pd

DETAILS = ((32, 32), (32, 16), (32, 8), (16, 8), (16, 4), (8, 4), (8, 2), (8, 1))  # bins; of worst inputs
_UNREAD = ("intervals", "inputs_sha256", "bits_sha256", "sha256", "buckets", "time")

Block = str  # base64 of a zlib stream


@dataclass(frozen=True)
class Curves:
    """What the buckets of a result are folded into."""

    fine: Fold
    strip: Fold
    histogram: tuple[list[int], list[int]] | None


def curves_of(runs: Sequence[RunLike], items: Sequence[RankedResult]) -> dict[str, Curves]:
    """{id: curves} of the results that have buckets."""
    stored = [item for item in items if item.record.buckets is not None]
    with ThreadPoolExecutor(4) as pool:  # each has a whole table in memory
        found = pool.map(lambda item: _curves(runs[item.run].table(item.index, COLUMNS), item.record.dtype), stored)
        return dict(zip((item.id for item in stored), found, strict=True))


def _curves(table: pd.DataFrame, dtype: str) -> Curves:
    histogram = signed_histogram(table)
    fine, strip = (Fold.of(table, bins) for bins in (layout(dtype, FINEST), strip_layout(dtype)))
    return Curves(fine, strip, histogram and (histogram[0].tolist(), histogram[1].tolist()))


def page_data(
    items: Sequence[RankedResult],
    curves: Mapping[str, Curves],
    texts: Mapping[str, str],
    attributions: Mapping[str, Mapping[str, Any]],
    numbers: Mapping[str, int],
    limit: int,
) -> dict[str, Any]:
    """The object that plot-data holds, of at most about `limit` bytes."""
    role = roles([item.record for item in items])
    found = {
        item.id: _details(item, curves.get(item.id), texts[item.id], attributions.get(item.id))
        | {"role": role.get(id(item.record))}
        for item in items
    }
    results = json.dumps(_finite(found), separators=(",", ":"), allow_nan=False)
    head = {"places": numbers, "results": _block(results.encode(errors="replace")), **_constants(items)}
    room = limit - len(json.dumps(head))
    for bins, witnesses in DETAILS:
        blocks = _blocks(items, curves, bins, witnesses)
        if sum(len(block["data"]) for block in blocks.values()) <= room:
            break
    dtypes = {item.record.dtype for item in items if item.id in curves}
    return {**head, "layouts": {dtype: _layout(dtype, bins, witnesses) for dtype in sorted(dtypes)}, "blocks": blocks}


def _finite(value: Any) -> Any:
    """The same for JSON, which has no infinity: null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def _constants(items: Sequence[RankedResult]) -> dict[str, Any]:
    names = sorted({item.record.function for item in items})
    return {
        "grades": ORDER,
        "regions": [region.name for region in REGIONS],
        "levels": LEVELS,
        "meanLevels": MEAN_LEVELS,
        "floor": FLOOR,
        "ceiling": HIGHEST,
        "histogramEdges": [*HIST_EDGES[:-1], None],
        "landmarks": {
            name: {label: float(x) for label, x in FUNCTIONS[name].landmarks.items()}
            for name in names
            if name in FUNCTIONS
        },
    }


def _layout(dtype: str, bins: int, witnesses: int) -> dict[str, Any]:
    fine, coarse, fmt = layout(dtype, bins), layout(dtype, witnesses), get_format(dtype)
    return {
        "edges": edge_values(fine),
        "ticks": ticks(fine),
        "witness": _ends(fine, coarse),
        "width": fmt.width,
        "precision": fmt.precision,
        "emin": fmt.emin,
    }


def _ends(fine: Layout, coarse: Layout) -> list[int]:
    """First fine bin of each coarse one."""
    return [int(at) for at in np.searchsorted(fine.edges, coarse.edges[:-1])]


def _blocks(items: Sequence[RankedResult], curves: Mapping[str, Curves], bins: int, witnesses: int) -> dict[str, Any]:
    """{"function/dtype": {ids, nonfinite ranges, data}}."""
    measured = [item for item in items if item.id in curves]
    found = {}
    for (function, dtype), members in groupby(measured, key=lambda item: (item.record.function, item.record.dtype)):
        group = list(members)
        folds = [curves[item.id].fine.into(layout(dtype, bins)) for item in group]
        raw = b"".join(fold.encoded(layout(dtype, witnesses)) for fold in folds)
        found[f"{function}/{dtype}"] = {
            "ids": [item.id for item in group],
            "nonfinite": [fold.nonfinite_ranges() for fold in folds],
            "data": _block(raw),
        }
    return found


def _block(raw: bytes) -> Block:
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")


def _details(
    item: RankedResult, curves: Curves | None, evidence: str, attribution: Mapping[str, Any] | None
) -> dict[str, Any]:
    record = item.record
    found = {name: value for name, value in to_json(record).items() if name not in _UNREAD and name[:1] != "_"}
    findings = found.get("findings", {})  # a condensed run has none
    found["findings"] = {name: each for name, each in findings.items() if _says_something(name, each, record)}
    return {
        **{name: value for name, value in found.items() if value is not None},
        "group": group_of(record),
        "rangeText": range_text(record.dtype, record.accurate_range, record.bound),
        "attribution": attribution,
        "histogram": curves.histogram if curves else None,
        "evidence": evidence,
        "ask": ask_command(record, "X_BITS"),
        "program": record.witness and program_at(record, record.witness),
        "recorded": record.origin.recorded,
    }


def _says_something(name: str, finding: Mapping[str, Any], record: Record) -> bool:
    return bool(finding["detail"] or finding["x_bits"] or record.checks.get(name) == "fail")
