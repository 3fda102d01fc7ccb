"""Provenance of results: processor, system, versions, state of the source, memory bandwidth."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import plugins
from .commands import output_of
from .gpu.info import device
from .timing import interleaved

# What decides results or speed, of the hundred names in /proc/cpuinfo.
ISA = (
    *("sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"),
    *("avx512_bf16", "avx512_fp16", "avx_vnni", "avx512_vnni", "amx_tile", "amx_bf16", "amx_fp16"),
    *("asimd", "fphp", "asimdhp", "bf16", "sve", "sve2", "svebf16"),
)
PACKAGES = ("gelu-verify", "numpy", "mpmath", "pandas", "pyarrow", "ml_dtypes")
FAMILIES = {
    "torch": ("torch",),
    "jax": ("jax", "jaxlib"),
    "tensorflow": ("tensorflow", "tensorflow-cpu"),
    "torch_compiled": ("torch",),
    "huggingface": ("transformers", "torch"),
    "keras": ("keras", "tensorflow", "tensorflow-cpu"),
    "paddle": ("paddlepaddle",),
    "litert": ("ai-edge-litert",),
}
# Environment variables by which libraries choose another path on the same processor.
SWITCHES = (
    *("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "GLIBC_TUNABLES", "NPY_DISABLE_CPU_FEATURES", "ONEDNN_MAX_CPU_ISA"),
    *("ONEDNN_DEFAULT_FPMATH_MODE", "TF_ENABLE_ONEDNN_OPTS", "XLA_FLAGS", "GELU_VERIFY_MAX_ISA"),
)
COPY_BYTES = 1 << 26
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
TYPICAL = {"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}


def provenance(families: Iterable[str], timed: bool) -> dict[str, Any]:
    """The manifest's versions (of target families too), machine, device, git, and copy_bytes_per_s of a `timed` run."""
    packages = [*PACKAGES, *(name for family in sorted(set(families)) for name in FAMILIES.get(family, (family,)))]
    return {
        "versions": {**versions(packages), **plugins.versions()},
        "machine": machine(),
        "device": device(),
        "git": git_state(),
        "copy_bytes_per_s": copy_bytes_per_s() if timed else None,
    }


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Processor, instruction sets, switches of dispatch, cores, data caches, system, interpreter, C library."""
    cpu, flags = _cpu()
    return {
        "cpu": cpu,
        "architecture": platform.machine(),
        "isa": [name for name in ISA if name in flags],
        "switches": {name: os.environ[name] for name in SWITCHES if name in os.environ},
        "cores": cores(),
        "caches": caches(),
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "compiler": platform.python_compiler(),
        "libm": " ".join(platform.libc_ver()).strip() or platform.platform(terse=True),
    }


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def caches() -> dict[str, int]:
    """{"L1", "L2", "L3"}: bytes of the first core's data caches, as the system says; TYPICAL where it does not."""
    found: dict[str, int] = {}
    for folder in sorted(CACHES.glob("index*")):
        kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction" and size[:-1].isdecimal():
            found[f"L{level}"] = int(size[:-1]) * UNITS[size[-1]]
    if sys.platform == "darwin":
        for name, level in (("l1dcachesize", "L1"), ("l2cachesize", "L2"), ("l3cachesize", "L3")):
            size = output_of("sysctl", "-n", f"hw.{name}")
            if size and size.isdecimal() and int(size):
                found[level] = int(size)
    return found or dict(TYPICAL)


def _cpu() -> tuple[str, set[str]]:
    """Model name and flags: from /proc/cpuinfo, or from sysctl."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        fields: dict[str, str] = {}
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
        name = fields.get("model name") or fields.get("CPU part") or platform.processor()
        return name, set((fields.get("flags") or fields.get("Features") or "").split())
    if sys.platform == "darwin":
        brand = output_of("sysctl", "-n", "machdep.cpu.brand_string")
        return brand or platform.processor(), {"asimd", "fphp", "asimdhp"}
    return platform.processor() or platform.machine(), set()


@cache
def flags() -> frozenset[str]:
    """What the processor can do, as /proc/cpuinfo names it."""
    return frozenset(_cpu()[1])


def git_state() -> dict[str, Any] | None:
    """Commit of the checkout that this package runs from, and whether it has changes; None when installed."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    commit = output_of("git", "-C", str(root), "rev-parse", "HEAD")
    asked = "status", "--porcelain", "--untracked-files=no"
    changes = output_of("git", "--no-optional-locks", "-C", str(root), *asked)  # else the user's next commit may fail
    return None if not commit or changes is None else {"commit": commit, "dirty": bool(changes)}


@cache
def copy_bytes_per_s(repeats: int = 5) -> float:
    """Bytes copied per second by one thread, from one 64 MiB array to another; median; measured once per process."""
    source, copy = np.ones(COPY_BYTES, dtype=np.uint8), np.empty(COPY_BYTES, dtype=np.uint8)

    def seconds() -> float:
        start = time.perf_counter()
        np.copyto(copy, source)
        return time.perf_counter() - start

    seconds()
    return COPY_BYTES / median(interleaved({"copy": seconds}, repeats=repeats)["copy"])
