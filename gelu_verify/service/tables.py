"""Tables of reference values as files: complete for 8 and 16 bits, hard cases and landmarks for wider dtypes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .. import __version__
from ..formats import FORMATS, Format, get_format
from ..functions import FUNCTIONS, get_function
from ..functions.parameters import exact_text
from ..inputs.plans import PLANS, make_plan
from ..records.grades import GRADES, MARKS
from ..truth.values import reference_bits

MEDIA_TYPES = {
    "npy": "application/octet-stream",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "bin": "application/octet-stream",
    "h": "text/plain",
}
HASH_DIGITS = 16
LANDMARKS = 4096
# Names of dtypes in NumPy's validation sets, whose fourth column is the error in ULP that a test allows.
_NUMPY_NAMES = {"bfloat16": "ml_dtypes.bfloat16", "float8_e4m3fn": "ml_dtypes.float8_e4m3fn",
                "float8_e5m2": "ml_dtypes.float8_e5m2"}  # fmt: skip


@dataclass(frozen=True)
class ValueTable:
    """Inputs and their correctly rounded results; in a `whole` table input i has the bits i."""

    function: str
    fmt: Format
    x_bits: np.ndarray
    y_bits: np.ndarray
    whole: bool


def file(function: str, dtype: str, kind: str) -> bytes:
    """The table of a function and dtype as npy, csv, parquet, bin or h."""
    return WRITERS[kind](_table(function, dtype))


def rows_of(dtype: str) -> int:
    """The rows of a table, about, where it is not whole."""
    fmt = get_format(dtype)
    return 1 << fmt.width if fmt.width <= 16 else LANDMARKS


@lru_cache(maxsize=2)
def _table(function: str, dtype: str) -> ValueTable:
    fmt = get_format(dtype)
    whole = fmt.width <= 16
    if whole:
        x = np.arange(1 << fmt.width, dtype=np.uint32).astype(fmt.uint)
    else:
        x = np.concatenate([chunk.x_bits() for chunk in make_plan("landmarks", function, dtype).chunks])
    return ValueTable(function, fmt, x, reference_bits(function, dtype, x), whole)


def _little(table: ValueTable) -> np.ndarray:
    """The content of npy and bin: results in the order of the inputs' bits, or rows (x, y)."""
    content = table.y_bits if table.whole else np.stack([table.x_bits, table.y_bits], axis=1)
    return np.ascontiguousarray(content.astype(table.fmt.uint.newbyteorder("<"), copy=False))


def _npy(table: ValueTable) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, _little(table), allow_pickle=False)
    return buffer.getvalue()


def _bin(table: ValueTable) -> bytes:
    return _little(table).tobytes()


def _csv(table: ValueTable) -> bytes:
    """The four columns of NumPy's umath validation sets, and parameters; the allowed error is a whole number, so 1."""
    fmt, name = table.fmt, _NUMPY_NAMES.get(table.fmt.name, f"np.{table.fmt.name}")
    digits = fmt.width // 4
    texts = parameters_of(table.function)
    more = "".join(f",{text}" for text in texts.values())
    rows = (
        f"{name},0x{x:0{digits}x},0x{y:0{digits}x},1{more}\n"
        for x, y in zip(table.x_bits.tolist(), table.y_bits.tolist(), strict=True)
    )
    return (",".join(["dtype", "input", "output", "ulperrortol", *texts]) + "\n" + "".join(rows)).encode()


def parameters_of(function: str) -> dict[str, str]:
    """The parameters of a function that has others than the default ones: columns of its tables."""
    values = get_function(function).values if "[" in function else {}
    return {name: exact_text(value) for name, value in values.items()}


def _parquet(table: ValueTable) -> bytes:
    metadata = {"function": table.function, "dtype": table.fmt.name, "rounding": "to nearest, ties to even"}
    return parquet_of(table.x_bits, table.y_bits, parameters_of(table.function), metadata)


def parquet_of(
    x_bits: np.ndarray, y_bits: np.ndarray, texts: Mapping[str, str], metadata: Mapping[str, str] | None = None
) -> bytes:
    """Inputs and results as a Parquet file, with a column of each text."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(_columns(x_bits, y_bits, texts).replace_schema_metadata(metadata), buffer, compression="zstd")
    return buffer.getvalue()


def arrow_of(x_bits: np.ndarray, y_bits: np.ndarray, texts: Mapping[str, str]) -> bytes:
    """The same as a stream of Arrow."""
    import pyarrow as pa

    table, buffer = _columns(x_bits, y_bits, texts), io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return buffer.getvalue()


def _columns(x_bits: np.ndarray, y_bits: np.ndarray, texts: Mapping[str, str]) -> Any:
    import pyarrow as pa

    repeated = {name: pa.repeat(text, len(x_bits)) for name, text in texts.items()}
    return pa.table({"x_bits": x_bits, "y_bits": y_bits, **repeated})


def _h(table: ValueTable) -> bytes:
    fmt, name = table.fmt, re.sub(r"\W", "_", f"{table.function}_{table.fmt.name}")
    kind, digits = f"uint{fmt.width}_t", fmt.width // 4
    what = "indexed by the bits of x" if table.whole else "hard cases and landmarks: {x, y}"
    rows = [f"0x{y:0{digits}x}" for y in table.y_bits.tolist()]
    if not table.whole:
        rows = [f"{{0x{x:0{digits}x}, {y}}}" for x, y in zip(table.x_bits.tolist(), rows, strict=True)]
    per_line = 8 if table.whole else 2
    lines = [", ".join(rows[i : i + per_line]) for i in range(0, len(rows), per_line)]
    shape = f"[{len(rows)}]" if table.whole else f"[{len(rows)}][2]"
    return (
        f"/* Generated by gelu-verify {__version__}: do not edit. Correctly rounded {table.function} in {fmt.name} as "
        f"bits,\n   {what}. */\n#include <stdint.h>\nstatic const {kind} {name}{shape} = {{\n"
        + ",\n".join(lines)
        + "\n};\n"
    ).encode()


WRITERS: dict[str, Callable[[ValueTable], bytes]] = {
    "npy": _npy,
    "csv": _csv,
    "parquet": _parquet,
    "bin": _bin,
    "h": _h,
}


def catalogue(static: bool) -> dict[str, Any]:
    """The functions, dtypes and plans of a server, or of a folder of static files."""
    entries = [
        {
            **{key: getattr(f, key) for key in ("name", "formula", "general", "gradient_of", "approximates")},
            "parameters": [
                {
                    "name": p.name,
                    "default": None if p.unsaid is not None else exact_text(p.default),
                    "meaning": p.meaning,
                }
                for p in f.parameters
            ],
        }
        for f in FUNCTIONS.values()
    ]
    keys = ("name", "width", "precision", "emin", "emax", "has_infinity")
    dtypes = [{key: getattr(fmt, key) for key in keys} for fmt in FORMATS.values()]
    grades = {grade: each.title for grade, each in GRADES.items()}
    return {
        **{"version": __version__, "static": static, "functions": entries, "dtypes": dtypes, "plans": list(PLANS)},
        **{"grades": grades, "marks": {bound: mark for bound, mark in MARKS.items() if bound}},
    }
