"""A study as files: `manifest.json` and one Parquet file for each frame, floats as unsigned bits."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..atomic_files import replace_file
from ..errors import ResultsError
from .study import Study, StudyPlan

SCHEMA = 2
ORIGIN = ("versions", "machine", "data", "cost")
FRAMES = ("tuning", "functions", "kernels", "curves", "layers", "noise", "networks", "served")


def write_study(study: Study, folder: Path) -> None:
    """Write a study into a folder; the manifest, with the hashes of the other files, comes last."""
    contents = {f"{name}.parquet": _parquet(getattr(study, name)) for name in FRAMES}
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "study",
        "plan": asdict(study.plan),
        **study.origin,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    }
    contents["manifest.json"] = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            replace_file(folder / name, content, flush=True)
    except OSError as error:
        raise ResultsError(f"cannot write the study: {error.filename or folder}: {error.strerror or error}") from error


def read_study(folder: Path) -> Study:
    """A stored study; ResultsError where it is not there, of another schema, or not as it was written."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        if manifest.get("kind") != "study" or manifest.get("schema") != SCHEMA:
            raise ResultsError(f"{folder} is not a study of schema {SCHEMA}")
        contents = {name: (folder / name).read_bytes() for name in manifest["files"]}
    except OSError as error:
        raise ResultsError(f"{folder} is not a stored study: {error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, AttributeError) as error:
        raise ResultsError(f"{folder} is not a stored study: its manifest.json cannot be read ({error})") from error
    for name, content in contents.items():
        if hashlib.sha256(content).hexdigest() != manifest["files"][name]:
            raise ResultsError(f"{folder / name} is not the file that manifest.json names")
    plan: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in manifest["plan"].items()
    }
    origin = {key: manifest[key] for key in ORIGIN}
    frames = {name: _frame(contents[f"{name}.parquet"]) for name in FRAMES}
    return Study(plan=StudyPlan(**plan), origin=origin, **frames)


def _parquet(frame: pd.DataFrame) -> bytes:
    """Columns of floats become `NAME_bits32` or `NAME_bits64`."""
    columns = {}
    for name in frame:
        column = frame[name]
        if column.dtype.kind == "f":
            bits = column.to_numpy()
            columns[f"{name}_bits{8 * bits.itemsize}"] = bits.view(f"u{bits.itemsize}")
        else:
            columns[str(name)] = column.to_numpy()
    bits = [name for name in columns if "_bits" in name]  # a third smaller byte by byte
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(
        file,
        index=False,
        compression="zstd",
        use_dictionary=[name for name in columns if name not in bits],
        use_byte_stream_split=bits,
    )
    return file.getvalue()


def _frame(content: bytes) -> pd.DataFrame:
    frame = pd.read_parquet(io.BytesIO(content))
    columns = {}
    for name in map(str, frame):
        bare, _, width = name.rpartition("_bits")
        values = frame[name].to_numpy()
        columns[bare or name] = values.view(np.dtype(f"f{int(width) // 8}")) if bare else values
    return pd.DataFrame(columns)
