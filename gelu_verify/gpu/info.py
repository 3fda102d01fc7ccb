"""The GPU of this machine, as its driver describes it: name, CUDA, clocks, power; nothing is started on it."""

from __future__ import annotations

import ctypes
import os
import shutil
from typing import Any

from ..commands import output_of
from ..errors import TargetUnavailable
from . import nvcc

DRIVER = "libcuda.so.1"
AMD = "/dev/kfd"
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
    query = [smi, f"--id={first}", f"--query-gpu={','.join(QUERIES.values())}", "--format=csv,noheader,nounits"]
    printed = output_of(*query)
    if not printed:
        return None
    values = [value.strip() for value in printed.splitlines()[0].split(",")]
    return {**dict(zip(QUERIES, values, strict=True)), "cuda": driver_cuda(), "nvcc": nvcc_release()}


def label(found: dict[str, Any] | None) -> str:
    """A GPU and its CUDA in one line; empty where there is none."""
    return f"{found['name']}, CUDA {found['nvcc'] or found['cuda']}" if found else ""


def load_driver() -> Any:
    """The CUDA driver's library; OSError where it is not installed."""
    return ctypes.CDLL(DRIVER)


def driver_cuda() -> str | None:
    """The newest CUDA that the driver can run, "13.0"."""
    version = ctypes.c_int()
    try:
        if load_driver().cuDriverGetVersion(ctypes.byref(version)):
            return None
    except OSError:
        return None
    return dotted(version.value)


def dotted(version: int) -> str:
    """A CUDA version as the driver counts, 13000, as text, "13.0"."""
    return f"{version // 1000}.{version % 1000 // 10}"


def why_no_device() -> str:
    """Why no CUDA device can be used; empty where one can."""
    if reason := no_driver():
        return reason
    driver, count = load_driver(), ctypes.c_int()
    if status := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return f"there is no CUDA device: the driver fails with error {status}"
    return "" if count.value else "there is no CUDA device"


def no_driver() -> str:
    """That no driver is installed; empty where one is."""
    try:
        load_driver()
    except OSError:
        return f"there is no CUDA device: no driver is installed ({DRIVER})"
    return ""


def no_gpu() -> str:
    """That no library finds a GPU here, as far as is seen without loading one: those for AMD's call theirs cuda too."""
    return "" if os.path.exists(AMD) else no_driver()


def nvcc_release() -> str | None:
    """The version of the compiler: its mathematical library is what kernels are compiled with."""
    try:
        return nvcc.release()
    except TargetUnavailable:
        return None
