"""The GPU of this machine, as its driver says: name, driver, CUDA, clocks, power; nothing is started on it."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
from typing import Any

from ..commands import output_of

DRIVER = "libcuda.so.1"
# What decides results or speed, as `nvidia-smi --help-query-gpu` names it, with our name and unit.
QUERIES = {
    "name": "name",
    "driver": "driver_version",
    "compute_capability": "compute_cap",
    "memory_mib": "memory.total",
    "clock_sm_mhz": "clocks.sm",
    "clock_memory_mhz": "clocks.mem",
    "clock_sm_most_mhz": "clocks.max.sm",
    "clock_memory_most_mhz": "clocks.max.mem",
    "power_limit_w": "power.limit",
    "ecc": "ecc.mode.current",
    "mig": "mig.mode.current",
}


def device() -> dict[str, Any] | None:
    """The first GPU that this process may use, with `cuda` (what the driver can) and `nvcc`; None without a driver."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return None
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0].strip()
    command = [smi, f"--id={first}", f"--query-gpu={','.join(QUERIES.values())}", "--format=csv,noheader,nounits"]
    printed = output_of(*command)
    if not printed:
        return None
    values = [value.strip() for value in printed.splitlines()[0].split(",")]
    return {**dict(zip(QUERIES, values, strict=True)), "cuda": driver_cuda(), "nvcc": nvcc_release()}


def label(found: dict[str, Any] | None) -> str:
    """A GPU and its CUDA in one line; empty where there is none."""
    return f"{found['name']}, CUDA {found['nvcc'] or found['cuda']}" if found else ""


def cuda_driver() -> ctypes.CDLL:
    """The driver's library; OSError where there is none."""
    return ctypes.CDLL(DRIVER)


def driver_cuda() -> str | None:
    """The newest CUDA that the driver can run, "13.0"."""
    version = ctypes.c_int()
    try:
        if cuda_driver().cuDriverGetVersion(ctypes.byref(version)):
            return None
    except OSError:
        return None
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def nvcc_release() -> str | None:
    """The version of the compiler: its mathematical library is what kernels are compiled with."""
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc")
    found = re.search(r"release [\d.]+, V([\d.]+)", output_of(nvcc, "--version") or "") if nvcc else None
    return found[1] if found else None
