"""What decides results beside the request: code, builds of libraries, interpreter, C library, processor, switches.

Two processes whose facts are the same may share one measurement. `PROCESSOR` names those that say what a library may
choose its code by: between machines where only they differ, outputs decide (`probe`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import socket
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .. import plugins
from ..inputs.plans import make_plan
from ..machine import FAMILIES, PACKAGES, machine, versions
from ..targets import Target
from .journal import Facts

PROCESSOR = ("processor", "instruction sets")
LATER = ("report", "service", "cli", "ci", "gate", "compare", "__pycache__")  # folders of code that changes no result
PROBE = "quick"  # plan whose inputs two workers must give the same outputs for


def identity(families: Iterable[str]) -> Facts:
    """The facts of this process, and of the libraries of those families of targets."""
    here = machine()
    packages = [*PACKAGES, *(name for family in sorted(set(families)) for name in FAMILIES.get(family, (family,)))]
    return {
        **{f"version of {name}": text for name, text in versions(packages).items()},
        **{f"version of {name}": text for name, text in plugins.versions().items()},
        **{f"build of {name}": text for name in dict.fromkeys(packages) if (text := build_of(name))},
        "code of gelu-verify": code_sha256(),
        "Python": f"{here['python']} ({here['compiler']})",
        "system": f"{platform.system()} {here['architecture']}",
        "C library": here["libm"],
        "switches": " ".join(f"{name}={value}" for name, value in sorted(here["switches"].items())),
        "processor": here["cpu"],
        "instruction sets": " ".join(here["isa"]),
    }


@cache
def build_of(package: str) -> str:
    """Digest of the list of all files of an installed package with their checksums; empty where it has none."""
    try:
        record = importlib.metadata.distribution(package).read_text("RECORD")
    except importlib.metadata.PackageNotFoundError:
        return ""
    lines = sorted(
        line for line in (record or "").splitlines() if ".dist-info/" not in line and "__pycache__" not in line
    )
    return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}" if lines else ""


@cache
def code_sha256() -> str:
    """Digest of the code of this package that decides results, compiled code included."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LATER)
        for name in sorted(files):
            if name.endswith((".py", ".so", ".pyd")):
                path = Path(folder) / name
                digest.update(f"{path.relative_to(root)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()[:16]}"


def worker_facts() -> dict[str, str]:
    """What a manifest says of the machine that a worker runs on."""
    here = machine()
    return {"host": socket.gethostname(), "cpu": here["cpu"], "isa": " ".join(here["isa"])}


def probe(target: Target, function: str, dtype: str) -> str:
    """Digest of the outputs for some inputs of every region; empty where two calls do not agree.

    Where two machines differ in it, they run different code.
    """
    chunks = make_plan(PROBE, function, dtype).chunks
    first, second = (
        hashlib.sha256(b"".join(target.evaluate(dtype, chunk.x_bits()).tobytes() for chunk in chunks)).hexdigest()
        for _ in range(2)
    )
    return first if first == second else ""
