"""Families of implementations that break down, planted where this process and every process below it finds them."""

from __future__ import annotations

import os
from contextlib import contextmanager

from gelu_verify.targets import frameworks

FAMILY = """
import ctypes, os, time
import numpy as np
from gelu_verify.targets.python_callables import callable_target

def good(x):
    return np.maximum(x, 0)

def breaks(x):
    if (x == 3).any():
        {deed}
    return np.maximum(x, 0)

def discover():
    {at_first}
    yield callable_target(good, "relu", "float32", name="{name}.good")
    yield callable_target(breaks, "relu", "float32", name="{name}.breaks")
"""
DEEDS = {
    "crashes": "ctypes.string_at(16)",
    "hangs": "time.sleep(1000)",
    "raises": "raise ValueError('three')",
    "leaves": "os._exit(7)",
    "grows": "kept = []\n        while True: kept.append(np.ones(1 << 20))",
    "slow": "time.sleep(1.0)",
    "prints": "print('three')",
}
AT_FIRST = {"stillborn": "os.abort()", "sleeper": "time.sleep(1000)", "absentee": "import nobody_has_this",
            "leaver": "os._exit(3)"}  # fmt: skip
PATHS = "import sys; from gelu_verify.targets import frameworks; frameworks.__path__.append({folder!r})"


@contextmanager
def planted(folder, monkeypatch):
    """The environment in which `gelu-verify` and its children have these families."""
    for name in (*DEEDS, *AT_FIRST):
        deed, at_first = DEEDS.get(name, "pass"), AT_FIRST.get(name, "pass")
        (folder / f"{name}.py").write_text(FAMILY.format(name=name, deed=deed, at_first=at_first))
    start = folder / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(PATHS.format(folder=str(folder)))
    path = os.pathsep.join(filter(None, (str(start), os.environ.get("PYTHONPATH"))))
    with monkeypatch.context() as here:
        here.setenv("PYTHONPATH", path)
        here.setattr(frameworks, "__path__", [*frameworks.__path__, str(folder)])
        yield {"PYTHONPATH": path}
