"""Stored runs as somebody else would write them: edited, and sealed again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gelu_verify.records.result import Result
from gelu_verify.runs.store import _SEAL


def relabelled(result: Result, **fields: Any) -> Result:
    """A result that was really measured, under another name."""
    return result.updated(**fields)


def seal(folder: Path, body: str) -> None:
    """The manifest with that text, but for its end, and the hash of it."""
    content = body.encode("utf-8", "surrogatepass")
    (folder / "manifest.json").write_bytes(content + _SEAL.format(hashlib.sha256(content).hexdigest()).encode())


def edited(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The run after `change` of its manifest, with the hash that belongs to it (of schema 1: with none)."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest.pop("content_sha256", None)
    change(manifest)
    if manifest.get("schema") == 1:
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    else:
        seal(folder, json.dumps(manifest, indent=1).removesuffix("\n}"))
    return folder
